// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An expression: a program in its type and a flat pack of operands (views and scalars) as its data. Here are the capture
// rules (what may be an operand), the application of an operation to operands, and `fused` / `let`.
//
//     auto e = relu(x + bias) * 0.5f;                                  // one leaf per mention
//     inline constexpr auto rms_norm = sinter::fused([](auto x, auto weight, auto eps) { ... });
//     auto e = sinter::let(x, w, [](auto x, auto w) { return x * w + x; });   // x is loaded once
//
// An expression refers to no other object: it can be stored and returned. Memory that views point to must outlive `run`.
#pragma once

#include "tensor.hpp"
#include "trace_expr.hpp"

namespace sinter {

/// A C++ scalar as an operand. Weak (rule T2); converted to the compute type of its consumer once per call.
template <class Type>
struct scalar_operand {
    using element = Type;
    Type value;
};
/// An operand of which only the shape is used (coordinates).
template <class Extents>
struct shape_operand : Extents {
    SINTER_HOST_DEVICE constexpr explicit shape_operand(const Extents& from) : Extents(from) {}
};

/// `Root` is the node whose value the expression has, `Extents` its static shape, `Type` and `Weak` its value type.
template <class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves>
struct expression {
    using program_type = Program;
    using extents_type = Extents;
    using leaves = list<Leaves...>;
    static constexpr int root = Root;
    static constexpr value_type type{Type, Weak};
    pack<Leaves...> operands;
};

/// Several values of one program; `tie(a, b) = ...` stores them from one kernel.
template <class Program, class Roots, class Types, class... Leaves>
struct multi_expression {
    pack<Leaves...> operands;
};

/// What a type is as an operand. Plain integers: comparing an enumeration of this namespace would consider Sinter's own
/// operators, whose constraints ask this question.
namespace operand_kind {
inline constexpr int none = 0, view = 1, owner = 2, expression = 3, scalar = 4, traced = 5, poison = 6;
}
namespace detail {
template <class Type>
struct kind_of_operand {
    static constexpr int value = is_scalar_v<Type> ? operand_kind::scalar : operand_kind::none;
};
template <class Type, class Extents, class Layout, class Space, int Alignment>
struct kind_of_operand<tensor_view<Type, Extents, Layout, Space, Alignment>> {
    static constexpr int value = operand_kind::view;
};
template <class Type, class Extents>
struct kind_of_operand<tensor<Type, Extents>> {
    static constexpr int value = operand_kind::owner;
};
template <class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves>
struct kind_of_operand<expression<Program, Root, Extents, Type, Weak, Leaves...>> {
    static constexpr int value = operand_kind::expression;
};
template <>
struct kind_of_operand<traced> {
    static constexpr int value = operand_kind::traced;
};
template <>
struct kind_of_operand<poison> {
    static constexpr int value = operand_kind::poison;
};
}  // namespace detail
template <class Type>
inline constexpr int operand_kind_of = detail::kind_of_operand<remove_cvref<Type>>::value;

/// Anything that stands for a tensor in a formula (not a bare C++ scalar).
template <class Type>
concept tensor_operand = operand_kind_of<Type> != operand_kind::none && operand_kind_of<Type> != operand_kind::scalar;
/// A tensor operand or a C++ scalar.
template <class Type>
concept operand = operand_kind_of<Type> != operand_kind::none;
/// Arguments of an operator: at least one tensor operand among them.
template <class... Types>
concept operands = (operand<Types> && ...) && (tensor_operand<Types> || ...);

namespace detail {

template <class Type, class Extents, class Layout, class Space, int Alignment>
SINTER_INLINE auto as_expression(const tensor_view<Type, Extents, Layout, Space, Alignment>& from) {
    using view_type = tensor_view<const remove_cvref<Type>, Extents, Layout, Space, Alignment>;
    return expression<program<leaf<0>>, 0, Extents, dtype_of<remove_cvref<Type>>, false, view_type>{{{{view_type(from)}}}};
}
template <class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves>
SINTER_INLINE const auto& as_expression(const expression<Program, Root, Extents, Type, Weak, Leaves...>& from) {
    return from;
}
template <class Type, class Extents>
SINTER_INLINE auto as_expression(const tensor<Type, Extents>& from) {
    return as_expression(from.view());
}
template <class Type, class Extents>
SINTER_INLINE auto as_expression(tensor<Type, Extents>&& from) {
    static_assert(memory_outlives_view<tensor<Type, Extents>, dependent_false<Type>>::ok);
    return as_expression(static_cast<const tensor<Type, Extents>&>(from).view());
}
template <class Type>
    requires is_scalar_v<Type>
SINTER_INLINE auto as_expression(const Type& from) {
    constexpr dtype own = dtype_of<Type>;
    constexpr dtype kind = is_float(own) ? dtype::f32 : own == dtype::boolean ? dtype::boolean : dtype::i64;
    return expression<program<leaf<0>>, 0, extents<>, kind, true, scalar_operand<Type>>{{{{{from}}}}};
}

template <int Nodes, int Leaves, class Program>
struct shift_program;
template <int Nodes, int Leaves, class... Node>
struct shift_program<Nodes, Leaves, program<Node...>> {
    using type = program<typename node_traits<Node>::template shifted<Nodes, Leaves>...>;
};
template <class Program, class Addition>
struct append_program;
template <class... Node, class... Addition>
struct append_program<program<Node...>, program<Addition...>> {
    using type = program<Node..., Addition...>;
};

/// Programs and operand packs of several expressions side by side; `roots` are their roots in the joined program.
template <class Program, class Leaves, class Roots>
struct joined;
template <class... Node, class... Leaf, int... Roots>
struct joined<program<Node...>, list<Leaf...>, indices<Roots...>> {
    using program_type = program<Node...>;
    using leaves = list<Leaf...>;
    using roots = indices<Roots...>;
    static constexpr int nodes = int(sizeof...(Node));
    static constexpr int leaf_count = int(sizeof...(Leaf));
    template <class Program, int Root, class Extents, dtype Type, bool Weak, class... More>
    static auto plus(const expression<Program, Root, Extents, Type, Weak, More...>*)
        -> joined<typename append_program<program<Node...>, typename shift_program<nodes, leaf_count, Program>::type>::type,
                  list<Leaf..., More...>, indices<Roots..., Root + nodes>>;
};
template <class Joined, class... Expressions>
struct join_all {
    using type = Joined;
};
template <class Joined, class First, class... Rest>
struct join_all<Joined, First, Rest...>
    : join_all<decltype(Joined::plus(static_cast<const First*>(nullptr))), Rest...> {};
template <class... Expressions>
using joined_programs = typename join_all<joined<program<>, list<>, indices<>>, Expressions...>::type;

SINTER_INLINE pack<> join_operands() { return {}; }
template <class First>
SINTER_INLINE const auto& join_operands(const First& first) {
    return first.operands;
}
template <class First, class Second, class... Rest>
SINTER_INLINE auto join_operands(const First& first, const Second& second, const Rest&... rest) {
    return join(first.operands, join_operands(second, rest...));
}

/// Check struct of the type rules.
template <class Operation, type_violation Why, dtype... Arguments>
struct types_allowed {
    static_assert(Why != type_violation::needs_float,
                  "[SINTER-T001] this operation needs floating-point operands. Hint: cast<float>(x) first.");
    static_assert(Why != type_violation::needs_integer,
                  "[SINTER-T002] this operation needs integers or bool. Hint: cast the operand, or compare it to get a bool.");
    static_assert(Why != type_violation::needs_bool,
                  "[SINTER-T003] a condition must be bool. Hint: write a comparison, such as x != 0.");
    static_assert(Why != type_violation::no_common_type, "[SINTER-T004] these types have no common type. Hint: cast one of them.");
    static_assert(Why != type_violation::literal_out_of_range,
                  "[SINTER-T005] this constant doesn't fit the integer type that it meets. Hint: cast the tensor to a wider type.");
    static_assert(Why != type_violation::f64_function,
                  "[SINTER-T006] this function isn't there for f64 yet. Hint: cast<float>(x), or use exp, log, tanh, sigmoid, rsqrt.");
    static constexpr bool ok = Why == type_violation::none;
};
/// Check struct: at most 64 operands.
template <int Leaves>
struct operand_count {
    static_assert(Leaves <= max_leaves,
                  "[SINTER-E002] more than 64 operands in one expression: a direct expression has one per mention of a view. "
                  "Hint: use let(x, y, lambda), which loads each once, or split the formula.");
    static constexpr bool ok = Leaves <= max_leaves;
};

/// Inference of a list of nodes whose first `Given` are the arguments, with known shapes and types.
template <class Nodes, class... Arguments>
struct inference {
    static constexpr int size = Nodes::size;
    static constexpr auto run() {
        inferred<size> out;
        const shape given_sizes[] = {Arguments::extents_type::static_shape..., shape{}};
        const value_type given_types[] = {Arguments::type..., value_type{}};
        for (int i = 0; i < int(sizeof...(Arguments)); ++i) {
            out.sizes[i] = given_sizes[i];
            out.type[i] = given_types[i];
        }
        for (int i = int(sizeof...(Arguments)); i < size; ++i)
            if (!infer_node(out, Nodes::node, i)) return out;
        out.at = -1;
        return out;
    }
    static constexpr inferred<size> value = run();
};
template <class Inference, int Node>
struct inferred_shape {
    static constexpr shape value = Inference::value.sizes[Node];
};
template <class Inference>
struct left_shape {
    static constexpr shape value = Inference::value.left;
};

/// Turns the first violation of an inference into its message.
template <class Nodes, class Inference>
struct inference_check {
    static constexpr bool run() {
        constexpr auto& result = Inference::value;
        if constexpr (result.at < 0)
            return true;
        else {
            constexpr node_value node = Nodes::node[result.at];
            if constexpr (result.type_why != type_violation::none) {
                using op = op_of<node.op>;
                if constexpr (node.arity == 1)
                    return types_allowed<op, result.type_why, result.type[node.argument[0]].type>::ok;
                else if constexpr (node.arity == 2)
                    return types_allowed<op, result.type_why, result.type[node.argument[0]].type,
                                         result.type[node.argument[1]].type>::ok;
                else
                    return types_allowed<op, result.type_why, result.type[node.argument[0]].type,
                                         result.type[node.argument[1]].type, result.type[node.argument[2]].type>::ok;
            } else if constexpr (node.kind == node_kind::map) {
                return shapes_agree<printed<extents_from<left_shape<Inference>>>,
                                    printed<extents_from<inferred_shape<Inference, node.argument[result.other]>>>, result.axis,
                                    result.why>::ok;
            } else {
                using from = printed<extents_from<inferred_shape<Inference, node.argument[0]>>>;
                if constexpr (result.why == violation::count_differs || result.why == violation::not_expandable)
                    return reshapes_to<from, op_of<node.op>, result.why>::ok;
                else
                    return axis_is_valid<from, result.axis, result.why>::ok;
            }
        }
    }
    static constexpr bool ok = run();
};

/// The nodes of one operation applied to given arguments: for direct expressions.
template <class Op, class Sequence>
struct single_op;
template <class Op, int... Index>
struct single_op<Op, indices<Index...>> {
    static constexpr int size = int(sizeof...(Index)) + 1;
    static constexpr node_value node[size] = {
        node_value{node_kind::leaf, {}, nullptr, 0, {}, u64(Index)}...,
        node_value{Op::facts.kind, {}, op_registration<Op>::facts, int(sizeof...(Index)), {Index...}, 0}};
};

template <class Op, node_kind Kind, class Roots>
struct node_for;
template <class Op, int... Roots>
struct node_for<Op, node_kind::map, indices<Roots...>> {
    using type = map<Op, Roots...>;
};
template <class Op, int Root>
struct node_for<Op, node_kind::reduce, indices<Root>> {
    using type = reduce<Op, Root>;
};
template <class Op, int Root>
struct node_for<Op, node_kind::index_map, indices<Root>> {
    using type = index_map<Op, Root>;
};
template <class Op, int Root>
struct node_for<Op, node_kind::coordinate, indices<Root>> {
    using type = coordinate<Op, Root>;
};

template <class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves>
SINTER_INLINE auto make_expression(list<Leaves...>, const pack<Leaves...>& operands) {
    return expression<Program, Root, Extents, Type, Weak, Leaves...>{operands};
}

template <class Op, class... Expressions>
SINTER_INLINE auto apply_direct(const Expressions&... arguments) {
    using nodes = single_op<Op, make_indices<int(sizeof...(Expressions))>>;
    using result = inference<nodes, Expressions...>;
    using all = joined_programs<Expressions...>;
    if constexpr (!inference_check<nodes, result>::ok || !operand_count<all::leaf_count>::ok)
        return poison{};
    else {
        using node = typename node_for<Op, Op::facts.kind, typename all::roots>::type;
        using whole = typename append_program<typename all::program_type, program<node>>::type;
        constexpr value_type type = result::value.type[nodes::size - 1];
        return make_expression<whole, all::nodes, extents_from<inferred_shape<result, nodes::size - 1>>, type.type, type.weak>(
            typename all::leaves{}, join_operands(arguments...));
    }
}

/// Applies an operation to operands: on the tape inside a traced lambda, else as an expression.
template <class Op, class... Arguments>
SINTER_INLINE auto apply(Arguments&&... arguments) {
    if constexpr (((operand_kind_of<Arguments> == operand_kind::poison) || ...))
        return poison{};
    else if constexpr (((operand_kind_of<Arguments> == operand_kind::traced) || ...))
        return emit_op<Op>(static_cast<remove_cvref<Arguments>>(arguments)...);
    else
        return apply_direct<Op>(as_expression(static_cast<Arguments&&>(arguments))...);
}

/// Number of elements that the reduction `folded` folds (its root must be a reduce node).
template <class Folded>
SINTER_INLINE auto count_of(const Folded& folded);
template <class... Node, int Root, class Extents, dtype Type, bool Weak, class... Leaves>
SINTER_INLINE auto append_count(const expression<program<Node...>, Root, Extents, Type, Weak, Leaves...>& folded) {
    return expression<program<Node..., count<Root>>, int(sizeof...(Node)), extents<>, dtype::i64, true, Leaves...>{folded.operands};
}

// ------------------------------------------------------------------------------------------------------------------ fused

/// The tape as nodes for inference.
template <class Trace>
struct traced_nodes {
    static constexpr int size = Trace::size;
    static constexpr const node_value* node = Trace::value.record.node;
};
/// Where each tape node stands in the whole program: parameters at the argument roots, the body after all arguments.
template <class Trace, int Base, class Roots>
struct renumbering;
template <class Trace, int Base, int... Roots>
struct renumbering<Trace, Base, indices<Roots...>> {
    static constexpr array<int, Trace::size> make() {
        array<int, Trace::size> out{};
        const int roots[] = {Roots..., 0};
        constexpr int parameters = int(sizeof...(Roots));
        for (int i = 0; i < Trace::size; ++i) out[i] = i < parameters ? roots[i] : Base + i - parameters;
        return out;
    }
    static constexpr array<int, Trace::size> value = make();
};
template <class Trace, class Renumber, int Parameters, class Sequence>
struct body_nodes;
template <class Trace, class Renumber, int Parameters, int... Index>
struct body_nodes<Trace, Renumber, Parameters, indices<Index...>> {
    using type = program<decltype(node_type_of<Trace, Renumber, Index + Parameters>())...>;
};
template <class Trace, class Renumber, class Sequence>
struct output_nodes;
template <class Trace, class Renumber, int... Index>
struct output_nodes<Trace, Renumber, indices<Index...>> {
    using roots = indices<Renumber::value[Trace::value.output[Index]]...>;
};
/// Static shape and type of one output.
template <class Extents, dtype Type, bool Weak>
struct described {
    using extents_type = Extents;
    static constexpr value_type type{Type, Weak};
};
template <class Trace, class Inference, class Sequence>
struct output_types;
template <class Trace, class Inference, int... Index>
struct output_types<Trace, Inference, indices<Index...>> {
    using type = list<described<extents_from<inferred_shape<Inference, Trace::value.output[Index]>>,
                                Inference::value.type[Trace::value.output[Index]].type,
                                Inference::value.type[Trace::value.output[Index]].weak>...>;
};
template <class Program, class Roots, class Types, class... Leaves>
SINTER_INLINE auto make_multi(list<Leaves...>, const pack<Leaves...>& operands) {
    return multi_expression<Program, Roots, Types, Leaves...>{operands};
}

template <class Lambda>
struct captures_nothing {
    static_assert(__is_empty(Lambda),
                  "[SINTER-E001] the lambda of fused and let can't capture: it runs while compiling. Hint: pass values as operands.");
    static constexpr bool ok = __is_empty(Lambda);
};
template <bool Overflow>
struct trace_fits {
    static_assert(!Overflow, "[SINTER-E003] more than 512 nodes in one traced lambda. Hint: split the formula.");
    static constexpr bool ok = !Overflow;
};

template <class Lambda, class... Expressions>
SINTER_INLINE auto apply_trace(const Expressions&... arguments) {
    constexpr int parameters = int(sizeof...(Expressions));
    using recorded = trace<Lambda, parameters>;
    using nodes = traced_nodes<recorded>;
    using result = inference<nodes, Expressions...>;
    using all = joined_programs<Expressions...>;
    if constexpr (!trace_fits<recorded::value.record.overflow>::ok || !inference_check<nodes, result>::ok ||
                  !operand_count<all::leaf_count>::ok)
        return poison{};
    else {
        using renumber = renumbering<recorded, all::nodes, typename all::roots>;
        using body = typename body_nodes<recorded, renumber, parameters, make_indices<recorded::size - parameters>>::type;
        using whole = typename append_program<typename all::program_type, body>::type;
        constexpr int output_count = recorded::value.output_count;
        if constexpr (output_count == 1) {
            constexpr int output = recorded::value.output[0];
            return make_expression<whole, renumber::value[output], extents_from<inferred_shape<result, output>>,
                                   result::value.type[output].type, result::value.type[output].weak>(typename all::leaves{},
                                                                                                  join_operands(arguments...));
        } else {
            return make_multi<whole, typename output_nodes<recorded, renumber, make_indices<output_count>>::roots,
                              typename output_types<recorded, result, make_indices<output_count>>::type>(
                typename all::leaves{}, join_operands(arguments...));
        }
    }
}

template <class Lambda>
struct fused_operator {
    template <class... Arguments>
        requires(operand<Arguments> && ...)
    SINTER_HOST_DEVICE constexpr auto operator()(Arguments&&... arguments) const {
        if constexpr (((operand_kind_of<Arguments> == operand_kind::poison) || ...) || !captures_nothing<Lambda>::ok)
            return poison{};
        else if constexpr (((operand_kind_of<Arguments> == operand_kind::traced) || ...))
            return inlined(static_cast<remove_cvref<Arguments>>(arguments)...);
        else
            return apply_trace<Lambda>(as_expression(static_cast<Arguments&&>(arguments))...);
    }

private:
    /// Inside another trace the lambda just runs on the same tape; scalars become literals there.
    template <class... Arguments>
    static constexpr auto inlined(Arguments... arguments) {
        tape* const on = common_tape(arguments...);
        return Lambda{}(place(*on, arguments)...);
    }
};

/// The call behind `let`: the last of the arguments is the lambda.
template <class... Arguments>
struct let_call {
    using lambda = remove_cvref<nth_type<int(sizeof...(Arguments)) - 1, Arguments...>>;
    template <int... Index>
    static constexpr auto run(indices<Index...>, pack<Arguments&&...>& all) {
        return fused_operator<lambda>{}(static_cast<nth_type<Index, Arguments&&...>>(
            static_cast<slot<Index, nth_type<Index, Arguments&&...>>&>(all).value)...);
    }
};
}  // namespace detail

/// Makes an operator of a captureless lambda over tensor values. The lambda is traced once per number of arguments; a value
/// used twice in it is one node. Called on views it gives an expression; inside another lambda it is inlined.
template <class Lambda>
constexpr detail::fused_operator<Lambda> fused(Lambda) {
    return {};
}

/// let(x, w, [](auto x, auto w) { ... }): `fused` and its call in one.
template <class... Arguments>
constexpr auto let(Arguments&&... arguments) {
    static_assert(sizeof...(Arguments) >= 2, "[SINTER-E004] let takes operands and then a lambda.");
    pack<Arguments&&...> all{{{static_cast<Arguments&&>(arguments)}...}};
    return detail::let_call<Arguments...>::run(make_indices<int(sizeof...(Arguments)) - 1>{}, all);
}

}  // namespace sinter
