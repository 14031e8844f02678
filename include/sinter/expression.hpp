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

/// A view that an operation looks elements up in, by coordinates that it computes itself: the scales of blocks, packed codes. The loops
/// don't step through it. It stands in a program where a scalar stands.
template <class View>
struct table_operand {
    using element = typename View::element;
    View value;
};
template <class Type>
inline constexpr bool is_table = false;
template <class View>
inline constexpr bool is_table<table_operand<View>> = true;

namespace detail {
/// How an element type prints in a message.
template <dtype Type>
struct of_type {};
template <dtype Type>
struct store_to {};  // beside the type of what is computed
}  // namespace detail

/// `Root` is the node whose value the expression has, `Extents` its static shape, `Type` and `Weak` its value type.
template <class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves>
struct expression {
    using program_type = Program;
    using extents_type = Extents;
    using leaves = list<Leaves...>;
    static constexpr int root = Root;
    static constexpr value_type type{Type, Weak};
    pack<Leaves...> operands;

    /// `if (x > 0)`: a formula isn't a number yet.
    template <class Condition>
        requires is_same<Condition, bool>
    constexpr explicit operator Condition() const {
        static_assert(dependent_false<printed<Extents>, Condition>, SINTER_BRANCH_ON_A_FORMULA);
        return false;
    }
    /// `float f = max(x);`, `bool b = x > 3;`, `std::exp(x + y)`. To float alone: functions for several types of numbers then have a best
    /// one. Not constexpr, so that a question whether it is convertible doesn't compile the body.
    SINTER_HOST_DEVICE operator float() const {
        static_assert(dependent_false<printed<Extents>, detail::of_type<Type>>, SINTER_FORMULA_AS_A_NUMBER);
        return 0;
    }
    /// `(x + y)[2]`, `(x + y)(1, 2)`
    template <class Index>
    SINTER_HOST_DEVICE constexpr poison operator[](const Index&) const {
        static_assert(dependent_false<printed<Extents>, Index>, SINTER_NO_ELEMENTS);
        return {};
    }
    template <class... Index>
    SINTER_HOST_DEVICE constexpr poison operator()(const Index&...) const {
        static_assert(dependent_false<printed<Extents>, Index...>, SINTER_NO_ELEMENTS);
        return {};
    }
};

/// Several values of one program; `tie(a, b) = ...` stores them from one kernel.
template <class Program, class Roots, class Types, class... Leaves>
struct multi_expression {
    pack<Leaves...> operands;
};

/// What a type is as an operand. Plain integers: comparing an enumeration of this namespace would consider Sinter's own
/// operators, whose constraints ask this question.
namespace operand_kind {
inline constexpr int none = 0, view = 1, owner = 2, expression = 3, scalar = 4, traced = 5, poison = 6, name = 7, several = 8;
}
namespace detail {
template <class Type>
struct kind_of_operand {
    static constexpr int value = is_scalar_v<Type> ? operand_kind::scalar : operand_kind::none;
};
template <class Type, class Extents, class Layout, class Space, int Alignment>
struct kind_of_operand<tensor_view<Type, Extents, Layout, Space, Alignment>> {
    static constexpr int value = is_scalar_v<remove_cvref<Type>> ? operand_kind::view : operand_kind::poison;  // the class says why
};
template <class Type, class Extents>
struct kind_of_operand<tensor<Type, Extents>> {
    static constexpr int value = is_scalar_v<Type> ? operand_kind::owner : operand_kind::poison;
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
/// Operands in order to be refused with words: `x + "seq"_d`, `dynamic_quantize(x) * 2.0f` in a lambda.
template <>
struct kind_of_operand<named_size> {
    static constexpr int value = operand_kind::name;
};
template <int Count>
struct kind_of_operand<traced_outputs<Count>> {
    static constexpr int value = operand_kind::several;
};
template <int Count, class... Rest>
struct follow_up<traced_outputs<Count>, Rest...> {
    using type = refused<mistake<rule::values_have_names, given<Count>>>;
};
template <class Rule, class... What>
struct kind_of_operand<mistake<Rule, What...>> {
    static constexpr int value = operand_kind::poison;
};
template <class Rule, class... What>
struct kind_of_operand<silent<Rule, What...>> {
    static constexpr int value = operand_kind::poison;
};
}  // namespace detail
template <class Type>
inline constexpr int operand_kind_of = detail::kind_of_operand<remove_cvref<Type>>::value;

/// Is an operand refused for what it is, wherever it stands? `follow_up` has the words.
template <class Type>
inline constexpr bool is_refused_operand = operand_kind_of<Type> == operand_kind::poison || operand_kind_of<Type> == operand_kind::several;
/// Anything that stands for a tensor in a formula (not a bare C++ scalar).
template <class Type>
concept tensor_operand = operand_kind_of<Type> != operand_kind::none && operand_kind_of<Type> != operand_kind::scalar &&
                         operand_kind_of<Type> != operand_kind::name;
/// A tensor operand or a C++ scalar.
template <class Type>
concept operand = operand_kind_of<Type> != operand_kind::none;
/// Arguments of an operator: at least one tensor operand among them.
template <class... Types>
concept operands = (operand<Types> && ...) && (tensor_operand<Types> || ...);
/// Containers, arrays and pointers: what is often written beside a tensor and lacks a shape.
template <class Type>
concept bare_memory = !operand<Type> && (requires(const remove_cvref<Type>& memory) { memory.data(); } ||
                                         requires(const remove_cvref<Type>& memory) { *memory; });
/// What functions of this library are asked for: a tensor, or memory that lacks a shape and is refused.
template <class Type>
concept tensor_or_memory = tensor_operand<Type> || bare_memory<Type>;
/// Arguments of `+` and its kin: bare memory beside a tensor is refused with words.
template <class Left, class Right>
concept operator_arguments = operands<Left, Right> || (tensor_operand<Left> && bare_memory<Right>) || (tensor_operand<Right> && bare_memory<Left>);
/// Arguments of a function of this library, which says what is wrong with them. Numbers and memory alone
/// are left to other libraries (`exp(1.0)`, `max(a, b)` of two vectors), except one container by itself.
template <class... Types>
concept arguments_of_function = sizeof...(Types) == 0 || (tensor_operand<Types> || ...) || (sizeof...(Types) == 1 && (bare_memory<Types> && ...));

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
void as_expression(tensor<Type, Extents>&& from) = delete;  // refused before it comes here
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

/// The rule that a type violation breaks.
template <type_violation Why>
struct rule_of_type_violation;
// clang-format off
template <> struct rule_of_type_violation<type_violation::needs_float> { using type = rule::needs_floats; };
template <> struct rule_of_type_violation<type_violation::needs_integer> { using type = rule::needs_integers; };
template <> struct rule_of_type_violation<type_violation::needs_bool> { using type = rule::condition_is_bool; };
template <> struct rule_of_type_violation<type_violation::no_common_type> { using type = rule::common_type; };
template <> struct rule_of_type_violation<type_violation::literal_out_of_range> { using type = rule::constant_fits; };
template <> struct rule_of_type_violation<type_violation::f64_function> { using type = rule::f64_not_yet; };
template <> struct rule_of_type_violation<type_violation::codes_with_integers> { using type = rule::codes_or_numbers; };
template <> struct rule_of_type_violation<type_violation::quantized_axes> { using type = rule::one_quantized_axis; };
template <> struct rule_of_type_violation<type_violation::fractional_zero> { using type = rule::zero_is_a_code; };
template <> struct rule_of_type_violation<type_violation::needs_codes> { using type = rule::dequantize_takes_codes; };
template <> struct rule_of_type_violation<type_violation::bool_in_order> { using type = rule::bool_has_no_order; };
// clang-format on

/// Along which axis, counted from the right, a quantized operand's parameters lie; 0: along none.
template <class Expression>
constexpr int find_quantized_axis() {
    if constexpr (requires { Expression::quantized_axis; })
        return Expression::quantized_axis;
    else
        return 0;
}
/// Is it what a view that holds its parameters stands for: real values of codes?
template <class Expression>
inline constexpr bool is_of_held_codes = requires { Expression::quantized_axis; };
/// Does a node take integers beside such an operand? They could mean codes or numbers, as beside an element type that is quantized.
template <std::size_t Given, int Size>
constexpr bool integers_beside_codes(const node_value& node, const bool (&held)[Given], const inferred<Size>& known) {
    if (node.kind != node_kind::map || node.op->takes_integers) return false;
    bool codes = false, integers = false;
    for (int i = 0; i < node.arity; ++i) {
        const int from = node.argument[i];
        const value_type type = known.type[from];
        codes = codes || (from < int(Given) - 1 && held[from]);
        integers = integers || (is_integer(type.type) && !type.weak);
    }
    return codes && integers;
}
/// Does a node take two operands that are quantized along different axes?
template <std::size_t Given>
constexpr bool axes_clash(const node_value& node, const int (&axis)[Given]) {
    int seen = 0;
    for (int i = 0; i < node.arity; ++i) {
        const int own = node.kind == node_kind::map && node.argument[i] < int(Given) - 1 ? axis[node.argument[i]] : 0;
        if (own != 0 && seen != 0 && own != seen) return true;
        if (own != 0) seen = own;
    }
    return false;
}

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
        if constexpr ((is_of_held_codes<Arguments> || ...)) {
            const bool held[] = {is_of_held_codes<Arguments>..., false};
            for (int i = int(sizeof...(Arguments)); i < size; ++i)
                if (integers_beside_codes(Nodes::node[i], held, out)) {
                    out.at = i;
                    out.type_why = type_violation::codes_with_integers;
                    return out;
                }
        }
        if constexpr (((find_quantized_axis<Arguments>() != 0) || ...)) {
            const int axis[] = {find_quantized_axis<Arguments>()..., 0};
            for (int i = int(sizeof...(Arguments)); i < size; ++i)
                if (axes_clash(Nodes::node[i], axis)) {
                    out.at = i;
                    out.type_why = type_violation::quantized_axes;
                    return out;
                }
        }
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

/// The types of a node's arguments, in a mistake.
template <class Op, class Inference, type_violation Why, class Arguments>
struct type_mistake;
template <class Op, class Inference, type_violation Why, int... Argument>
struct type_mistake<Op, Inference, Why, indices<Argument...>> {
    using type = mistake<typename rule_of_type_violation<Why>::type, Op, of_type<Inference::value.type[Argument].type>...>;
};
struct nothing_wrong {};
/// The first of several verdicts that isn't `nothing_wrong`.
template <class... Verdicts>
struct first_wrong_of {
    using type = nothing_wrong;
};
template <class First, class... Rest>
struct first_wrong_of<First, Rest...> {
    using type = First;
};
template <class... Rest>
struct first_wrong_of<nothing_wrong, Rest...> : first_wrong_of<Rest...> {};
template <class... Verdicts>
using first_wrong = typename first_wrong_of<Verdicts...>::type;
/// The next node with an operation of the user's own; the number of nodes without one.
template <class Nodes>
constexpr int next_own(int from) {
    while (from < Nodes::size && !(Nodes::node[from].has_op() && Nodes::node[from].op->own)) ++from;
    return from;
}
/// What is wrong with the operations of the user's own, which know by themselves what lanes they must take and give.
template <class Nodes, class Inference, int Index>
constexpr auto own_verdict() {
    if constexpr (Index == Nodes::size)
        return nothing_wrong{};
    else {
        using wrong = decltype(op_of<Nodes::node[Index].op>::template verdict<Inference, Index>());
        if constexpr (!is_same<wrong, nothing_wrong>)
            return wrong{};
        else
            return own_verdict<Nodes, Inference, next_own<Nodes>(Index + 1)>();
    }
}
/// The type that lanes have for an argument, and for the result of a node.
template <class Inference, int Node, int Argument = 0>
using lane_argument = type_of<Inference::value.argument_type[Node][Argument]>;
template <class Inference, int Node>
using lane_result = type_of<compute_dtype(Inference::value.type[Node].type)>;
/// Turns the first violation of an inference into a mistake; `nothing_wrong` without one.
template <class Nodes, class Inference>
constexpr auto verdict_of() {
    constexpr auto& result = Inference::value;
    if constexpr (result.at < 0 && !result.own_operations)
        return nothing_wrong{};
    else if constexpr (result.at < 0)
        return own_verdict<Nodes, Inference, next_own<Nodes>(0)>();
    else {
        constexpr node_value node = Nodes::node[result.at];
        using op = op_of<node.op>;
        if constexpr (result.type_why != type_violation::none) {
            using arguments = conditional<node.arity == 1, indices<node.argument[0]>,
                                          conditional<node.arity == 2, indices<node.argument[0], node.argument[1]>,
                                                      indices<node.argument[0], node.argument[1], node.argument[2]>>>;
            return refused<typename type_mistake<op, Inference, result.type_why, arguments>::type>{};
        } else if constexpr (node.kind == node_kind::map) {
            return refused<shape_mistake<result.why, result.axis, op, printed<extents_from<left_shape<Inference>>>,
                                         printed<extents_from<inferred_shape<Inference, node.argument[result.other]>>>>>{};
        } else {
            return refused<shape_mistake<result.why, result.axis, op,
                                         printed<extents_from<inferred_shape<Inference, node.argument[0]>>>>>{};
        }
    }
}
template <class Nodes, class Inference>
using verdict = decltype(verdict_of<Nodes, Inference>());

/// The first argument that is a temporary which owns its memory; void without one.
template <class... Arguments>
struct first_temporary {
    using type = void;
};
template <class First, class... Rest>
struct first_temporary<First, Rest...> {
    using type = conditional<operand_kind_of<First> == operand_kind::owner && !is_lvalue<First&&>, remove_cvref<First>,
                             typename first_temporary<Rest...>::type>;
};

/// The nodes of one operation applied to given arguments: for direct expressions.
template <class Op, class Sequence>
struct single_op;
template <class Op, int... Index>
struct single_op<Op, indices<Index...>> {
    static constexpr int size = int(sizeof...(Index)) + 1;
    static constexpr node_value node[unsigned(size)] = {
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

template <class Program, int Root, class Extents, dtype Type, bool Weak, class Leaves>
struct expression_over;
template <class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves>
struct expression_over<Program, Root, Extents, Type, Weak, list<Leaves...>> {
    using type = expression<Program, Root, Extents, Type, Weak, Leaves...>;
};

template <class Op, class... Expressions>
SINTER_INLINE auto apply_direct(const Expressions&... arguments) {
    using nodes = single_op<Op, make_indices<int(sizeof...(Expressions))>>;
    using result = inference<nodes, Expressions...>;
    using all = joined_programs<Expressions...>;
    if constexpr (!is_same<verdict<nodes, result>, nothing_wrong>)
        return verdict<nodes, result>{};
    else if constexpr (all::leaf_count > max_leaves)
        return refused<mistake<rule::at_most_64_operands, number<all::leaf_count>>>{};
    else {
        using node = typename node_for<Op, Op::facts.kind, typename all::roots>::type;
        using whole = typename append_program<typename all::program_type, program<node>>::type;
        constexpr value_type type = result::value.type[nodes::size - 1];
        return typename expression_over<whole, all::nodes, extents_from<inferred_shape<result, nodes::size - 1>>, type.type, type.weak,
                                        typename all::leaves>::type{join_operands(arguments...)};
    }
}

/// Is it a tensor or a formula outside of a traced lambda? Its memory can't come onto a tape.
template <class Argument>
inline constexpr bool has_memory = operand_kind_of<Argument> == operand_kind::view || operand_kind_of<Argument> == operand_kind::owner ||
                                   operand_kind_of<Argument> == operand_kind::expression;
template <int Kind, class First, class... Rest>
struct first_of_kind {
    using type = typename conditional<operand_kind_of<First> == Kind, first_of_kind<Kind, First>, first_of_kind<Kind, Rest...>>::type;
};
template <int Kind, class Last>
struct first_of_kind<Kind, Last> {
    using type = remove_cvref<Last>;
};
/// Applies an operation to operands: on the tape inside a traced lambda, else as an expression.
SINTER_HOST_CALLS
template <class Op, class... Arguments>
SINTER_INLINE auto apply(Arguments&&... arguments) {
    if constexpr ((is_refused_operand<Arguments> || ...))
        return typename follow_up<remove_cvref<Arguments>...>::type{};
    else if constexpr (sizeof...(Arguments) != Op::facts.arity)
        return refused<mistake<rule::takes_so_many, Op, takes<Op::facts.arity>, given<int(sizeof...(Arguments))>>>{};
    else if constexpr (((operand_kind_of<Arguments> == operand_kind::none) || ...))
        return refused<mistake<rule::operand_has_shape, typename first_of_kind<operand_kind::none, Arguments...>::type>>{};
    else if constexpr (((operand_kind_of<Arguments> == operand_kind::name) || ...))
        return refused<mistake<rule::name_is_no_number, Op>>{};
    else if constexpr (((operand_kind_of<Arguments> == operand_kind::traced) || ...) && (has_memory<Arguments> || ...))
        return refused<mistake<rule::lambda_uses_parameters, Op>>{};
    else if constexpr (((operand_kind_of<Arguments> == operand_kind::traced) || ...))
        return emit_op<Op>(static_cast<remove_cvref<Arguments>>(arguments)...);
    else if constexpr (!is_same<typename first_temporary<Arguments...>::type, void>)
        return refused<mistake<rule::memory_outlives_view, typename first_temporary<Arguments...>::type>>{};
    else
        return apply_direct<Op>(as_expression(static_cast<Arguments&&>(arguments))...);
}
/// The return type of a function that applies an operation.
template <class Op, class... Arguments>
struct application {
    using type = outcome_of_call<decltype(apply<Op>(some<Arguments>()...)), Arguments...>;
};
template <class Op, class... Arguments>
using applied = typename application<Op, Arguments...>::type;

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
    using type = program<node_type_of<Trace, Renumber, Index + Parameters>...>;
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

/// What a body says against its arguments before their shapes are inferred (ops/nn.hpp).
template <class Lambda, class... Expressions>
struct misplaced_argument {
    using type = nothing_wrong;
};
/// The same within another trace, where ranks are all that is known: noted on the tape.
template <class Lambda, int Arguments>
struct misplaced_on_tape {
    static constexpr bool possible = false;
};
template <class Lambda, class... Expressions>
SINTER_INLINE auto apply_trace(const Expressions&... arguments) {
    constexpr int parameters = int(sizeof...(Expressions));
    using recorded = trace<Lambda, indices<Expressions::extents_type::rank...>, kind_of_type(Expressions::type.type)...>;
    using nodes = traced_nodes<recorded>;
    using result = inference<nodes, Expressions...>;
    using all = joined_programs<Expressions...>;
    if constexpr (!has_result<recorded>)
        return poison{};  // the compiler said why
    else if constexpr (asked<recorded> == question::truth)
        return refused<mistake<rule::branches_are_formulas, Lambda>>{};
    else if constexpr (asked<recorded> == question::element)
        return refused<mistake<rule::tensor_is_whole, Lambda>>{};
    else if constexpr (asked<recorded> == question::number)
        return refused<mistake<rule::number_takes_no_formula, Lambda>>{};
    else if constexpr (asked<recorded> == question::constant)
        return refused<mistake<rule::lambda_runs_while_compiling, Lambda>>{};
    else if constexpr (results_of<result_of_trace<recorded>>::count < 0)
        return refused<mistake<rule::lambda_gives_values, result_of_trace<recorded>>>{};
    else if constexpr (results_of<result_of_trace<recorded>>::count == 0)
        return typename out_of_lambda<Lambda, typename follow_up<result_of_trace<recorded>>::type>::type{};  // poison was reported
    else if constexpr (results_of<result_of_trace<recorded>>::count > max_outputs)
        return refused<mistake<rule::at_most_16_outputs, number<results_of<result_of_trace<recorded>>::count>>>{};
    else if constexpr (!is_recorded<recorded>)
        return poison{};
    else if constexpr (recorded::value.record.overflow)
        return refused<mistake<rule::at_most_512_nodes>>{};
    else if constexpr (recorded::value.record.is_wrong)
        return typename op_of<recorded::value.record.wrong>::template said_in<Lambda>{};
    else if constexpr (!is_same<typename misplaced_argument<Lambda, Expressions...>::type, nothing_wrong>)
        return typename misplaced_argument<Lambda, Expressions...>::type{};
    else if constexpr (!is_same<verdict<nodes, result>, nothing_wrong>)
        return verdict<nodes, result>{};
    else if constexpr (all::leaf_count > max_leaves)
        return refused<mistake<rule::at_most_64_operands, number<all::leaf_count>>>{};
    else {
        using renumber = renumbering<recorded, all::nodes, typename all::roots>;
        using body = typename body_nodes<recorded, renumber, parameters, make_indices<recorded::size - parameters>>::type;
        using whole = typename append_program<typename all::program_type, body>::type;
        constexpr int output_count = recorded::value.output_count;
        if constexpr (output_count == 1) {
            constexpr int output = recorded::value.output[0];
            return typename expression_over<whole, renumber::value[output], extents_from<inferred_shape<result, output>>,
                                   result::value.type[output].type, result::value.type[output].weak, typename all::leaves>::type{join_operands(arguments...)};
        } else {
            return make_multi<whole, typename output_nodes<recorded, renumber, make_indices<output_count>>::roots,
                              typename output_types<recorded, result, make_indices<output_count>>::type>(
                typename all::leaves{}, join_operands(arguments...));
        }
    }
}

/// Inside another trace the lambda just runs on the same tape; scalars become literals there.
template <class Lambda, class... Arguments>
constexpr auto inline_trace(Arguments... arguments) {
    tape* const on = common_tape(arguments...);
    using result = decltype(Lambda{}(traced(arguments)...));
    if constexpr (operand_kind_of<result> == operand_kind::poison)
        return typename out_of_lambda<Lambda, result>::type{};
    else {
        using places = misplaced_on_tape<Lambda, int(sizeof...(Arguments))>;
        if (!on) return Lambda{}(traced(arguments)...);  // numbers alone: a mistake
        if constexpr (places::possible) places::note(*on, {rank_of(place(*on, arguments))...});
        return Lambda{}(place(*on, arguments)...);
    }
}
/// Base of the bodies of this library that several numbers of arguments fit: a wrong number is said as of a function, not of a lambda.
struct library_body {};
/// Calls a traced lambda with operands.
SINTER_HOST_CALLS
template <class Lambda, class... Arguments>
SINTER_HOST_DEVICE constexpr auto call_fused(Arguments&&... arguments) {
    if constexpr ((is_refused_operand<Arguments> || ...))
        return typename follow_up<remove_cvref<Arguments>...>::type{};
    else if constexpr (!__is_empty(Lambda))
        return refused<mistake<rule::lambda_captures_nothing, Lambda>>{};
    else if constexpr (((operand_kind_of<Arguments> == operand_kind::none) || ...))
        return refused<mistake<rule::operand_has_shape, typename first_of_kind<operand_kind::none, Arguments...>::type>>{};
    else if constexpr (((operand_kind_of<Arguments> == operand_kind::name) || ...))
        return refused<mistake<rule::name_is_no_number, number<i64(sizeof...(Arguments))>>>{};
    else if constexpr (takes_another_number<Lambda, int(sizeof...(Arguments))>()) {
        if constexpr (__is_base_of(library_body, Lambda))
            return refused<mistake<rule::takes_so_many, Lambda, given<int(sizeof...(Arguments))>>>{};
        else
            return refused<mistake<rule::lambda_gives_values, number<i64(sizeof...(Arguments))>>>{};
    }
    else if constexpr (((operand_kind_of<Arguments> == operand_kind::traced) || ...))
        return inline_trace<Lambda>(static_cast<remove_cvref<Arguments>>(arguments)...);
    else if constexpr (!is_same<typename first_temporary<Arguments...>::type, void>)
        return refused<mistake<rule::memory_outlives_view, typename first_temporary<Arguments...>::type>>{};
    else
        return apply_trace<Lambda>(as_expression(static_cast<Arguments&&>(arguments))...);
}
template <bool Valid, class Lambda, class... Arguments>
struct fused_call_if {};
template <class Lambda, class... Arguments>
    requires((operand<Arguments> || bare_memory<Arguments>) && ...)
struct fused_call_if<false, Lambda, Arguments...> {
    using type = outcome_of_call<refused<mistake<rule::operand_has_shape, typename first_of_kind<operand_kind::none, Arguments...>::type>>, Arguments...>;
};
template <class Lambda, class... Arguments>
struct fused_call_if<true, Lambda, Arguments...> {
    using type = outcome_of_call<decltype(call_fused<Lambda>(some<Arguments>()...)), Arguments...>;
};
template <class Lambda, class... Arguments>
struct fused_call : fused_call_if<(operand<Arguments> && ...), Lambda, Arguments...> {};

template <class Lambda, class... Arguments>
using fused_result = typename fused_call<Lambda, Arguments...>::type;

/// A mistake is a return type that is written down (diagnose.hpp). A result is deduced: nvcc would spell it by the name that it is written
/// with, which has the lambda's type in it, and host compilers don't know that one (`plan_of<decltype(operation(x))>` in a function).
template <class Lambda, class... Arguments>
concept gives_result = (operand<Arguments> && ...) && operand_kind_of<fused_result<Lambda, Arguments...>> != operand_kind::poison;

template <class Lambda>
struct fused_operator {
    template <class... Arguments>
        requires gives_result<Lambda, Arguments...>
    SINTER_HOST_DEVICE constexpr auto operator()(Arguments&&... arguments) const {
        return call_fused<Lambda>(static_cast<Arguments&&>(arguments)...);
    }
    template <class... Arguments>
        requires(((operand<Arguments> || bare_memory<Arguments>) && ...) && !gives_result<Lambda, Arguments...>)
    SINTER_HOST_DEVICE constexpr fused_result<Lambda, Arguments...> operator()(Arguments&&...) const {
        return {};
    }
};

/// The call behind `let`: the last of the arguments is the lambda.
template <class... Arguments>
struct let_call {
    using lambda = remove_cvref<nth_type<int(sizeof...(Arguments)) - 1, Arguments...>>;
    template <int... Index>
    static constexpr auto run(indices<Index...>, pack<Arguments&&...>& all) {
        if constexpr (sizeof...(Index) > 0 && operand_kind_of<lambda> == operand_kind::none &&
                      ((operand<nth_type<Index, Arguments...>> || bare_memory<nth_type<Index, Arguments...>>) && ...))
            return call_fused<lambda>(static_cast<nth_type<Index, Arguments&&...>>(
                static_cast<slot<Index, nth_type<Index, Arguments&&...>>&>(all).value)...);
        else
            return refused<mistake<rule::let_takes_a_lambda, number<i64(sizeof...(Arguments))>>>{};
    }
    using type = outcome_of_call<decltype(run(make_indices<int(sizeof...(Arguments)) - 1>{}, some<pack<Arguments&&...>&>())), Arguments...>;
};
}  // namespace detail

/// Makes an operator of a captureless lambda over tensor values. The lambda is traced once per ranks and kinds (floats, integers,
/// bool) of its arguments; a value used twice in it is one node. Called on views it gives an expression; inside another lambda it is inlined.
template <class Lambda>
constexpr detail::fused_operator<Lambda> fused(Lambda) {
    return {};
}

/// let(x, w, [](auto x, auto w) { ... }): `fused` and its call in one.
template <class... Arguments>
    requires(sizeof...(Arguments) > 0 && operand_kind_of<typename detail::let_call<Arguments...>::type> != operand_kind::poison)
constexpr auto let(Arguments&&... arguments) {
    pack<Arguments&&...> all{{{static_cast<Arguments&&>(arguments)}...}};
    return detail::let_call<Arguments...>::run(make_indices<int(sizeof...(Arguments)) - 1>{}, all);
}
template <class... Arguments>
    requires(sizeof...(Arguments) > 0 && operand_kind_of<typename detail::let_call<Arguments...>::type> == operand_kind::poison)
constexpr typename detail::let_call<Arguments...>::type let(Arguments&&...) {
    return {};
}

}  // namespace sinter
