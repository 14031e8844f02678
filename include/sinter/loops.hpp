// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of one call: loop axes sorted into outer (rows), column and lane axes, neighbours merged where all operands step
// through them evenly. Numbers only; drive.hpp runs the loops.
#pragma once

#include "evaluate.hpp"

namespace sinter::detail {

/// Operand instances and outputs under one numbering, so that a driver keeps one pointer array.
template <class Kernel>
struct slots {
    static constexpr bool is_operand(int i) {
        return Kernel::table.at[i].kind == node_kind::leaf || Kernel::table.at[i].kind == node_kind::coordinate;
    }
    static constexpr int count_operands() {
        int found = 0;
        for (int i = 0; i < Kernel::instances; ++i) found += is_operand(i);
        return found;
    }
    static constexpr int operands = count_operands();
    static constexpr int count = operands + Kernel::outputs;
    static constexpr int of_instance(int instance) {
        int found = 0;
        for (int i = 0; i < instance; ++i) found += is_operand(i);
        return found;
    }
    static constexpr int of_output(int output) { return operands + output; }
    struct operand_list {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return is_operand(i); }
    };
};

/// A list of loop axes with the strides of every slot along each.
template <class Kernel>
struct axis_loops {
    int count = 0;
    i64 size[Kernel::axes > 0 ? Kernel::axes : 1];
    i64 stride[Kernel::axes > 0 ? Kernel::axes : 1][slots<Kernel>::count];
    SINTER_INLINE i64 total() const {
        i64 product = 1;
        for (int i = 0; i < count; ++i) product *= size[i];
        return product;
    }
};

template <class Kernel>
struct loops {
    axis_loops<Kernel> outer{}, column{}, lane{};
    const void* pointer[slots<Kernel>::count];
    i64 base[slots<Kernel>::count];  ///< coordinates: value at the origin
    i64 rows = 1, columns = 1, length = 1;
};

/// What a loop axis is for in a kernel's nest.
enum class axis_role : u8 { outer, column, lane };
template <class Kernel>
SINTER_INLINE axis_role role_of(int axis) {
    const u32 bit = u32(1) << axis;
    if (Kernel::nest == nest_kind::rows)
        return (Kernel::table.inner_lane & bit) ? axis_role::lane : (Kernel::table.inner & bit) ? axis_role::column : axis_role::outer;
    if (axis == Kernel::vector_axis) return axis_role::lane;
    return Kernel::nest == nest_kind::columns && (Kernel::table.inner & bit) ? axis_role::column : axis_role::outer;
}

template <class Kernel>
SINTER_INLINE void append_axis(axis_loops<Kernel>& to, const loops<Kernel>& all, const binding<Kernel>& bound, int axis, bool merge);

template <class Kernel, int... Instance, int... Output>
SINTER_INLINE void strides_along(i64 (&stride)[slots<Kernel>::count], const binding<Kernel>& bound, int axis, indices<Instance...>,
                                 indices<Output...>) {
    const int set[] = {0, (stride[slots<Kernel>::of_instance(Instance)] = bound.instance_operand[Instance].stride[axis], 0)...,
                       (stride[slots<Kernel>::of_output(Output)] = bound.output[Output].stride[axis], 0)...};
    (void)set;
}
/// Adds an axis inside the ones already listed; merged with the last when every slot steps evenly through both.
template <class Kernel>
SINTER_INLINE void append_axis(axis_loops<Kernel>& to, const binding<Kernel>& bound, int axis) {
    if (bound.size[axis] == 1) return;
    i64 stride[slots<Kernel>::count];
    strides_along<Kernel>(stride, bound, axis, selected<typename slots<Kernel>::operand_list>{}, make_indices<Kernel::outputs>{});
    if (to.count > 0) {
        bool even = true;
        for (int s = 0; s < slots<Kernel>::count; ++s)
            even = even && to.stride[to.count - 1][s] == stride[s] * bound.size[axis];
        if (even) {
            to.size[to.count - 1] *= bound.size[axis];
            for (int s = 0; s < slots<Kernel>::count; ++s) to.stride[to.count - 1][s] = stride[s];
            return;
        }
    }
    to.size[to.count] = bound.size[axis];
    for (int s = 0; s < slots<Kernel>::count; ++s) to.stride[to.count][s] = stride[s];
    ++to.count;
}

template <class Kernel, int... Instance, int... Output>
SINTER_INLINE void set_pointers(loops<Kernel>& out, const binding<Kernel>& bound, indices<Instance...>, indices<Output...>) {
    const int set[] = {0,
                       (out.pointer[slots<Kernel>::of_instance(Instance)] = bound.instance_operand[Instance].pointer,
                        out.base[slots<Kernel>::of_instance(Instance)] = bound.instance_operand[Instance].base, 0)...,
                       (out.pointer[slots<Kernel>::of_output(Output)] = bound.output[Output].pointer,
                        out.base[slots<Kernel>::of_output(Output)] = 0, 0)...};
    (void)set;
}

/// Sorts the axes of a bound kernel into loops.
template <class Kernel>
SINTER_INLINE void make_loops(loops<Kernel>& out, const binding<Kernel>& bound) {
    set_pointers<Kernel>(out, bound, selected<typename slots<Kernel>::operand_list>{}, make_indices<Kernel::outputs>{});
    if constexpr (Kernel::nest == nest_kind::pointwise) {
        // One list; its innermost axis is the lane's, however many loop axes it has swallowed.
        axis_loops<Kernel> all{};
        for (int i = 0; i < Kernel::axes; ++i) append_axis<Kernel>(all, bound, Kernel::table.order[i]);
        bool lane_is_last = Kernel::axes > 0;
        // The vector axis must be the innermost: when its size is 1 at run time, there is no lane axis.
        if constexpr (Kernel::vector_axis >= 0)
            if (bound.size[Kernel::vector_axis] == 1) lane_is_last = false;
        for (int i = 0; i < all.count; ++i) {
            axis_loops<Kernel>& to = lane_is_last && i == all.count - 1 ? out.lane : out.outer;
            to.size[to.count] = all.size[i];
            for (int s = 0; s < slots<Kernel>::count; ++s) to.stride[to.count][s] = all.stride[i][s];
            ++to.count;
        }
    } else {
        for (int i = 0; i < Kernel::axes; ++i) {
            const int axis = Kernel::table.order[i];
            switch (role_of<Kernel>(axis)) {
                case axis_role::outer: append_axis<Kernel>(out.outer, bound, axis); break;
                case axis_role::column: append_axis<Kernel>(out.column, bound, axis); break;
                case axis_role::lane: append_axis<Kernel>(out.lane, bound, axis); break;
            }
        }
    }
    out.rows = out.outer.total();
    out.columns = out.column.total();
    out.length = out.lane.total();
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
template <class Kernel>
struct odometer {
    i64 index[Kernel::axes > 0 ? Kernel::axes : 1]{};
    i64 offset[slots<Kernel>::count]{};

    SINTER_INLINE void set(const axis_loops<Kernel>& along, i64 linear) {
        for (int s = 0; s < slots<Kernel>::count; ++s) offset[s] = 0;
        for (int i = along.count - 1; i >= 0; --i) {
            index[i] = linear % along.size[i];
            linear /= along.size[i];
            for (int s = 0; s < slots<Kernel>::count; ++s) offset[s] += index[i] * along.stride[i][s];
        }
    }
    SINTER_INLINE void next(const axis_loops<Kernel>& along) {
        for (int i = along.count - 1; i >= 0; --i) {
            for (int s = 0; s < slots<Kernel>::count; ++s) offset[s] += along.stride[i][s];
            if (++index[i] < along.size[i]) return;
            for (int s = 0; s < slots<Kernel>::count; ++s) offset[s] -= along.size[i] * along.stride[i][s];
            index[i] = 0;
        }
    }
};

}  // namespace sinter::detail
