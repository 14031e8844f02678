// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// i16: comparison, logic, floored division, powers.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using tested = sinter::i16;
#define TESTED "i16"
#include "integers_more.hpp"
