// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The constants of the canonical order of reductions (docs/numerics): once released they never change, since they decide bits.
//
// Lane rule, over the trailing folded axes linearised row-major: element i belongs to segment i / 1024 and to lane i % 128;
// each lane starts from the identity and combines its elements in order; the 128 lanes combine in one tree, lane l with lane
// l + 64, then + 32, ... + 1; segments combine pairwise: adjacent pairs level by level, an odd last one carried up unchanged.
// Column rule, over the other folded axes linearised: in order within a segment of 64, segments pairwise as above. Without
// trailing axes an accumulator starts from the identity; with them it starts from the first row's result.
#pragma once

#include "config.hpp"

namespace sinter::order {

inline constexpr int lanes = 128;
inline constexpr int segment = 1024;
inline constexpr int column_segment = 64;
/// Depth of the pairwise stack: enough for 2^63 segments.
inline constexpr int stack_depth = 56;
/// Columns are swept in strips, whose stacks are wide: 2^30 rows of them.
inline constexpr int stack_depth_of_strips = 26;

}  // namespace sinter::order
