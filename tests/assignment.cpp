// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assignments: they run nothing by themselves; +=, fill, copy, tie, several in one kernel; which stores are allowed.
#include <doctest/doctest.h>

#include "support.hpp"

using namespace support;
using si::reference;

namespace {
using si::dtype;
// Silent conversions at a store: between floats, to a float, to an integer that holds every value.
constexpr bool stores(dtype from, dtype to) { return si::detail::converts_silently({from, false}, to); }
static_assert(stores(dtype::f64, dtype::f16) && stores(dtype::i64, dtype::f32) && stores(dtype::boolean, dtype::u8));
static_assert(stores(dtype::i8, dtype::i32) && stores(dtype::u8, dtype::i16) && !stores(dtype::u8, dtype::i8) && !stores(dtype::i32, dtype::i16));
static_assert(!stores(dtype::f32, dtype::i64) && !stores(dtype::u8, dtype::boolean) && !stores(dtype::i8, dtype::u8));

// Shapes: the value must broadcast to exactly the output's shape.
constexpr bool fits(const si::shape& from, const si::shape& to) { return si::detail::stores_to(from, to); }
static_assert(fits({1, {4}}, {2, {3, 4}}) && fits({0, {}}, {1, {5}}) && fits({2, {1, 4}}, {1, {4}}) && fits({1, {dyn}}, {1, {4}}));
static_assert(!fits({2, {3, 4}}, {1, {4}}) && !fits({1, {4}}, {1, {1}}) && !fits({1, {4}}, {1, {5}}));

using vector_view = si::tensor_view<float, si::extents<4>>;
constexpr vector_view nowhere(nullptr);
static_assert(is_passed_by_bytes<decltype(nowhere = nowhere * 2)>);
}  // namespace

TEST_CASE("an assignment runs nothing until it is run, and can be run again") {
    const auto x = grid<float>(si::extents<3>{}, {1, 2, 3});
    si::tensor<float, si::extents<3>> y;
    const auto assignment = y.view() = x * 2;
    CHECK(same(y, {0.0f, 0.0f, 0.0f}));
    si::run(reference, assignment);
    CHECK(same(y, {2.0f, 4.0f, 6.0f}));
    x(0) = 5;
    si::run(reference, assignment);
    CHECK(same(y, {10.0f, 4.0f, 6.0f}));
}
TEST_CASE("compound assignments read and write the output") {
    si::tensor<float, si::extents<3>> y;
    const auto v = y.view();
    si::run(reference, v = 6);
    si::run(reference, v += grid<float>(si::extents<3>{}, {0, 1, 2}));
    CHECK(same(y, {6.0f, 7.0f, 8.0f}));
    si::run(reference, v -= 1);
    si::run(reference, v *= v);
    CHECK(same(y, {25.0f, 36.0f, 49.0f}));
    si::run(reference, v /= 2);
    CHECK(same(y, {12.5f, 18.0f, 24.5f}));
}
TEST_CASE("fill, copy, broadcasting stores") {
    si::tensor<i16, si::extents<2, 3>> y;
    si::run(reference, si::fill(y.view(), -3));
    CHECK(same(y, {-3, -3, -3, -3, -3, -3}));
    si::run(reference, y.view() = si::copy(grid<i16>(si::extents<3>{}, {1, 2, 3})));
    CHECK(same(y, {1, 2, 3, 1, 2, 3}));
    si::run(reference, y.view() = grid<i8>(si::extents<2, 1>{}, {5, -5}) + 0);
    CHECK(same(y, {5, 5, 5, -5, -5, -5}));
    si::tensor<float, si::extents<2, 3>> z;
    si::run(reference, z.view() = si::copy(y));
    CHECK(same(z, {5.0f, 5.0f, 5.0f, -5.0f, -5.0f, -5.0f}));
    si::tensor<bool, si::extents<2>> b;
    si::run(reference, b.view() = true);
    CHECK(same(b, {true, true}));
}
TEST_CASE("tie stores several values from one kernel") {
    const auto both = si::fused([](auto x, auto r) {
        const auto h = x + r;
        return si::outputs(h, h * h, si::cast<i8>(h), sum(h, si::last_axis));
    });
    const auto x = grid<float>(si::extents<2, 2>{}, {1, 2, 3, 4});
    si::tensor<float, si::extents<2, 2>> h, square;
    si::tensor<i8, si::extents<2, 2>> codes;
    si::tensor<float, si::extents<2, 1>> sums;
    si::run(reference, si::tie(h.view(), square.view(), codes.view(), sums.view()) = both(x, 0.5f));
    CHECK(same(h, {1.5f, 2.5f, 3.5f, 4.5f}));
    CHECK(same(square, {2.25f, 6.25f, 12.25f, 20.25f}));
    CHECK(same(codes, {1, 2, 3, 4}));
    CHECK(same(sums, {4.0f, 8.0f}));
}
TEST_CASE("tie of one view is that view") {
    constexpr auto one = si::fused([](auto v) { return v + 1.0f; });
    constexpr auto listed = si::fused([](auto v) { return outputs(v * 3.0f); });
    float x[4] = {1, 2, 3, 4}, y[4];
    const auto from = si::view(x);
    const auto to = si::view(y);
    si::run(reference, si::tie(to) = one(from));
    CHECK(y[3] == 5);
    si::run(reference, si::tie(to) = from * 2.0f);
    CHECK(y[3] == 8);
    si::run(reference, si::tie(to) = listed(from));
    CHECK(y[3] == 12);
    si::run(reference, si::tie(to) = 7.0f);
    CHECK(y[3] == 7);
}

TEST_CASE("several assignments are one kernel") {
    const auto x = grid<float>(si::extents<3>{}, {1, 2, 3});
    si::tensor<float, si::extents<3>> y, z;
    si::run(reference, y.view() = x + 1, z.view() = x * 10);
    CHECK(same(y, {2.0f, 3.0f, 4.0f}));
    CHECK(same(z, {10.0f, 20.0f, 30.0f}));
}
