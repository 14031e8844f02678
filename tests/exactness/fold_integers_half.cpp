// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer reductions, i16 and u16: sums in 64 bits, means in f32.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using tested_signed = sinter::i16;
#define TESTED_SIGNED "i16"
using tested_unsigned = sinter::u16;
#define TESTED_UNSIGNED "u16"
#include "fold_integers.hpp"
