// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The softmax family of the GPU benchmark.
#include "workload.hpp"

namespace bench {
namespace {

inline constexpr auto causal_softmax = si::fused([](auto x) { return softmax(si::cast<float>(x * 0.125f), si::iota<-1>(x) <= si::iota<-2>(x)); });

template <class Type, i64 Rows, i64 Columns>
const char* rows(const call& with) {
    return said(si::try_run(executor_of(with), matrix<Type, Columns>(with.at[1], Rows) = softmax(matrix<const Type, Columns>(with.at[0], Rows))));
}
const char* causal(const call& with) {
    const si::extents<dyn, 2048, 2048> sizes(32);
    return said(si::try_run(executor_of(with), si::device_view(static_cast<bf16*>(with.at[1]), sizes) =
                                                   causal_softmax(si::device_view(static_cast<const bf16*>(with.at[0]), sizes))));
}
template <i64 Rows, i64 Columns>
const char* entropy(const call& with) {
    return said(si::try_run(executor_of(with), column<float>(with.at[2], Rows) =
                                                   si::cross_entropy(si::cast<float>(matrix<const bf16, Columns>(with.at[0], Rows)), column<const i64>(with.at[1], Rows))));
}
const char* log_sum(const call& with) {
    return said(si::try_run(executor_of(with), column<float>(with.at[1], 16384) = logsumexp(matrix<const float, 4096>(with.at[0], 16384), si::last_axis)));
}

constexpr long long n25 = 1 << 25, n26 = 1 << 26, n27 = 1 << 27, n28 = 1 << 28;
constexpr workload workloads[] = {
    {"softmax_16384x4096_bf16", 1, 1, {{kind::bf16, n26}, {kind::bf16, n26}}, rows<bf16, 16384, 4096>},
    {"softmax_65536x1024_f32", 1, 1, {{kind::f32, n26}, {kind::f32, n26}}, rows<float, 65536, 1024>},
    {"softmax_64x1024_f32_small", 1, 1, {{kind::f32, 65536}, {kind::f32, 65536}}, rows<float, 64, 1024>},
    {"softmax_4096x32768_bf16", 1, 1, {{kind::bf16, n27}, {kind::bf16, n27}}, rows<bf16, 4096, 32768>},
    {"softmax_2048x131072_bf16", 1, 1, {{kind::bf16, n28}, {kind::bf16, n28}}, rows<bf16, 2048, 131072>},
    {"softmax_262144x128_f32", 1, 1, {{kind::f32, n25}, {kind::f32, n25}}, rows<float, 262144, 128>},
    {"causal_softmax_32x2048x2048_bf16", 1, 1, {{kind::bf16, n27}, {kind::bf16, n27}}, causal},
    {"cross_entropy_8192x32768_bf16", 2, 1, {{kind::bf16, n28}, {kind::i64, 8192}, {kind::f32, 8192}}, entropy<8192, 32768>},
    {"cross_entropy_4096x128256_bf16", 2, 1, {{kind::bf16, 4096ll * 128256}, {kind::i64, 4096}, {kind::f32, 4096}}, entropy<4096, 128256>},
    {"logsumexp_16384x4096_f32", 1, 1, {{kind::f32, n26}, {kind::f32, 16384}}, log_sum},
};
}  // namespace

SINTER_BENCH_LIST(softmax);
}  // namespace bench
