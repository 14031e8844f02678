// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Long rows of floats on the emulated device (long_row_cases.hpp): bf16 and f32, as long as a block holds them.
#define LONG_ROWS_TYPES 5
#include "emulated.hpp"
#include "long_row_cases.hpp"

int main() { return long_rows::check_all<emulated::storage>(emulated::executor{}, 20480); }
