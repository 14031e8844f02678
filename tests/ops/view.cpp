// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index maps by name: on views they give views, in formulas nodes that the plan pushes down. Both must read the same elements
// as plain index arithmetic, and a map of a value the same as the value of the mapped operands.
#include <doctest/doctest.h>

#include "support.hpp"

using namespace support;
using si::end;
using si::reference;

namespace {
struct counted {
    si::tensor<i32, si::extents<2, 3, 4>> x;
    counted() {
        for (i64 i = 0; i < 24; ++i) x[i] = i32(i);
    }
};
template <class Extents, class Expression>
constexpr bool has_extents = si::is_same<typename si::remove_cvref<Expression>::extents_type, Extents>;
}  // namespace

TEST_CASE("maps of views, read through eval") {
    const counted c;
    const auto& x = c.x;
    static_assert(has_extents<si::extents<4, 2, 3>, decltype(si::permute<2, 0, 1>(x.view()))>);
    static_assert(has_extents<si::extents<2, 3, 2>, decltype(si::slice<2, 0, end, 2>(x.view()))>);
    static_assert(has_extents<si::extents<6, 4>, decltype(si::flatten<0, 1>(x.view()))>);
    static_assert(has_extents<si::extents<2, 1, 3, 4>, decltype(si::unsqueeze<1>(x.view()))>);
    CHECK(same(si::eval(reference, si::permute<2, 0, 1>(x.view())), [](i64 i) { return i % 6 * 4 + i / 6; }));
    CHECK(same(si::eval(reference, si::slice<2, 1, 3>(x.view())), [](i64 i) { return i / 2 * 4 + 1 + i % 2; }));
    CHECK(same(si::eval(reference, si::slice<-1, end, end, -1>(x.view())), [](i64 i) { return i / 4 * 4 + 3 - i % 4; }));
    CHECK(same(si::eval(reference, si::flip<0>(x.view())), [](i64 i) { return (1 - i / 12) * 12 + i % 12; }));
    CHECK(same(si::eval(reference, si::reshape<4, 6>(x.view())), [](i64 i) { return i; }));
    CHECK(same(si::eval(reference, si::reshape<dyn, 8>(x.view())), [](i64 i) { return i; }));
    CHECK(same(si::eval(reference, si::expand<2, 2, 3, 4>(x.view())), [](i64 i) { return i % 24; }));
    CHECK(same(si::eval(reference, si::unflatten<2, 2>(x.view())), [](i64 i) { return i; }));
    CHECK(same(si::eval(reference, si::squeeze<1>(si::unsqueeze<1>(x.view()))), [](i64 i) { return i; }));
    CHECK(same(si::eval(reference, si::transpose(si::flatten<0, 1>(x.view()))), [](i64 i) { return i % 6 * 4 + i / 6; }));
    // Run-time bounds.
    for (i64 start = 0; start < 4; ++start)
        CHECK(same(si::eval(reference, si::slice<2>(x.view(), start, 4)),
                   [&](i64 i) { return i / (4 - start) * 4 + start + i % (4 - start); }));
    CHECK(same(si::eval(reference, si::slice<2>(x.view(), 3, end, -3)), [](i64 i) { return i / 2 * 4 + (i % 2 ? 0 : 3); }));
}
TEST_CASE("a map of a value is the value of mapped operands") {
    const counted c;
    const auto& x = c.x;
    const auto twice = si::eval(reference, si::permute<1, 0, 2>(x * 2 + 1));
    CHECK(same(twice, [](i64 i) { return (i / 8 * 4 + i / 4 % 2 * 12 + i % 4) * 2 + 1; }));
    CHECK(same(si::eval(reference, si::flip<2>(x) + x), [](i64 i) { return i / 4 * 8 + 3; }));
    CHECK(same(si::eval(reference, si::slice<1, 1, 3>(x - si::flip<1>(x))), [](i64 i) { return i / 4 % 2 ? 8 : 0; }));
    CHECK(same(si::eval(reference, si::reshape<24>(x + 1)), [](i64 i) { return i + 1; }));
    CHECK(same(si::eval(reference, si::flatten<0, 1>(x + x)), [](i64 i) { return 2 * i; }));
    // A broadcast operand keeps size 1 under the map.
    si::tensor<i32, si::extents<3, 1>> column;
    for (i64 i = 0; i < 3; ++i) column[i] = i32(100 * i);
    CHECK(same(si::eval(reference, si::flip<1>(x + column)), [](i64 i) { return (i / 12) * 12 + (2 - i / 4 % 3) * 104 + i % 4; }));
    CHECK(same(si::eval(reference, si::permute<2, 1, 0>(x + column)), [](i64 i) { return i / 6 + i / 2 % 3 * 104 + i % 2 * 12; }));
}
TEST_CASE("maps of views as outputs") {
    si::tensor<i32, si::extents<3, 4>> y;
    const auto x = grid<i32>(si::extents<4, 3>{}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    si::run(reference, si::transpose(y.view()) = si::copy(x));
    CHECK(same(y, {1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12}));
    si::run(reference, si::slice<1, 0, end, 2>(y.view()) = 0);
    CHECK(same(y, {0, 4, 0, 10, 0, 5, 0, 11, 0, 6, 0, 12}));
}
TEST_CASE("views that can't be formed when run are a status") {
    const auto x = row<float>({1, 2, 3, 4, 5});
    si::tensor<float, si::extents<dyn>> y(3);
    CHECK(si::try_run(reference, y.view() = si::copy(si::slice<0>(x, 3, 6))).code() == si::error::bad_view);
    CHECK(si::try_run(reference, y.view() = si::copy(si::slice<0>(x, 0, 3, 0))).code() == si::error::bad_view);
    const auto tilted = si::transpose(grid<float>(si::extents<2, 3>{}, {1, 2, 3, 4, 5, 6}));
    si::tensor<float, si::extents<6>> flat;
    CHECK_FALSE(si::try_run(reference, flat.view() = si::copy(si::reshape<6>(tilted))).ok());  // static sizes: a null view
    CHECK(si::try_run(reference, y.view() = si::copy(si::reshape(x, si::extents<dyn>(4)))).code() == si::error::bad_view);
    const si::tensor_view<float, si::extents<dyn, dyn>> endless(y.data(), i64(1) << 32, i64(1) << 32);
    const auto total = si::view(y.data(), si::extents<>{});
    CHECK(si::try_run(reference, total = sum(si::reshape<i64(1) << 33, i64(1) << 31>(endless))).code() == si::error::size_overflow);
    CHECK(si::try_run(reference, total = sum(si::reshape(endless, si::extents<dyn, dyn>(i64(1) << 33, i64(1) << 31)))).code() == si::error::size_overflow);
    CHECK(si::try_run(reference, total = sum(si::slice<0>(x, 1, 5, si::uncountable))).ok());
    CHECK(y[0] == 2);
    CHECK(si::try_run(reference, y.view() = si::copy(si::slice<0>(x, 1, 4))).ok());
    CHECK(same(y, {2.0f, 3.0f, 4.0f}));
}
