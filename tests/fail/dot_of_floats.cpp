// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dot product of other than codes.
// expect: SINTER-N001
// expect: 3, 4
// expect: sizes<4>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    const si::tensor_view<float, si::extents<4>> v(p);
    const si::tensor_view<float, si::extents<3>> z(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, z = sum(x * v, si::last_axis, si::drop));
    (void)y;
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, z = dot(x, v));
    (void)y;
    // [/mistake]
#endif
}
