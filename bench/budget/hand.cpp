// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scripts/budget compiles this beside Sinter's files: a softmax written by hand as plain loops over floats.
#include <math.h>

void softmax(const float* x, float* y, long rows, long columns) {
    for (long r = 0; r < rows; ++r, x += columns, y += columns) {
        float top = -INFINITY, total = 0;
        for (long i = 0; i < columns; ++i) top = x[i] > top ? x[i] : top;
        for (long i = 0; i < columns; ++i) {
            y[i] = expf(x[i] - top);
            total += y[i];
        }
        for (long i = 0; i < columns; ++i) y[i] /= total;
    }
}
