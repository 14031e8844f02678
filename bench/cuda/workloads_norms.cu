// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Norms over rows of the GPU benchmark.
#include "workload.hpp"

namespace bench {
namespace {

inline constexpr auto add_norm = si::fused([](auto x, auto r, auto weight) {
    const auto h = x + r;
    return si::outputs(h, si::rms_norm(h, weight, 1e-5f));
});
inline constexpr auto norm_to_int8 = si::fused([](auto x, auto weight) {
    const auto wide = si::cast<float>(x);
    const auto y = wide * rsqrt(mean(wide * wide, si::last_axis) + 1e-5f) * weight;
    const auto scale = maximum(max(abs(y), si::last_axis), 1e-8f) / 127.0f;
    return si::outputs(si::cast<i8>(clamp(round(y / scale), -128.0f, 127.0f)), scale);
});

template <i64 Rows, i64 Columns>
const char* residual(const call& with) {
    const auto in = [&](int i) { return matrix<const bf16, Columns>(with.at[i], Rows); };
    return said(si::try_run(executor_of(with), si::tie(matrix<bf16, Columns>(with.at[3], Rows), matrix<bf16, Columns>(with.at[4], Rows)) =
                                                   add_norm(in(0), in(1), row<const bf16, Columns>(with.at[2]))));
}
template <class Type, i64 Rows, i64 Columns>
const char* rms(const call& with) {
    return said(si::try_run(executor_of(with), matrix<Type, Columns>(with.at[2], Rows) =
                                                   si::rms_norm(matrix<const Type, Columns>(with.at[0], Rows), row<const Type, Columns>(with.at[1]), 1e-5f)));
}
template <class Type, i64 Rows, i64 Columns>
const char* layer(const call& with) {
    return said(si::try_run(executor_of(with), matrix<Type, Columns>(with.at[3], Rows) =
                                                   si::layer_norm(matrix<const Type, Columns>(with.at[0], Rows), row<const Type, Columns>(with.at[1]),
                                                                  row<const Type, Columns>(with.at[2]), 1e-5f)));
}
const char* norm_quantized(const call& with) {
    return said(si::try_run(executor_of(with), si::tie(matrix<i8, 4096>(with.at[2], 16384), column<float>(with.at[3], 16384)) =
                                                   norm_to_int8(matrix<const bf16, 4096>(with.at[0], 16384), row<const bf16, 4096>(with.at[1]))));
}
/// As the library spells it.
inline constexpr auto norm_dynamic = si::fused([](auto x, auto weight) { return dynamic_quantize(si::rms_norm(x, weight, 1e-5f)); });
const char* norm_dynamic_quantized(const call& with) {
    return said(si::try_run(executor_of(with), si::tie(matrix<i8, 4096>(with.at[2], 16384), column<float>(with.at[3], 16384)) =
                                                   norm_dynamic(matrix<const bf16, 4096>(with.at[0], 16384), row<const bf16, 4096>(with.at[1]))));
}

constexpr long long n25 = 1 << 25, n26 = 1 << 26, n27 = 1 << 27;
constexpr workload workloads[] = {
    {"residual_rmsnorm_16384x4096_bf16", 3, 2, {{kind::bf16, n26}, {kind::bf16, n26}, {kind::bf16, 4096}, {kind::bf16, n26}, {kind::bf16, n26}}, residual<16384, 4096>},
    {"residual_rmsnorm_16384x8192_bf16", 3, 2, {{kind::bf16, n27}, {kind::bf16, n27}, {kind::bf16, 8192}, {kind::bf16, n27}, {kind::bf16, n27}}, residual<16384, 8192>},
    {"rmsnorm_32768x1024_bf16", 2, 1, {{kind::bf16, n25}, {kind::bf16, 1024}, {kind::bf16, n25}}, rms<bf16, 32768, 1024>},
    {"rmsnorm_4096x32768_bf16", 2, 1, {{kind::bf16, n27}, {kind::bf16, 32768}, {kind::bf16, n27}}, rms<bf16, 4096, 32768>},
    {"rmsnorm_8x4096_bf16_small", 2, 1, {{kind::bf16, 8 * 4096}, {kind::bf16, 4096}, {kind::bf16, 8 * 4096}}, rms<bf16, 8, 4096>},
    {"rmsnorm_16384x4096_f32", 2, 1, {{kind::f32, n26}, {kind::f32, 4096}, {kind::f32, n26}}, rms<float, 16384, 4096>},
    {"layernorm_16384x4096_bf16", 3, 1, {{kind::bf16, n26}, {kind::bf16, 4096}, {kind::bf16, 4096}, {kind::bf16, n26}}, layer<bf16, 16384, 4096>},
    {"layernorm_65536x768_f32", 3, 1, {{kind::f32, 65536 * 768}, {kind::f32, 768}, {kind::f32, 768}, {kind::f32, 65536 * 768}}, layer<float, 65536, 768>},
    {"rmsnorm_quant_i8_16384x4096_bf16", 2, 2, {{kind::bf16, n26}, {kind::bf16, 4096}, {kind::i8, n26}, {kind::f32, 16384}}, norm_quantized},
    {"rmsnorm_dynamic_i8_16384x4096_bf16", 2, 2, {{kind::bf16, n26}, {kind::bf16, 4096}, {kind::i8, n26}, {kind::f32, 16384}}, norm_dynamic_quantized},
};
}  // namespace

SINTER_BENCH_LIST(norms);
}  // namespace bench
