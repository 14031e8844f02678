// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Long rows of f32 on a GPU (long_row_cases.hpp).
#define LONG_ROWS_TYPES 4
#include "harness_cuda.hpp"
#include "long_row_cases.hpp"

int main() { return long_rows::check_all<cuda_test::storage>(cuda_test::executor{}, 70000); }
