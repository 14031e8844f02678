// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several results from one pass over the inputs: `outputs` in the operator, `tie` where it runs.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>

#include <cstdio>

namespace si = sinter;

// The residual stream, its RMS norm rounded to int8 with one scale per row, and those scales.
inline constexpr auto add_norm_quantize = si::fused([](auto x, auto residual, auto weight) {
    auto stream = x + residual;
    auto normal = stream * rsqrt(mean(stream * stream, si::last_axis) + 1e-6f) * weight;
    auto scale = max(abs(normal), si::last_axis) / 127.0f;
    return si::outputs(stream, si::cast<si::i8>(round(normal / scale)), scale);
});

int main() {
    float x[8] = {1, 2, 3, 4, -1, 5, 0, 2}, residual[8] = {0, 0, 1, 0, 1, 0, 0, 0}, weight[4] = {1, 1, 1, 1};
    float stream[8], scales[2];
    si::i8 codes[8];
    const si::extents<2, 4> sizes{};
    auto s = si::view(stream, sizes);
    auto q = si::view(codes, sizes);
    auto scale = si::view(scales, si::extents<2, 1>{});

    si::run(si::cpu, si::tie(s, q, scale) = add_norm_quantize(si::view(x, sizes), si::view(residual, sizes),
                                                             si::view(weight, si::extents<4>{})));
    for (int row = 0; row < 2; ++row) {
        for (int i = 0; i < 4; ++i) std::printf("%5d", q(row, i));
        std::printf("   times %.6f\n", double(scales[row]));
    }
}
