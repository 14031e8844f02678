// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Public faults of other systems as tests. Each row names its report; the whole kind of the fault is covered: lengths 1 to 65, 255
// to 257 and 1000, element types, axes, both executors. Values come from float64 or integers.
//
// Rows that are not here, and why:
//   device only (huge buffers, launch limits, streams, kernels' parameters, nvcc): B114 B116 B120 B180 B182 B187 B191
//   operators that don't exist yet (complex, cumulative sums, gather, matrix products, pooling): B051 B116 B132's windows B160
//   B162; B020's product with V is checked on the weights
//   quantized types: B170 B172 B174 B178
//   build systems and flags, tested by building: B193, B009's flags
#pragma once

#include <sinter/backend/cpu.hpp>

#include <doctest/doctest.h>

#include "support.hpp"

namespace bugs {

using namespace support;

/// Runs a test on the reference and on the CPU backend.
template <class Test>
void on_each(const Test& test) {
    test(si::reference);
    test(si::cpu);
}
/// Runs a test for each element type.
template <class... Types, class Test>
void for_types(const Test& test) {
    (test(Types{}), ...);
}
inline void for_lengths(auto&& test) {
    for (int l = 0; l < length_count; ++l) test(length(l));
}

}  // namespace bugs
