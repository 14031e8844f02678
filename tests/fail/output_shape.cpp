// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An output of another shape.
// expect: SINTER-S041
// expect: sizes<2, 3>
// expect: sizes<3, 2>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const si::tensor_view<float, si::extents<3, 2>> z(p);
    // [/given]
    (void)z;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x * 2.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, z = x * 2.0f);
    // [/mistake]
#endif
}
