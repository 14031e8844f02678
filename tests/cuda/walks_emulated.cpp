// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks down columns on the emulated device (walk_cases.hpp).
#include "emulated.hpp"
#include "walk_cases.hpp"

int main() { return walks_of_device::check_all<emulated::storage>(emulated::executor{}); }
