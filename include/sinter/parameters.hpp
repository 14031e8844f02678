// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks of numbers that are known only when run. Of quantization parameters: every scale finite and greater than 0, every zero
// point a code; once per call, before anything is written, of numbers and of tensors in host memory. What a kernel computes itself, and what
// lies on a device, is as the formulas make it (a NaN gives the lowest code). Of C++ integers beside integer tensors: they are
// values of the tensor's type (T2), as the constants of a traced formula are while it compiles.
#pragma once

#include "lower.hpp"
#include "named_sizes.hpp"

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
            return true;  // no zero point (Q15)
        } else {
            const i64 whole = convert<i64>(value);
            return whole >= lowest && whole <= highest && (is_signed(dtype_of<Type>) || whole >= 0);
        }
    }
};
/// The number of the first element, in row-major order, that isn't in the range; -1: all are.
template <class Type>
SINTER_FORCE_INLINE i64 first_outside(const parameter_range& range, const scalar_operand<Type>& from) {
    return range.holds(from.value) ? -1 : 0;
}
template <class Type, class Extents, class Layout, int Alignment>
SINTER_FORCE_INLINE i64 first_outside(const parameter_range& range, const tensor_view<Type, Extents, Layout, host_memory, Alignment>& from) {
    using element = remove_cvref<Type>;
    if (!range.is_scale && sizeof(Type) == 1 && range.lowest <= (is_signed(dtype_of<element>) ? -128 : 0) && range.highest >= (is_signed(dtype_of<element>) ? 127 : 255)) return -1;
    const view_state state = from.state();
    if (from.data() == nullptr) return -1;  // said by the binding
    i64 index[max_rank]{}, offset = 0;
    for (int i = 0; i < state.sizes.rank; ++i)
        if (state.sizes.size[i] <= 0) return -1;
    for (i64 number = 0;; ++number) {
        if (!range.holds(from.data()[offset])) return number;
        int axis = state.sizes.rank - 1;
        for (; axis >= 0; --axis) {
            offset += state.stride[axis];
            if (++index[axis] < state.sizes.size[axis]) break;
            offset -= state.stride[axis] * state.sizes.size[axis];
            index[axis] = 0;
        }
        if (axis < 0) return -1;
    }
}
template <class View>
SINTER_FORCE_INLINE i64 first_outside(const parameter_range& range, const table_operand<View>& from) {
    return first_outside(range, from.value);
}
template <class Other>
SINTER_FORCE_INLINE i64 first_outside(const parameter_range&, const Other&) {
    return -1;
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
            if (!bad.ok()) return;
            const i64 outside = first_outside(range, get<int(node[Index].bits)>(assigned.operands));
            if (outside >= 0) bad = status{error::bad_scale, int(node[Index].bits), -1, range.is_scale ? 0 : 1, outside};
        } else if constexpr (node[Index].kind == node_kind::index_map && node[Index].op->map.kind != map_kind::slice) {  // all of it, in other places
            argument<node[Index].argument[0]>(assigned, range, bad);
        } else if constexpr (node[Index].kind == node_kind::map && looks_up(static_cast<const nth_type<Index, Node...>*>(nullptr))) {
            argument<node[Index].argument[0]>(assigned, range, bad);
        } else if constexpr (node[Index].kind == node_kind::literal) {
            const bool floating = node[Index].literal == literal_kind::floating, large = node[Index].literal == literal_kind::large;
            const bool good = floating ? range.holds(__builtin_bit_cast(double, node[Index].bits)) : !large && range.holds(static_cast<i64>(node[Index].bits));
            if (bad.ok() && !good) bad = status{error::bad_scale, -1, -1, range.is_scale ? 0 : 1, 0};
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

/// The integers that every consumer of a number holds.
struct integer_range {
    i64 low = i64(u64(1) << 63);
    u64 high = ~u64(0);
    constexpr void meet(dtype type) {
        const int width = int(dtype_size(type)) * 8;
        const u64 most = ~u64(0) >> (64 - width + is_signed(type));
        const i64 least = is_signed(type) ? -i64(most) - 1 : 0;
        if (least > low) low = least;
        if (most < high) high = most;
    }
    /// Is there a number of type `Type` outside?
    template <class Type>
    static constexpr integer_range of() {
        integer_range all;
        all.meet(dtype_of<Type>);
        return all;
    }
    template <class Type>
    SINTER_FORCE_INLINE constexpr bool holds(Type value) const {
        if constexpr (Type(-1) < Type(0))
            if (value < 0) return i64(value) >= low;
        return u64(value) <= high;
    }
    /// The bound that a number which it doesn't hold is beyond.
    template <class Type>
    SINTER_FORCE_INLINE constexpr i64 bound_beside(Type value) const {
        if constexpr (Type(-1) < Type(0))  // (nvcc warns of comparing an unsigned number with 0)
            if (value < 0) return low;
        return i64(high);
    }
};
template <class Leaf>
inline constexpr bool is_integer_number = false;
template <class Type>
inline constexpr bool is_integer_number<scalar_operand<Type>> = is_integer(dtype_of<Type>);

/// Such a number, or a bool, which counts as 0 or 1 among them.
template <class Leaf>
inline constexpr bool is_number_operand = false;
template <class Type>
inline constexpr bool is_number_operand<scalar_operand<Type>> = is_integer(dtype_of<Type>) || dtype_of<Type> == dtype::boolean;
/// One of two arguments by a third, as `where` does.
template <class Node>
inline constexpr bool is_selection = false;
template <class Op, int... Argument>
inline constexpr bool is_selection<map<Op, Argument...>> = requires { Op::selects; };

template <class Assignment>
struct number_check;
template <class... Node, int... Roots, class... Leaves, class... Outputs>
struct number_check<assignment<program<Node...>, indices<Roots...>, list<Leaves...>, list<Outputs...>>> {
    using assignment_type = assignment<program<Node...>, indices<Roots...>, list<Leaves...>, list<Outputs...>>;
    using kernel = lowering_of<assignment_type>;
    /// What the consumers of the nodes that `is_it` names hold.
    template <class Is>
    static constexpr integer_range range_of_those(const Is& is_it) {
        integer_range out;
        for (int i = 0; i < kernel::node_count; ++i)
            if (kernel::node[i].kind == node_kind::map)
                for (int a = 0; a < kernel::node[i].arity; ++a)
                    if (is_it(kernel::node[i].argument[a]) && is_integer(kernel::facts.argument_type[i][a])) out.meet(kernel::facts.argument_type[i][a]);
        for (int o = 0; o < kernel::output_count; ++o)
            if (is_it(kernel::root[o]) && is_integer(kernel::output_type[o])) out.meet(kernel::output_type[o]);
        return out;
    }
    static constexpr integer_range range_of(int leaf) {
        return range_of_those([&](int node) { return kernel::node[node].kind == node_kind::leaf && int(kernel::node[node].bits) == leaf; });
    }

    // Numbers made of numbers alone, as k * 2 is: integers of 64 bits until they meet a tensor, whose values they must be as k would. So must
    // each of the two that a tensor of bools chooses between, as in where(x > 9, k, 1), and what is made of them.
    enum class made : u8 { of_tensors, of_choices, of_numbers };
    struct origins {
        made of[sizeof...(Node)];
        int choice[sizeof...(Node)];  ///< where a tensor chooses between numbers: which choice of the program it is; -1 elsewhere
        int choices;
        bool any_computed;
    };
    static constexpr bool is_number_type(dtype type) { return type == dtype::i64 || type == dtype::boolean; }
    /// In one pass: a node's arguments stand before it.
    static constexpr origins find_origins() {
        constexpr bool is_number[sizeof...(Leaves) + 1] = {is_number_operand<Leaves>..., false};
        constexpr bool selects[sizeof...(Node)] = {is_selection<Node>...};
        origins out{};
        for (int i = 0; i < kernel::node_count; ++i) {
            const node_value& node = kernel::node[i];
            const value_type type = kernel::facts.type[i];
            out.choice[i] = -1;
            if (node.kind == node_kind::leaf) {
                out.of[i] = is_number[node.bits] ? made::of_numbers : made::of_tensors;
            } else if (node.kind == node_kind::literal) {
                out.of[i] = node.literal == literal_kind::integer || node.literal == literal_kind::boolean ? made::of_numbers : made::of_tensors;
            } else if (node.kind == node_kind::index_map) {
                out.of[i] = out.of[node.argument[0]];
            } else if (node.kind == node_kind::map && (type.type == dtype::boolean || (type.weak && type.type == dtype::i64))) {
                const bool chooses = selects[i] && type.type == dtype::i64 && out.of[node.argument[0]] != made::of_numbers;
                made from = chooses ? made::of_choices : made::of_numbers;
                for (int a = chooses; a < node.arity; ++a) {
                    const made own = is_number_type(kernel::facts.argument_type[i][a]) ? out.of[node.argument[a]] : made::of_tensors;
                    if (own < from) from = own;
                }
                out.of[i] = from;
                if (chooses && from == made::of_choices) out.choice[i] = out.choices++;
            }
            out.any_computed = out.any_computed || is_computed(out, i);
        }
        return out;
    }
    static constexpr bool is_computed(const origins& from, int index) {
        const node_kind kind = kernel::node[index].kind;
        return (kind == node_kind::map || kind == node_kind::index_map) && kernel::facts.type[index].type == dtype::i64 && from.of[index] != made::of_tensors;
    }
    static constexpr origins origin = find_origins();
    /// What a call's choices are tried as: a bit each. Of many, all one way and all the other.
    static constexpr bool all_ways = origin.choices <= 6;
    static constexpr u32 ways = all_ways ? u32(1) << origin.choices : 2;

    template <dtype Type>
    static SINTER_FORCE_INLINE auto lane_of(i64 value) {
        if constexpr (Type == dtype::boolean)
            return lane::scalar<bool>(value != 0);
        else
            return lane::scalar<i64>(value);
    }
    /// A node's value, a bool as 0 or 1, from those before it.
    template <int Index, int... Argument>
    static SINTER_FORCE_INLINE void find_value(i64* value, const assignment_type& assigned, [[maybe_unused]] u32 chosen, indices<Argument...>) {
        constexpr node_value node = kernel::node[Index];
        if constexpr (node.kind == node_kind::leaf)
            value[Index] = static_cast<i64>(get<int(node.bits)>(assigned.operands).value);
        else if constexpr (node.kind == node_kind::literal)
            value[Index] = static_cast<i64>(node.bits);
        else if constexpr (node.kind == node_kind::index_map)
            value[Index] = value[node.argument[0]];
        else if constexpr (origin.choice[Index] >= 0)
            value[Index] = value[chosen >> origin.choice[Index] % 32 & 1 ? node.argument[1] : node.argument[2]];
        else
            value[Index] = static_cast<i64>(
                node_traits<nth_type<Index, Node...>>::op::apply(lane_of<kernel::facts.argument_type[Index][Argument]>(value[node.argument[Argument]])...).value);
    }
    template <int Index>
    static SINTER_FORCE_INLINE void check_computed(i64* value, const assignment_type& assigned, u32 chosen, status& bad) {
        if constexpr (origin.of[Index] != made::of_tensors) {
            find_value<Index>(value, assigned, chosen, make_indices<kernel::node[Index].arity>{});
            if constexpr (is_computed(origin, Index)) {
                constexpr integer_range range = range_of_those([](int node) { return node == Index; }), all = integer_range::of<i64>();
                if constexpr (range.low > all.low || range.high < all.high)
                    if (!range.holds(value[Index]) && bad.ok()) bad = status{error::number_out_of_range, -1, -1, range.bound_beside(value[Index]), value[Index]};
            }
        }
    }
    template <int Leaf>
    static SINTER_FORCE_INLINE void check_leaf(const assignment_type& assigned, status& bad) {
        if constexpr (is_integer_number<nth_type<Leaf, Leaves...>>) {
            using type = typename nth_type<Leaf, Leaves...>::element;
            constexpr integer_range range = range_of(Leaf), all = integer_range::of<type>();
            if constexpr (range.low > all.low || range.high < all.high) {
                const type value = get<Leaf>(assigned.operands).value;
                if (!range.holds(value) && bad.ok()) bad = status{error::number_out_of_range, Leaf, -1, range.bound_beside(value), i64(value)};
            }
        }
    }
    template <int... Leaf, int... Index>
    static SINTER_FORCE_INLINE status verdict(const assignment_type& assigned, indices<Leaf...>, indices<Index...>) {
        status bad{};
        const int done[] = {0, (check_leaf<Leaf>(assigned, bad), 0)...};
        (void)done;
        if constexpr (origin.any_computed) {
            i64 value[sizeof...(Node)];
            for (u32 way = 0; way < ways; ++way) (check_computed<Index>(value, assigned, all_ways ? way : 0 - way, bad), ...);
        }
        return bad;
    }
};
/// May there be a number out of range? Most formulas have none, and pay for this question alone.
template <class Assignment>
inline constexpr bool may_have_numbers = false;
template <class... Node, class Roots, class... Leaves, class Outputs>
inline constexpr bool may_have_numbers<assignment<program<Node...>, Roots, list<Leaves...>, Outputs>> = (is_number_operand<Leaves> || ...) || (is_selection<Node> || ...);

/// Runs an assignment whose numbers are sound, and whose names have one size each.
template <class Executor, class Assignment>
SINTER_FORCE_INLINE status launch_checked(const Executor& executor, const Assignment& assigned) {
    if constexpr (names_of_call<Assignment>::some_twice) {
        const status bad = names_of_call<Assignment>::verdict(assigned);
        if (!bad.ok()) return bad;
    }
    if constexpr (parameter_check<Assignment>::any) {
        const status bad = parameter_check<Assignment>::verdict(assigned);
        if (!bad.ok()) return bad;
    }
    if constexpr (may_have_numbers<Assignment>) {
        const status bad = number_check<Assignment>::verdict(assigned, make_indices<lowering_of<Assignment>::leaf_count>{}, make_indices<lowering_of<Assignment>::node_count>{});
        if (!bad.ok()) return bad;
    }
    return executor.launch(assigned);
}

}  // namespace sinter::detail
