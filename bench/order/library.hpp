// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library with other constants: library.cpp is compiled once per variant, against a copy of the headers whose order.hpp has
// them, with the namespace renamed so that all variants stand in one program.
#pragma once

using order_long = long long;
struct library_variant {
    const char* name;
    void (*sum_square)(const float* x, float* y, order_long rows, order_long columns);
    void (*softmax)(const float* x, float* y, order_long rows, order_long columns);
    void (*column_sum)(const float* x, float* y, order_long rows, order_long columns);
};
