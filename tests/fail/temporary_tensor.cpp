// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor without a name as an operand.
// expect: SINTER-C001
// expect: tensor<float
// expect: extents<2, 3>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const si::tensor<float, si::extents<2, 3>> w;
    si::run(si::reference, y = x + w);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x + si::tensor<float, si::extents<2, 3>>());
    // [/mistake]
#endif
}
