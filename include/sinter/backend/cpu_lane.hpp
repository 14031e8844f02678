// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU lane as a whole: `sinter::backend::SINTER_ISA::vec<Type, Width>` with every primitive of lane.hpp, for SSE2 to
// AVX-512, NEON, and any other target that GCC's vector types reach. This header only gathers the parts and drops their
// macros; loops over memory are in cpu.hpp.
#pragma once

#include "cpu_lane_register.hpp"
#include "cpu_lane_float.hpp"
#include "cpu_lane_integer.hpp"
#include "cpu_lane_convert.hpp"
#include "cpu_lane_memory.hpp"
#include "cpu_product.hpp"
#include "cpu_table.hpp"

#undef SINTER_CPU_VEX
#undef SINTER_CPU_TEXT_1
#undef SINTER_CPU_TEXT_1I
#undef SINTER_CPU_TEXT_2
#undef SINTER_CPU_TEXT_2I
#undef SINTER_CPU_OUT
#undef SINTER_CPU_IN
#undef SINTER_CPU_X86_BINARY
#undef SINTER_CPU_X86_BINARY_I
#undef SINTER_CPU_X86_UNARY
#undef SINTER_CPU_EXTRACT
#undef SINTER_CPU_HAS_ROUND
