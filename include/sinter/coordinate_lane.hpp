// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Coordinates as lanes: what `iota` gives for neighbouring elements is counted, not loaded.
#pragma once

#include "loops.hpp"

namespace sinter::detail {

/// How a kernel's coordinates step along the lane, of several lane axes along the last that has more than one element. Numbers of a
/// loop's own: its stores could alias the tables.
template <class Kernel, class List>
struct steps_of_coordinates;
template <class Kernel, int... Instance>
struct steps_of_coordinates<Kernel, indices<Instance...>> : slot<Instance, i64>... {
    SINTER_INLINE steps_of_coordinates([[maybe_unused]] const loops<slots<Kernel>::count>& along)
        : slot<Instance, i64>{along.lane.count == 0 ? 0 : along.lane.stride[along.lane.count - 1][slots<Kernel>::template place<Instance>]}... {}
    template <int Which>
    SINTER_INLINE i64 step() const {
        return static_cast<const slot<Which, i64>&>(*this).value;
    }
};
struct are_coordinates {
    static constexpr bool has(const kernel_view& of, int i) { return of.at[i].kind == node_kind::coordinate; }
};
template <class Kernel>
using lane_steps = steps_of_coordinates<Kernel, selected<instances_by<Kernel, are_coordinates>>>;

/// begin, begin + step, ... in the lanes of a family.
template <class Family>
SINTER_INLINE auto counted(i64 begin, i64 step) {
    using lanes = typename Family::template value<i64>;
    return add(lanes(begin), mul(lanes::iota(), lanes(step)));
}
/// The same as f32 or f64, each rounded once. Where the first and the last fit 32 bits all between them do, and an instruction converts
/// them: for families whose i64 lanes none converts.
template <class Float, class Family>
SINTER_INLINE auto counted_as(i64 begin, i64 step) {
    using lanes = typename Family::template value<i32>;
    if (step == i32(step) && begin == i32(begin) && begin + (Family::width - 1) * step == i32(begin + (Family::width - 1) * step))
        return convert<Float>(add(lanes(i32(begin)), mul(lanes::iota(), lanes(i32(step)))));
    return convert<Float>(counted<Family>(begin, step));
}

}  // namespace sinter::detail
