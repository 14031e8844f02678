// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks down columns on a GPU (walk_cases.hpp).
#include "harness_cuda.hpp"
#include "walk_cases.hpp"

int main() { return walks_of_device::check_all<cuda_test::storage>(sinter::cuda()); }
