// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of codes on a GPU (product_cases.hpp).
#include "harness_cuda.hpp"
#include "product_cases.hpp"

int main() { return products::check_all<cuda_test::storage>(sinter::cuda()); }
