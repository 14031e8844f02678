// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans: one kernel where there must be one, what it moves, names and hashes that never change by themselves, what a hash sees, and
// the physical plan.
#include <doctest/doctest.h>

#include <sinter/ops/nn.hpp>
#include <sinter/plan.hpp>
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;
using si::axes;
using si::dyn;
using si::extents;
using si::i64;
using si::nest_kind;
using si::plan_of;
using si::tensor_view;

namespace {

template <class Type, i64... Sizes>
using view = tensor_view<Type, extents<Sizes...>>;
using rows = view<float, dyn, 768>;
using fixed_rows = view<float, 32, 768>;

/// Residual, RMSNorm and the residual stream itself: two outputs.
inline constexpr auto add_norm = si::fused([](auto x, auto residual, auto weight) {
    const auto stream = x + residual;
    return si::outputs(stream, stream * rsqrt(mean(stream * stream, si::last_axis) + 1e-6f) * weight);
});
inline constexpr auto rms = si::fused([](auto x) { return x * rsqrt(mean(x * x, si::last_axis) + 1e-6f); });
/// The same values with an unused one, in another order.
inline constexpr auto rms_respelled = si::fused([](auto x) {
    const auto scale = rsqrt(mean(x * x, si::last_axis) + 1e-6f);
    const auto unused = exp(x);
    (void)unused;
    return x * scale;
});
inline constexpr auto rms_other_epsilon = si::fused([](auto x) { return x * rsqrt(mean(x * x, si::last_axis) + 1e-5f); });

template <class Type>
Type& some();
/// The type of a formula of these operands.
#define FORMULA(name, expression)                                                                                            \
    constexpr auto name##_formula = [](rows x, rows z, view<float, 768> w, view<bool, dyn, 768> mask, view<i64, dyn, 1> target) { \
        (void)x, (void)z, (void)w, (void)mask, (void)target;                                                                 \
        return expression;                                                                                                   \
    };                                                                                                                       \
    using name = decltype(name##_formula(some<rows>(), some<rows>(), some<view<float, 768>>(), some<view<bool, dyn, 768>>(), \
                                         some<view<i64, dyn, 1>>()))
FORMULA(softmax_plan, softmax(x));
FORMULA(masked_plan, softmax(x, mask));
FORMULA(log_softmax_plan, log_softmax(x));
FORMULA(layer_norm_plan, si::layer_norm(x, w, w, 1e-5f));
FORMULA(add_norm_plan, add_norm(x, z, w));
FORMULA(loss_plan, si::cross_entropy(x, target));
FORMULA(chain_plan, relu(x + w) * 0.5f);
FORMULA(total_plan, sum(x));
FORMULA(columns_plan, sum(x, axes<0>));
FORMULA(both_plan, x / sum(x, axes<1>) * sum(x, axes<0>));
FORMULA(rms_plan, rms(x));
FORMULA(respelled_plan, rms_respelled(x));
FORMULA(other_epsilon_plan, rms_other_epsilon(x));
FORMULA(first_plan, argmax(x, axes<1>));
FORMULA(last_plan, si::argmax<si::pick::last>(x, axes<1>));
FORMULA(axis_plan, sum(x, axes<1>));
FORMULA(dropped_plan, sum(x, axes<1>, si::drop));
FORMULA(axis_from_the_end_plan, sum(x, axes<-1>));
FORMULA(copied_plan, copy(x));
#undef FORMULA

// One kernel each.
static_assert(plan_of<softmax_plan>.kernels == 1);
static_assert(plan_of<masked_plan>.kernels == 1);
static_assert(plan_of<log_softmax_plan>.kernels == 1);
static_assert(plan_of<layer_norm_plan>.kernels == 1);
static_assert(plan_of<add_norm_plan>.kernels == 1);
static_assert(plan_of<loss_plan>.kernels == 1);
static_assert(plan_of<chain_plan>.kernels == 1 && plan_of<total_plan>.kernels == 1 && plan_of<columns_plan>.kernels == 1);

// Passes and levels: one for each dependent reduction, and one to write rows.
static_assert(plan_of<softmax_plan>.levels == 2 && plan_of<softmax_plan>.passes == 3);
static_assert(plan_of<layer_norm_plan>.levels == 1 && plan_of<layer_norm_plan>.passes == 2);
static_assert(plan_of<loss_plan>.levels == 2 && plan_of<loss_plan>.passes == 2);
static_assert(plan_of<total_plan>.levels == 1 && plan_of<total_plan>.passes == 1);
static_assert(plan_of<chain_plan>.levels == 0 && plan_of<chain_plan>.passes == 1);
static_assert(plan_of<softmax_plan>.nest == nest_kind::rows && plan_of<columns_plan>.nest == nest_kind::columns);
static_assert(plan_of<chain_plan>.nest == nest_kind::pointwise);

// Loads and stores: a value used twice is one, scalars and literals are none.
static_assert(plan_of<softmax_plan>.loads == 1 && plan_of<softmax_plan>.stores == 1);
static_assert(plan_of<add_norm_plan>.loads == 3 && plan_of<add_norm_plan>.stores == 2);
static_assert(plan_of<chain_plan>.loads == 2 && plan_of<masked_plan>.loads == 2);
static_assert(plan_of<chain_plan>.operations == 3 && plan_of<chain_plan>.nodes == 6);
static_assert(plan_of<chain_plan>.flops == 2 + si::relu_op::facts.cost);

// Bytes: each operand once along the axes on which it varies.
static_assert(plan_of<softmax_plan>.open_axes == 1);
static_assert(plan_of<softmax_plan>.bytes(10) == 2 * 10 * 768 * 4);
static_assert(plan_of<add_norm_plan>.bytes(10) == 4 * 10 * 768 * 4 + 768 * 4);
static_assert(plan_of<masked_plan>.bytes(10) == 2 * 10 * 768 * 4 + 10 * 768);
static_assert(plan_of<total_plan>.bytes(10) == 10 * 768 * 4 + 4);
static_assert(plan_of<columns_plan>.bytes(10) == 10 * 768 * 4 + 768 * 4);
static_assert(plan_of<loss_plan>.bytes(10) == 10 * 768 * 4 + 10 * 8 + 10 * 4);

// Stages: a formula that is one kernel is one; the others say why, and what lives between.
static_assert(plan_of<softmax_plan>.stages == 1 && plan_of<softmax_plan>.buffers == 0);
static_assert(plan_of<softmax_plan>.stage(0).piece.domain.rank == 2);
static_assert(plan_of<softmax_plan>.stage(0).piece.domain.size[1] == 768);
static_assert(!plan_of<softmax_plan>.stage(0).piece.domain.folded[0] && plan_of<softmax_plan>.stage(0).piece.domain.folded[1]);
static_assert(plan_of<softmax_plan>.stage(0).piece.bytes == -1);
static_assert(!plan_of<both_plan>.one_kernel && plan_of<both_plan>.why == si::nest_violation::incompatible_axes);
static_assert(plan_of<both_plan>.kernels > 1 && plan_of<both_plan>.buffers == plan_of<both_plan>.kernels - 1);
static_assert(plan_of<both_plan>.bytes() == -1);

// A hash sees every number, axis, type and shape, and nothing else.
static_assert(plan_of<rms_plan>.hash == plan_of<respelled_plan>.hash);
static_assert(plan_of<rms_plan>.nodes == plan_of<respelled_plan>.nodes);
static_assert(plan_of<rms_plan>.hash != plan_of<other_epsilon_plan>.hash);
static_assert(plan_of<first_plan>.hash != plan_of<last_plan>.hash);
static_assert(plan_of<axis_plan>.hash != plan_of<columns_plan>.hash && plan_of<axis_plan>.hash == plan_of<axis_from_the_end_plan>.hash);
static_assert(plan_of<axis_plan>.hash != plan_of<dropped_plan>.hash);
static_assert(plan_of<axis_plan>.hash != plan_of<total_plan>.hash);
using added_rows = decltype(some<rows>() + 1.0f);
using added_fixed = decltype(some<fixed_rows>() + 1.0f);
using added_half = decltype(some<view<si::f16, dyn, 768>>() + 1.0f);
static_assert(plan_of<added_rows>.hash != plan_of<added_fixed>.hash && plan_of<added_rows>.hash != plan_of<added_half>.hash);
using stored = decltype(some<rows>() = some<added_half>());  // an f16 formula to an f32 output
static_assert(plan_of<added_half>.hash != plan_of<stored>.hash && plan_of<added_half>.name == plan_of<stored>.name.c_str());

// Scales and zero points are numbers of a formula as well, wherever they stand: in an operand, in an output, in an operation.
template <si::qparams Operand, si::qparams Output>
using requantized = decltype(some<view<si::q8<Output>, 32>>() = si::requantize(some<view<const si::q8<Operand>, 32>>()));
static_assert(plan_of<requantized<"0.5"_qp, "0.25"_qp>>.hash == plan_of<requantized<"0.5:0"_qp, "2.5e-1"_qp>>.hash);
static_assert(plan_of<requantized<"0.5"_qp, "0.25"_qp>>.hash != plan_of<requantized<"0.75"_qp, "0.25"_qp>>.hash);
static_assert(plan_of<requantized<"0.5"_qp, "0.25"_qp>>.hash != plan_of<requantized<"0.5"_qp, "0.26"_qp>>.hash);
static_assert(plan_of<requantized<"0.5"_qp, "0.25"_qp>>.hash != plan_of<requantized<"0.5:1"_qp, "0.25"_qp>>.hash);
static_assert(plan_of<requantized<"0.5"_qp, "0.25"_qp>>.hash != plan_of<requantized<si::narrow("0.5"_qp), "0.25"_qp>>.hash);
template <si::qparams Parameters>
using as_codes = decltype(si::quantize<Parameters>(some<rows>()));
template <si::qparams Parameters>
using nearest = decltype(si::fake_quantize<Parameters>(some<rows>()));
static_assert(plan_of<as_codes<"0.5"_qp>>.hash != plan_of<as_codes<"0.25"_qp>>.hash && plan_of<nearest<"0.5"_qp>>.hash != plan_of<nearest<"0.5:3"_qp>>.hash);
template <si::qparams Parameters>
using dot_with = decltype(si::dot(some<view<const si::q8<Parameters>, 64>>(), some<view<const si::i8, 64>>(), axes<0>));
static_assert(plan_of<dot_with<"0.5"_qp>>.hash != plan_of<dot_with<"0.25"_qp>>.hash && plan_of<dot_with<"0.5"_qp>>.hash != plan_of<dot_with<"0.5:3"_qp>>.hash);

// All sizes static: no arguments.
static_assert(plan_of<added_fixed>.open_axes == 0 && plan_of<added_fixed>.bytes() == 2 * 32 * 768 * 4);
static_assert(plan_of<added_fixed>.stage(0).piece.bytes == plan_of<added_fixed>.bytes());

// The physical plan.
using wide = si::targets::cpu_with<64>;
static_assert(plan_of<softmax_plan, wide>.width == 16 && plan_of<softmax_plan, wide>.split == si::split_rule::rows);
static_assert(plan_of<chain_plan, wide>.split == si::split_rule::elements);
static_assert(plan_of<columns_plan, wide>.split == si::split_rule::columns);
static_assert(plan_of<total_plan, wide>.split == si::split_rule::nothing);
static_assert(plan_of<softmax_plan, si::targets::reference>.width == 1);
static_assert(plan_of<softmax_plan, si::targets::reference>.split == si::split_rule::nothing);
static_assert(plan_of<softmax_plan, wide>.kernels == 1 && plan_of<softmax_plan, wide>.scratch == 0);
static_assert(!plan_of<chain_plan, wide>.streams(10) && plan_of<chain_plan, wide>.streams(1 << 21));
static_assert(!plan_of<chain_plan, si::targets::reference>.streams(1 << 21));

// A mistake was reported where it was made.
static_assert(plan_of<si::poison>.kernels == 1);

}  // namespace

TEST_CASE("names are short, readable and fit an identifier") {
    CHECK(plan_of<softmax_plan>.name == "max_sub_exp_sum_reciprocal_mul");
    CHECK(plan_of<chain_plan>.name == "add_relu_mul");
    CHECK(plan_of<rms_plan>.name == "mul_sum_div_add_rsqrt_mul");
    CHECK(plan_of<copied_plan>.name == "copy");
    CHECK(plan_of<loss_plan>.name == "max_is_inf_is_finite_where_exp_below_sum_and_12_more");
    CHECK(plan_of<loss_plan>.name.length() <= 63);
}

// These numbers hold under every compiler. A change of one is a change of the plan's meaning: it invalidates what users stored.
TEST_CASE("hashes are pinned") {
    CHECK(plan_of<softmax_plan>.hash == 0x05d6aa1532ab7e5fu);
    CHECK(plan_of<masked_plan>.hash == 0x10831bc984d26039u);
    CHECK(plan_of<layer_norm_plan>.hash == 0xcd6621b69d68fe00u);
    CHECK(plan_of<add_norm_plan>.hash == 0x3e6d12566932a05fu);
    CHECK(plan_of<loss_plan>.hash == 0xfb1a3e922b1467eeu);
    CHECK(plan_of<chain_plan>.hash == 0xf44d6889946a8765u);
    CHECK(plan_of<both_plan>.hash == 0xf50aa5b7e7055686u);
}

namespace {
/// Every value is used twice: 200 nodes, 2^100 ways through them.
inline constexpr auto doublings = si::fused([](auto x) {
    for (int i = 0; i < 100; ++i) x = x * x + x;
    return x;
});
/// Alternating row and column reductions in a long formula.
inline constexpr auto alternating = si::fused([](auto x) {
    for (int i = 0; i < 4; ++i) {
        x = si::layer_norm(x, 1e-5f) * 0.5f + x;
        x = x - mean(x, axes<0>);
        for (int k = 0; k < 8; ++k) x = (x * x + 1.0f) * 0.25f;
    }
    return x;
});
}  // namespace

TEST_CASE("large formulas, within the limits of constant evaluation") {
    const rows x(nullptr, 4);
    const auto shared = doublings(x);
    static_assert(plan_of<decltype(shared)>.nodes == 201 && plan_of<decltype(shared)>.kernels == 1);
    CHECK(plan_of<decltype(shared)>.name == "mul_add_mul_add_mul_add_mul_add_mul_add_mul_add_and_188_more");
    const auto cut = alternating(x);
    static_assert(plan_of<decltype(cut)>.kernels == 8);
    CHECK(plan_of<decltype(cut)>.buffers == 11);
}

TEST_CASE("the page on plans") {
    float memory[4 * 768]{};
    // [facts]
    si::tensor_view<float, si::extents<si::dyn, 768>> x(memory, 4);
    auto e = softmax(x);
    using plan = si::plan<decltype(e)>;
    static_assert(plan::kernels == 1);
    static_assert(plan::loads == 1 && plan::stores == 1);
    static_assert(plan::levels == 2 && plan::passes == 3);         // a maximum, a sum that needs it, the results
    static_assert(plan::bytes(4096) == 2 * i64(4096) * 768 * 4);  // one size for each run-time axis of the loops
    // [/facts]
    CHECK(plan::open_axes == 1);
}
