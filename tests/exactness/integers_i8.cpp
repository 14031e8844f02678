// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// i8: wrapping arithmetic, division, bits, shifts, selection.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using tested = sinter::i8;
#define TESTED "i8"
#include "integers.hpp"
