// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction of what stands for two values.
// expect: SINTER-E030
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

#ifdef CONTROL
inline constexpr auto total = si::fused([](auto x) {
    const auto [codes, scale] = dynamic_quantize(x);
    return sum(codes, si::last_axis) * scale;
});
#else
inline constexpr auto total = si::fused([](auto x) { return sum(dynamic_quantize(x), si::last_axis); });
#endif

void example(const float* p, float* sums) {
    si::run(si::reference, si::view(sums, si::extents<3, 1>{}) = total(si::view(p, si::extents<3, 4>{})));
}
