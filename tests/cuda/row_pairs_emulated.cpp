// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two rows of each group of threads on the emulated device (row_pair_cases.hpp).
#include "emulated.hpp"
#include "row_pair_cases.hpp"

int main() { return row_pairs::check_all<emulated::storage>(emulated::executor{}); }
