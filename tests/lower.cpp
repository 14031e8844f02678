// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowering: which nest a formula becomes, levels of dependent reductions, which values are shared, what isn't one kernel.
#include <doctest/doctest.h>

#include <sinter/lower.hpp>
#include <sinter/ops/nn.hpp>

namespace si = sinter;
using si::dyn;
using si::nest_kind;
using si::nest_violation;
using si::operator""_d;

namespace {
template <class Expression>
using lowering = si::lowering_of<typename si::detail::as_assignment<si::remove_cvref<Expression>>::type>;

using cube = si::tensor_view<float, si::extents<4, 5, 6>>;
using matrix = si::tensor_view<float, si::extents<dyn, 64>>;
using vector_view = si::tensor_view<float, si::extents<64>>;
constexpr cube c(nullptr);
constexpr matrix x(nullptr, 0);
constexpr vector_view w(nullptr);

// ---- pointwise ----
constexpr auto& scaled = lowering<decltype(x * w + 1)>::value;
static_assert(scaled.why == nest_violation::none && scaled.kind == nest_kind::pointwise && scaled.levels == 0 && scaled.axis_count == 2);
static_assert(scaled.size == 4);  // two loads, two operations; the literal is an immediate

// ---- rows ----
constexpr auto& row_sum = lowering<decltype(sum(x, si::last_axis))>::value;
static_assert(row_sum.kind == nest_kind::rows && row_sum.levels == 1 && row_sum.inner == row_sum.inner_lane && row_sum.outer == 0);
constexpr auto& softened = lowering<decltype(si::softmax(x))>::value;
static_assert(softened.kind == nest_kind::rows && softened.levels == 2 && softened.why == nest_violation::none);
constexpr auto& logs = lowering<decltype(si::log_softmax(x))>::value;
static_assert(logs.kind == nest_kind::rows && logs.levels == 2);
constexpr auto& normed = lowering<decltype(si::layer_norm(x, w, w, 1e-5f))>::value;
static_assert(normed.kind == nest_kind::rows && normed.levels == 1);  // mean and deviations need no other
constexpr auto& quantized = lowering<decltype(si::let(x, w, [](auto a, auto b) {
    const auto y = si::rms_norm(a, b, 1e-5f);
    const auto scale = max(abs(y), si::last_axis) / 127;
    return si::outputs(si::cast<si::i8>(round(y / scale)), scale);
}))>::value;
static_assert(quantized.kind == nest_kind::rows && quantized.levels == 2 && quantized.why == nest_violation::none);
// Several trailing axes are one row; size-1 axes fold nothing.
constexpr auto& two_axes = lowering<decltype(sum(c, si::axes<1, 2>))>::value;
static_assert(two_axes.kind == nest_kind::rows && two_axes.inner == two_axes.inner_lane);
using thin = si::tensor_view<float, si::extents<4, 1>>;
static_assert(lowering<decltype(sum(thin(nullptr), si::last_axis))>::value.kind == nest_kind::pointwise);

// ---- columns, both, whole ----
constexpr auto& columns = lowering<decltype(sum(c, si::axes<0>))>::value;
static_assert(columns.kind == nest_kind::columns && columns.inner_lane == 0);
constexpr auto& both = lowering<decltype(sum(c, si::axes<0, 2>))>::value;
static_assert(both.kind == nest_kind::rows && both.inner != both.inner_lane && both.inner_lane != 0);
constexpr auto& whole = lowering<decltype(sum(c))>::value;
static_assert(whole.kind == nest_kind::rows && whole.inner == whole.inner_lane && whole.axis_count == 3);
constexpr auto& loss = lowering<decltype(mean(max(x, si::last_axis)))>::value;
static_assert(loss.kind == nest_kind::rows && loss.outer != 0 && loss.why == nest_violation::none);
constexpr si::tensor_view<float, si::extents<dyn, 1>> losses(nullptr, 0);  // filled by a number that is known when the rows are over
static_assert(si::lowering_of<decltype(losses = mean(max(x, si::last_axis)))>::value.why == nest_violation::incompatible_axes);
static_assert(si::lowering_of<decltype(losses = max(x, si::last_axis))>::value.why == nest_violation::none);

// ---- index maps disappear: no instance of their own ----
constexpr auto& turned = lowering<decltype(si::let(c, [](auto a) { return si::flip<1>(si::permute<2, 1, 0>(a)) * 2; }))>::value;
static_assert(turned.kind == nest_kind::pointwise && turned.size == 2);
// The same view under two maps is two loads; twice under one, one.
constexpr auto& mirrored = lowering<decltype(si::let(c, [](auto a) { return a + si::flip<2>(a) * si::flip<2>(a); }))>::value;
static_assert(mirrored.size == 4);

// ---- what isn't one kernel ----
template <class Expression>
constexpr nest_violation refusal = lowering<Expression>::value.why;
static_assert(refusal<decltype(si::let(c, [](auto a) { return si::softmax(a, si::axes<0>) + si::softmax(a, si::axes<2>); }))> ==
              nest_violation::incompatible_axes);
static_assert(refusal<decltype(si::let(x, [](auto a) { return a - mean(max(a, si::last_axis)); }))> == nest_violation::incompatible_axes);
static_assert(refusal<decltype(si::let(c, [](auto a) { return si::reshape<120>(a + max(a, si::axes<2>)); }))> != nest_violation::none);

// ---- a reduction that drops its axis beside what keeps it ----
template <si::i64... Sizes>
using sized = si::extents<Sizes...>;
template <class Extents>
si::tensor_view<float, Extents> some();
template <class X, class Y, class M>
constexpr auto& beside = lowering<decltype(si::tie(some<Y>(), some<M>()) = si::let(some<X>(), [](auto v) {
    return si::outputs(v * 2.0f, max(v, si::axes<1>, si::drop));
}))>::value;
template <int Nodes>
constexpr bool in_rows(const si::lowered<Nodes, 2>& table) {  // the second output lies along the first axis of the first
    return table.why == nest_violation::none && table.kind == nest_kind::rows && table.restored && table.axis_count == 2 &&
           table.output_axis[1][0] == table.output_axis[0][0];
}
template <int Nodes, int Outputs>
constexpr bool at_right(const si::lowered<Nodes, Outputs>& table) {
    return table.why == nest_violation::none && !table.restored;
}
using any = sized<dyn, dyn>;
using names = sized<"rows"_d, "cols"_d>;
static_assert(in_rows(beside<sized<2, 3>, sized<2, 3>, sized<2>>));
static_assert(in_rows(beside<any, any, sized<dyn>>));
static_assert(in_rows(beside<names, names, sized<"rows"_d>>));
static_assert(in_rows(beside<sized<dyn, 3>, sized<dyn, 3>, sized<dyn>>));
static_assert(in_rows(beside<sized<2, dyn>, sized<2, dyn>, sized<2>>));
static_assert(in_rows(beside<any, any, sized<2>>));  // an output tells the size
static_assert(in_rows(beside<any, sized<2, 3>, sized<dyn>>));
static_assert(in_rows(beside<any, names, sized<dyn>>));
static_assert(in_rows(beside<names, any, sized<dyn>>));
// Sizes that surely agree at the right stay there.
static_assert(at_right(beside<sized<3, 3>, sized<3, 3>, sized<3>>));
static_assert(at_right(beside<sized<"n"_d, "n"_d>, sized<"n"_d, "n"_d>, sized<"n"_d>>));
// So do those that nothing relates in either place.
using line = sized<dyn>;
constexpr auto& unrelated = lowering<decltype(si::tie(some<any>(), some<line>()) = si::let(some<any>(), some<any>(), [](auto v, auto u) {
    return si::outputs(v * 2.0f, max(u, si::axes<1>, si::drop));
}))>::value;
static_assert(at_right(unrelated));
// Here an operation relates them.
constexpr auto& added = lowering<decltype(si::tie(some<any>(), some<line>()) = si::let(some<any>(), some<any>(), [](auto v, auto u) {
    return si::outputs(v * 2.0f, max(u + v, si::axes<1>, si::drop));
}))>::value;
static_assert(in_rows(added));
// Two that drop the same axis share the right one.
constexpr auto& alike = lowering<decltype(si::tie(some<line>(), some<line>()) = si::let(some<any>(), [](auto v) {
    return si::outputs(max(v, si::axes<1>, si::drop), sum(v, si::axes<1>, si::drop));
}))>::value;
static_assert(at_right(alike));
constexpr auto in_three = si::fused([](auto v) {
    return si::outputs(v * 2.0f, max(v, si::last_axis, si::drop), sum(v, si::last_axis, si::drop) * 2.0f);
});
template <si::i64 A, si::i64 B>
constexpr auto& three =
    lowering<decltype(si::tie(some<sized<A, B>>(), some<sized<A>>(), some<sized<A>>()) = in_three(some<sized<A, B>>()))>::value;
template <si::i64 A, si::i64 B>
constexpr bool three_in_rows = three<A, B>.why == nest_violation::none && three<A, B>.restored && three<A, B>.axis_count == 2;
static_assert(three_in_rows<2, 3> && three_in_rows<dyn, dyn> && three_in_rows<"rows"_d, "cols"_d> && three_in_rows<dyn, 3>);

// A map below a fold leaves its order alone: which folded axes are the last (the lane rule's), and the order of an index.
template <class Formula>
constexpr bool is_map_of_reduction = lowering<Formula>::value.why == nest_violation::map_of_reduction;
template <class Formula>
constexpr bool is_kernel = lowering<Formula>::value.why == nest_violation::none;
static_assert(is_map_of_reduction<decltype(si::transpose(si::softmax(some<any>())))>);
static_assert(is_map_of_reduction<decltype(si::transpose(sum(some<any>(), si::axes<0>)))>);
static_assert(is_map_of_reduction<decltype(si::permute<1, 0, 2>(sum(some<sized<4, 5, 6>>(), si::axes<0, 2>)))>);
static_assert(is_map_of_reduction<decltype(si::permute<0, 2, 1>(si::argmax(some<sized<4, 5, 6>>(), si::axes<1, 2>)))>);
static_assert(is_map_of_reduction<decltype(si::unsqueeze<-1>(sum(some<any>(), si::last_axis)))>);
static_assert(is_kernel<decltype(si::permute<1, 0, 2>(sum(some<sized<4, 5, 6>>(), si::last_axis)))>);
static_assert(is_kernel<decltype(si::permute<0, 2, 1>(sum(some<sized<4, 5, 6>>(), si::axes<0>)))>);
static_assert(is_kernel<decltype(si::unsqueeze<0>(sum(some<any>(), si::last_axis)))>);
static_assert(is_kernel<decltype(si::unsqueeze<-1>(sum(some<any>(), si::last_axis, si::drop)))>);

// Lowering doesn't depend on layout.
using strided_matrix = si::tensor_view<float, si::extents<dyn, 64>, si::strided>;
static_assert(lowering<decltype(si::softmax(strided_matrix(nullptr, si::extents<dyn, 64>(1), {{64, 1}})))>::value.levels == 2);
}  // namespace

TEST_CASE("nests, levels and refusals are constants") {
    CHECK(softened.levels == 2);
    CHECK(scaled.axis_count == 2);
}
