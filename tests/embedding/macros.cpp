// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sinter beside the macros that engines and system headers define, in the order of a user's file: standard headers, the
// macros, Sinter. Formulas are instantiated, not just parsed.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>

#define check(...) static_assert(false, "the user's macro")
#define verify(...) static_assert(false, "the user's macro")
#define min(...) static_assert(false, "the user's macro")
#define max(...) static_assert(false, "the user's macro")
#define small char
#define near
#define far
#define A "the user's macro"
#define B "the user's macro"
#define C "the user's macro"
#define D "the user's macro"
#define E "the user's macro"
#define F "the user's macro"
#define G "the user's macro"
#define H "the user's macro"
#define I "the user's macro"
#define J "the user's macro"
#define K "the user's macro"
#define L "the user's macro"
#define M "the user's macro"
#define N "the user's macro"
#define O "the user's macro"
#define P "the user's macro"
#define Q "the user's macro"
#define R "the user's macro"
#define S "the user's macro"
#define T "the user's macro"
#define U "the user's macro"
#define V "the user's macro"
#define W "the user's macro"
#define X "the user's macro"
#define Y "the user's macro"
#define Z "the user's macro"

#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>

namespace si = sinter;
using si::dyn;

static bool same(const float* left, const float* right, int count) {
    for (int i = 0; i < count; ++i)
        if (left[i] != right[i]) return false;
    return true;
}

int main() {
    static float x[6 * 130], w[130], y[6 * 130], truth[6 * 130], top[6], true_top[6];
    for (int i = 0; i < 6 * 130; ++i) x[i] = float(i % 29) * 0.25f - 3.0f;
    for (int i = 0; i < 130; ++i) w[i] = 1.0f + float(i % 3);
    const si::tensor_view<const float, si::extents<dyn, dyn>> in(x, 6, 130);
    const si::tensor_view<const float, si::extents<dyn>> weight(w, 130);
    const si::tensor_view<float, si::extents<dyn, dyn>> out(y, 6, 130), true_out(truth, 6, 130);
    const si::tensor_view<float, si::extents<dyn, 1>> row(top, 6), true_row(true_top, 6);
    const auto formula = si::fused([](auto value, auto scale) {
        const auto normal = (value - mean(value, si::last_axis)) * rsqrt(variance(value, si::last_axis) + 1e-5f) * scale;
        return si::outputs(softmax(gelu(normal)), (si::max)(normal, si::last_axis));
    });
    if (!si::try_run(si::reference, si::tie(true_out, true_row) = formula(in, weight)).ok()) return 1;
    if (!si::try_run(si::cpu, si::tie(out, row) = formula(in, weight)).ok()) return 2;
    if (!same(y, truth, 6 * 130) || !same(top, true_top, 6)) return 3;
    if (!si::try_run(si::cpu, out = where(in < 0.5f, pow(abs(in), 1.5f), clamp(in, -1.0f, 1.0f)) + si::flip<1>(in)).ok()) return 4;
    return 0;
}
