// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f16 reductions over last, first and all axes.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using tested = sinter::f16;
#define TESTED "f16"
#include "fold_floats.hpp"
