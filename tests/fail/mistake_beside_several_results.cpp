// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mistake among outputs of which another stands for two.
// expect: SINTER-S029
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

#ifdef CONTROL
inline constexpr auto formula = si::fused([](auto x) { return si::outputs(sum(x, si::axes<1>), 1.0f, dynamic_quantize(x)); });
#else
inline constexpr auto formula = si::fused([](auto x) { return si::outputs(sum(x, 1), 1.0f, dynamic_quantize(x)); });
#endif

void example(const float* p, float* sums, float* one, si::i8* codes, float* scales) {
    const si::extents<3, 4> matrix;
    const si::extents<3, 1> column;
    si::run(si::reference, si::tie(si::view(sums, column), si::view(one, si::extents<1>{}), si::view(codes, matrix), si::view(scales, column)) = formula(si::view(p, matrix)));
}
