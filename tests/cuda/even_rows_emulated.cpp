// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Neighbouring rows of a thread on the emulated device (even_row_cases.hpp).
#include "emulated.hpp"
#include "even_row_cases.hpp"

int main() { return even_rows_of_device::check_all<emulated::storage>(emulated::executor{}); }
