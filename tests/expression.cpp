// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions: plain values that refer to nothing else; one leaf per mention in direct ones, one node per value in traced ones;
// operators inside operators; scalars on either side.
#include <doctest/doctest.h>

#include "support.hpp"

using namespace support;
using si::reference;

namespace {

using view_type = si::tensor_view<float, si::extents<4>>;
constexpr view_type null_view(nullptr);

template <class Expression>
constexpr int node_count = si::remove_cvref<Expression>::program_type::size;
template <class Leaves>
struct leaf_counter;
template <class... Leaf>
struct leaf_counter<si::list<Leaf...>> {
    static constexpr int value = int(sizeof...(Leaf));
};
template <class Expression>
constexpr int leaf_count = leaf_counter<typename si::remove_cvref<Expression>::leaves>::value;

using direct = decltype(relu(null_view + null_view) * 0.5f);
static_assert(is_passed_by_bytes<direct> && __is_empty(direct::program_type));
static_assert(leaf_count<direct> == 3);                              // two views and a scalar
static_assert(sizeof(direct) == 2 * sizeof(float*) + sizeof(float*));  // two pointers, one padded float: shapes are static
static_assert(node_count<direct> == 6);

// A value used twice is one node, however deep.
constexpr auto doubling = si::fused([](auto x) {
    for (int i = 0; i < 30; ++i) x = x + x;
    return x;
});
static_assert(node_count<decltype(doubling(null_view))> == 31 && leaf_count<decltype(doubling(null_view))> == 1);
// The same operation on the same operands is found again; operators inside operators are inlined.
constexpr auto square = si::fused([](auto x) { return x * x; });
constexpr auto twice = si::fused([](auto x) { return square(x) + x * x; });
static_assert(node_count<decltype(twice(null_view))> == 3);
// let loads each operand once.
static_assert(leaf_count<decltype(si::let(null_view, [](auto x) { return x * x + x; }))> == 1);
static_assert(leaf_count<decltype(null_view * null_view + null_view)> == 3);

// Equal formulas have equal program types: names and plans are functions of the program.
static_assert(si::is_same<decltype(doubling(null_view))::program_type, decltype(doubling(view_type(nullptr)))::program_type>);
// Static shapes and types are part of the expression.
static_assert(si::is_same<decltype(null_view + 1)::extents_type, si::extents<4>>);
static_assert(decltype(null_view < 1)::type.type == si::dtype::boolean);
static_assert(decltype(si::fused([](auto x) { return x * 2; })(null_view))::type.type == si::dtype::f32);

auto returned_from_a_function(const view_type& x, float scale) {
    const float local = scale * 2;
    auto part = x * local;
    return part + part;
}
struct holder {
    auto make(const view_type& x) const { return (x + offset) * 2; }
    float offset = 3;
};

}  // namespace

TEST_CASE("expressions are values: they outlive the scope that made them") {
    const auto x = grid<float>(si::extents<4>{}, {1, 2, 3, 4});
    const auto made = returned_from_a_function(x, 1.5f);
    CHECK(same(si::eval(reference, made), {6.0f, 12.0f, 18.0f, 24.0f}));
    const auto copy_of_it = made;
    CHECK(same(si::eval(reference, copy_of_it), {6.0f, 12.0f, 18.0f, 24.0f}));
    CHECK(same(si::eval(reference, holder{}.make(x)), {8.0f, 10.0f, 12.0f, 14.0f}));
    // They see memory as it is when they run.
    x(0) = 10;
    CHECK(same(si::eval(reference, made), {60.0f, 12.0f, 18.0f, 24.0f}));
}
TEST_CASE("doubling thirty times") {
    const auto x = grid<float>(si::extents<4>{}, {1, 2, 0, -1});
    CHECK(same(si::eval(reference, doubling(x)), {0x1p30f, 0x1p31f, 0.0f, -0x1p30f}));
}
TEST_CASE("scalars on either side, of any type") {
    const auto x = grid<float>(si::extents<2>{}, {1, 2});
    CHECK(same(si::eval(reference, 1 - x), {0.0f, -1.0f}));
    CHECK(same(si::eval(reference, x - 1), {0.0f, 1.0f}));
    CHECK(same(si::eval(reference, 2.0 / x), {2.0f, 1.0f}));
    CHECK(same(si::eval(reference, x * i8(3)), {3.0f, 6.0f}));
    CHECK(same(si::eval(reference, x * true), {1.0f, 2.0f}));
    CHECK(same(si::eval(reference, 2 > x), {true, false}));
    CHECK(same(si::eval(reference, maximum(1.5f, x)), {1.5f, 2.0f}));
    const auto traced = si::fused([](auto v, auto s) { return s * v + s; });
    CHECK(same(si::eval(reference, traced(x, 3)), {6.0f, 9.0f}));
    CHECK(same(si::eval(reference, traced(2, x)), {3.0f, 6.0f}));
    // A scalar is read when the expression is made.
    float s = 5;
    const auto later = x * s;
    s = 0;
    CHECK(same(si::eval(reference, later), {5.0f, 10.0f}));
}
TEST_CASE("owners, views and expressions mix") {
    si::tensor<float, si::extents<3>> owner;
    owner[1] = 2;
    const auto v = grid<float>(si::extents<3>{}, {1, 1, 1});
    CHECK(same(si::eval(reference, owner + v * owner), {0.0f, 4.0f, 0.0f}));
    CHECK(same(si::eval(reference, square(owner + v)), {1.0f, 9.0f, 1.0f}));
    CHECK(same(si::eval(reference, square(square(owner) + 1)), {1.0f, 25.0f, 1.0f}));
}
TEST_CASE("traced helpers and loops run in the lambda") {
    const auto polynomial = si::fused([](auto x) {
        const float coefficients[] = {1, -2, 0.5f, 3};
        auto result = x * 0 + coefficients[3];
        for (int i = 2; i >= 0; --i) result = result * x + coefficients[i];
        return result;
    });
    CHECK(same(si::eval(reference, polynomial(grid<float>(si::extents<2>{}, {2, -1}))), {23.0f, 0.5f}));
}
TEST_CASE("a name in the lambda becomes that of a number") {
    const auto product = si::fused([](auto x) {
        auto result = x;
        result = 1.0f;
        for (int i = 0; i < 3; ++i) result *= x;
        return result;
    });
    CHECK(same(si::eval(reference, product(grid<float>(si::extents<2>{}, {2, -1}))), {8.0f, -1.0f}));
}
TEST_CASE("a number among the outputs of a lambda") {
    const auto x = grid<float>(si::extents<2>{}, {2, -1});
    si::tensor<float, si::extents<2>> doubled;
    const auto both = si::fused([](auto v) { return outputs(v * 2.0f, 1.0f); });
    si::tensor<float, si::extents<>> unit;
    si::run(reference, si::tie(si::view(doubled), si::view(unit)) = both(x));
    CHECK(doubled[0] == 4.0f);
    CHECK(unit[0] == 1.0f);
}
namespace {
/// A function for numbers, lanes and values of a lambda alike.
template <class Number>
constexpr Number by_horner(Number x) {
    Number sum = Number(0);
    for (const float next : {2.0f, 3.0f, 4.0f}) sum = sum * x + next;
    return sum;
}
}  // namespace
TEST_CASE("a value that is made from nothing is a number") {
    si::tensor<float, si::extents<2, 3>> x, y;
    for (int i = 0; i < 6; ++i) x.data()[i] = float(i) * 1.25f - 2.0f;
    const auto gives = [&](auto formula, auto wanted) {
        si::run(reference, y.view() = formula(x));
        for (int i = 0; i < 6; ++i) CHECK(same(y.data()[i], wanted(x.data()[i])));
    };
    gives(si::fused([](auto v) { return by_horner(v); }), [](float v) { return by_horner(v); });
    gives(si::fused([](auto v) {
        decltype(v) sum{};
        sum += v;
        sum += v;
        return sum;
    }), [](float v) { return 0.0f + v + v; });
    gives(si::fused([](auto v) {
        decltype(v) some[3] = {v * 2.0f, v * 3.0f};
        return some[0] + some[1] + some[2];
    }), [](float v) { return v * 2.0f + v * 3.0f + 0.0f; });
    gives(si::fused([](auto v) { return decltype(v)(1.5f); }), [](float) { return 1.5f; });
    const auto steps = [](auto v) {
        const auto before = v++;
        const auto after = v--;
        ++v;
        return before * 3.0f + after * 5.0f + --v;
    };
    gives(si::fused([](auto v) {
        const auto before = v++;
        const auto after = v--;
        ++v;
        return before * 3.0f + after * 5.0f + --v;
    }), steps);
    si::tensor<float, si::extents<2, 3>> zero;
    si::run(reference, si::tie(zero.view(), y.view()) = si::let(x, [](auto v) {
        const decltype(v) other{};
        return si::outputs(other, v);
    }));
    for (int i = 0; i < 6; ++i) CHECK((same(zero.data()[i], 0.0f) && same(y.data()[i], x.data()[i])));
}

TEST_CASE("integers of 2^63 and above keep their value in a lambda") {
    si::tensor<float, si::extents<3>> x, y;
    si::tensor<si::u64, si::extents<3>> n, least;
    for (int i = 0; i < 3; ++i) x.data()[i] = float(i) - 1.0f, n.data()[i] = ~si::u64(0) >> i;
    si::run(reference, y.view() = si::let(x, [](auto v) { return v + ~si::u64(0); }));
    for (int i = 0; i < 3; ++i) CHECK(same(y.data()[i], x.data()[i] + 18446744073709551616.0f));
    si::run(reference, y.view() = si::let(x, [](auto v) {
        v = si::u64(1) << 63;
        return v;
    }));
    CHECK(y.data()[2] == 9223372036854775808.0f);
    si::run(reference, least.view() = si::let(n, [](auto v) { return minimum(v, (si::u64(1) << 63) + 5); }));
    CHECK((least.data()[0] == (si::u64(1) << 63) + 5 && least.data()[1] == ~si::u64(0) >> 1));
}

TEST_CASE("64 operands in one expression") {
    const auto x = grid<float>(si::extents<2>{}, {1, 2});
    const auto eight = x + x + x + x + x + x + x + x;
    const auto all = ((eight + eight) + (eight + eight)) + ((eight + eight) + (eight + eight));
    static_assert(leaf_count<decltype(all)> == 64);
    CHECK(same(si::eval(reference, all), {64.0f, 128.0f}));
}
