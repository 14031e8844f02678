// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer reductions, i32 and u32: sums in 64 bits, means in f32.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using tested_signed = sinter::i32;
#define TESTED_SIGNED "i32"
using tested_unsigned = sinter::u32;
#define TESTED_UNSIGNED "u32"
#include "fold_integers.hpp"
