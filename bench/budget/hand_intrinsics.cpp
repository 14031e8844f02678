// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scripts/budget compiles this beside Sinter's files: relu(x + bias) / 2 written by hand with intrinsics, whose header is the cost.
#include <immintrin.h>

void relu(const float* x, const float* bias, float* y, long rows, long columns) {
    for (long r = 0; r < rows; ++r, x += columns, y += columns) {
        long i = 0;
        for (; i + 8 <= columns; i += 8)
            _mm256_storeu_ps(y + i, _mm256_mul_ps(_mm256_max_ps(_mm256_add_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(bias + i)),
                                                                _mm256_setzero_ps()),
                                                  _mm256_set1_ps(0.5f)));
        for (; i < columns; ++i) {
            const float sum = x[i] + bias[i];
            y[i] = sum > 0 ? 0.5f * sum : 0;
        }
    }
}
