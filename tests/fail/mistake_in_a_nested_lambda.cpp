// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mistake in an operator that another one calls: with the inner lambda, at the line that calls the outer one.
// expect: SINTER-S036
// expect: in_lambda
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

#ifdef CONTROL
// [repair]
inline constexpr auto swapped = si::fused([](auto v) { return si::permute<1, 0>(v) * 2.0f; });
// [/repair]
#else
// [given]
inline constexpr auto swapped = si::fused([](auto v) { return si::permute(v, 1, 0) * 2.0f; });
// [/given]
#endif
inline constexpr auto twice = si::fused([](auto v) { return si::outputs(swapped(v), v + 1.0f); });

void example(float* p) {
    const si::tensor_view<float, si::extents<3, 3>> x(p), y(p), z(p);
    // [mistake]
    si::run(si::reference, tie(y, z) = twice(x));
    // [/mistake]
}
