// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Codes of 8 bits on a GPU (code_cases.hpp).
#include "harness_cuda.hpp"
#include "code_cases.hpp"

int main() { return codes_of_device::check_all<cuda_test::storage>(sinter::cuda()); }
