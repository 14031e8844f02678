// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The benchmark's workloads in Sinter: compiled once as it is, portable, and once with SINTER_BENCH_FAST, under the policy `fast`.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>

#include "kernels.hpp"

namespace si = sinter;

namespace {

#if defined(SINTER_BENCH_FAST)
constexpr auto executor = si::fast(si::cpu);
#else
constexpr auto executor = si::cpu;
#endif

using matrix = si::tensor_view<float, si::extents<si::dyn, si::dyn>>;
using input = si::tensor_view<const float, si::extents<si::dyn, si::dyn>>;
using row = si::tensor_view<const float, si::extents<si::dyn>>;
using column = si::tensor_view<float, si::extents<si::dyn, 1>>;
using totals = si::tensor_view<float, si::extents<1, si::dyn>>;

inline constexpr auto chain_of_30 = si::fused([](auto x, auto w) {
    for (int i = 0; i < 10; ++i) {
        x = x * w;
        x = x + 0.25f * float(i);
        x = w - x;
    }
    return x;
});

void bias_gelu(sizes n, const memory& m) {
    si::run(executor, matrix(m.y, n.rows, n.columns) = gelu_tanh(input(m.x, n.rows, n.columns) + row(m.bias, n.columns)));
}
void softmax(sizes n, const memory& m) {
    si::run(executor, matrix(m.y, n.rows, n.columns) = si::softmax(input(m.x, n.rows, n.columns)));
}
void rms_norm(sizes n, const memory& m) {
    si::run(executor, matrix(m.y, n.rows, n.columns) = si::rms_norm(input(m.x, n.rows, n.columns), row(m.weight, n.columns), 1e-5f));
}
void layer_norm(sizes n, const memory& m) {
    si::run(executor, matrix(m.y, n.rows, n.columns) =
                         si::layer_norm(input(m.x, n.rows, n.columns), row(m.weight, n.columns), row(m.bias, n.columns), 1e-5f));
}
void sum_square_rows(sizes n, const memory& m) {
    si::run(executor, column(m.small, n.rows) = si::let(input(m.x, n.rows, n.columns), [](auto x) { return sum(x * x, si::last_axis); }));
}
void sum_square_whole(sizes n, const memory& m) {
    si::run(executor, si::view(m.small, si::extents<>{}) = si::let(input(m.x, n.rows, n.columns), [](auto x) { return sum(x * x); }));
}
void column_sum(sizes n, const memory& m) {
    si::run(executor, totals(m.small, n.columns) = sum(input(m.x, n.rows, n.columns), si::axes<0>));
}
void chain(sizes n, const memory& m) {
    si::run(executor, matrix(m.y, n.rows, n.columns) = chain_of_30(input(m.x, n.rows, n.columns), row(m.weight, n.columns)));
}

}  // namespace

#if defined(SINTER_BENCH_FAST)
const ways sinter_fast_ways{bias_gelu, softmax, rms_norm, layer_norm, sum_square_rows, sum_square_whole, column_sum, chain};
#else
const ways sinter_ways{bias_gelu, softmax, rms_norm, layer_norm, sum_square_rows, sum_square_whole, column_sum, chain};
#endif
