// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Coordinates and broadcast operands in reductions over several trailing axes: the loops can't merge then, and a segment goes on over
// the ends of runs along the last axis. Lengths of runs are whole vectors or not, long enough to be read where they lie or not.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

namespace {

using cube = si::extents<dyn, dyn, dyn>;
using scalar = si::extents<>;

constexpr i64 run_length[] = {1, 2, 7, 16, 100, 129, 192, 256, 257, 320, 384, 500, 512, 513, 640, 641, 1024, 1100};
constexpr i64 run_count[] = {1, 2, 3, 5, 9};

/// Calls f(rows, length of a row, number of the case).
template <class Function>
void for_all_runs(Function&& f) {
    int number = 0;
    for (const i64 length : run_length)
        for (const i64 rows : run_count) f(rows, length, number++);
}
template <class Type = float>
auto one(u64 seed) {
    return memory<Type, scalar>(place({0, {}}, layout::contiguous), mix::anything, seed);
}

}  // namespace

TEST_CASE("sums and extremes of an image with its pixels' places, over both axes") {
    tally all("places in an image");
    for_all_runs([&](i64 rows, i64 length, int number) {
        all.same(
            [](auto x, auto y, auto low, auto high, auto where_high, auto count, auto image) {
                return si::tie(x, y, low, high, where_high, count) = si::let(image, [](auto a) {
                           const auto column = si::cast<float>(si::iota<-1>(a)), row = si::cast<float>(si::iota<-2>(a));
                           return si::outputs(sum((column - 320.0f) * a), sum((row - 2.5f) * a), min(column * a), max(row + a),
                                              argmax(si::iota<-2>(a) * 0.5 + a), sum(where(si::iota<-1>(a) > si::iota<-2>(a) * 3, si::iota<-1>(a), 1)));
                       });
            },
            one(1), one(2), one(3), one(4), one<i64>(5), one<i64>(6),
            memory<float, plane>(place({2, {rows, length}}, layout(number % input_layouts)), number % 3 ? mix::plain : mix::sprinkled, u64(number)));
    });
}
TEST_CASE("variances and norms over the last two of three axes, flipped indices, rows and columns beside them") {
    tally all("places in planes");
    for_all_runs([&](i64 rows, i64 length, int number) {
        all.same(
            [](auto spread, auto weights, auto image, auto row, auto column) {
                return si::tie(spread, weights) = si::let(image, row, column, [](auto a, auto r, auto c) {
                           const auto turned = si::cast<float>(si::flip<-1>(si::iota<-1>(a))) * 0.001f + si::cast<float>(si::iota<-2>(a)) * r;
                           const auto level = exp(a * 0.01f + turned - max(a * c, si::axes<1, 2>));
                           return si::outputs(variance(a + turned, si::axes<1, 2>), level / sum(level, si::axes<1, 2>));
                       });
            },
            memory<float, si::extents<dyn, 1, 1>>(place({3, {2, 1, 1}}, layout::contiguous), mix::anything, 1),
            memory<float, cube>(place({3, {2, rows, length}}, layout(number % output_layouts)), mix::anything, 2),
            memory<float, cube>(place({3, {2, rows, length}}, layout(number / 2 % input_layouts)), mix::plain, u64(number)),
            memory<float, si::extents<dyn>>(place({1, {length}}, layout(number % 3)), mix::plain, u64(number + 1)),
            memory<float, si::extents<dyn, 1>>(place({2, {rows, 1}}, layout(number % 3)), mix::plain, u64(number + 2)));
    });
}
TEST_CASE("three folded axes, and folded axes on both sides of a kept one") {
    tally all("places in a volume");
    for_all_runs([&](i64 rows, i64 length, int number) {
        all.same(
            [](auto moment, auto beside, auto image) {
                return si::tie(moment, beside) = si::let(image, [](auto a) {
                           const auto x = si::cast<double>(si::iota<-1>(a)), z = si::cast<double>(si::flip<0>(si::iota<0>(a)));
                           return si::outputs(sum(a * x * si::cast<double>(si::iota<-2>(a)) - z), sum(a - x, si::axes<0, 1, 2>));
                       });
            },
            one<double>(1), memory<double, si::extents<1, 1, 1>>(place({3, {1, 1, 1}}, layout::contiguous), mix::anything, 2),
            memory<float, si::extents<3, dyn, dyn>>(place({3, {3, rows, length}}, layout(number % input_layouts)), mix::plain, u64(number)));
        all.same(
            [](auto moment, auto image) {
                return moment = si::let(image, [](auto a) { return sum(a * si::cast<float>(si::iota<-1>(a) + si::iota<0>(a)), si::axes<0, 2, 3>); });
            },
            memory<float, si::extents<1, dyn, 1, 1>>(place({4, {1, 2, 1, 1}}, layout::contiguous), mix::anything, 2),
            memory<float, si::extents<3, dyn, dyn, dyn>>(place({4, {3, 2, rows, length}}, layout(number % input_layouts)), mix::plain, u64(number)));
    });
}
TEST_CASE("sizes known while compiling") {
    tally all("places in a static image");
    for (int c = 0; c < input_layouts; ++c)
        all.same(
            [](auto x, auto y, auto image) {
                return si::tie(x, y) = si::let(image, [](auto a) {
                           return si::outputs(sum(si::cast<float>(si::iota<-1>(a)) * a), max(si::cast<float>(si::iota<-2>(a)) - a));
                       });
            },
            one(1), one(2), memory<float, si::extents<12, 640>>(place({2, {12, 640}}, layout(c)), mix::plain, u64(c)));
}
