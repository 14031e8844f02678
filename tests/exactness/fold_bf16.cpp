// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bf16 reductions over last, first and all axes.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using tested = sinter::bf16;
#define TESTED "bf16"
#include "fold_floats.hpp"
