// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows that blocks take in turn on the emulated device (turn_cases.hpp).
#include "emulated.hpp"
#include "turn_cases.hpp"

int main() { return turns::check_all<emulated::storage>(emulated::executor{}, sinter::fast(sinter::cuda())); }
