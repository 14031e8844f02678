// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interleaved channels on a GPU (channel_cases.hpp).
#include "harness_cuda.hpp"
#include "channel_cases.hpp"

int main() { return channels_of_device::check_all<cuda_test::storage>(sinter::cuda()); }
