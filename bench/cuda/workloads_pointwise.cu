// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise workloads of the GPU benchmark.
#include "workload.hpp"

namespace bench {
namespace {

inline constexpr auto swiglu = si::fused([](auto gate, auto up) { return silu(gate) * up; });
/// To codes with the scale's reciprocal, as PyTorch is told to.
inline constexpr auto to_codes = si::fused([](auto x) { return si::cast<i8>(clamp(round(x * float(1 / 0.05)) + 3.0f, -128.0f, 127.0f)); });
inline constexpr auto add_relu_codes = si::fused([](auto a, auto b) {
    const auto y = relu((si::cast<float>(a) - 3.0f) * 0.05f + (si::cast<float>(b) + 7.0f) * 0.03f);
    return si::cast<i8>(clamp(round(y * float(1 / 0.04)) - 5.0f, -128.0f, 127.0f));
});
inline constexpr auto adamw = si::fused([](auto p, auto g, auto m, auto v) {
    const auto next_m = 0.9f * m + 0.1f * g, next_v = 0.999f * v + 0.001f * g * g;
    return si::outputs(p * float(1 - 1e-5) - 1e-3f * (next_m / 0.5f) / (sqrt(next_v / 0.3f) + 1e-8f), next_m, next_v);
});
inline constexpr auto particles = si::fused([](auto px, auto py, auto pz, auto vx, auto vy, auto vz) {
    const auto square = px * px + py * py + pz * pz + 0.01f;
    const auto pull = -rsqrt(square) / square * 0.016f;
    const auto x = vx + pull * px, y = vy + pull * py, z = vz + pull * pz;
    return si::outputs(px + x * 0.016f, py + y * 0.016f, pz + z * 0.016f, x, y, z);
});
inline constexpr auto bn_relu = si::fused([](auto x, auto mean, auto variance, auto weight, auto bias) {
    return relu((si::cast<float>(x) - mean) * (rsqrt(variance + 1e-5f) * weight) + bias);
});

const char* bias_gelu(const call& with) {
    return said(si::try_run(executor_of(with), matrix<bf16, 4096>(with.at[2], 16384) =
                                                   gelu_tanh(matrix<const bf16, 4096>(with.at[0], 16384) + row<const bf16, 4096>(with.at[1]))));
}
const char* gated(const call& with) {
    constexpr i64 count = i64(8192) * 14336;
    return said(si::try_run(executor_of(with), line<bf16>(with.at[2], count) = swiglu(line<const bf16>(with.at[0], count), line<const bf16>(with.at[1], count))));
}
const char* quantize(const call& with) {
    return said(si::try_run(executor_of(with), line<i8>(with.at[1], 1 << 27) = to_codes(line<const float>(with.at[0], 1 << 27))));
}
template <i64 Count>
const char* add_relu(const call& with) {
    return said(si::try_run(executor_of(with), line<i8>(with.at[2], Count) = add_relu_codes(line<const i8>(with.at[0], Count), line<const i8>(with.at[1], Count))));
}
/// The same and quantized numbers as such: views of codes with their scales, no formula but what is computed.
using activation = si::q8<si::qp(0.05f, 3)>;
using residual_type = si::q8<si::qp(0.03f, -7)>;
using result_type = si::q8<si::qp(0.04f, -5)>;
const char* quantize_view(const call& with) {
    return said(si::try_run(executor_of(with), line<activation>(with.at[1], 1 << 27) = copy(line<const float>(with.at[0], 1 << 27))));
}
const char* add_relu_views(const call& with) {
    return said(si::try_run(executor_of(with), line<result_type>(with.at[2], 1 << 28) = relu(line<const activation>(with.at[0], 1 << 28) + line<const residual_type>(with.at[1], 1 << 28))));
}
const char* step_adamw(const call& with) {
    constexpr i64 count = 1 << 26;
    const auto in = [&](int i) { return line<const float>(with.at[i], count); };
    const auto out = [&](int i) { return line<float>(with.at[4 + i], count); };
    return said(si::try_run(executor_of(with), si::tie(out(0), out(1), out(2)) = adamw(in(0), in(1), in(2), in(3))));
}
const char* step_particles(const call& with) {
    constexpr i64 count = 1 << 25;
    const auto in = [&](int i) { return line<const float>(with.at[i], count); };
    const auto out = [&](int i) { return line<float>(with.at[6 + i], count); };
    return said(si::try_run(executor_of(with), si::tie(out(0), out(1), out(2), out(3), out(4), out(5)) = particles(in(0), in(1), in(2), in(3), in(4), in(5))));
}
constexpr i64 pixels = i64(64) * 56 * 56;
const char* batch_norm(const call& with) {
    const auto channels = [&](int i) { return row<const float, 256>(with.at[i]); };
    return said(si::try_run(executor_of(with), matrix<bf16, 256>(with.at[5], pixels) =
                                                   bn_relu(matrix<const bf16, 256>(with.at[0], pixels), channels(1), channels(2), channels(3), channels(4))));
}

constexpr long long n25 = 1 << 25, n26 = 1 << 26, n27 = 1 << 27, n28 = 1 << 28, gate = 8192ll * 14336;
constexpr workload workloads[] = {
    {"bias_gelu_16384x4096_bf16", 2, 1, {{kind::bf16, n26}, {kind::bf16, 4096}, {kind::bf16, n26}}, bias_gelu},
    {"swiglu_8192x14336_bf16", 2, 1, {{kind::bf16, gate}, {kind::bf16, gate}, {kind::bf16, gate}}, gated},
    {"quantize_i8_2^27_f32", 1, 1, {{kind::f32, n27}, {kind::i8, n27}}, quantize},
    {"qadd_relu_i8_2^28", 2, 1, {{kind::i8, n28}, {kind::i8, n28}, {kind::i8, n28}}, add_relu<n28>},
    {"quantize_q8_2^27_f32", 1, 1, {{kind::f32, n27}, {kind::i8, n27}}, quantize_view},
    {"qadd_relu_q8_2^28", 2, 1, {{kind::i8, n28}, {kind::i8, n28}, {kind::i8, n28}}, add_relu_views},
    {"qadd_relu_i8_2^16_small", 2, 1, {{kind::i8, 1 << 16}, {kind::i8, 1 << 16}, {kind::i8, 1 << 16}}, add_relu<1 << 16>},
    {"bn_relu_nhwc_64x56x56x256_bf16",
     5,
     1,
     {{kind::bf16, pixels * 256}, {kind::f32, 256}, {kind::f32, 256}, {kind::f32, 256}, {kind::f32, 256}, {kind::bf16, pixels * 256}},
     batch_norm},
    {"adamw_2^26_f32", 4, 3, {{kind::f32, n26}, {kind::f32, n26}, {kind::f32, n26}, {kind::f32, n26}, {kind::f32, n26}, {kind::f32, n26}, {kind::f32, n26}}, step_adamw},
    {"particles_2^25_f32",
     6,
     6,
     {{kind::f32, n25}, {kind::f32, n25}, {kind::f32, n25}, {kind::f32, n25}, {kind::f32, n25}, {kind::f32, n25},
      {kind::f32, n25}, {kind::f32, n25}, {kind::f32, n25}, {kind::f32, n25}, {kind::f32, n25}, {kind::f32, n25}},
     step_particles},
};
}  // namespace

SINTER_BENCH_LIST(pointwise);
}  // namespace bench
