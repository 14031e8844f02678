// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A formula that is assigned to an owner.
// expect: SINTER-E023
// expect: 3, 4
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p);
    si::tensor<float, si::extents<3, 4>> y;
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, si::view(y) = x + 1.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x + 1.0f);
    // [/mistake]
#endif
}
