// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One fold of few long rows on the emulated device (long_fold_cases.hpp): more parts than a block has threads.
#include "emulated.hpp"
#include "long_fold_cases.hpp"

int main() { return long_folds::check_all<emulated::storage>(emulated::executor{}, 2300008); }
