// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f64 reductions over last, first and all axes.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using tested = double;
#define TESTED "f64"
#include "fold_floats.hpp"
