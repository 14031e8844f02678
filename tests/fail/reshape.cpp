// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Another number of elements.
// expect: SINTER-S031
// expect: sizes<2, 3>
// expect: 4, 2
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const si::tensor_view<float, si::extents<3, 2>> z(p);
    // [/given]
    (void)y, (void)z;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, z = si::reshape<3, 2>(x) + 1.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, z = si::reshape<4, 2>(x) + 1.0f);
    // [/mistake]
#endif
}
