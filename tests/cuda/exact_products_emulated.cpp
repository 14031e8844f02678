// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of exact products on the emulated device (exact_product_cases.hpp).
#include "emulated.hpp"
#include "exact_product_cases.hpp"

int main() { return exact_products::check_all<emulated::storage>(emulated::executor{}); }
