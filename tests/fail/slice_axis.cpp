// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slice with run-time bounds along an axis that isn't there.
// expect: SINTER-S021
// expect: sizes<2, 3>
// expect: at_axis<4>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    (void)si::slice<1>(x, 0, 2);
    // [/repair]
    (void)y;
#else
    // [mistake]
    (void)si::slice<4>(x, 0, 2);
    // [/mistake]
    (void)y;
#endif
}
