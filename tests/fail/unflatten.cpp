// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splitting an axis by what doesn't divide it.
// expect: SINTER-S027
// expect: sizes<2, 6>
// expect: at_axis<1>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 6>> x(p);
    const si::tensor_view<float, si::extents<2, 3, 2>> y(p);
    const si::tensor_view<float, si::extents<2, 4, 2>> z(p);
    // [/given]
    (void)y, (void)z;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::unflatten<1, 3>(x) + 1.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, z = si::unflatten<1, 4>(x) + 1.0f);
    // [/mistake]
#endif
}
