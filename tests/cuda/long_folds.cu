// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One fold of few long rows on a GPU (long_fold_cases.hpp).
//     long_folds [longest row]       default 2^26 and a few
#include "harness_cuda.hpp"
#include "long_fold_cases.hpp"

#include <cstdlib>

int main(int count, char** argument) { return long_folds::check_all<cuda_test::storage>(cuda_test::executor{}, count > 1 ? std::atoll(argument[1]) : (1ll << 26) + 520); }
