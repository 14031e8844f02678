// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic with what stands for two values.
// expect: SINTER-E030
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

#ifdef CONTROL
// [repair]
inline constexpr auto halves = si::fused([](auto x) {
    const auto [codes, scale] = dynamic_quantize(x);
    return si::outputs(codes, scale * 0.5f);
});
// [/repair]
#else
// [mistake]
inline constexpr auto halves = si::fused([](auto x) { return dynamic_quantize(x) * 0.5f; });
// [/mistake]
#endif

void example(const float* p, si::i8* codes, float* scales) {
    const si::extents<3, 4> matrix;
    const si::extents<3, 1> column;
    si::run(si::reference, si::tie(si::view(codes, matrix), si::view(scales, column)) = halves(si::view(p, matrix)));
}
