// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs as types: node facts, literals, inference of shapes and types on plain values, and its violations.
#include <doctest/doctest.h>

#include <sinter/ops/nn.hpp>

namespace si = sinter;
using si::dtype;
using si::dyn;
using si::i64;
using si::literal_kind;
using si::node_kind;
using si::node_value;
using si::u64;

namespace {
// ---- nodes ----
using sum_last = si::reduction<si::monoids::sum_of, si::axes_t<-1>, true>;
static_assert(__is_empty(si::map<si::add_op, 0, 1>) && __is_empty(si::program<si::leaf<0>, si::leaf<1>, si::map<si::add_op, 0, 1>>));
static_assert(si::program<si::leaf<0>, si::leaf<1>>::size == 2);
static_assert(si::node_traits<si::leaf<3>>::value.kind == node_kind::leaf && si::node_traits<si::leaf<3>>::value.bits == 3);
static_assert(si::node_traits<si::map<si::add_op, 4, 2>>::value.argument[1] == 2 && si::node_traits<si::map<si::add_op, 4, 2>>::value.arity == 2);
static_assert(si::node_traits<si::reduce<sum_last, 7>>::value.kind == node_kind::reduce);
static_assert(si::is_same<si::node_traits<si::map<si::add_op, 4, 2>>::shifted<10, 1>, si::map<si::add_op, 14, 12>>);
static_assert(si::is_same<si::node_traits<si::leaf<2>>::shifted<10, 5>, si::leaf<7>>);
static_assert(si::is_same<si::node_traits<si::count<2>>::shifted<3, 5>, si::count<5>>);
// From an operation's facts back to the operation.
static_assert(si::is_same<si::op_of<&si::add_op::facts>, si::add_op> && si::is_same<si::op_of<&sum_last::facts>, sum_last>);
static_assert(si::node_traits<si::map<si::add_op, 0, 1>>::value == si::node_traits<si::map<si::add_op, 0, 1>>::value);
static_assert(!(si::node_traits<si::map<si::add_op, 0, 1>>::value == si::node_traits<si::map<si::sub_op, 0, 1>>::value));
static_assert(!(si::node_traits<si::map<si::add_op, 0, 1>>::value == si::node_traits<si::map<si::add_op, 1, 0>>::value));

// ---- literals: rounded once, to the consumer's compute type ----
template <class Type>
constexpr Type floating(double value) {
    return si::convert<Type>(value);
}
constexpr u64 tenth = si::literal_bits(0.1);
static_assert(si::literal_value<float, literal_kind::floating, tenth>() == 0.1f);
static_assert(si::literal_value<double, literal_kind::floating, tenth>() == 0.1);
static_assert(si::literal_value<si::i8, literal_kind::integer, si::literal_bits(i64(-5))>() == -5);
static_assert(si::literal_value<float, literal_kind::boolean, 1>() == 1.0f);
constexpr node_value integer_literal(i64 value) { return {node_kind::literal, literal_kind::integer, nullptr, 0, {}, si::literal_bits(value)}; }
static_assert(si::literal_fits(integer_literal(127), dtype::i8) && !si::literal_fits(integer_literal(128), dtype::i8));
static_assert(si::literal_fits(integer_literal(-128), dtype::i8) && !si::literal_fits(integer_literal(-129), dtype::i8));
static_assert(si::literal_fits(integer_literal(255), dtype::u8) && !si::literal_fits(integer_literal(-1), dtype::u8));
static_assert(!si::literal_fits(integer_literal(256), dtype::u8) && si::literal_fits(integer_literal(1000), dtype::f16));
static_assert(si::literal_fits(integer_literal(-1), dtype::i64) && si::literal_fits(integer_literal(i64(1) << 40), dtype::u64));

// ---- inference on values ----
constexpr node_value leaf_node(u64 operand) { return {node_kind::leaf, {}, nullptr, 0, {}, operand}; }
template <class Op>
constexpr node_value op_node(int first, int second = 0) {
    return {Op::facts.kind, {}, &Op::facts, Op::facts.arity, {first, second}, 0};
}
template <class Op>
constexpr si::inferred<3> infer(si::shape left, dtype left_type, si::shape right, dtype right_type) {
    const node_value nodes[] = {leaf_node(0), leaf_node(1), op_node<Op>(0, 1)};
    si::inferred<3> out;
    out.sizes[0] = left;
    out.sizes[1] = right;
    out.type[0] = {left_type, false};
    out.type[1] = {right_type, false};
    (void)si::infer_node(out, nodes, 2);
    return out;
}
constexpr auto sum_of_two = infer<si::add_op>({2, {3, 1}}, dtype::f16, {1, {4}}, dtype::bf16);
static_assert(sum_of_two.why == si::violation::none && sum_of_two.sizes[2] == si::shape{2, {3, 4}});
static_assert(sum_of_two.type[2].type == dtype::f32 && sum_of_two.argument_type[2][0] == dtype::f32);
static_assert(infer<si::add_op>({1, {3}}, dtype::u8, {1, {3}}, dtype::u8).argument_type[2][0] == dtype::u8);
static_assert(infer<si::add_op>({1, {3}}, dtype::boolean, {1, {3}}, dtype::boolean).type[2].type == dtype::u8);
static_assert(infer<si::less_op>({1, {3}}, dtype::i8, {1, {dyn}}, dtype::u8).type[2].type == dtype::boolean);
static_assert(infer<si::less_op>({1, {3}}, dtype::i8, {1, {dyn}}, dtype::u8).argument_type[2][0] == dtype::i16);
static_assert(infer<si::add_op>({1, {3}}, dtype::f32, {1, {4}}, dtype::f32).why == si::violation::sizes_differ);
static_assert(infer<si::bit_and_op>({1, {3}}, dtype::f32, {1, {3}}, dtype::i32).type_why == si::type_violation::needs_integer);
static_assert(infer<si::atan2_op>({1, {3}}, dtype::f64, {1, {3}}, dtype::f64).type_why == si::type_violation::f64_function);

template <class Op>
constexpr si::inferred<2> infer_one(si::shape from, dtype type) {
    const node_value nodes[] = {leaf_node(0), op_node<Op>(0)};
    si::inferred<2> out;
    out.sizes[0] = from;
    out.type[0] = {type, false};
    (void)si::infer_node(out, nodes, 1);
    return out;
}
template <class Axes, bool Keep>
using summing = si::reduction<si::monoids::sum_of, Axes, Keep>;
static_assert(infer_one<summing<si::axes_t<1>, true>>({3, {2, 3, 4}}, dtype::i8).sizes[1] == si::shape{3, {2, 1, 4}});
static_assert(infer_one<summing<si::axes_t<0, -1>, false>>({3, {2, 3, 4}}, dtype::i8).sizes[1] == si::shape{1, {3}});
static_assert(infer_one<summing<si::every_axis_t, false>>({3, {2, 3, 4}}, dtype::i8).sizes[1] == si::shape{});
static_assert(infer_one<summing<si::axes_t<1>, true>>({3, {2, 3, 4}}, dtype::u8).type[1].type == dtype::u64);
static_assert(infer_one<summing<si::axes_t<1>, true>>({3, {2, 3, 4}}, dtype::bf16).type[1].type == dtype::bf16);
static_assert(infer_one<summing<si::axes_t<1>, true>>({3, {2, 3, 4}}, dtype::bf16).argument_type[1][0] == dtype::f32);
static_assert(infer_one<summing<si::axes_t<3>, true>>({3, {2, 3, 4}}, dtype::i8).why == si::violation::axis_out_of_range);
static_assert(infer_one<summing<si::axes_t<1, -2>, true>>({3, {2, 3, 4}}, dtype::i8).why == si::violation::axis_repeated);
static_assert(infer_one<si::coordinate_op<1>>({3, {2, dyn, 4}}, dtype::f32).sizes[1] == si::shape{3, {1, dyn, 1}});
static_assert(infer_one<si::coordinate_op<1>>({3, {2, dyn, 4}}, dtype::f32).type[1].type == dtype::i64);

// ---- the tape finds equal nodes ----
constexpr int sharing() {
    si::tape on;
    const int a = on.emit(leaf_node(0)), b = on.emit(leaf_node(1));
    const int first = on.emit(op_node<si::add_op>(a, b)), again = on.emit(op_node<si::add_op>(a, b));
    const int other = on.emit(op_node<si::add_op>(b, a));
    return first == again && other != first && on.size == 4 ? 1 : 0;
}
static_assert(sharing() == 1);
constexpr bool overflows() {
    si::tape on;
    for (int i = 0; i < si::max_nodes; ++i) (void)on.emit(leaf_node(u64(i)));
    const bool before = on.overflow;
    (void)on.emit(leaf_node(0));
    const bool found = !on.overflow;
    (void)on.emit(leaf_node(9999));
    return !before && found && on.overflow;
}
}  // namespace

TEST_CASE("a tape reports when it is full, and still finds what it holds") { CHECK(overflows()); }
