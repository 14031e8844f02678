// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of codes on the emulated device (product_cases.hpp).
#include "emulated.hpp"
#include "product_cases.hpp"

int main() { return products::check_all<emulated::storage>(emulated::executor{}); }
