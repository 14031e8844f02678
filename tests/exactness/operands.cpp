// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As many operands as a program may have, and as many outputs as a kernel: the sets of slots that backends keep have more members than
// a word has bits.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

#include <initializer_list>

using namespace harness;

namespace {
/// Windows into one matrix, its columns from `first` on. Every third one repeats a row, every fifth one a column.
template <class View>
View window(const View& from, const shape& sizes, int first) {
    const i64 rows = first % 3 == 1 ? 0 : from.stride[0], columns = first % 5 == 2 ? 0 : from.stride[1];
    return View(from.data() + first * from.stride[1], si::extents_with<plane>(sizes), si::array<i64, 2>{{rows, columns}});
}
/// The block of rows with this number.
template <class View>
View block(const View& stacked, const shape& sizes, int index) {
    return View(stacked.data() + index * sizes.size[0] * stacked.stride[0], si::extents_with<plane>(sizes),
                si::array<i64, 2>{{stacked.stride[0], stacked.stride[1]}});
}
template <class Indices>
struct windows;
template <int... Index>
struct windows<si::indices<Index...>> {
    /// The assignment of a formula of this many windows to the outputs.
    template <class Formula, class View, class... Outputs>
    static auto assign(const Formula& formula, const View& from, const shape& sizes, const Outputs&... outputs) {
        return si::tie(outputs...) = formula(window(from, sizes, Index)...);
    }
};
template <int Count>
using many = windows<si::make_indices<Count>>;
constexpr i64 rows = 3, margin = 64;
#ifdef SINTER_TEST_BACKEND_HEADER
constexpr int most = 40;  // of run-time sizes and strides, as many as a CUDA kernel's parameters take
#else
constexpr int most = 64;
#endif

template <int Operands, class Formula>
void same_in_all_lengths(tally& counted, const Formula& formula) {
    for (const i64 columns : {1, 3, 8, 16, 17, 64, 65, 300}) {
        const shape sizes{2, {rows, columns}};
        counted.same([&](auto y, auto z, auto from) { return many<Operands>::assign(formula, from, sizes, y, z); },
                     memory<float, plane>(place(sizes, layout::contiguous), mix::anything, 1),
                     memory<float, plane>(place(sizes, layout::offset), mix::anything, 2),
                     memory<float, plane>(place({2, {rows, columns + margin}}, layout::contiguous), mix::plain, 3));
    }
}
}  // namespace

TEST_CASE("most operands of an elementwise kernel") {
    tally counted("most operands, elementwise");
    same_in_all_lengths<most>(counted, si::fused([](auto... x) {
        const auto total = (x + ...);
        return si::outputs(total, total * 0.5f);
    }));
}
TEST_CASE("33 operands of a fold over rows") {
    tally counted("33 operands, rows");
    same_in_all_lengths<33>(counted, si::fused([](auto... x) {
        const auto total = (x + ...), mean = si::mean(total, si::last_axis);
        return si::outputs(total - mean, total * mean);
    }));
}
TEST_CASE("16 outputs of 20 operands") {
    tally counted("16 outputs");
    const auto formula = si::fused([](auto... x) {
        const auto total = (x + ...);
        return [total]<int... Index>(si::indices<Index...>) { return si::outputs(total * float(1 + Index)...); }(si::make_indices<16>{});
    });
    for (const i64 columns : {1, 5, 16, 65, 300}) {
        const shape sizes{2, {rows, columns}};
        counted.same(
            [&](auto stacked, auto from) {
                return [&]<int... Index>(si::indices<Index...>) {
                    return many<20>::assign(formula, from, sizes, block(stacked, sizes, Index)...);
                }(si::make_indices<16>{});
            },
            memory<float, plane>(place({2, {16 * rows, columns}}, layout::contiguous), mix::anything, 4),
            memory<float, plane>(place({2, {rows, columns + margin}}, layout::contiguous), mix::plain, 5));
    }
}
