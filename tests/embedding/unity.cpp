// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two files as one, as a unity build compiles them: they include the same headers, and neither disturbs the other.
#include <sinter/backend/cpu.hpp>

#include "float_state.cpp"
#include "no_heap.cpp"
