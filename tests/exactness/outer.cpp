// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over row values: losses and their means, norms of norms. Two nested folds in one kernel.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("mean of a loss over rows") {
    tally all("cross entropy");
    for (int l = 1; l < fold_length_count; ++l)
        for (int c = 0; c < 6; ++c) {
            const i64 n = fold_length(l);
            if (n > 3000) continue;
            const i64 rows = c < 3 ? 1 + c : c * 40;
            all.same(
                [](auto loss, auto x, auto target) {
                    return loss = si::let(x, target, [](auto a, auto t) { return mean(si::cross_entropy(a, t)); });
                },
                memory<float, si::extents<>>(place({0, {}}, layout::contiguous), mix::anything, 1),
                memory<float, plane>(place({2, {rows, n}}, layout(c)), c % 2 ? mix::plain : mix::sprinkled, u64(l)),
                memory<i64, si::extents<dyn, 1>>(place({2, {rows, 1}}, layout(c)), mix::special, u64(l)));
        }
}
TEST_CASE("sums of row maxima, with the rows themselves as an output") {
    tally all("row values folded");
    for (int l = 0; l < fold_length_count; ++l)
        for (int c = 0; c < 6; ++c) {
            const i64 n = fold_length(l);
            if (n > 3000) continue;
            const i64 rows = c < 3 ? 1 + c : c * 250;
            if (n > 300 && rows > 300) continue;
            all.same(
                [](auto total, auto row_max, auto x) {
                    return si::tie(total, row_max) = si::let(x, [](auto a) {
                               const auto top = max(a, si::last_axis);
                               return si::outputs(sum(top * top), top);
                           });
                },
                memory<float, si::extents<>>(place({0, {}}, layout::contiguous), mix::anything, 1),
                memory<float, si::extents<dyn, 1>>(place({2, {rows, 1}}, layout(c)), mix::anything, 2),
                memory<float, plane>(place({2, {rows, n}}, layout(c)), c % 2 ? mix::plain : mix::sprinkled, u64(l)));
        }
}
