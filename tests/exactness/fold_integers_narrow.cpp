// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer reductions, i8 and u8: sums in 64 bits, means in f32.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using tested_signed = sinter::i8;
#define TESTED_SIGNED "i8"
using tested_unsigned = sinter::u8;
#define TESTED_UNSIGNED "u8"
#include "fold_integers.hpp"
