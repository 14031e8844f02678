// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// argmax and argmin, empty tensors, broadcasting and layouts.
#include <sinter/backend/cpu.hpp>

#include "bugs.hpp"

using namespace bugs;
using si::end;

TEST_CASE("B071 pytorch#41998, B073 pytorch#99879: ties aren't broken to the first index") {
    on_each([](const auto& executor) {
        for_types<i64, float>([&](auto type) {
            using element = decltype(type);
            const auto x = grid<element>(si::extents<3, 2>{}, {1, 5, 2, 10, 3, 3});
            CHECK(same(si::eval(executor, si::argmax(x, si::axes<1>)), {1, 1, 0}));
            CHECK(same(si::eval(executor, si::argmax(x, si::axes<0>)), {2, 1}));
            CHECK(si::eval(executor, si::argmin(row<element>({5, 1, 7, 1, 1}))) == 1);
            for_lengths([&](i64 n) {
                CHECK(si::eval(executor, si::argmax(repeated<element>(n, 2))) == 0);
                CHECK(si::eval(executor, si::argmax<si::pick::last>(repeated<element>(n, 2))) == n - 1);
            });
        });
    });
}
TEST_CASE("B075 pytorch#183082: argmax of a transposed result computed in place") {
    on_each([](const auto& executor) {
        si::tensor<float, si::extents<4, 8>> x;
        for (i64 i = 0; i < 32; ++i) x[i] = float(i);
        si::run(executor, x.view() = sin(x));
        CHECK(si::eval(executor, si::argmax(si::transpose(x.view()))) == 25);
        CHECK(si::eval(executor, si::argmax(x)) == 14);
    });
}
TEST_CASE("B077 tinygrad#3552: a recomputed exp isn't its own maximum") {
    on_each([](const auto& executor) {
        const auto x = row<float>({4, 3, 2, 1});
        const auto e = si::eval(executor, exp(x));
        CHECK(same(si::eval(executor, si::let(x, [](auto a) { return exp(a) == max(exp(a), si::last_axis); })), {true, false, false, false}));
        CHECK(same(si::eval(executor, e == max(e, si::last_axis)), {true, false, false, false}));
        CHECK(same(si::eval(executor, exp(x) == e), {true, true, true, true}));
        CHECK(si::eval(executor, si::argmax(exp(x))) == 0);
    });
}
TEST_CASE("B080 xtensor#1563, B084 xla#888: reductions of empty tensors") {
    on_each([](const auto& executor) {
        si::tensor<i32, si::extents<0, 1>> none;
        CHECK(same(si::eval(executor, sum(none, si::axes<0, 1>)), {0}));
        const si::tensor<float, si::extents<2, 0, 4>> hollow;
        CHECK(not_a_number(si::eval(executor, mean(hollow))));
        CHECK(si::eval(executor, sum(hollow)) == 0);
        CHECK(si::eval(executor, prod(hollow)) == 1);
        CHECK(same(si::eval(executor, sum(hollow, si::axes<1>)), [](i64) { return 0.0f; }));
        CHECK(same(si::eval(executor, mean(hollow, si::axes<1>)), [](i64) { return nan; }));
    });
}
TEST_CASE("B082 onnxruntime#7563, B086 mxnet#16936: kept axes of size 0, and folded ones") {
    on_each([](const auto& executor) {
        const si::tensor<float, si::extents<0, 4>> none;
        CHECK(si::eval(executor, max(none, si::axes<1>, si::drop)).count() == 0);
        CHECK(same(si::eval(executor, max(none, si::axes<0>, si::drop)), [](i64) { return -infinity; }));
        const si::tensor<float, si::extents<2, 0, 2>> hollow;
        const auto ones = grid<float>(si::extents<2>{}, {1, 1});
        const auto folded = si::eval(executor, sum(hollow * ones, si::last_axis, si::drop));
        static_assert(si::is_same<si::remove_cvref<decltype(folded)>, si::tensor<float, si::extents<2, 0>>>);
        CHECK(folded.count() == 0);
    });
}
TEST_CASE("B088 cubecl#1349: a fill of size 0 poisons later reads") {
    on_each([](const auto& executor) {
        si::tensor<float, si::extents<dyn, dyn>> none(0, 0);
        si::run(executor, si::fill(none.view(), 1));
        CHECK(same(si::eval(executor, row<float>({1}) + row<float>({1})), {2}));
    });
}
TEST_CASE("B089 xtensor#641: a coordinate of length 1 isn't broadcast") {
    on_each([](const auto& executor) {
        const si::tensor<i32, si::extents<3>> zeros;
        CHECK(same(si::eval(executor, zeros + si::cast<i32>(si::iota<0>(si::extents<1>{}))), {0, 0, 0}));
    });
}
TEST_CASE("B091 xtensor-r#109: a column-major sum reduces the wrong axis") {
    on_each([](const auto& executor) {
        i32 stored[] = {1, 4, 2, 5, 3, 6};
        const auto x = si::view(stored, si::extents<2, 3>{}, si::array<i64, 2>{{1, 2}});
        CHECK(same(si::eval(executor, sum(x, si::axes<1>, si::drop)), {6, 15}));
        CHECK(same(si::eval(executor, sum(x, si::axes<0>, si::drop)), {5, 7, 9}));
    });
}
TEST_CASE("B093 xtensor#1117: a weighted average over two axes divides by the wrong weight") {
    on_each([](const auto& executor) {
        si::tensor<double, si::extents<10, 4, 2, 2>> x;
        for (i64 i = 0; i < 40; ++i) x[i * 4 + 1] = 0.1;
        const si::tensor<double, si::extents<10, 4, 1, 1>> weights = si::eval(executor, 0.1 + 0 * si::slice<3, 0, 1>(si::slice<2, 0, 1>(x)));
        const auto average = si::let(x, weights, [](auto a, auto w) { return sum(a * w, si::axes<0, 1>) / sum(w + 0 * a, si::axes<0, 1>); });
        CHECK(close(si::eval(executor, average), {0.0, 0.1, 0.0, 0.0}, 1e-12));
    });
}
TEST_CASE("B095 xtensor#389: transposing a one-row matrix") {
    on_each([](const auto& executor) {
        const auto x = grid<float>(si::extents<1, 4>{}, {0, 1, 1, 1});
        CHECK(same(si::eval(executor, si::transpose(x)), {0, 1, 1, 1}));
        si::tensor<float, si::extents<4, 1>> y;
        si::run(executor, y.view() = si::copy(si::transpose(x)));
        CHECK(same(y, {0, 1, 1, 1}));
    });
}
TEST_CASE("B097 xtensor#907: assigning (1, 2, 2) into a (2, 2) view") {
    on_each([](const auto& executor) {
        si::tensor<double, si::extents<3, 5>> x;
        for (i64 i = 0; i < 15; ++i) x[i] = double(i + 1);
        const auto block = si::slice<1, 0, 2>(si::slice<0, 0, 2>(x.view()));
        si::run(executor, block = si::copy(grid<double>(si::extents<1, 2, 2>{}, {10, 20, 30, 40})));
        CHECK(same(x, {10, 20, 3, 4, 5, 30, 40, 8, 9, 10, 11, 12, 13, 14, 15}));
    });
}
TEST_CASE("B099 xtensor#1675: a column broadcast into a strided output") {
    on_each([](const auto& executor) {
        si::tensor<u64, si::extents<5, 5>> v;
        for (i64 i = 0; i < 25; ++i) v[i] = u64(i);
        // Both views interleave in one buffer without sharing an element.
        si::run(executor, si::slice<1, 0, 2>(v.view()) = si::copy(si::slice<1, 2, 3>(v.view())));
        CHECK(same(v, [](i64 i) { return u64(i % 5 < 2 ? i / 5 * 5 + 2 : i); }));
    });
}
