// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f16 in and out: computed in f32, rounded once where stored or cast.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using tested = sinter::f16;
#define TESTED "f16"
#include "half.hpp"
