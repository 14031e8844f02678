// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The second of two outputs has another shape.
// expect: SINTER-S041
// expect: sizes<3, 2>
// expect: sizes<2, 3>
// expect: output_number<1>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

inline constexpr auto both = si::fused([](auto x) { return si::outputs(x * 2.0f, x * x); });

void example(float* p) {
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p), z(p);
    const si::tensor_view<float, si::extents<3, 2>> t(p);
    (void)z, (void)t;
#ifdef CONTROL
    si::run(si::reference, si::tie(y, z) = both(x));
#else
    si::run(si::reference, si::tie(y, t) = both(x));
#endif
}
