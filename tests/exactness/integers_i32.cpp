// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// i32: wrapping arithmetic, division, bits, shifts, selection.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using tested = sinter::i32;
#define TESTED "i32"
#include "integers.hpp"
