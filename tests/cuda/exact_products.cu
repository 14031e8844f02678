// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of exact products on a GPU (exact_product_cases.hpp).
#include "harness_cuda.hpp"
#include "exact_product_cases.hpp"

int main() { return exact_products::check_all<cuda_test::storage>(cuda_test::executor{}); }
