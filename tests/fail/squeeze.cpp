// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Squeezing an axis that isn't 1.
// expect: SINTER-S026
// expect: sizes<2, 3>
// expect: at_axis<0>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const si::tensor_view<float, si::extents<2, 1, 3>> z(p);
    // [/given]
    (void)z;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::squeeze<1>(z) + x);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::squeeze<0>(x) + x);
    // [/mistake]
#endif
}
