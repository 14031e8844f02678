// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formula and the numbers of quickstart, for the processor (quickstart.cpp) and the GPU (quickstart.cu).
#pragma once

#include <sinter/sinter.hpp>

// Steps of 1/32 suit numbers whose root mean square is 1: int8 reaches from -4 to 3.97.
inline constexpr float steps = 32.0f, epsilon = 1e-6f;
inline constexpr auto residual_norm_int8 = sinter::fused([](auto x, auto residual, auto weight) {
    auto h = x + residual;
    auto normal = h * rsqrt(mean(h * h, sinter::last_axis) + epsilon) * weight;
    return sinter::cast<sinter::i8>(round(normal * steps));
});

/// Sums of four uniform numbers: near enough to a bell curve.
struct random_numbers {
    unsigned state = 1;
    float operator()() {
        float sum = 0;
        for (int i = 0; i < 4; ++i) {
            state = state * 1664525u + 1013904223u;
            sum += float(state >> 8) * (1.0f / 16777216.0f) - 0.5f;
        }
        return sum;
    }
    /// A matrix, its residual (three times as wide) and weights around 1.
    void fill(float* x, float* residual, float* weight, sinter::i64 rows, sinter::i64 columns) {
        for (sinter::i64 i = 0; i < rows * columns; ++i) x[i] = (*this)();
        for (sinter::i64 i = 0; i < rows * columns; ++i) residual[i] = (*this)() * 3.0f;
        for (sinter::i64 i = 0; i < columns; ++i) weight[i] = 1.0f + 0.1f * (*this)();
    }
};
