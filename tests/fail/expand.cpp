// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stretching an axis that isn't 1.
// expect: SINTER-S032
// expect: sizes<2, 3>
// expect: 4, 3
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const si::tensor_view<float, si::extents<2, 1>> z(p);
    // [/given]
    (void)z;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::expand<2, 3>(z) + x);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::expand<4, 3>(x) + x);
    // [/mistake]
#endif
}
