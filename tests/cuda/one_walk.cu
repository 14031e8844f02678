// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maxima and exponentials in one walk on a GPU (one_walk_cases.hpp).
#include "harness_cuda.hpp"
#include "one_walk_cases.hpp"

int main() { return one_walk::check_all<cuda_test::storage>(sinter::fast(sinter::cuda())); }
