// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The benchmark's workloads in Eigen, row by row where that is faster. Without Eigen there are none.
#include "kernels.hpp"

#if __has_include(<Eigen/Core>)
#include <Eigen/Core>

namespace {

using row = Eigen::Array<float, 1, Eigen::Dynamic>;
using input = Eigen::Map<const row>;
using output = Eigen::Map<row>;

void bias_gelu(sizes n, const memory& m) {
    const input bias(m.bias, n.columns);
    for (long r = 0; r < n.rows; ++r) {
        const input x(m.x + r * n.columns, n.columns);
        output y(m.y + r * n.columns, n.columns);
        const auto t = x + bias;
        y = t / (1.0f + (t * (-0.0713548162726f * t * t - 1.59576912161f)).exp());
    }
}
void softmax(sizes n, const memory& m) {
    for (long r = 0; r < n.rows; ++r) {
        const input x(m.x + r * n.columns, n.columns);
        output y(m.y + r * n.columns, n.columns);
        y = (x - x.maxCoeff()).exp();
        y *= 1.0f / y.sum();
    }
}
void rms_norm(sizes n, const memory& m) {
    const input weight(m.weight, n.columns);
    for (long r = 0; r < n.rows; ++r) {
        const input x(m.x + r * n.columns, n.columns);
        output y(m.y + r * n.columns, n.columns);
        y = x * (1.0f / std::sqrt(x.square().sum() / float(n.columns) + 1e-5f)) * weight;
    }
}
void layer_norm(sizes n, const memory& m) {
    const input weight(m.weight, n.columns), bias(m.bias, n.columns);
    for (long r = 0; r < n.rows; ++r) {
        const input x(m.x + r * n.columns, n.columns);
        output y(m.y + r * n.columns, n.columns);
        const float mean = x.mean();
        y = (x - mean) * (1.0f / std::sqrt((x - mean).square().mean() + 1e-5f)) * weight + bias;
    }
}
void sum_square_rows(sizes n, const memory& m) {
    for (long r = 0; r < n.rows; ++r) m.small[r] = input(m.x + r * n.columns, n.columns).square().sum();
}
void sum_square_whole(sizes n, const memory& m) { m.small[0] = input(m.x, n.rows * n.columns).square().sum(); }
void column_sum(sizes n, const memory& m) {
    output total(m.small, n.columns);
    total.setZero();
    for (long r = 0; r < n.rows; ++r) total += input(m.x + r * n.columns, n.columns);
}
template <int Step, class At, class Weight>
auto steps(const At& at, const Weight& w) {
    if constexpr (Step == 10)
        return at;
    else
        return steps<Step + 1>((w - (at * w + 0.25f * float(Step))).eval(), w);
}
void chain(sizes n, const memory& m) {
    // A chain that refers to its own parts dangles in Eigen, so each step is evaluated, in blocks that stay in the cache.
    using block = Eigen::Array<float, 1, 128>;
    for (long r = 0; r < n.rows; ++r)
        for (long i = 0; i < n.columns; i += 128) {
            const block w = Eigen::Map<const block>(m.weight + i);
            Eigen::Map<block>(m.y + r * n.columns + i) = steps<0>(block(Eigen::Map<const block>(m.x + r * n.columns + i)), w);
        }
}

}  // namespace

const ways eigen_ways{bias_gelu, softmax, rms_norm, layer_norm, sum_square_rows, sum_square_whole, column_sum, chain};
#else
const ways eigen_ways{};
#endif
