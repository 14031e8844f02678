// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A shape mistake inside a traced formula, reported where the operator is called.
// expect: SINTER-S012
// expect: sizes<2, 3>
// expect: sizes<4, 3>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

inline constexpr auto scaled = si::fused([](auto x, auto weight) { return exp(x * weight) * weight; });

void example(float* p) {
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const si::tensor_view<float, si::extents<4, 3>> b(p);
    const si::tensor_view<float, si::extents<3>> w(p);
    (void)b, (void)w;
#ifdef CONTROL
    si::run(si::reference, y = scaled(x, w));
#else
    si::run(si::reference, y = scaled(x, b));
#endif
}
