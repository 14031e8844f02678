// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two rows of each group of threads on a GPU (row_pair_cases.hpp).
#include "harness_cuda.hpp"
#include "row_pair_cases.hpp"

int main() { return row_pairs::check_all<cuda_test::storage>(sinter::cuda()); }
