// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function without operands.
// expect: SINTER-E018
// expect: softmax
// expect: given<0>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::softmax(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::softmax());
    // [/mistake]
#endif
}
