// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes of every kind in one kernel each: static, named, mixed, rank 0 to 8, rows against columns, values that are stored
// to a larger output.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

using si::operator""_d;

TEST_CASE("static shapes of awkward sizes") {
    tally all("static shapes");
    const auto formula = si::fused([](auto a, auto b) { return si::outputs(a * b - a, sum(a * b, si::last_axis)); });
    for (int c = 0; c < input_layouts; ++c) {
        all.same(assign_all<2>(formula), memory<float, si::extents<3, 67>>(place({2, {3, 67}}, layout(c % output_layouts)), mix::anything, u64(c)),
                 memory<float, si::extents<3, 1>>(place({2, {3, 1}}, layout(c % output_layouts)), mix::anything, u64(c + 1)),
                 memory<float, si::extents<3, 67>>(place({2, {3, 67}}, layout(c)), mix::sprinkled, u64(c + 2)),
                 memory<float, si::extents<67>>(place({1, {67}}, layout(c)), mix::plain, u64(c + 3)));
    }
    all.same(assign_all<2>(formula), memory<float, si::extents<5, 1029>, si::row_major>(place({2, {5, 1029}}, layout::contiguous), mix::anything, 1),
             memory<float, si::extents<5, 1>, si::row_major>(place({2, {5, 1}}, layout::contiguous), mix::anything, 2),
             memory<float, si::extents<5, 1029>, si::row_major>(place({2, {5, 1029}}, layout::offset), mix::sprinkled, 3),
             memory<float, si::extents<1029>, si::row_major>(place({1, {1029}}, layout::offset), mix::plain, 4));
}
TEST_CASE("rows against columns, scalars of rank 0, named sizes") {
    tally all("outer products");
    for (int l = 0; l < length_count; l += 2)
        for (int c = 0; c < output_layouts; ++c) {
            const i64 n = length(l);
            all.same(
                [](auto y, auto column, auto row, auto one) {
                    return y = si::let(column, row, one, [](auto a, auto b, auto s) { return a * b + s * 2 - b; });
                },
                memory<float, si::extents<"rows"_d, dyn>>(place({2, {3, n}}, layout(c)), mix::anything, u64(l)),
                memory<float, si::extents<"rows"_d, 1>>(place({2, {3, 1}}, layout(c)), mix::plain, u64(l + 1)),
                memory<float, line>(place({1, {n}}, layout(c)), mix::special, u64(l + 2)),
                memory<float, si::extents<>>(place({0, {}}, layout::contiguous), mix::plain, u64(l + 3)));
        }
}
TEST_CASE("rank 8, with axes of size 1") {
    tally all("rank 8");
    using eight = si::extents<2, 1, 3, 2, 1, 2, 3, 2>;
    const shape sizes = eight::static_shape;
    for (int c = 0; c < input_layouts; ++c)
        all.same([](auto y, auto z, auto x) {
            return si::tie(y, z) = si::let(x, [](auto a) { return si::outputs(a + si::flip<2>(a), sum(a, si::axes<0, 2, 6, 7>)); });
        },
                 memory<float, eight>(place(sizes, layout(c % output_layouts)), mix::anything, u64(c)),
                 memory<float, si::extents<1, 1, 1, 2, 1, 2, 1, 1>>(place({8, {1, 1, 1, 2, 1, 2, 1, 1}}, layout(c % output_layouts)), mix::anything, u64(c + 3)),
                 memory<float, eight>(place(sizes, layout(c)), mix::sprinkled, u64(c + 5)));
}
TEST_CASE("smaller values fill a larger output; fill and copy") {
    tally all("stores that broadcast");
    for (int l = 0; l < length_count; ++l)
        for (int c = 0; c < output_layouts; ++c) {
            const i64 n = length(l);
            all.same([](auto y, auto x) { return y = x * 2; }, memory<double, si::extents<3, dyn>>(place({2, {3, n}}, layout(c)), mix::anything, u64(l)),
                     memory<float, line>(place({1, {n}}, layout(c)), mix::special, u64(l + 1)));
            all.same([](auto y) { return si::fill(y, 3); }, memory<i16, si::extents<3, dyn>>(place({2, {3, n}}, layout(c)), mix::anything, u64(l)));
        }
}
TEST_CASE("rank 0: everything folded to one value") {
    tally all("rank 0");
    for (int l = 0; l < fold_length_count; ++l)
        for (int c = 0; c < input_layouts; ++c) {
            const i64 n = fold_length(l);
            all.same(assign_all<3>(si::fused([](auto a) { return si::outputs(sum(a), max(a), variance(a)); })),
                     memory<float, si::extents<>>(place({0, {}}, layout::contiguous), mix::anything, 1),
                     memory<float, si::extents<>>(place({0, {}}, layout::offset), mix::anything, 2),
                     memory<float, si::extents<>>(place({0, {}}, layout::contiguous), mix::anything, 3),
                     memory<float, plane>(place(c % 2 ? shape{2, {1, n}} : shape{2, {n, 1 + c % 3}}, layout(c)), c % 3 ? mix::plain : mix::sprinkled, u64(l)));
        }
}
