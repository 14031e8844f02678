// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// calibrate*.hpp: parameters of ranges, prepared operators and their plans, every observer against numbers worked out by hand, laws (the
// same bytes from every backend, number of threads and order of calls), what is refused at run time, files, operators on codes.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>
#include <sinter/calibrate.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace calibrating {
namespace si = sinter;
using si::code_kind;
using si::observer;
using si::scheme;
namespace choose = si::choose;

// ---- parameters of ranges

static_assert(si::parameters_of(scheme::affine, code_kind::u8, -1.5f, 3.0f).scale_bits == 0x3c909091u);
static_assert(si::parameters_of(scheme::affine, code_kind::u8, -1.5f, 3.0f).zero == 85);
static_assert(si::parameters_of(scheme::absmax_127, code_kind::i8, -1.5f, 3.0f).scale_bits == 0x3cc18306u);  // 3 / 127
static_assert(si::parameters_of(scheme::absmax_127, code_kind::i8, -1.5f, 3.0f).low == -127);
static_assert(si::parameters_of(scheme::absmax_127_5, code_kind::i8, -1.5f, 3.0f).scale_bits == 0x3cc0c0c1u);  // 3 / 127.5
static_assert(si::parameters_of(scheme::absmax_127_5, code_kind::i8, -1.5f, 3.0f).low == -128);
static_assert(si::parameters_of(scheme::absmax_127_5, code_kind::u8, -1.5f, 3.0f).zero == 128);
static_assert(si::parameters_of(scheme::absmax_127, code_kind::i8, -3.0f, 0.5f).scale_bits == 0x3cc18306u);
static_assert(si::parameters_of(scheme::affine, code_kind::i8, -4.0f, -2.0f).zero == 127);  // stretched to hold 0

// Spans beyond the largest float: the quotient is the span's all the same.
static_assert(si::parameters_of(scheme::affine, code_kind::i8, -3e38f, 3e38f).scale_bits == 0x7be2947au && si::parameters_of(scheme::affine, code_kind::i8, -3e38f, 3e38f).zero == 0);

// ---- the operator of the tests, its weights by rows: sums along the last axis

inline constexpr auto layer = si::fused([](auto x, auto w, auto b) { return relu(sum(si::unsqueeze<1>(x) * w, si::last_axis, si::drop) + b); });

inline constexpr auto output_range = si::quantizer([](si::node_facts value) {
    return value.output == 0 ? choose::own(observer::min_max, code_kind::u8) : choose::nothing();
});
inline constexpr auto everything = si::quantizer([](si::node_facts value) {
    if (value.is("input", 0)) return choose::own(observer::min_max, code_kind::i8);
    if (value.is("input", 1)) return choose::own(observer::absmax, code_kind::i8, scheme::absmax_127).per_axis(0);
    if (value.is("input", 2)) return choose::derived({"input", 0}, {"input", 1});
    if (value.is("sum")) return choose::own(observer::moving_min_max, code_kind::i8, scheme::absmax_127_5);
    if (value.is("add")) return choose::shared({"sum", 0});
    if (value.output == 0) return choose::own(observer::min_max, code_kind::u8);
    return choose::nothing();
});
inline constexpr auto watched = si::prepare(layer, output_range);

using rows_of_3 = si::extents<si::dyn, 3>;
using rows_of_2 = si::extents<si::dyn, 2>;
struct data {
    float x[6] = {1, 2, 3, -4, 5, 6};
    float w[6] = {1, 3, 5, -2, -4, -7};
    float b[2] = {0.5f, 1};
    float y[4];
    si::tensor_view<const float, rows_of_3> in(int from = 0, int to = 2) const { return si::tensor_view<const float, rows_of_3>(x + 3 * from, to - from); }
    si::tensor_view<const float, si::extents<2, 3>> weights() const { return si::tensor_view<const float, si::extents<2, 3>>(w); }
    si::tensor_view<const float, si::extents<2>> bias() const { return si::tensor_view<const float, si::extents<2>>(b); }
    si::tensor_view<float, rows_of_2> out(int rows = 2) { return si::tensor_view<float, rows_of_2>(y, rows); }
};

TEST_CASE("a prepared operator gives its results and the ranges from one kernel") {
    data all;
    float low = -1, high = -1;
    const si::tensor_view<float, si::extents<>> low_view(&low), high_view(&high);
    const auto both = watched(all.in(), all.weights(), all.bias());
    static_assert(si::plan_of<si::remove_cvref<decltype(both)>>.kernels == 1);
    si::run(si::cpu, si::tie(all.out(), low_view, high_view) = both);
    CHECK(all.y[0] == 22.5f);  // 1 + 6 + 15 + 0.5
    CHECK(all.y[1] == 0);      // -2 - 8 - 21 + 1
    CHECK(all.y[2] == 41.5f);  // -4 + 15 + 30 + 0.5
    CHECK(all.y[3] == 0);
    CHECK(low == 0);
    CHECK(high == 41.5f);
}

/// Two calls of one row each.
template <class Executor, class Quantizer>
si::calibration_results two_calls(const Executor& executor, const Quantizer& how, const data& given, bool backwards = false) {
    data all = given;
    auto seen = si::calibrate(layer, how, all.in(), all.weights(), all.bias());
    for (int pass = 0; pass < (seen.needs_second_pass() ? 2 : 1); ++pass) {
        if (pass == 1) seen.second_pass();
        for (int call = 0; call < 2; ++call) {
            const int row = backwards ? 1 - call : call;
            const si::calibration_status said = seen.observe(executor, all.out(1), all.in(row, row + 1), all.weights(), all.bias());
            CHECK_MESSAGE(said.ok(), said.message());
        }
    }
    return seen.results();
}

TEST_CASE("every way to parameters, worked out by hand") {
    const si::calibration_results found = two_calls(si::cpu, everything, data{});
    REQUIRE(found.ok());
    REQUIRE(found.values.size() == 6);
    const auto& x = *found.find({"input", 0});
    CHECK(x.low == -4);
    CHECK(x.high == 6);
    CHECK(x.parameters[0].scale() == 10.0f / 255.0f);
    CHECK(x.parameters[0].zero == -26);  // -128 + 102
    const auto& w = *found.find({"input", 1});
    REQUIRE(w.parameters.size() == 2);
    CHECK(w.axis == 0);
    CHECK(w.parameters[0].scale() == 5.0f / 127.0f);
    CHECK(w.parameters[1].scale() == 7.0f / 127.0f);
    const auto& b = *found.find({"input", 2});
    REQUIRE(b.parameters.size() == 2);
    CHECK(b.parameters[1].scale() == (10.0f / 255.0f) * (7.0f / 127.0f));
    CHECK(b.parameters[1].storage == code_kind::i32);
    // Sums of the first row: 22 and -31, of the second: 41 and -54. Moving: 22 + 0.01 * 19 and -31 - 0.01 * 23.
    const auto& total = *found.find({"sum", 0});
    CHECK(total.high == 22.0f + 0.01f * 19.0f);
    CHECK(total.low == -31.0f + 0.01f * -23.0f);
    CHECK(total.parameters[0].scale() == (31.0f + 0.01f * 23.0f) / 127.5f);
    CHECK(found.find({"add", 0})->parameters[0] == total.parameters[0]);
    CHECK(found.find({"relu", 0})->parameters[0].scale() == 41.5f / 255.0f);
    CHECK(found.find({"relu", 1}) == nullptr);
}

struct spawn {
    template <class Function>
    void operator()(int count, const Function& function) const {
        std::vector<std::thread> all;
        for (int i = 0; i < count; ++i) all.emplace_back([&function, i] { function(i); });
        for (std::thread& each : all) each.join();
    }
};
inline constexpr auto values_of_input = si::quantizer([](si::node_facts value) {
    if (value.is("input", 0)) return choose::own(observer::mse, code_kind::i8, scheme::absmax_127);
    if (value.is("sum")) return choose::own(observer::histogram, code_kind::i8);
    if (value.output == 0) return choose::own(observer::percentile, code_kind::u8).without_tails(0.1f);
    return choose::nothing();
});

TEST_CASE("laws: the same bytes from every backend, any number of threads and any order of the calls") {
    const std::string wanted = si::calibration_header(two_calls(si::reference, values_of_input, data{}), "law");
    CHECK(si::calibration_header(two_calls(si::cpu, values_of_input, data{}), "law") == wanted);
    CHECK(si::calibration_header(two_calls(si::cpu.parallel(spawn{}, 3), values_of_input, data{}), "law") == wanted);
    CHECK(si::calibration_header(two_calls(si::reference, values_of_input, data{}, true), "law") == wanted);
    const std::string all = si::calibration_header(two_calls(si::reference, everything, data{}), "law");
    CHECK(si::calibration_header(two_calls(si::cpu, everything, data{}), "law") == all);
}

// ---- observers that need the values: an operator that hands on its operand

inline constexpr auto same = si::fused([](auto x) { return copy(x); });
template <class Quantizer>
si::calibration_results of_values(const Quantizer& how, const std::vector<float>& values) {
    std::vector<float> result(values.size());
    const si::tensor_view<const float, si::extents<si::dyn>> x(values.data(), si::i64(values.size()));
    const si::tensor_view<float, si::extents<si::dyn>> y(result.data(), si::i64(values.size()));
    auto seen = si::calibrate(same, how, x);
    CHECK(seen.needs_second_pass());
    CHECK(seen.observe(si::cpu, y, x).ok());
    CHECK(seen.results().status.code() == si::calibration_code::second_pass);
    CHECK(si::describe(seen.results().status).find("SINTER-K") != std::string::npos);
    seen.second_pass();
    CHECK(!seen.needs_second_pass());
    CHECK(seen.observe(si::cpu, y, x).ok());
    CHECK(si::describe(seen.results().status).empty() == seen.results().ok());
    return seen.results();
}
TEST_CASE("percentile: the tails go") {
    // 1000 values 0 to 999, two of them far out: without 1 % at each end 10 values may lie below and above.
    std::vector<float> values(1000);
    for (int i = 0; i < 1000; ++i) values[std::size_t(i)] = float(i);
    values[0] = -1000, values[999] = 3096;  // 4096 / 2048: bins of width 2
    const auto found = of_values(si::quantizer([](si::node_facts value) {
                                     return value.input == 0 ? choose::own(observer::percentile, code_kind::u8).without_tails(0.01f) : choose::nothing();
                                 }), values);
    REQUIRE(found.ok());
    // Up to the edge 8 lie -1000, 1 ... 8: nine values. Up to 10 eleven. So the range begins with the bin (8, 10], whose lower edge is 8;
    // above 988 lie 10 values (989 ... 998 and 3096 are eleven, so 990 it is).
    const float low = 0, high = 990;  // the affine range holds 0
    CHECK(found.values[0].parameters[0].scale() == (high - low) / 255.0f);
}
TEST_CASE("histogram and mse: cutting one far value is worth its error") {
    std::vector<float> values(4001, 0.0f);
    for (int i = 0; i < 4000; ++i) values[std::size_t(i)] = float(i % 101 - 50) * 0.02f;  // -1 to 1
    values[4000] = 3.0f;
    const auto whole = si::parameters_of(scheme::absmax_127, code_kind::i8, -1.0f, 3.0f);
    const auto squares = [&](const si::qparams& with) {
        double sum = 0;
        for (const float x : values) {
            const double error = double(x) - double(si::dequantize_code(si::quantize_code(x, with), with));
            sum += error * error;
        }
        return sum;
    };
    // With 4-bit codes the far value costs the others more than its own error.
    const auto coarse = of_values(si::quantizer([](si::node_facts value) {
                                      return value.input == 0 ? choose::own(observer::mse, code_kind::i4, scheme::absmax_127) : choose::nothing();
                                  }), values);
    REQUIRE(coarse.ok());
    const auto whole4 = si::parameters_of(scheme::absmax_127, code_kind::i4, -1.0f, 3.0f);
    CHECK(squares(coarse.values[0].parameters[0]) < squares(whole4));
    CHECK(coarse.values[0].parameters[0].scale() < whole4.scale());
    // The best of the candidates, by trying all of them.
    double least = 1e30;
    float best = 0;
    for (int c = 0; c < 64; ++c) {
        const auto with = si::parameters_of(scheme::absmax_127, code_kind::i4, -1.0f * (1.0f - float(c) * 0.0125f), 3.0f * (1.0f - float(c) * 0.0125f));
        if (squares(with) < least) least = squares(with), best = with.scale();
    }
    CHECK(coarse.values[0].parameters[0].scale() == best);
    // With 8 bits all of the range is worth keeping, or nearly.
    const auto fine = of_values(si::quantizer([](si::node_facts value) {
                                    return value.input == 0 ? choose::own(observer::histogram, code_kind::i8, scheme::absmax_127) : choose::nothing();
                                }), values);
    REQUIRE(fine.ok());
    CHECK(squares(fine.values[0].parameters[0]) <= squares(whole) * 1.01);
}

// ---- what is refused

TEST_CASE("never observed, NaN, infinity, and a second pass over other data") {
    data all;
    auto seen = si::calibrate(layer, everything, all.in(), all.weights(), all.bias());
    // [never]
    CHECK(seen.results().status.code() == si::calibration_code::never_observed);
    // [/never]
    CHECK(seen.results().status.message().find("[SINTER-K011]") == 0);
    CHECK(seen.results().status.message().find("'input' 0") != std::string::npos);
    // [nan]
    all.x[1] = __builtin_nanf("");
    const auto nan = seen.observe(si::cpu, all.out(), all.in(), all.weights(), all.bias());
    CHECK(nan.code() == si::calibration_code::nan_observed);
    // [/nan]
    CHECK(nan.message().find("[SINTER-K012]") == 0);
    all.x[1] = __builtin_huge_valf();
    const auto infinite = seen.observe(si::reference, all.out(), all.in(), all.weights(), all.bias());
    CHECK(infinite.code() == si::calibration_code::not_finite);
    CHECK(seen.results().status.code() == si::calibration_code::never_observed);  // nothing of those calls was kept
    all.x[1] = 2;
    CHECK(seen.observe(si::cpu, all.out(), all.in(), all.weights(), all.bias()).ok());
    CHECK(seen.results().ok());
    CHECK(seen.observe(si::cpu, all.out(1), all.in(), all.weights(), all.bias()).code() == si::calibration_code::run_failed);

    auto twice = si::calibrate(layer, values_of_input, all.in(), all.weights(), all.bias());
    CHECK(twice.observe(si::cpu, all.out(), all.in(), all.weights(), all.bias()).ok());
    // [twice]
    twice.second_pass();
    all.x[5] = 60;
    CHECK(twice.observe(si::cpu, all.out(), all.in(), all.weights(), all.bias()).code() == si::calibration_code::second_pass);
    // [/twice]
}
TEST_CASE("a call without elements changes nothing") {
    data all;
    auto seen = si::calibrate(layer, output_range, all.in(), all.weights(), all.bias());
    CHECK(seen.observe(si::cpu, all.out(0), all.in(0, 0), all.weights(), all.bias()).ok());
    CHECK(seen.results().status.code() == si::calibration_code::never_observed);
}

// y = a + b, both observed.
inline constexpr auto two_sum = si::fused([](auto a, auto b) { return a + b; });
template <observer Watch, scheme Formula = scheme::affine>
inline constexpr auto both_operands = si::quantizer([](si::node_facts value) {
    return value.input >= 0 ? choose::own(Watch, code_kind::i8, Formula) : choose::nothing();
});
TEST_CASE("a call that is refused leaves nothing behind, of no value") {
    float a[4] = {1, 1, 1, 1}, b[4] = {2, 2, 2, 2}, y[4];
    auto seen = si::calibrate(two_sum, both_operands<observer::min_max>, si::view(a), si::view(b));
    CHECK(seen.observe(si::cpu, si::view(y), si::view(a), si::view(b)).ok());
    a[2] = 1000, b[3] = __builtin_nanf("");
    CHECK(seen.observe(si::cpu, si::view(y), si::view(a), si::view(b)).code() == si::calibration_code::nan_observed);
    CHECK(seen.results().values[0].high == 1);

    auto twice = si::calibrate(two_sum, both_operands<observer::mse>, si::view(a), si::view(a));
    CHECK(twice.observe(si::cpu, si::view(y), si::view(a), si::view(a)).ok());
    twice.second_pass();
    const auto refused = [&](si::calibration_code code) {
        CHECK(twice.observe(si::cpu, si::view(y), si::view(a), si::view(b)).code() == code);  // the first operand would do
        CHECK(!twice.results().ok());
    };
    refused(si::calibration_code::nan_observed);
    b[3] = 1001;
    refused(si::calibration_code::second_pass);
    CHECK(twice.observe(si::cpu, si::view(y), si::view(a), si::view(a)).ok());
    CHECK(twice.results().ok());

    // Inside the range, yet other data: another range, or fewer values.
    auto inside = si::calibrate(two_sum, both_operands<observer::percentile>, si::view(a), si::view(a));
    CHECK(inside.observe(si::cpu, si::view(y), si::view(a), si::view(a)).ok());
    inside.second_pass();
    a[2] = 500;
    CHECK(inside.observe(si::cpu, si::view(y), si::view(a), si::view(a)).ok());
    CHECK(inside.results().status.code() == si::calibration_code::second_pass);
}
TEST_CASE("huge finite values have finite scales") {
    float a[4] = {-3e38f, 3e38f, 1, 0}, b[4] = {1, 1, 1, 1}, y[4];
    const auto scale = [&](const auto& plan) {
        auto seen = si::calibrate(two_sum, plan, si::view(a), si::view(b));
        CHECK(seen.observe(si::cpu, si::view(y), si::view(a), si::view(b)).ok());
        seen.second_pass();
        CHECK(seen.observe(si::cpu, si::view(y), si::view(a), si::view(b)).ok());
        const auto found = seen.results();
        REQUIRE(found.ok());
        return found.values[0].parameters[0].scale();
    };
    const float wanted = __builtin_bit_cast(float, 0x7be2947au);
    CHECK(scale(both_operands<observer::min_max>) == wanted);
    CHECK(scale(both_operands<observer::percentile>) == wanted);
    CHECK(scale(both_operands<observer::histogram>) == wanted);
    CHECK(scale(both_operands<observer::mse>) == wanted);
    // A moving range whose change overflows.
    auto moving = si::calibrate(two_sum, both_operands<observer::moving_min_max>, si::view(a), si::view(b));
    CHECK(moving.observe(si::cpu, si::view(y), si::view(a), si::view(b)).ok());
    a[0] = 3e38f;
    CHECK(moving.observe(si::cpu, si::view(y), si::view(a), si::view(b)).ok());
    CHECK(moving.results().values[0].low < -2.9e38f);
    CHECK(moving.results().ok());
    // A bias's scale is a product.
    static constexpr auto product = si::quantizer([](si::node_facts value) {
        return value.input == 0 ? choose::own(observer::absmax, code_kind::i8, scheme::absmax_127) : value.input == 1 ? choose::derived({"input", 0}, {"input", 0}) : choose::nothing();
    });
    auto derived = si::calibrate(two_sum, product, si::view(a), si::view(b));
    CHECK(derived.observe(si::cpu, si::view(y), si::view(a), si::view(b)).ok());
    CHECK(derived.results().status.code() == si::calibration_code::not_finite);
}
template <class Integer>
void greatest_magnitude() {
    constexpr Integer least = si::is_same<Integer, si::i64> ? Integer(-9223372036854775807LL - 1) : Integer(Integer(1) << (8 * sizeof(Integer) - 1));
    Integer a[4] = {1, least, 3, 5}, b[4]{}, y[4];
    auto seen = si::calibrate(two_sum, both_operands<observer::absmax, scheme::absmax_127>, si::view(a), si::view(b));
    CHECK(seen.observe(si::cpu, si::view(y), si::view(a), si::view(b)).ok());
    CHECK(seen.results().values[0].high == -float(least));
}
TEST_CASE("the greatest magnitude of integers, the least one among them") {
    greatest_magnitude<si::i8>();
    greatest_magnitude<si::i16>();
    greatest_magnitude<si::i32>();
    greatest_magnitude<si::i64>();
}
TEST_CASE("parameters per axis: every call has the axis's size") {
    static constexpr auto rows = si::quantizer([](si::node_facts value) {
        return value.input == 1 ? choose::own(observer::absmax, code_kind::i8, scheme::absmax_127).per_axis(0) : choose::nothing();
    });
    using matrix = si::extents<si::dyn, si::dyn>;
    float a[9] = {}, b[9] = {0, 1, 2, 3, 4, 5, 6, 70, 80}, y[9];
    const auto of = [](float* memory, si::i64 height) { return si::tensor_view<float, matrix>(memory, height, 3); };
    auto seen = si::calibrate(two_sum, rows, of(a, 2), of(b, 2));
    CHECK(seen.observe(si::cpu, of(y, 2), of(a, 2), of(b, 2)).ok());
    // [other_size]
    const auto third_row = seen.observe(si::cpu, of(y, 3), of(a, 3), of(b, 3));
    CHECK(third_row.code() == si::calibration_code::other_size);
    // [/other_size]
    CHECK(third_row.message().find("[SINTER-K016]") == 0);
    CHECK(seen.results().values[0].high == 5);
}
TEST_CASE("a scale derived from two axes needs one size") {
    static constexpr auto dense = si::fused([](auto x, auto w, auto bias) { return sum(si::unsqueeze<1>(x) * w, si::last_axis, si::drop) + bias; });
    static constexpr auto both = si::quantizer([](si::node_facts value) {
        if (value.input == 2) return choose::derived({"input", 0}, {"input", 1});
        return value.input >= 0 ? choose::own(observer::absmax, code_kind::i8, scheme::absmax_127).per_axis(0) : choose::nothing();
    });
    using matrix = si::tensor_view<float, si::extents<si::dyn, si::dyn>>;
    using line = si::tensor_view<float, si::extents<si::dyn>>;
    float x[15] = {1, 2, 3, 4, 5, 6}, w[15] = {1, 2, 3, 4, 5, 6, 7}, bias[5] = {}, y[25];
    const auto after = [&](si::i64 rows) {
        auto seen = si::calibrate(dense, both, matrix(x, rows, 3), matrix(w, 5, 3), line(bias, 5));
        CHECK(seen.observe(si::reference, matrix(y, rows, 5), matrix(x, rows, 3), matrix(w, 5, 3), line(bias, 5)).ok());
        return seen.results();
    };
    CHECK(after(2).status.code() == si::calibration_code::other_size);
    CHECK(after(5).status.ok());
    CHECK(after(1).status.ok());
}
TEST_CASE("operands that can't be are the call's status, whatever an observer would keep of them") {
    static constexpr auto keeps = si::quantizer([](si::node_facts value) {
        return value.input == 0 ? choose::own(observer::mse, code_kind::i8, scheme::absmax_127) : value.input == 1 ? choose::own(observer::min_max, code_kind::u8, scheme::affine).per_axis(0) : choose::nothing();
    });
    using matrix = si::tensor_view<float, si::extents<si::dyn, si::dyn>>;
    float a[12] = {}, b[12] = {1, 2}, y[12];
    auto seen = si::calibrate(two_sum, keeps, matrix(a, 2, 3), matrix(b, 2, 3));
    const auto refused = [&](const matrix& first, const matrix& second) {
        return seen.observe(si::cpu, matrix(y, 2, 3), first, second).code() == si::calibration_code::run_failed;
    };
    CHECK(refused(matrix(a, si::i64(1) << 40, si::i64(1) << 40), matrix(b, 2, 3)));
    CHECK(refused(matrix(a, si::i64(1) << 20, si::i64(1) << 30), matrix(b, 2, 3)));
    CHECK(refused(matrix(a, 2, 3), matrix(b, -2, 3)));
    CHECK(refused(matrix(a, -2, 3), matrix(b, 2, 3)));
    CHECK(refused(matrix(nullptr, 2, 3), matrix(b, 2, 3)));
    const auto beyond = si::slice<0>(matrix(a, 4, 3), 2, 9);
    CHECK(seen.observe(si::cpu, matrix(y, 2, 3), beyond, matrix(b, 2, 3)).code() == si::calibration_code::run_failed);
    CHECK(seen.observe(si::cpu, matrix(y, 2, 3), matrix(a, 2, 3), matrix(b, 2, 3)).ok());
}

// ---- files

TEST_CASE("the header and its JSON twin") {
    const si::calibration_results found = two_calls(si::cpu, output_range, data{});
    char hash[32];
    std::snprintf(hash, sizeof hash, "0x%016llx", static_cast<unsigned long long>(found.operator_hash));
    CHECK(si::calibration_header(found, "layer_one", "mine") ==
          std::string("// Parameters of a quantized operator, written by a calibration.\n#pragma once\n\n#include <sinter/calibrate_graph.hpp>\n\n"
                      "namespace mine {\n\nstruct layer_one {\n    static constexpr sinter::u64 operator_hash = ") +
              hash + "u;\n    static constexpr sinter::calibrated_value values[] = {\n"
                     "        {{\"relu\", 0}, {0x3e26a6a7u, 0, 0, 255, sinter::code_kind::u8, false}},  // 0.162745103\n    };\n};\n\n}  // namespace mine\n");
    CHECK(si::calibration_json(found, "layer_one") ==
          std::string("{\n\"calibration\": \"layer_one\",\n\"operator_hash\": \"") + hash +
              "\",\n\"values\": [\n{\"name\": \"relu\", \"occurrence\": 0, \"storage\": \"u8\", \"low\": 0, \"high\": 255,\n"
              " \"scale\": {\"f32\": [\"0x3e26a6a7\"],\n  \"text\": [\"0.162745103\"]}, \"zp\": [0]}\n]\n}\n");
    CHECK(si::export_calibration(found, "no such folder/file", "layer_one").code() == si::calibration_code::cannot_write);
    CHECK(si::export_calibration(two_calls(si::cpu, output_range, data{}), "calibrate_test", "layer_one").ok());
    std::FILE* const file = std::fopen("calibrate_test.hpp", "rb");
    REQUIRE(file != nullptr);
    char text[2000];
    const std::string written(text, std::fread(text, 1, sizeof text, file));
    std::fclose(file);
    CHECK(written == si::calibration_header(found, "layer_one"));
    std::remove("calibrate_test.hpp");
    std::remove("calibrate_test.json");
}

// ---- operators on codes

inline constexpr auto by_columns = si::fused([](auto x, auto w, auto b) { return relu(sum(si::unsqueeze<2>(x) * w, si::axes<1>, si::drop) + b); });

// An operator's number is of its formula, all of it, and only of it: parameters, axes and what stays of them count, spellings don't.
inline constexpr auto rounds_finely = si::fused([](auto x) { return relu(si::fake_quantize<si::qp(0.05f, 3)>(x)); });
inline constexpr auto rounds_coarsely = si::fused([](auto x) { return relu(si::fake_quantize<si::qp(0.5f, 3)>(x)); });
inline constexpr auto over_last = si::fused([](auto x) { return sum(x, si::axes<-1>); });
inline constexpr auto over_one = si::fused([](auto x) { return sum(x, si::axes<1>); });
inline constexpr auto over_first = si::fused([](auto x) { return sum(x, si::axes<0>); });
inline constexpr auto over_last_dropped = si::fused([](auto x) { return sum(x, si::axes<-1>, si::drop); });
static_assert(si::operator_hash<2>(rounds_finely) != si::operator_hash<2>(rounds_coarsely));
static_assert(si::operator_hash<2>(over_last) == si::operator_hash<2>(over_one) && si::operator_hash<3>(over_last) != si::operator_hash<3>(over_one));
static_assert(si::operator_hash<2>(over_last) != si::operator_hash<2>(over_first) && si::operator_hash<2>(over_last) != si::operator_hash<2>(over_last_dropped));

struct one_scale {
    static constexpr si::u64 operator_hash = si::operator_hash<2, 2, 1>(layer);
    static constexpr si::calibrated_value values[] = {{{"input", 0}, si::stored_as(si::qp(0.5f, 7), code_kind::u8)},
                                                      {{"input", 1}, si::stored_as(si::qp(0.25f), code_kind::i8)},
                                                      {{"input", 2}, si::stored_as(si::qp(0.125f), code_kind::i32)},
                                                      {{"relu", 0}, si::stored_as(si::qp(0.5f, 3), code_kind::u8)}};
};
inline constexpr float weight_scales[2] = {0.25f, 0.5f}, bias_scales[2] = {0.125f, 0.25f};
template <int Axis, bool Rows>
struct scales_by_axis {
    static constexpr si::u64 operator_hash = Rows ? si::operator_hash<2, 2, 1>(layer) : si::operator_hash<2, 2, 1>(by_columns);
    static constexpr si::calibrated_value values[] = {{{"input", 0}, si::stored_as(si::qp(0.5f), code_kind::u8)},
                                                      {{"input", 1}, si::stored_as(si::qp(0.25f), code_kind::i8), Axis, 2, weight_scales},
                                                      {{"input", 2}, si::stored_as(si::qp(0.125f), code_kind::i32), 0, 2, bias_scales},
                                                      {{"relu", 0}, si::stored_as(si::qp(0.5f, 3), code_kind::u8)}};
};
struct codes {
    si::u8 x[6] = {1, 2, 3, 4, 5, 6};
    si::i8 w[6] = {1, 3, 5, -2, -4, -7};          // (2, 3)
    si::i8 transposed[6] = {1, -2, 3, -4, 5, -7};  // (3, 2)
    si::i32 b[2] = {3, 90};
    si::u8 y[4];
    auto in() const { return si::tensor_view<const si::u8, rows_of_3>(x, 2); }
    auto weights() const { return si::tensor_view<const si::i8, si::extents<2, 3>>(w); }
    auto by_column() const { return si::tensor_view<const si::i8, si::extents<3, 2>>(transposed); }
    auto bias() const { return si::tensor_view<const si::i32, si::extents<2>>(b); }
    auto out() { return si::tensor_view<si::u8, rows_of_2>(y, 2); }
};
TEST_CASE("an operator on codes: exact sums, one multiplication, numerics Q1") {
    const auto expect = [](const codes& all, int zero, float first, float second) {
        for (int row = 0; row < 2; ++row)
            for (int o = 0; o < 2; ++o) {
                int sum = all.b[o];
                for (int k = 0; k < 3; ++k) sum += (all.x[row * 3 + k] - zero) * all.w[o * 3 + k];
                const float real = float(sum) * (o == 0 ? first : second);
                const int code = si::quantize_code(real < 0 ? 0.0f : real, si::stored_as(si::qp(0.5f, 3), code_kind::u8));
                CHECK(int(all.y[row * 2 + o]) == code);
            }
    };
    codes all;
    // [convert]
    constexpr auto plain = si::convert<one_scale>(layer);
    static_assert(si::plan_of<decltype(all.out() = plain(all.in(), all.weights(), all.bias()))>.kernels == 1);
    // [/convert]
    for (int backend = 0; backend < 2; ++backend) {
        std::memset(all.y, 0, sizeof all.y);
        if (backend == 0)
            si::run(si::reference, all.out() = plain(all.in(), all.weights(), all.bias()));
        else
            si::run(si::cpu, all.out() = plain(all.in(), all.weights(), all.bias()));
        expect(all, 7, 0.125f, 0.125f);
    }
    using by_row = scales_by_axis<0, true>;
    using by_column = scales_by_axis<1, false>;
    si::run(si::cpu, all.out() = si::convert<by_row>(layer)(all.in(), all.weights(), all.bias(), si::calibrated_scales<by_row, 1>()));
    expect(all, 0, 0.125f, 0.25f);
    std::memset(all.y, 0, sizeof all.y);
    si::run(si::cpu, all.out() = si::convert<by_column>(by_columns)(all.in(), all.by_column(), all.bias(), si::calibrated_scales<by_column, 1>()));
    expect(all, 0, 0.125f, 0.25f);
}

// Zero points that differ along the axis, as affine parameters of weights have them.
inline constexpr si::i32 weight_zeros[2] = {-128, 127};
template <int Axis, bool Rows>
struct zeros_by_axis {
    static constexpr si::u64 operator_hash = scales_by_axis<Axis, Rows>::operator_hash;
    static constexpr si::calibrated_value values[] = {{{"input", 0}, si::stored_as(si::qp(0.5f, 7), code_kind::u8)},
                                                      {{"input", 1}, si::stored_as(si::qp(0.25f), code_kind::i8), Axis, 2, weight_scales, weight_zeros},
                                                      {{"input", 2}, si::stored_as(si::qp(0.125f), code_kind::i32), 0, 2, bias_scales},
                                                      {{"relu", 0}, si::stored_as(si::qp(0.5f, 3), code_kind::u8)}};
};
TEST_CASE("zero points per axis: in the header, and in the operator on codes") {
    static constexpr auto rows = si::quantizer([](si::node_facts value) {
        return value.input == 1 ? choose::own(observer::min_max, code_kind::i8).per_axis(0) : choose::nothing();
    });
    float x[4] = {1, 1, 1, 1}, w[4] = {0, 1, -1, 0}, y[4];
    using square = si::extents<2, 2>;
    auto seen = si::calibrate(two_sum, rows, si::view(x, square{}), si::view(w, square{}));
    CHECK(seen.observe(si::cpu, si::view(y, square{}), si::view(x, square{}), si::view(w, square{})).ok());
    const std::string header = si::calibration_header(seen.results(), "affine");
    CHECK(header.find("    static constexpr sinter::i32 zeros_of_input_1[] = {-128, 127};\n") != std::string::npos);
    CHECK(header.find(", 0, 2, scales_of_input_1.item, zeros_of_input_1},") != std::string::npos);

    const auto expect = [](const codes& all) {
        for (int row = 0; row < 2; ++row)
            for (int o = 0; o < 2; ++o) {
                int sum = all.b[o];
                for (int k = 0; k < 3; ++k) sum += (all.x[row * 3 + k] - 7) * (all.w[o * 3 + k] - weight_zeros[o]);
                const float real = float(sum) * bias_scales[o];
                CHECK(int(all.y[row * 2 + o]) == si::quantize_code(real < 0 ? 0.0f : real, si::stored_as(si::qp(0.5f, 3), code_kind::u8)));
            }
    };
    codes all;
    for (si::u8& each : all.x) each = static_cast<si::u8>(each + 5);
    // [zeros]
    using by_row = zeros_by_axis<0, true>;
    si::run(si::cpu, all.out() = si::convert<by_row>(layer)(all.in(), all.weights(), all.bias(), si::calibrated_scales<by_row, 1>(), si::calibrated_zeros<by_row, 1>()));
    // [/zeros]
    expect(all);
    std::memset(all.y, 0, sizeof all.y);
    using by_column = zeros_by_axis<1, false>;  // the weights lie transposed
    si::run(si::cpu, all.out() = si::convert<by_column>(by_columns)(all.in(), all.by_column(), all.bias(), si::calibrated_scales<by_column, 1>(),
                                                                    si::calibrated_zeros<by_column, 1>()));
    expect(all);
}

// Sums whose length isn't in the type are long: the same codes.
TEST_CASE("a converted operator with run-time sizes, and values between that are rounded") {
    codes all;
    constexpr auto plain = si::convert<one_scale>(layer);
    si::run(si::cpu, all.out() = plain(all.in(), all.weights(), all.bias()));
    si::u8 wanted[4];
    std::memcpy(wanted, all.y, 4);
    const si::tensor_view<const si::u8, si::extents<si::dyn, si::dyn>> x(all.x, 2, 3);
    const si::tensor_view<const si::i8, si::extents<si::dyn, si::dyn>> w(all.w, 2, 3);
    std::memset(all.y, 0, 4);
    si::run(si::cpu, all.out() = plain(x, w, all.bias()));
    CHECK(std::memcmp(all.y, wanted, 4) == 0);
}
inline constexpr auto two_steps = si::fused([](auto x) { return relu(x) * 3.0f; });
struct between {
    static constexpr si::u64 operator_hash = si::operator_hash<1>(two_steps);
    static constexpr si::calibrated_value values[] = {{{"relu", 0}, si::stored_as(si::qp(0.5f), code_kind::u8)}};
};
TEST_CASE("a value between is rounded to its codes; NaN takes the lowest code") {
    const float x[6] = {0.7f, 0.75f, 1000.0f, -5.0f, 0.25f, __builtin_nanf("")};
    float y[6];
    si::run(si::cpu, si::view(y) = si::convert<between>(two_steps)(si::view(x)));
    const float wanted[6] = {1.5f, 3.0f, 382.5f, 0.0f, 0.0f, 0.0f};  // 0.5, 1 (a tie to even), 127.5 (code 255), 0, 0 (a tie), NaN: code 0
    for (int i = 0; i < 6; ++i) CHECK(y[i] == wanted[i]);
}

// [at_run_time]
struct numbers_later {
    static constexpr si::u64 operator_hash = si::operator_hash<2, 2, 1>(layer);
    static constexpr si::calibrated_value values[] = {{{"input", 0}, si::at_run_time(code_kind::u8)},
                                                      {{"input", 1}, si::at_run_time(code_kind::i8, true)},
                                                      {{"input", 2}, si::at_run_time(code_kind::i32)},
                                                      {{"relu", 0}, si::at_run_time(code_kind::u8)}};
};
// [/at_run_time]
struct weights_later {
    static constexpr si::u64 operator_hash = si::operator_hash<2, 2, 1>(layer);
    static constexpr si::calibrated_value values[] = {{{"input", 0}, si::stored_as(si::qp(0.5f), code_kind::u8)},
                                                      {{"input", 1}, si::at_run_time(code_kind::i8, true), 0, 2},
                                                      {{"input", 2}, si::at_run_time(code_kind::i32)},
                                                      {{"relu", 0}, si::stored_as(si::qp(0.5f, 3), code_kind::u8)}};
};
TEST_CASE("parameters that are operands: the codes of the static operator") {
    codes all;
    si::u8 wanted[4];
    si::run(si::cpu, all.out() = si::convert<one_scale>(layer)(all.in(), all.weights(), all.bias()));
    std::memcpy(wanted, all.y, 4);
    std::memset(all.y, 0, 4);
    // [run_time_call]
    si::run(si::cpu, all.out() = si::convert<numbers_later>(layer)(all.in(), all.weights(), all.bias(), 0.5f, 7, 0.25f, 0.5f, 3));
    // [/run_time_call]
    CHECK(std::memcmp(all.y, wanted, 4) == 0);
    std::memset(all.y, 0, 4);
    const si::status said = si::try_run(si::reference, all.out() = si::convert<numbers_later>(layer)(all.in(), all.weights(), all.bias(), 0.5f, 7, 0.25f, 0.5f, 3));
    CHECK(said.ok());
    CHECK(std::memcmp(all.y, wanted, 4) == 0);

    using by_row = scales_by_axis<0, true>;
    si::run(si::cpu, all.out() = si::convert<by_row>(layer)(all.in(), all.weights(), all.bias(), si::calibrated_scales<by_row, 1>()));
    std::memcpy(wanted, all.y, 4);
    std::memset(all.y, 0, 4);
    const si::tensor_view<const float, si::extents<2>> scales(weight_scales);
    si::run(si::cpu, all.out() = si::convert<weights_later>(layer)(all.in(), all.weights(), all.bias(), scales));
    CHECK(std::memcmp(all.y, wanted, 4) == 0);
}

// A count stays with its reduction, and a product of codes that isn't summed is one of real values.
inline constexpr auto mean_and_product = si::fused([](auto x, auto y) {
    const auto product = x * y;
    return si::outputs(mean(product, si::last_axis, si::drop), max(product, si::last_axis, si::drop));
});
struct of_mean {
    static constexpr si::u64 operator_hash = si::operator_hash<2, 2>(mean_and_product);
    static constexpr si::calibrated_value values[] = {{{"input", 0}, si::stored_as(si::qp(0.1f, 7), code_kind::u8)},
                                                      {{"input", 1}, si::stored_as(si::qp(0.3f), code_kind::i8)}};
};
TEST_CASE("means and products of codes") {
    codes all;
    const si::tensor_view<const si::i8, si::extents<si::dyn, 3>> y(all.w, 2);
    float means[2], greatest[2];
    si::run(si::cpu, si::tie(si::view(means), si::view(greatest)) = si::convert<of_mean>(mean_and_product)(all.in(), y));
    const si::qparams x_with = si::stored_as(si::qp(0.1f, 7), code_kind::u8), y_with = si::stored_as(si::qp(0.3f), code_kind::i8);
    for (int row = 0; row < 2; ++row) {
        int sum = 0;
        float most = -1e30f;
        for (int k = 0; k < 3; ++k) {
            sum += (all.x[row * 3 + k] - 7) * all.w[row * 3 + k];
            const float product = si::dequantize_code(all.x[row * 3 + k], x_with) * si::dequantize_code(all.w[row * 3 + k], y_with);
            if (product > most) most = product;
        }
        CHECK(means[row] == si::step::div(si::step::mul(float(sum), 0.1f * 0.3f), 3.0f));  // by steps: no flag of the tests may change what is wanted
        CHECK(greatest[row] == most);
    }
}

}  // namespace calibrating
