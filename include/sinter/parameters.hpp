// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The check of quantization parameters that are known only when run: every scale finite and greater than 0, every zero point a code.
// Once per call, before anything is written, of numbers and of tensors in host memory; what a kernel computes itself, and what lies on
// a device, is as the formulas make it (a NaN or a zero gives the lowest code).
#pragma once

#include "assignment.hpp"

namespace sinter::detail {

/// The arguments of a node that are parameters; -1 without.
template <class Node>
struct parameter_arguments {
    static constexpr bool any = false;
};
template <class Op, int... Argument>
    requires requires { Op::scale_argument; }
struct parameter_arguments<map<Op, Argument...>> {
    static constexpr bool any = true;
    static constexpr array<int, int(sizeof...(Argument))> at{{Argument...}};
    static constexpr int scale = at[Op::scale_argument], zero = at[Op::zero_argument];
    static constexpr i32 lowest = Op::lowest_zero, highest = Op::highest_zero;
};
template <class Op, int... Argument>
constexpr bool looks_up(const map<Op, Argument...>*) {
    return requires { Op::looks_up; };
}
constexpr bool looks_up(const void*) { return false; }

struct parameter_range {
    bool is_scale;
    i32 lowest, highest;
    template <class Type>
    SINTER_FORCE_INLINE bool holds(Type value) const {
        if (is_scale) {
            const float scale = convert<float>(value);
            u32 bits;  // copied: nvcc 13 fails on a bit cast here
            __builtin_memcpy(&bits, &scale, 4);
            return bits - 1 < 0x7f7fffffu;
        }
        if constexpr (is_float(dtype_of<Type>)) {
            return true;
        } else {
            const i64 whole = convert<i64>(value);
            return whole >= lowest && whole <= highest;
        }
    }
};
template <class Type>
SINTER_FORCE_INLINE bool holds_all(const parameter_range& range, const scalar_operand<Type>& from) {
    return range.holds(from.value);
}
template <class Type, class Extents, class Layout, int Alignment>
SINTER_FORCE_INLINE bool holds_all(const parameter_range& range, const tensor_view<Type, Extents, Layout, host_memory, Alignment>& from) {
    if (!range.is_scale && range.lowest <= -128 && range.highest >= 127 && sizeof(Type) == 1) return true;
    const view_state state = from.state();
    if (from.data() == nullptr) return true;  // said by the binding
    i64 index[max_rank]{}, offset = 0;
    for (int i = 0; i < state.sizes.rank; ++i)
        if (state.sizes.size[i] <= 0) return true;
    for (;;) {
        if (!range.holds(from.data()[offset])) return false;
        int axis = state.sizes.rank - 1;
        for (; axis >= 0; --axis) {
            offset += state.stride[axis];
            if (++index[axis] < state.sizes.size[axis]) break;
            offset -= state.stride[axis] * state.sizes.size[axis];
            index[axis] = 0;
        }
        if (axis < 0) return true;
    }
}
template <class View>
SINTER_FORCE_INLINE bool holds_all(const parameter_range& range, const table_operand<View>& from) {
    return holds_all(range, from.value);
}
template <class Other>
SINTER_FORCE_INLINE bool holds_all(const parameter_range&, const Other&) {
    return true;
}

template <class Assignment>
struct parameter_check;
template <class... Node, class Roots, class... Leaves, class Outputs>
struct parameter_check<assignment<program<Node...>, Roots, list<Leaves...>, Outputs>> {
    using assignment_type = assignment<program<Node...>, Roots, list<Leaves...>, Outputs>;
    static constexpr bool find() {
        const bool has[] = {parameter_arguments<Node>::any...};
        for (bool one : has)
            if (one) return true;
        return false;
    }
    static constexpr bool any = find();
    static constexpr node_value node[unsigned(sizeof...(Node))] = {node_traits<Node>::value...};

    template <int Index>
    static SINTER_FORCE_INLINE void argument(const assignment_type& assigned, const parameter_range& range, status& bad) {
        if constexpr (node[Index].kind == node_kind::leaf) {
            if (bad.ok() && !holds_all(range, get<int(node[Index].bits)>(assigned.operands)))
                bad = status{error::bad_scale, int(node[Index].bits), -1, 0, 0};
        } else if constexpr (node[Index].kind == node_kind::map && looks_up(static_cast<const nth_type<Index, Node...>*>(nullptr))) {
            argument<node[Index].argument[0]>(assigned, range, bad);
        } else if constexpr (node[Index].kind == node_kind::literal) {
            const bool floating = node[Index].literal == literal_kind::floating;
            const bool good = floating ? range.holds(__builtin_bit_cast(double, node[Index].bits)) : range.holds(static_cast<i64>(node[Index].bits));
            if (bad.ok() && !good) bad = status{error::bad_scale, -1, -1, 0, 0};
        }
    }
    template <class One>
    static SINTER_FORCE_INLINE void check_node(const assignment_type& assigned, status& bad) {
        using places = parameter_arguments<One>;
        if constexpr (places::any) {
            argument<places::scale>(assigned, {true, 0, 0}, bad);
            argument<places::zero>(assigned, {false, places::lowest, places::highest}, bad);
        }
    }
    static SINTER_FORCE_INLINE status verdict(const assignment_type& assigned) {
        status bad{};
        const int done[] = {(check_node<Node>(assigned, bad), 0)...};
        (void)done;
        return bad;
    }
};

/// Runs an assignment whose parameters are sound.
template <class Executor, class Assignment>
SINTER_FORCE_INLINE status launch_checked(const Executor& executor, const Assignment& assigned) {
    if constexpr (parameter_check<Assignment>::any) {
        const status bad = parameter_check<Assignment>::verdict(assigned);
        if (!bad.ok()) return bad;
    }
    return executor.launch(assigned);
}

}  // namespace sinter::detail
