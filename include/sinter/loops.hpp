// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of one call: loop axes sorted into outer (rows), column and lane axes, neighbours merged where all operands step
// through them evenly. Numbers only; drive.hpp runs the loops.
#pragma once

#include "evaluate.hpp"

namespace sinter::detail {

/// A list of loop axes with the strides of every slot along each. (No initial values, here and below: their constructors would be
/// functions that files with different instruction sets share.)
template <int Slots>
struct axis_loops {
    int count;
    i64 size[max_loop_axes];
    i64 stride[max_loop_axes][Slots];
    SINTER_INLINE i64 total() const {
        i64 product = 1;
        for (int i = 0; i < count; ++i) product *= size[i];
        return product;
    }
};

template <int Slots>
struct loops {
    axis_loops<Slots> outer, column, lane;
    i64 rows, columns, length;
};

/// A call as a driver takes it.
template <int Slots>
struct bound_call {
    const binding<Slots>& bound;
    const void* const* pointer;
    bool packs = false;    ///< operands don't all lie side by side along the lane
    bool prefetches = false;  ///< operands and outputs together exceed the caches: fetch the next row early
    bool streams = false;  ///< the outputs exceed the caches: store past them where alignment allows
};

/// What a loop axis is for in a kernel's nest.
enum class axis_role : u8 { outer, column, lane };
template <class Kernel>
constexpr axis_role role_of(int axis) {
    const u32 bit = u32(1) << axis;
    if (Kernel::nest == nest_kind::rows)
        return (Kernel::table.inner_lane & bit) ? axis_role::lane : (Kernel::table.inner & bit) ? axis_role::column : axis_role::outer;
    if (axis == Kernel::vector_axis) return axis_role::lane;
    return Kernel::nest == nest_kind::columns && (Kernel::table.inner & bit) ? axis_role::column : axis_role::outer;
}

/// The loops that a kernel asks for, as a constant table.
struct loop_facts {
    int axes = 0;
    signed char order[max_loop_axes]{};  ///< outermost first
    axis_role role[max_loop_axes]{};     ///< of the axis in that place
    bool pointwise = false;              ///< outer and lane axes may be merged
    bool any_axis_is_lane = false;       ///< pointwise, and all operands vary over all axes: when the last axis has size 1, the
                                         ///< next one becomes the lane's
};
template <class Kernel>
struct loop_facts_of {
    static constexpr loop_facts make() {
        loop_facts out;
        out.axes = Kernel::axes;
        for (int i = 0; i < Kernel::axes; ++i) {
            out.order[i] = static_cast<signed char>(Kernel::table.order[i]);
            out.role[i] = role_of<Kernel>(Kernel::table.order[i]);
        }
        out.pointwise = Kernel::nest == nest_kind::pointwise;
        out.any_axis_is_lane = out.pointwise;
        u32 all = 0;
        for (int o = 0; o < Kernel::outputs; ++o) all |= Kernel::table.output_free[o];
        for (int o = 0; o < Kernel::outputs; ++o) out.any_axis_is_lane = out.any_axis_is_lane && Kernel::table.output_free[o] == all;
        for (int i = 0; i < Kernel::instances; ++i)
            if (slots<Kernel>::is_operand(i) && Kernel::table.at[i].free != 0 && Kernel::table.at[i].free != all)
                out.any_axis_is_lane = false;
        return out;
    }
    static constexpr loop_facts value = make();
};

template <class Tag, int Slots>
struct loop_maker {
    /// Adds an axis inside the ones already listed; merged with the last when every slot steps evenly through both.
    static SINTER_FORCE_INLINE constexpr void append(axis_loops<Slots>& to, const binding<Slots>& bound, int axis) {
        const i64 size = bound.size[axis];
        if (size == 1) return;
        if (to.count > 0) {
            bool even = true;
            for (int s = 0; s < Slots; ++s) even = even && to.stride[to.count - 1][s] == bound.stride[s][axis] * size;
            if (even) {
                to.size[to.count - 1] *= size;
                for (int s = 0; s < Slots; ++s) to.stride[to.count - 1][s] = bound.stride[s][axis];
                return;
            }
        }
        to.size[to.count] = size;
        for (int s = 0; s < Slots; ++s) to.stride[to.count][s] = bound.stride[s][axis];
        ++to.count;
    }
    static SINTER_NOINLINE constexpr void make(const loop_facts& facts, const binding<Slots>& bound, loops<Slots>& out) {
        out.outer.count = out.column.count = out.lane.count = 0;
        axis_loops<Slots>* const list[] = {&out.outer, &out.column, facts.pointwise ? &out.outer : &out.lane};
        bool lane_is_last = false;
        for (int i = 0; i < facts.axes; ++i) {
            const int axis = facts.order[i];
            append(*list[int(facts.role[i])], bound, axis);
            if (facts.role[i] == axis_role::lane) lane_is_last = bound.size[axis] != 1 || facts.any_axis_is_lane;
        }
        if (facts.pointwise && lane_is_last && out.outer.count > 0) {
            // One list; its innermost axis is the lane's, however many loop axes it has swallowed.
            const int innermost = --out.outer.count;
            out.lane.size[0] = out.outer.size[innermost];
            for (int s = 0; s < Slots; ++s) out.lane.stride[0][s] = out.outer.stride[innermost][s];
            out.lane.count = 1;
        }
        out.rows = out.outer.total();
        out.columns = out.column.total();
        out.length = out.lane.total();
    }
};

/// Offset of the element at a linear position of some axes.
template <int Slots>
SINTER_INLINE i64 offset_at(const axis_loops<Slots>& along, int slot, i64 position) {
    i64 offset = 0;
    for (int i = along.count - 1; i >= 0; --i) {
        offset += position % along.size[i] * along.stride[i][slot];
        position /= along.size[i];
    }
    return offset;
}
/// Copies between lane positions of an operand and a block without gaps. One function for all kernels with as many slots.
template <class Tag, int Slots>
struct packer {
    template <int Size>
    static SINTER_FORCE_INLINE void copy(char* to, const char* from) {
        __builtin_memcpy(to, from, Size);
    }
    static SINTER_FORCE_INLINE void copy(char* to, const char* from, int element_size) {
        switch (element_size) {
            case 1: copy<1>(to, from); break;
            case 2: copy<2>(to, from); break;
            case 4: copy<4>(to, from); break;
            default: copy<8>(to, from); break;
        }
    }
    /// Elements [position, position + count) into `block`.
    static SINTER_NOINLINE void gather(void* block, const void* from, int element_size, const axis_loops<Slots>& lane, int slot,
                                       i64 position, int count) {
        char* to = static_cast<char*>(block);
        for (int i = 0; i < count; ++i, to += element_size)
            copy(to, static_cast<const char*>(from) + offset_at(lane, slot, position + i) * element_size, element_size);
    }
    static SINTER_NOINLINE void scatter(const void* block, void* to, int element_size, const axis_loops<Slots>& lane, int slot,
                                        i64 position, int count) {
        const char* from = static_cast<const char*>(block);
        for (int i = 0; i < count; ++i, from += element_size)
            copy(static_cast<char*>(to) + offset_at(lane, slot, position + i) * element_size, from, element_size);
    }
    /// Coordinates are numbers, not memory.
    static SINTER_NOINLINE void count_up(i64* block, i64 base, const axis_loops<Slots>& lane, int slot, i64 position, int count) {
        for (int i = 0; i < count; ++i) block[i] = base + offset_at(lane, slot, position + i);
    }
};

/// Lane axes of a nest that may have more than one element.
template <class Kernel>
constexpr int lane_axis_count() {
    int count = 0;
    for (int a = 0; a < Kernel::axes; ++a)
        if (role_of<Kernel>(a) == axis_role::lane && Kernel::table.axis_size[a] != 1) ++count;
    return count;
}

/// How an operand steps along the lane: known while compiling, or not.
enum class lane_stride : u8 { zero, unit, unknown };
template <class Kernel, int Instance, class Leaf>
constexpr lane_stride operand_stride() {
    const instance& it = Kernel::table.at[Instance];
    if ((it.free & Kernel::vector_bit) == 0) return lane_stride::zero;
    if constexpr (operand_kind_of<Leaf> == operand_kind::view)
        if (Leaf::contiguous && it.chain_length == 0 && it.rank > 0 && it.varies[it.rank - 1] &&
            it.axis[it.rank - 1] == Kernel::vector_axis)
            return lane_stride::unit;
    return lane_stride::unknown;
}

/// Position in a list of axes, advanced row-major; offsets of all slots follow.
template <int Slots>
struct odometer {
    i64 index[max_loop_axes];
    i64 offset[Slots];

    SINTER_INLINE void set(const axis_loops<Slots>& along, i64 linear) {
        for (int s = 0; s < Slots; ++s) offset[s] = 0;
        if (linear == 0) {  // most often: no divisions
            for (int i = 0; i < along.count; ++i) index[i] = 0;
            return;
        }
        for (int i = along.count - 1; i >= 0; --i) {
            index[i] = linear % along.size[i];
            linear /= along.size[i];
            for (int s = 0; s < Slots; ++s) offset[s] += index[i] * along.stride[i][s];
        }
    }
    SINTER_INLINE void next(const axis_loops<Slots>& along) {
        for (int i = along.count - 1; i >= 0; --i) {
            for (int s = 0; s < Slots; ++s) offset[s] += along.stride[i][s];
            if (++index[i] < along.size[i]) return;
            for (int s = 0; s < Slots; ++s) offset[s] -= along.size[i] * along.stride[i][s];
            index[i] = 0;
        }
    }
};

}  // namespace sinter::detail
