// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Long rows of 16-bit floats on a GPU (long_row_cases.hpp).
//     long_rows [longest row]       default 131072
#define LONG_ROWS_TYPES 3
#include "harness_cuda.hpp"
#include "long_row_cases.hpp"

#include <cstdlib>

int main(int count, char** argument) { return long_rows::check_all<cuda_test::storage>(cuda_test::executor{}, count > 1 ? std::atoll(argument[1]) : 131072); }
