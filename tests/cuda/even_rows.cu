// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Neighbouring rows of a thread on a GPU (even_row_cases.hpp).
#include "harness_cuda.hpp"
#include "even_row_cases.hpp"

int main() { return even_rows_of_device::check_all<cuda_test::storage>(sinter::cuda()); }
