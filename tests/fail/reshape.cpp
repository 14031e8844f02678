// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Another number of elements.
// expect: SINTER-S031
// expect: sizes<2, 3>
// expect: 4, 2
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const si::tensor_view<float, si::extents<3, 2>> z(p);
    (void)y, (void)z;
#ifdef CONTROL
    si::run(si::reference, z = si::reshape<3, 2>(x) + 1.0f);
#else
    si::run(si::reference, z = si::reshape<4, 2>(x) + 1.0f);
#endif
}
