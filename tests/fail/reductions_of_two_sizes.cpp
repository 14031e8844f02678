// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over rows of different lengths.
// expect: SINTER-P002
// expect: sizes<4, 5>
// expect: sizes<4, 6>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    const si::tensor_view<float, si::extents<4, 5>> x(p);
    const si::tensor_view<float, si::extents<4, 6>> z(p);
    const si::tensor_view<float, si::extents<4, 1>> y(p);
    (void)z;
#ifdef CONTROL
    si::run(si::reference, y = sum(x, si::last_axis));
#else
    si::run(si::reference, y = sum(x, si::last_axis) + sum(z, si::last_axis));
#endif
}
