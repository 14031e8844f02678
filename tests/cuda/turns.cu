// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows that blocks take in turn on a GPU (turn_cases.hpp).
#include "harness_cuda.hpp"
#include "turn_cases.hpp"

int main() { return turns::check_all<cuda_test::storage>(sinter::cuda(), sinter::fast(sinter::cuda())); }
