// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maxima and exponentials in one walk on the emulated device (one_walk_cases.hpp).
#include "emulated.hpp"
#include "one_walk_cases.hpp"

int main() { return one_walk::check_all<emulated::storage>(sinter::fast(sinter::cuda())); }
