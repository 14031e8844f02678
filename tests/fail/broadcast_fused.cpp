// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A shape mistake inside a traced formula, reported where the operator is called.
// expect: SINTER-S012
// expect: sizes<2, 3>
// expect: sizes<4, 3>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

// [formula]
inline constexpr auto scaled = si::fused([](auto x, auto weight) { return exp(x * weight) * weight; });
// [/formula]

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const si::tensor_view<float, si::extents<4, 3>> b(p);
    const si::tensor_view<float, si::extents<3>> w(p);
    // [/given]
    (void)b, (void)w;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = scaled(x, w));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = scaled(x, b));
    // [/mistake]
#endif
}
