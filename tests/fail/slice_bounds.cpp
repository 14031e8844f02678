// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slice that leaves the axis.
// expect: SINTER-S024
// expect: sizes<2, 3>
// expect: at_axis<1>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const si::tensor_view<float, si::extents<2, 2>> z(p);
    // [/given]
    (void)y;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, z = si::slice<1, 1, 3>(x) + 1.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, z = si::slice<1, 2, 4>(x) + 1.0f);
    // [/mistake]
#endif
}
