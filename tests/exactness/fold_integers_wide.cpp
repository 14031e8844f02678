// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer reductions, i64 and u64: sums in 64 bits, means in f32.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using tested_signed = sinter::i64;
#define TESTED_SIGNED "i64"
using tested_unsigned = sinter::u64;
#define TESTED_UNSIGNED "u64"
#include "fold_integers.hpp"
