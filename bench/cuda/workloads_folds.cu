// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of the GPU benchmark: of everything, over columns, indices, products of a matrix and a vector.
#include "workload.hpp"

namespace bench {
namespace {

inline constexpr auto huber = si::fused([](auto x, auto y) {
    const auto d = abs(x - y);
    return mean(where(d < 1.0f, 0.5f * d * d, d - 0.5f));
});
inline constexpr auto variance_and_mean = si::fused([](auto x) { return si::outputs(variance(x, si::axes<0>), mean(x, si::axes<0>)); });
inline constexpr auto matrix_vector = si::fused([](auto a, auto w, auto scale, auto bias) {
    return relu(sum(si::cast<float>(w) * si::cast<float>(a), si::last_axis) * scale + bias);
});

constexpr long long n26 = 1 << 26, n27 = 1 << 27;
const char* product(const call& with) {
    return said(si::try_run(executor_of(with), single<float>(with.at[2]) = sum(line<const float>(with.at[0], n27) * line<const float>(with.at[1], n27))));
}
const char* loss(const call& with) {
    return said(si::try_run(executor_of(with), single<float>(with.at[2]) = huber(line<const float>(with.at[0], n27), line<const float>(with.at[1], n27))));
}
auto across(void* at) { return si::device_view(static_cast<float*>(at), si::extents<1, dyn>(1024)); }
const char* columns(const call& with) {
    return said(si::try_run(executor_of(with), across(with.at[1]) = sum(matrix<const float, 1024>(with.at[0], 65536), si::axes<0>)));
}
const char* moments(const call& with) {
    return said(si::try_run(executor_of(with), si::tie(across(with.at[1]), across(with.at[2])) = variance_and_mean(matrix<const float, 1024>(with.at[0], 65536))));
}
const char* largest(const call& with) {
    return said(si::try_run(executor_of(with), column<i64>(with.at[1], 4096) = argmax(matrix<const bf16, 128256>(with.at[0], 4096), si::last_axis)));
}
constexpr i64 n = 16384;
/// Exact sums of the codes' products, scaled in f32.
const char* gemv_exact(const call& with) {
    return said(si::try_run(executor_of(with), column<float>(with.at[4], n) = relu(si::dot_codes(row<const i8, n>(with.at[0]), matrix<const i8, n>(with.at[1], n), si::last_axis) *
                                                                                       column<const float>(with.at[2], n) + column<const float>(with.at[3], n))));
}
template <class Activation>
const char* gemv(const call& with) {
    return said(si::try_run(executor_of(with), column<float>(with.at[4], n) = matrix_vector(row<const Activation, n>(with.at[0]), matrix<const i8, n>(with.at[1], n),
                                                                                           column<const float>(with.at[2], n), column<const float>(with.at[3], n))));
}

constexpr workload workloads[] = {
    {"dot_2^27_f32", 2, 1, {{kind::f32, n27}, {kind::f32, n27}, {kind::f32, 1}}, product},
    {"huber_2^27_f32", 2, 1, {{kind::f32, n27}, {kind::f32, n27}, {kind::f32, 1}}, loss},
    {"col_sum_65536x1024_f32", 1, 1, {{kind::f32, n26}, {kind::f32, 1024}}, columns},
    {"col_var_mean_65536x1024_f32", 1, 2, {{kind::f32, n26}, {kind::f32, 1024}, {kind::f32, 1024}}, moments},
    {"argmax_4096x128256_bf16", 1, 1, {{kind::bf16, 4096ll * 128256}, {kind::i64, 4096}}, largest},
    {"gemv_w8a8_16384x16384_i8", 4, 1, {{kind::i8, 16384}, {kind::i8, 1 << 28}, {kind::f32, 16384}, {kind::f32, 16384}, {kind::f32, 16384}}, gemv_exact},
    {"gemv_w8_16384x16384_bf16", 4, 1, {{kind::bf16, 16384}, {kind::i8, 1 << 28}, {kind::f32, 16384}, {kind::f32, 16384}, {kind::f32, 16384}}, gemv<bf16>},
};
}  // namespace

SINTER_BENCH_LIST(folds);
}  // namespace bench
