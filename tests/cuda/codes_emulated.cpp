// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Codes of 8 bits on the emulated device (code_cases.hpp).
#include "emulated.hpp"
#include "code_cases.hpp"

int main() { return codes_of_device::check_all<emulated::storage>(emulated::executor{}); }
