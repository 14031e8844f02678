// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether an assignment is one kernel, and the mistake where it isn't: the rule that is broken and the shapes of the operands. What
// lowering finds out is lower.hpp's; here it gets words.
//
//     kernel_check<decltype(y = softmax(x))>::ok
#pragma once

#include "lower.hpp"

namespace sinter {

namespace detail {
/// The rule that a nest's violation breaks.
template <nest_violation Why>
struct rule_of_nest;
// clang-format off
template <> struct rule_of_nest<nest_violation::incompatible_axes> { using type = rule::one_set_of_folded_axes; };
template <> struct rule_of_nest<nest_violation::different_sizes> { using type = rule::folded_sizes_match; };
template <> struct rule_of_nest<nest_violation::map_of_reduction> { using type = rule::map_of_reduction; };
template <> struct rule_of_nest<nest_violation::map_of_broadcast> { using type = rule::reshape_of_broadcast; };
template <> struct rule_of_nest<nest_violation::too_large> { using type = rule::fits_one_kernel; };
// clang-format on
/// The shapes that a program's operands have, for its mistakes.
template <class Leaf>
struct printed_leaf {
    using type = printed<typename Leaf::extents_type>;
};
template <class Type>
struct printed_leaf<scalar_operand<Type>> {
    using type = sizes<>;
};
template <class View>
struct printed_leaf<table_operand<View>> {
    using type = printed<typename View::extents_type>;
};
template <class Extents>
struct printed_leaf<shape_operand<Extents>> {
    using type = printed<Extents>;
};
template <class Assignment>
struct operand_shapes;
template <class Program, class Roots, class... Leaves, class Outputs>
struct operand_shapes<assignment<Program, Roots, list<Leaves...>, Outputs>> {
    using type = list<typename printed_leaf<Leaves>::type...>;
};
}  // namespace detail
/// Is an assignment one kernel? `kernel_check<Assignment>::type` is a mistake, or void. `ok` for those who report it otherwise.
template <class Assignment, nest_violation Why = lowering_of<Assignment>::value.why>
struct kernel_check {
    static constexpr bool ok = false;
    using type = mistake<typename detail::rule_of_nest<Why>::type, typename detail::operand_shapes<Assignment>::type>;
};
template <class Assignment>
struct kernel_check<Assignment, nest_violation::none> {
    static constexpr bool ok = true;
    using type = void;
};
/// The same for code that knows the violation alone: naming `ok` gives the message.
template <nest_violation Why>
struct one_kernel {
    static constexpr bool ok = sizeof(mistake<typename detail::rule_of_nest<Why>::type>) > 0;
};
template <>
struct one_kernel<nest_violation::none> {
    static constexpr bool ok = true;
};

}  // namespace sinter
