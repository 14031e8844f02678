// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assignments: `view = expression`, `view += expression`, `tie(a, b) = fused_operator(...)`, and several of them joined into
// one kernel. An assignment object runs nothing; `run` takes it. Whether an output's shape and type fit is decided here.
#pragma once

#include "expression.hpp"
#include "ops/pointwise.hpp"
#include "ops/quantize.hpp"

namespace sinter {

/// Programs' values stored to views: output i takes root i.
template <class Program, class Roots, class Leaves, class Outputs>
struct assignment;
template <class... Node, int... Roots, class... Leaves, class... Outputs>
struct [[nodiscard(SINTER_DROPPED_ASSIGNMENT)]] assignment<
    program<Node...>, indices<Roots...>, list<Leaves...>, list<Outputs...>> {
    using program_type = program<Node...>;
    using roots = indices<Roots...>;
    using leaves = list<Leaves...>;
    using outputs = list<Outputs...>;
    static constexpr int output_count = int(sizeof...(Outputs));
    pack<Leaves...> operands;
    pack<Outputs...> targets;
};

namespace detail {

template <class Leaf>
struct leaf_facts;
template <class Type, class Extents, class Layout, class Space, int Alignment>
struct leaf_facts<tensor_view<Type, Extents, Layout, Space, Alignment>> {
    static constexpr shape sizes = Extents::static_shape;
    static constexpr value_type type{dtype_of<remove_cvref<Type>>, false};
};
template <class Type>
struct leaf_facts<scalar_operand<Type>> {
    static constexpr shape sizes{};
    static constexpr dtype own = dtype_of<Type>;
    static constexpr value_type type{is_float(own) ? dtype::f32 : own == dtype::boolean ? dtype::boolean : dtype::i64, true};
};
template <class View>
struct leaf_facts<table_operand<View>> {
    static constexpr shape sizes{};
    static constexpr value_type type{dtype::f32, true};
};
template <class Extents>
struct leaf_facts<shape_operand<Extents>> {
    static constexpr shape sizes = Extents::static_shape;
    static constexpr value_type type{dtype::i64, false};
};

/// May a value of shape `from` be stored to `to`? It must broadcast to exactly that shape.
constexpr bool stores_to(const shape& from, const shape& to) {
    if (from.rank > to.rank) {
        for (int i = 0; i < from.rank - to.rank; ++i)
            if (from.size[i] != 1) return false;
    }
    for (int distance = 0; distance < to.rank; ++distance) {
        const i64 source = from.from_right(distance), target = to.from_right(distance);
        i64 both = 0;
        if (broadcast_size(source, target, both) != violation::none) return false;
        if (target == 1 && source != 1 && source != dyn) return false;
        if (target >= 0 && both != target) return false;
    }
    return true;
}
/// Implicit conversion at a store: between floats, to a float, and to an integer type that holds every value.
constexpr bool converts_silently(value_type from, dtype to) {
    if (is_quantized_type(to)) return is_float(from.type) || from.weak || from.type == dtype::boolean;
    if (from.type == to || is_float(to)) return true;
    if (from.weak) return is_integer(to) && !is_float(from.type);
    if (is_float(from.type) || to == dtype::boolean) return false;
    if (from.type == dtype::u64) return false;  // promotion gives i64, which doesn't hold its upper half
    return from.type == dtype::boolean || promote(from.type, to) == to;
}
}  // namespace detail

namespace detail {
/// The parameters of the codes that a value is made of: of every node of a program, as far as it only moves or chooses codes of one
/// quantized type.
struct code_origin {
    qparams parameters{};
    bool codes = false;
};
template <class Leaf>
constexpr code_origin origin_of_leaf() {
    if constexpr (requires { typename Leaf::element; }) {
        using element = remove_cvref<typename Leaf::element>;
        if constexpr (is_quantized<element>) return {element::parameters, true};
    }
    return {};
}
template <class Program, class... Leaves>
struct code_origins;
template <class... Node, class... Leaves>
struct code_origins<program<Node...>, Leaves...> {
    static constexpr int size = int(sizeof...(Node));
    static constexpr array<code_origin, size> make() {
        const node_value node[] = {node_traits<Node>::value...};
        const code_origin leaf[] = {origin_of_leaf<Leaves>()..., code_origin{}};
        array<code_origin, size> out{};
        for (int i = 0; i < size; ++i) {
            if (node[i].kind == node_kind::leaf) {
                out[i] = leaf[node[i].bits];
            } else if (node[i].kind == node_kind::index_map) {
                out[i] = out[node[i].argument[0]];
            } else if ((node[i].kind == node_kind::map || node[i].kind == node_kind::reduce) && node[i].op->keeps_codes) {
                const int first = node[i].arity == 3 ? 1 : 0;  // the condition of `where`
                out[i] = out[node[i].argument[first]];
                for (int a = first + 1; a < node[i].arity; ++a) {
                    const code_origin& other = out[node[i].argument[a]];
                    out[i].codes = out[i].codes && other.codes && other.parameters == out[i].parameters;
                }
            }
        }
        return out;
    }
    static constexpr array<code_origin, size> value = make();
};
/// Are a value's codes of another scale than the output's? A mistake, or `nothing_wrong`.
template <class Output, dtype Type, class Program, int Root, class... Leaves>
constexpr auto scale_verdict() {
    using element = remove_cvref<typename Output::element>;
    if constexpr (is_quantized<element> && is_quantized_type(Type)) {
        constexpr code_origin from = code_origins<Program, Leaves...>::value[Root];
        constexpr qparams theirs = from.parameters, mine = element::parameters;
        if constexpr (from.codes && !(theirs == mine))
            return refused<mistake<rule::same_scale, scale_and_zero<mine.scale_bits, mine.zero>, scale_and_zero<theirs.scale_bits, theirs.zero>>>{};
        else
            return nothing_wrong{};
    } else
        return nothing_wrong{};
}

/// May a value be stored to an output? A mistake, or `nothing_wrong`.
template <class Output, class Described>
constexpr auto store_verdict() {
    using extents_type = typename Output::extents_type;
    using value_extents = typename Described::extents_type;
    constexpr dtype to = dtype_of<remove_cvref<typename Output::element>>;
    if constexpr (is_const<typename Output::element>)
        return refused<mistake<rule::output_is_mutable, printed<extents_type>, typename Output::element>>{};
    else if constexpr (!stores_to(value_extents::static_shape, extents_type::static_shape))
        return refused<mistake<rule::output_has_the_shape, printed<extents_type>, printed<value_extents>>>{};
    else if constexpr (is_quantized_type(to) && !converts_silently(Described::type, to))
        return refused<mistake<rule::codes_or_numbers, store_to<to>, of_type<Described::type.type>>>{};
    else if constexpr (!converts_silently(Described::type, to))
        return refused<mistake<rule::store_keeps_values, store_to<to>, of_type<Described::type.type>>>{};
    else
        return nothing_wrong{};
}
template <class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves, class Output>
SINTER_INLINE auto assign(const expression<Program, Root, Extents, Type, Weak, Leaves...>& value, const Output& output) {
    using verdict_type = first_wrong<decltype(store_verdict<Output, described<Extents, Type, Weak>>()),
                                     decltype(scale_verdict<Output, Type, Program, Root, Leaves...>())>;
    if constexpr (!is_same<verdict_type, nothing_wrong>)
        return verdict_type{};
    else if constexpr (is_quantized<remove_cvref<typename Output::element>> && Type == dtype::f64)
        return assign(apply_direct<nearest_code_op<remove_cvref<typename Output::element>::parameters>>(value), output);  // divided as f64
    else
        return assignment<Program, indices<Root>, list<Leaves...>, list<Output>>{value.operands, {{{output}}}};
}
template <class Output, class Right>
SINTER_INLINE auto assign_any(const Output& output, Right&& right) {
    if constexpr (operand_kind_of<Right> == operand_kind::poison)
        return poison{};
    else
        return assign(as_expression(static_cast<Right&&>(right)), output);
}
template <class Type>
inline constexpr int value_count = 0;
template <class Program, int... Roots, class Types, class... Leaves>
inline constexpr int value_count<multi_expression<Program, indices<Roots...>, Types, Leaves...>> = int(sizeof...(Roots));

/// Outputs whose real values are a formula (quantized and packed views): they take any tensor by `=`, and have `+=` of their own.
template <class Type>
inline constexpr bool is_coded_output = false;
/// What `view = right` does.
template <class Output, class Right>
SINTER_INLINE auto assign_checked(const Output& output, Right&& right) {
    constexpr int kind = operand_kind_of<Right>;
    using plain = remove_cvref<Right>;
    if constexpr (operand_kind_of<Output> == operand_kind::poison || (is_tensor<plain> && !is_coded_output<Output>))  // y = x: the view's own operator refuses it
        return poison{};
    else if constexpr (value_count<plain> > 0)
        return refused<mistake<rule::tie_takes_every_value, number<1>, number<value_count<plain>>>>{};
    else if constexpr (kind == operand_kind::none || kind == operand_kind::traced || kind == operand_kind::name)
        return refused<mistake<rule::right_side_is_operand, plain>>{};
    else
        return assign_any(output, static_cast<Right&&>(right));
}
}  // namespace detail

/// What `view = right` does; found by argument-dependent lookup from the view's operator.
template <class Output, class Right>
SINTER_INLINE auto assign_to_view(const Output& output, Right&& right)
    -> detail::outcome<decltype(detail::assign_checked(output, static_cast<Right&&>(right)))> {
    return detail::assign_checked(output, static_cast<Right&&>(right));
}

/// `fill(y, value)`: the same as `y = value`.
template <class Type, class Extents, class Layout, class Space, int Alignment, class Value>
    requires is_scalar_v<Value>
SINTER_INLINE auto fill(const tensor_view<Type, Extents, Layout, Space, Alignment>& output, Value value)
    -> detail::outcome<decltype(detail::assign_any(output, value))> {
    return detail::assign_any(output, value);
}

namespace detail {
/// What `y += x` and its kin take, or refuse with words.
template <class Right>
concept compound_right = operand<Right> || bare_memory<Right> || (value_count<remove_cvref<Right>> > 0);
/// A mistake in the sum of `y += x` passes on as it is.
template <class Op, class Output, class Right>
SINTER_INLINE auto compound_assign(const Output& output, Right&& right) {
    if constexpr (value_count<remove_cvref<Right>> > 0) {
        return refused<mistake<rule::tie_takes_every_value, number<1>, number<value_count<remove_cvref<Right>>>>>{};
    } else {
        using value = decltype(apply<Op>(output, static_cast<Right&&>(right)));
        if constexpr (is_same<outcome<value>, value>)
            return assign_any(output, apply<Op>(output, static_cast<Right&&>(right)));
        else
            return value{};
    }
}
}  // namespace detail
#define SINTER_COMPOUND(compound, op)                                                                                     \
    template <class Type, class Extents, class Layout, class Space, int Alignment, class Right>                           \
        requires(detail::compound_right<Right>)                                                                           \
    SINTER_INLINE auto compound(const tensor_view<Type, Extents, Layout, Space, Alignment>& output, Right&& right)        \
        ->detail::outcome<decltype(detail::compound_assign<op>(output, static_cast<Right&&>(right)))> {                   \
        return detail::compound_assign<op>(output, static_cast<Right&&>(right));                                          \
    }
SINTER_COMPOUND(operator+=, add_op)
SINTER_COMPOUND(operator-=, sub_op)
SINTER_COMPOUND(operator*=, mul_op)
SINTER_COMPOUND(operator/=, div_op)
#undef SINTER_COMPOUND
namespace detail {
/// What `x += y` gives for a value of a traced lambda: the value, which notes a mistake in x + y.
template <class Op, class Right, class Result = applied<Op, traced&, Right>>
using compounded = conditional<is_silent<Result>, traced&, Result>;
/// Of `number += formula` and `formula += x` outside of one.
template <class Left>
struct refused_compound {
    using type = mistake<rule::number_takes_no_formula, Left>;
};
template <class Left>
    requires(operand_kind_of<Left> == operand_kind::expression && !is_coded_output<Left>)
struct refused_compound<Left> {
    using type = mistake<rule::formula_stays_as_it_is, printed<typename Left::extents_type>>;
};
}  // namespace detail
// A value of a traced lambda is a name for a node: `x += y` makes it the name of another one.
#define SINTER_COMPOUND(compound, op)                                                                  \
    template <operand Right>                                                                           \
    SINTER_HOST_DEVICE constexpr detail::compounded<op, Right> compound(traced& value, Right&& right) { \
        if constexpr (is_same<detail::compounded<op, Right>, traced&>)                                 \
            return value = detail::apply<op>(value, static_cast<Right&&>(right));                      \
        else                                                                                           \
            return {};                                                                                 \
    }                                                                                                  \
    template <class Rule, class... What, class Right>                                                  \
    SINTER_HOST_DEVICE constexpr silent<Rule, What...>& compound(silent<Rule, What...>& value, const Right&) { \
        return value;                                                                                  \
    }                                                                                                  \
    template <class Left, class Right>                                                                 \
        requires((is_scalar_v<remove_cvref<Left>> && tensor_operand<Right>) ||                                   \
                 (operand_kind_of<Left> == operand_kind::expression && !detail::is_coded_output<remove_cvref<Left>>))              \
    SINTER_HOST_DEVICE constexpr typename detail::refused_compound<remove_cvref<Left>>::type compound(Left&&, Right&&) { \
        return {};                                                                                     \
    }
SINTER_COMPOUND(operator+=, add_op)
SINTER_COMPOUND(operator-=, sub_op)
SINTER_COMPOUND(operator*=, mul_op)
SINTER_COMPOUND(operator/=, div_op)
#undef SINTER_COMPOUND

namespace detail {
/// What is wrong with an output names it, from 0, where it is one of several.
template <int Index>
struct output_number {};
template <int Index, class Verdict>
struct names_output {
    using type = Verdict;
};
template <int Index, class Rule, class... What>
struct names_output<Index, silent<Rule, What...>> {
    using type = silent<Rule, What..., output_number<Index>>;
};
template <class Program, class... Leaves, int... Index, int... Roots, class... Types, class... Outputs>
constexpr auto tied_verdict(list<Leaves...>, indices<Index...>, indices<Roots...>, list<Types...>, list<Outputs...>) {
    return first_wrong<typename names_output<Index, decltype(store_verdict<Outputs, Types>())>::type...,
                       typename names_output<Index, decltype(scale_verdict<Outputs, Types::type.type, Program, Roots, Leaves...>())>::type...>{};
}
template <class Program, int... Roots, class... Types, class... Leaves, class... Outputs>
SINTER_INLINE auto assign_tied(const multi_expression<Program, indices<Roots...>, list<Types...>, Leaves...>& values,
                               const pack<Outputs...>& targets) {
    if constexpr (sizeof...(Roots) != sizeof...(Outputs))
        return refused<mistake<rule::tie_takes_every_value, number<i64(sizeof...(Outputs))>, number<i64(sizeof...(Roots))>>>{};
    else {
        using verdict_type = decltype(tied_verdict<Program>(list<Leaves...>{}, make_indices<int(sizeof...(Roots))>{}, indices<Roots...>{}, list<Types...>{}, list<Outputs...>{}));
        if constexpr (!is_same<verdict_type, nothing_wrong>)
            return verdict_type{};
        else
            return assignment<Program, indices<Roots...>, list<Leaves...>, list<Outputs...>>{values.operands, targets};
    }
}
template <class Right, class... Outputs>
SINTER_INLINE auto assign_tied(const Right&, const pack<Outputs...>&) {
    if constexpr (operand_kind_of<Right> == operand_kind::poison)
        return poison{};
    else
        return refused<mistake<rule::tie_takes_every_value, number<i64(sizeof...(Outputs))>, number<1>>>{};
}
/// tie(y) = formula: y = formula.
template <class Right, class Output>
    requires(operand_kind_of<Right> != operand_kind::none && operand_kind_of<Right> != operand_kind::several)
SINTER_INLINE auto assign_tied(const Right& values, const pack<Output>& target) {
    return assign_to_view(static_cast<const slot<0, Output>&>(target).value, values);
}
}  // namespace detail

/// Outputs for an operator with several values: `tie(h, y) = add_norm(x, r, w)`.
template <class... Outputs>
struct tied {
    pack<Outputs...> targets;

    template <class Right>
    [[nodiscard(SINTER_DROPPED_ASSIGNMENT)]] constexpr auto operator=(const Right& values) const
        -> detail::outcome<decltype(detail::assign_tied(values, targets))> {
        return detail::assign_tied(values, targets);
    }
};
template <class... Views>
    requires((operand_kind_of<Views> == operand_kind::view) && ...)
SINTER_INLINE auto tie(const Views&... views) {
    return tied<Views...>{{{{views}...}}};
}
/// tie(t, u) of owners
template <class... Types>
    requires((operand_kind_of<Types> == operand_kind::view || operand_kind_of<Types> == operand_kind::owner) && ...) &&
            ((operand_kind_of<Types> == operand_kind::owner) || ...)
SINTER_INLINE mistake<rule::owner_takes_no_formula, Types...> tie(const Types&...) {
    return {};
}

/// tie(pointer, y), tie(x + 1, y)
template <class... Types>
    requires(sizeof...(Types) > 0) && (!(operand_kind_of<Types> == operand_kind::view || operand_kind_of<Types> == operand_kind::owner) || ...) &&
            ((operand_kind_of<Types> != operand_kind::poison) && ...)
SINTER_INLINE mistake<rule::tie_takes_views, remove_cvref<Types>...> tie(const Types&...) {
    return {};
}
/// view(x, extents), view(x + y): x a view
template <class Value, class... Sizes>
    requires(operand_kind_of<Value> == operand_kind::view || operand_kind_of<Value> == operand_kind::expression) && (!is_index<Sizes> && ...)
SINTER_INLINE mistake<rule::view_is_of_memory, remove_cvref<Value>> view(const Value&, const Sizes&...) {
    return {};
}

/// outputs(x + y, x * y) outside of a lambda
template <class... Values>
    requires((operand<Values> && ...) && (detail::has_memory<Values> || ...))
SINTER_INLINE detail::outcome_of_call<refused<mistake<rule::outputs_of_a_lambda, given<int(sizeof...(Values))>>>, Values...> outputs(Values&&...) {
    return {};
}
/// outputs(), outputs(x, "name"), outputs(1, 2)
template <class... Values>
    requires(!((operand<Values> && ...) && (detail::has_memory<Values> || ...))) && (!is_same<remove_cvref<Values>, traced> && ...) &&
            (!detail::is_silent<remove_cvref<Values>> && ...) && ((operand_kind_of<Values> != operand_kind::several) && ...)
SINTER_INLINE mistake<rule::outputs_of_a_lambda, given<int(sizeof...(Values))>, remove_cvref<Values>...> outputs(const Values&...) {
    return {};
}

namespace detail {
template <class First, class Second>
struct joined_assignment;
template <class... Node, int... Roots, class... Leaves, class... Outputs, class... MoreNode, int... MoreRoots, class... MoreLeaves,
          class... MoreOutputs>
struct joined_assignment<assignment<program<Node...>, indices<Roots...>, list<Leaves...>, list<Outputs...>>,
                         assignment<program<MoreNode...>, indices<MoreRoots...>, list<MoreLeaves...>, list<MoreOutputs...>>> {
    static constexpr int nodes = int(sizeof...(Node));
    using type = assignment<
        typename append_program<program<Node...>,
                                typename shift_program<nodes, int(sizeof...(Leaves)), program<MoreNode...>>::type>::type,
        indices<Roots..., (MoreRoots + nodes)...>, list<Leaves..., MoreLeaves...>, list<Outputs..., MoreOutputs...>>;
};
template <class First>
SINTER_INLINE const First& join_assignments(const First& first) {
    return first;
}
template <class First, class Second, class... Rest>
SINTER_INLINE auto join_assignments(const First& first, const Second& second, const Rest&... rest) {
    using both = typename joined_assignment<First, Second>::type;
    return join_assignments(both{join(first.operands, second.operands), join(first.targets, second.targets)}, rest...);
}
template <class Type>
inline constexpr bool is_assignment = false;
template <class Program, class Roots, class Leaves, class Outputs>
inline constexpr bool is_assignment<assignment<Program, Roots, Leaves, Outputs>> = true;

/// An expression as an assignment to a row-major output of its own shape and type: for plans.
template <class Expression>
struct as_assignment {
    using type = Expression;
};
template <class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves>
struct as_assignment<expression<Program, Root, Extents, Type, Weak, Leaves...>> {
    using type = assignment<Program, indices<Root>, list<Leaves...>, list<tensor_view<type_of<Type>, Extents>>>;
};
template <class Program, int... Roots, class... Types, class... Leaves>
struct as_assignment<multi_expression<Program, indices<Roots...>, list<Types...>, Leaves...>> {
    using type = assignment<Program, indices<Roots...>, list<Leaves...>,
                            list<tensor_view<type_of<Types::type.type>, typename Types::extents_type>...>>;
};
}  // namespace detail

}  // namespace sinter
