// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks of numbers that are known only when run. Of quantization parameters: every scale finite and greater than 0, every zero
// point a code; once per call, before anything is written, of numbers and of tensors in host memory. What a kernel computes itself, and what
// lies on a device, is as the formulas make it (a NaN or a zero gives the lowest code). Of C++ integers beside integer tensors: they are
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
template <class Type>
SINTER_FORCE_INLINE bool holds_all(const parameter_range& range, const scalar_operand<Type>& from) {
    return range.holds(from.value);
}
template <class Type, class Extents, class Layout, int Alignment>
SINTER_FORCE_INLINE bool holds_all(const parameter_range& range, const tensor_view<Type, Extents, Layout, host_memory, Alignment>& from) {
    using element = remove_cvref<Type>;
    if (!range.is_scale && sizeof(Type) == 1 && range.lowest <= (is_signed(dtype_of<element>) ? -128 : 0) && range.highest >= (is_signed(dtype_of<element>) ? 127 : 255)) return true;
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
        } else if constexpr (node[Index].kind == node_kind::index_map && node[Index].op->map.kind != map_kind::slice) {  // all of it, in other places
            argument<node[Index].argument[0]>(assigned, range, bad);
        } else if constexpr (node[Index].kind == node_kind::map && looks_up(static_cast<const nth_type<Index, Node...>*>(nullptr))) {
            argument<node[Index].argument[0]>(assigned, range, bad);
        } else if constexpr (node[Index].kind == node_kind::literal) {
            const bool floating = node[Index].literal == literal_kind::floating, large = node[Index].literal == literal_kind::large;
            const bool good = floating ? range.holds(__builtin_bit_cast(double, node[Index].bits)) : !large && range.holds(static_cast<i64>(node[Index].bits));
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

template <class Leaf>
inline constexpr bool is_number_operand = false;
template <class Type>
inline constexpr bool is_number_operand<scalar_operand<Type>> = is_integer(dtype_of<Type>) || dtype_of<Type> == dtype::boolean;
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
    static constexpr bool is_number[sizeof...(Leaves) + 1] = {is_number_operand<Leaves>..., false};  // (clang asks for the bound)
    static constexpr bool is_number_type(dtype type) { return type == dtype::i64 || type == dtype::boolean; }
    /// Made of integers and bools that the call knows; with `Choices`, of such that a tensor chooses between, too.
    template <bool Choices>
    static constexpr bool is_made_of_numbers(int index) {
        const node_value& node = kernel::node[index];
        if (node.kind == node_kind::leaf) return is_number[node.bits];
        if (node.kind == node_kind::literal) return node.literal == literal_kind::integer || node.literal == literal_kind::boolean;
        if (node.kind == node_kind::index_map) return is_made_of_numbers<Choices>(node.argument[0]);
        const value_type type = kernel::facts.type[index];
        if (node.kind != node_kind::map || (type.type != dtype::boolean && !(type.weak && type.type == dtype::i64))) return false;
        const bool chooses = Choices && selects[index] && type.type == dtype::i64;
        for (int a = chooses; a < node.arity; ++a)
            if (!is_number_type(kernel::facts.argument_type[index][a]) || !is_made_of_numbers<Choices>(node.argument[a])) return false;
        return true;
    }
    static constexpr bool selects[sizeof...(Node)] = {is_selection<Node>...};
    /// Where a tensor chooses between numbers: a bit each, which says what it chose.
    static constexpr bool is_choice(int index) {
        return selects[index] && !is_made_of_numbers<false>(index) && is_made_of_numbers<true>(index);
    }
    static constexpr int choices_before(int index) {
        int count = 0;
        for (int i = 0; i < index; ++i) count += is_choice(i);
        return count;
    }
    static constexpr int choices = choices_before(kernel::node_count);
    static constexpr bool is_computed(int index) {
        const node_kind kind = kernel::node[index].kind;
        return (kind == node_kind::map || kind == node_kind::index_map) && kernel::facts.type[index].type == dtype::i64 && is_made_of_numbers<true>(index);
    }
    static constexpr bool find_computed() {
        for (int i = 0; i < kernel::node_count; ++i)
            if (is_computed(i)) return true;
        return false;
    }
    static constexpr bool any_computed = find_computed();
    template <dtype To, class From>
    static SINTER_FORCE_INLINE auto as(From from) {
        if constexpr (To == dtype::boolean)
            return lane::scalar<bool>(static_cast<bool>(from.value));
        else
            return lane::scalar<i64>(static_cast<i64>(from.value));
    }
    template <int Index>
    static SINTER_FORCE_INLINE auto value_of(const assignment_type& assigned, u32 chosen) {
        constexpr node_value node = kernel::node[Index];
        constexpr dtype type = kernel::facts.type[Index].type == dtype::boolean ? dtype::boolean : dtype::i64;
        if constexpr (node.kind == node_kind::leaf)
            return as<type>(get<int(node.bits)>(assigned.operands));
        else if constexpr (node.kind == node_kind::literal)
            return as<type>(lane::scalar<i64>(static_cast<i64>(node.bits)));
        else if constexpr (node.kind == node_kind::index_map)
            return value_of<node.argument[0]>(assigned, chosen);
        else if constexpr (is_choice(Index))
            return chosen >> choices_before(Index) & 1 ? as<type>(value_of<node.argument[1]>(assigned, chosen)) : as<type>(value_of<node.argument[2]>(assigned, chosen));
        else
            return value_of<Index>(assigned, chosen, make_indices<node.arity>{});
    }
    template <int Index, int... Argument>
    static SINTER_FORCE_INLINE auto value_of(const assignment_type& assigned, u32 chosen, indices<Argument...>) {
        return node_traits<nth_type<Index, Node...>>::op::apply(
            as<kernel::facts.argument_type[Index][Argument]>(value_of<kernel::node[Index].argument[Argument]>(assigned, chosen))...);
    }
    /// (Of more choices than these, all one way and all the other.)
    static constexpr u32 ways = choices <= 6 ? u32(1) << choices : 2;
    template <int Index>
    static SINTER_FORCE_INLINE void check_computed(const assignment_type& assigned, status& bad) {
        if constexpr (is_computed(Index)) {
            constexpr integer_range range = range_of_those([](int node) { return node == Index; }), all = integer_range::of<i64>();
            if constexpr (range.low > all.low || range.high < all.high) {
                for (u32 way = 0; way < ways; ++way) {
                    const i64 value = value_of<Index>(assigned, choices <= 6 ? way : 0 - way).value;
                    if (!range.holds(value) && bad.ok()) bad = status{error::number_out_of_range, -1, -1, range.bound_beside(value), value};
                }
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
        if constexpr (any_computed) {
            const int more[] = {0, (check_computed<Index>(assigned, bad), 0)...};
            (void)more;
        }
        return bad;
    }
};
/// Is there a number that could be out of range? Most formulas have none, and pay for this question alone.
template <class Assignment>
inline constexpr bool has_integer_numbers = false;
template <class... Node, class Roots, class... Leaves, class Outputs>
inline constexpr bool has_integer_numbers<assignment<program<Node...>, Roots, list<Leaves...>, Outputs>> = (is_number_operand<Leaves> || ...) || (is_selection<Node> || ...);

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
    if constexpr (has_integer_numbers<Assignment>) {
        const status bad = number_check<Assignment>::verdict(assigned, make_indices<lowering_of<Assignment>::leaf_count>{}, make_indices<lowering_of<Assignment>::node_count>{});
        if (!bad.ok()) return bad;
    }
    return executor.launch(assigned);
}

}  // namespace sinter::detail
