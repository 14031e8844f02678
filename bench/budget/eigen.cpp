// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scripts/budget compiles this beside Sinter's files: relu(x + bias) / 2, and a softmax when SOFTMAX is defined, over Eigen's arrays.
#include <Eigen/Core>

using matrix = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void relu(const float* x, const float* bias, float* y, long rows, long columns) {
    Eigen::Map<const matrix> in(x, rows, columns);
    Eigen::Map<matrix> out(y, rows, columns);
    Eigen::Map<const Eigen::Array<float, 1, Eigen::Dynamic>> b(bias, columns);
    out = (in.rowwise() + b).max(0.0f) * 0.5f;
}
#ifdef SOFTMAX
void softmax(const float* x, float* y, long rows, long columns) {
    Eigen::Map<const matrix> in(x, rows, columns);
    Eigen::Map<matrix> out(y, rows, columns);
    for (long r = 0; r < rows; ++r) {
        out.row(r) = (in.row(r) - in.row(r).maxCoeff()).exp();
        out.row(r) *= 1.0f / out.row(r).sum();
    }
}
#endif
