// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index maps inside formulas: pushed to the operands' strides, they must not change bits. Also coordinates.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

using cube = si::extents<dyn, dyn, dyn>;
using small_cube = si::extents<4, 6, 5>;

TEST_CASE("permute, flip and slice of operands and of values") {
    tally all("maps in formulas");
    for (int c = 0; c < output_layouts; ++c)
        for (int s = 0; s < 12; ++s) {
            const shape sizes{3, {2, 4 + s, 5}}, turned{3, {5, 2, 4 + s}};
            all.same(
                [](auto y, auto z, auto x) {
                    return si::tie(y, z) = si::let(x, [](auto a) {
                               return si::outputs(si::permute<2, 0, 1>(a * 2) + si::permute<2, 0, 1>(si::flip<1>(a)),
                                                  si::flip<0>(si::permute<2, 0, 1>(si::flip<-1>(a) - a)));
                           });
                },
                memory<float, cube>(place(turned, layout(c)), mix::anything, u64(s)),
                memory<float, cube>(place(turned, layout((c + s) % output_layouts)), mix::anything, u64(s + 100)),
                memory<float, cube>(place(sizes, layout((c * 3 + s) % input_layouts)), mix::special, u64(s + 200)));
        }
}
TEST_CASE("slices with steps of either sign, of static shapes") {
    tally all("slices in formulas");
    for (int c = 0; c < input_layouts; ++c)
        all.same(
            [](auto y, auto x) {
                return y = si::let(x, [](auto a) {
                           return si::slice<2, 3, si::end, -2>(a + 1) * si::slice<2, 1, 5, 2>(a) - si::slice<2, 0, 2>(si::flip<2>(a));
                       });
            },
            memory<float, si::extents<4, 6, 2>>(place({3, {4, 6, 2}}, layout(c % output_layouts)), mix::anything, u64(c)),
            memory<float, small_cube>(place({3, {4, 6, 5}}, layout(c)), mix::special, u64(c + 50)));
}
TEST_CASE("reshape, unflatten, flatten, squeeze, unsqueeze, expand of operands") {
    tally all("reshapes in formulas");
    for (int c = 0; c < input_layouts; ++c)
        all.same(
            [](auto y, auto x, auto w) {
                return y = si::let(x, w, [](auto a, auto b) {
                           return si::flatten<0, 1>(si::unflatten<0, 2>(a)) + si::unsqueeze<0>(b) * si::expand<4, 6, 5>(si::unsqueeze<0>(b)) -
                                  si::squeeze<0>(si::unsqueeze<0>(a));
                       });
            },
            memory<float, small_cube>(place({3, {4, 6, 5}}, layout(c % output_layouts)), mix::anything, u64(c)),
            memory<float, small_cube>(place({3, {4, 6, 5}}, layout::contiguous), mix::special, u64(c + 50)),
            memory<float, si::extents<6, 5>>(place({2, {6, 5}}, layout(c)), mix::special, u64(c + 70)));
}
TEST_CASE("reductions of mapped values, mapped reductions") {
    tally all("maps and reductions");
    for (int c = 0; c < input_layouts; ++c)
        for (int l = 0; l < fold_length_count; l += 13) {
            const i64 n = fold_length(l);
            if (n > 3000) continue;
            all.same(
                [](auto y, auto z, auto x) {
                    return si::tie(y, z) = si::let(x, [](auto a) {
                               const auto turned = si::permute<1, 0, 2>(a);
                               return si::outputs(sum(si::flip<-1>(turned) * turned, si::last_axis),
                                                  turned - max(turned, si::last_axis));
                           });
                },
                memory<float, si::extents<dyn, dyn, 1>>(place({3, {3, 2, 1}}, layout(c % output_layouts)), mix::anything, u64(c)),
                memory<float, cube>(place({3, {3, 2, n}}, layout((c + 1) % output_layouts)), mix::anything, u64(c + 1)),
                memory<float, cube>(place({3, {2, 3, n}}, layout(c)), mix::sprinkled, u64(c + 50)));
        }
}
TEST_CASE("coordinates: alone, mixed with data, under maps, folded") {
    tally all("coordinates");
    for (int c = 0; c < input_layouts; ++c)
        for (int l = 0; l < length_count; l += 3)
            all.same(
                [](auto y, auto z, auto x) {
                    return si::tie(y, z) = si::let(x, [](auto a) {
                               return si::outputs(where(si::iota<-1>(a) % 3 == 0, a, 0.5f) + si::cast<float>(si::iota<0>(a) * 10),
                                                  si::iota<1>(si::flip<1>(a)) * 7 - si::flip<1>(si::iota<1>(a)));
                           });
                },
                memory<float, plane>(place({2, {3, length(l)}}, layout(c % output_layouts)), mix::anything, u64(c)),
                memory<i64, si::extents<1, dyn>>(place({2, {1, length(l)}}, layout(c % output_layouts)), mix::anything, u64(c + 9)),
                memory<float, plane>(place({2, {3, length(l)}}, layout(c)), mix::special, u64(c + 50)));
}
