// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splitting: the stages give the bits that composing runs by hand gives, buffers keep their compute type, counts and coordinates
// survive a cut, and nothing is written when a check fails.
#include <doctest/doctest.h>

#include <sinter/ops/nn.hpp>
#include <sinter/sinter.hpp>
#include <sinter/split.hpp>

namespace si = sinter;
using si::axes;
using si::dyn;
using si::extents;
using si::i64;
using si::reference;
using si::tensor;

namespace {

constexpr auto split = si::split(reference);

template <class Type, class Extents>
void fill_with(tensor<Type, Extents>& values, unsigned seed) {
    for (auto& value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = si::convert<Type>(float(seed >> 8) * (1.0f / 4194304.0f) - 2.0f);
    }
}
/// Equal bits; any NaN equals any other.
template <class Type, class Extents>
bool same(const tensor<Type, Extents>& left, const tensor<Type, Extents>& right) {
    if (left.count() != right.count()) return false;
    for (i64 i = 0; i < left.count(); ++i) {
        const float one = si::convert<float>(left[i]), other = si::convert<float>(right[i]);
        if (__builtin_memcmp(&left[i], &right[i], sizeof(Type)) != 0 && (one == one || other == other)) return false;
    }
    return true;
}

using matrix = tensor<float, extents<dyn, dyn>>;
using column = tensor<float, extents<dyn, 1>>;
using row = tensor<float, extents<1, dyn>>;

/// Reductions over rows and over columns in one formula, with counts in it.
inline constexpr auto both_ways = si::fused([](auto x) {
    return (x - mean(x, axes<1>)) * variance(x, axes<1>) + (x - mean(x, axes<0>)) / variance(x, axes<0>);
});

}  // namespace

TEST_CASE("rows and columns: equal to two runs by hand, static sizes") {
    tensor<float, extents<7, 131>> x, y, by_hand;
    tensor<float, extents<7, 1>> rows;
    fill_with(x, 1);
    const auto formula = x / sum(x, axes<1>) * sum(x, axes<0>);
    using planned = si::plan<si::remove_cvref<decltype(formula)>>;
    static_assert(planned::kernels == 2 && !planned::one_kernel);
    static_assert(planned::why == si::nest_violation::incompatible_axes);
    static_assert(planned::buffers == 1 && planned::buffer(0).sizes.size[1] == 1);
    static_assert(planned::buffer(0).written == 0 && planned::buffer(0).last_read == 1);
    REQUIRE(si::try_run(split, y.view() = formula).ok());

    si::run(reference, rows.view() = sum(x, axes<1>));
    si::run(reference, by_hand.view() = x / rows * sum(x, axes<0>));
    CHECK(same(y, by_hand));
    CHECK(y[0] != 0.0f);
}

TEST_CASE("counts and two-phase reductions, run-time sizes, empty ones too") {
    const i64 sizes[][2] = {{5, 9}, {1, 1}, {65, 130}, {3, 1030}, {0, 4}, {4, 0}};
    for (const auto& size : sizes) {
        matrix x(size[0], size[1]), y(size[0], size[1]), by_hand(size[0], size[1]);
        column row_mean(size[0]), row_variance(size[0]);
        row column_mean(size[1]), column_variance(size[1]);
        fill_with(x, 2);
        const auto formula = both_ways(x);
        static_assert(si::plan_of<decltype(formula)>.kernels == 2);
        REQUIRE(si::try_run(split, y.view() = formula).ok());

        si::run(reference, row_mean.view() = mean(x, axes<1>));
        si::run(reference, row_variance.view() = variance(x, axes<1>));
        si::run(reference, column_mean.view() = mean(x, axes<0>));
        si::run(reference, column_variance.view() = variance(x, axes<0>));
        si::run(reference, by_hand.view() = (x - row_mean) * row_variance + (x - column_mean) / column_variance);
        CHECK(same(y, by_hand));
    }
}

TEST_CASE("values of two matrices with run-time heights never share a loop") {
    matrix x(5, 3), z(4, 3), y(5, 4), by_hand(5, 4);
    fill_with(x, 3);
    fill_with(z, 4);
    column left(5), right(4);
    si::run(split, y.view() = sum(x * x, axes<1>) * transpose(sum(z * z, axes<1>)) + transpose(sum(z, axes<1>)));
    si::run(reference, left.view() = sum(x * x, axes<1>));
    si::run(reference, right.view() = sum(z * z, axes<1>));
    column sums(4);
    si::run(reference, sums.view() = sum(z, axes<1>));
    si::run(reference, by_hand.view() = left * si::transpose(right.view()) + si::transpose(sums.view()));
    CHECK(same(y, by_hand));
}

TEST_CASE("a turned maximum beside a sum of rows of another length: their folds never share a loop") {
    matrix x(5, 4), z(4, 6);
    fill_with(x, 3);
    fill_with(z, 4);
    column y(4), by_hand(4);
    row largest(4);
    si::run(split, y.view() = transpose(max(x, axes<0>)) + sum(z, axes<1>));
    si::run(reference, largest.view() = max(x, axes<0>));
    si::run(reference, by_hand.view() = si::transpose(largest.view()) + sum(z, axes<1>));
    CHECK(same(y, by_hand));
}

TEST_CASE("rows of two matrices whose lengths are known only when run: equal or not") {
    const i64 lengths[] = {6, 4, 1, 0};
    for (const i64 length : lengths) {
        matrix x(4, 6), z(4, length);
        fill_with(x, 3);
        fill_with(z, 4);
        column y(4), by_hand(4), largest(4), total(4);
        const auto formula = max(x, axes<1>) + sum(z, axes<1>);
        static_assert(si::plan_of<decltype(formula)>.kernels == 1);
        si::run(split, y.view() = formula);
        si::run(reference, largest.view() = max(x, axes<1>));
        si::run(reference, total.view() = sum(z, axes<1>));
        si::run(reference, by_hand.view() = largest + total);
        CHECK(same(y, by_hand));
        // Without split one kernel, whose rows have one length.
        const si::status said = si::try_run(reference, y.view() = formula);
        CHECK(said.code() == (length == 6 ? si::error::none : si::error::size_mismatch));
    }
    // Where nothing can be done, the status is the one kernel's.
    matrix x(4, 6), z(3, 6);
    column y(4);
    fill_with(x, 3);
    fill_with(z, 4);
    const si::status said = si::try_run(split, y.view() = max(x, axes<1>) + sum(z, axes<1>));
    CHECK(said.code() == si::error::size_mismatch);
    CHECK(said.operand == si::try_run(reference, y.view() = max(x, axes<1>) + sum(z, axes<1>)).operand);
    // So may what fills a tensor of another size: each element of y is the sum.
    matrix wide(3, 7), rows_of(4, 9);
    si::run(split, wide.view() = sum(x));
    si::run(split, rows_of.view() = sum(x, axes<1>) * 2.0f);
    float whole = 0;
    si::run(reference, si::view(&whole, extents<>{}) = sum(x));
    column each(4);
    si::run(reference, each.view() = sum(x, axes<1>) * 2.0f);
    for (i64 i = 0; i < 21; ++i) CHECK(wide.data()[i] == whole);
    for (i64 i = 0; i < 36; ++i) CHECK(rows_of.data()[i] == each.data()[i / 9]);
    CHECK(si::try_run(reference, wide.view() = sum(x)).code() == si::error::size_mismatch);
    // A number over all rows, known when they are over, fills one value of each.
    si::run(reference, si::view(&whole, extents<>{}) = sum(max(x, axes<1>)));
    si::run(split, each.view() = sum(max(x, axes<1>)), wide.view() = sum(max(x, axes<1>)));
    for (i64 i = 0; i < 4; ++i) CHECK(each.data()[i] == whole);
    for (i64 i = 0; i < 21; ++i) CHECK(wide.data()[i] == whole);
    // Operands that meet in an operation have one length.
    matrix w(4, 6);
    const auto surely = [](auto&& assigned) { return si::detail::is_surely_one_kernel<si::lowering_of<si::remove_cvref<decltype(assigned)>>>(); };
    CHECK(surely(y.view() = sum(x * w, axes<1>)));
    CHECK(surely(y.view() = si::let(x, [](auto a) { return max(a, axes<1>) + sum(a, axes<1>); })));
    CHECK(!surely(y.view() = max(x, axes<1>) + sum(w, axes<1>)));
}

TEST_CASE("an index map of a reduced value, a reshape of a broadcast value") {
    tensor<float, extents<6, 5>> x;
    tensor<float, extents<5>> bias;
    tensor<float, extents<2, 3>> y, by_hand;
    tensor<float, extents<6, 1>> sums;
    fill_with(x, 5);
    fill_with(bias, 6);
    const auto reshaped = si::reshape<2, 3>(sum(x, axes<1>)) * 2.0f;
    static_assert(si::plan_of<decltype(reshaped)>.kernels == 2);
    static_assert(si::plan_of<decltype(reshaped)>.why == si::nest_violation::map_of_reduction);
    si::run(split, y.view() = reshaped);
    si::run(reference, sums.view() = sum(x, axes<1>));
    si::run(reference, by_hand.view() = si::reshape<2, 3>(sums.view()) * 2.0f);
    CHECK(same(y, by_hand));

    tensor<float, extents<3, 10>> flat, flat_by_hand;
    tensor<float, extents<6, 5>> added;
    const auto broadcast = si::reshape<3, 10>(x + bias) - 1.0f;
    static_assert(si::plan_of<decltype(broadcast)>.kernels == 2);
    static_assert(si::plan_of<decltype(broadcast)>.why == si::nest_violation::map_of_broadcast);
    si::run(split, flat.view() = broadcast);
    si::run(reference, added.view() = x + bias);
    si::run(reference, flat_by_hand.view() = si::reshape<3, 10>(added.view()) - 1.0f);
    CHECK(same(flat, flat_by_hand));
}

TEST_CASE("a cut doesn't round: half precision crosses it in f32") {
    tensor<si::f16, extents<9, 77>> x, y, by_hand;
    tensor<float, extents<9, 1>> rows;
    fill_with(x, 7);
    const auto formula = x * sum(x, axes<1>) + sum(x, axes<0>);
    static_assert(si::plan_of<decltype(formula)>.buffer(0).type == si::dtype::f32);
    si::run(split, y.view() = formula);
    si::run(reference, rows.view() = sum(x, axes<1>));
    si::run(reference, by_hand.view() = x * rows + sum(x, axes<0>));
    CHECK(same(y, by_hand));
}

TEST_CASE("each stage depends on the one before: three kernels") {
    tensor<float, extents<8, 6>> x, y, by_hand;
    tensor<float, extents<8, 1>> first;
    tensor<float, extents<1, 6>> second;
    fill_with(x, 8);
    const auto formula = si::let(x, [](auto v) {
        const auto scaled = v / max(v, axes<1>);
        const auto shifted = scaled - sum(scaled, axes<0>);
        return shifted * sum(shifted, axes<1>);
    });
    using planned = si::plan<si::remove_cvref<decltype(formula)>>;
    static_assert(planned::kernels == 3 && planned::buffers == 2);
    static_assert(planned::buffer(0).written == 0 && planned::buffer(0).last_read == 2);
    static_assert(planned::stage(0).piece.nest == si::nest_kind::rows && planned::stage(1).piece.nest == si::nest_kind::columns);
    static_assert(planned::bytes() == (48 + 8) * 4 + (48 + 8 + 6) * 4 + (48 + 8 + 6 + 48) * 4);
    si::run(split, y.view() = formula);
    si::run(reference, first.view() = max(x, axes<1>));
    si::run(reference, second.view() = sum(x / first, axes<0>));
    si::run(reference, by_hand.view() = (x / first - second) * sum(x / first - second, axes<1>));
    CHECK(same(y, by_hand));
}

TEST_CASE("the page on plans") {
    tensor<float, extents<7, 3>> x, y;
    fill_with(x, 14);
    // [split]
    auto balanced = si::let(x, [](auto v) { return v / sum(v, si::axes<1>) / sum(v, si::axes<0>); });
    static_assert(si::plan_of<decltype(balanced)>.kernels == 2);
    si::run(si::split(si::reference), y.view() = balanced);
    // [/split]
    CHECK(y[0] == y[0]);
}

TEST_CASE("several assignments; coordinates; eval") {
    matrix x(6, 5), y(6, 5), by_hand(6, 5);
    column rows(6), rows_by_hand(6);
    row columns(5), columns_by_hand(5);
    fill_with(x, 9);
    si::run(split, rows.view() = sum(x, axes<1>), columns.view() = sum(x, axes<0>));
    si::run(reference, rows_by_hand.view() = sum(x, axes<1>));
    si::run(reference, columns_by_hand.view() = sum(x, axes<0>));
    CHECK(same(rows, rows_by_hand));
    CHECK(same(columns, columns_by_hand));

    const auto placed = sum(x, axes<1>) * sum(x, axes<0>) + si::cast<float>(si::iota<0>(x + rows));
    si::run(split, y.view() = placed);
    si::run(reference, by_hand.view() = rows * columns + si::cast<float>(si::iota<0>(x)));
    CHECK(same(y, by_hand));
    CHECK(same(si::eval(split, placed), by_hand));

    // One kernel stays one.
    si::run(split, y.view() = softmax(x));
    si::run(reference, by_hand.view() = softmax(x));
    CHECK(same(y, by_hand));
}

TEST_CASE("an output of an early stage may not be read by a later one; nothing is written then") {
    tensor<float, extents<4, 4>> x, before, by_hand;
    tensor<float, extents<1, 4>> columns;
    fill_with(x, 10);
    si::run(reference, before.view() = copy(x));
    const auto answer = si::try_run(split, x.view() = x / sum(x, axes<1>), columns.view() = sum(x, axes<0>));
    CHECK(answer.code() == si::error::overlap);
    CHECK(same(x, before));
    // In place is fine when the output's stage is the last that reads.
    const auto formula = x / sum(x, axes<1>) * sum(x, axes<0>);
    si::run(split, by_hand.view() = formula);
    si::run(split, x.view() = formula);
    CHECK(same(x, by_hand));
}

TEST_CASE("a wrong size in the last stage is found before the first one writes") {
    matrix x(4, 6), z(4, 5);
    column rows(4);
    tensor<float, extents<1, dyn>> columns(6);
    fill_with(x, 11);
    fill_with(z, 12);
    const auto answer = si::try_run(split, rows.view() = sum(x, axes<1>), columns.view() = sum(x * z, axes<0>));
    CHECK(answer.code() == si::error::size_mismatch);
    CHECK(rows[0] == 0.0f);
}

TEST_CASE("a status has the numbers of the whole formula, whichever stage says it") {
    using view = si::tensor_view<float, extents<dyn, dyn>>;
    using strided = si::tensor_view<float, extents<dyn, dyn>, si::strided>;
    using as_column = si::tensor_view<float, extents<dyn, 1>>;
    using as_row = si::tensor_view<float, extents<1, dyn>>;
    matrix x(5, 7), shorter(5, 6), lower(4, 7), y(5, 7);
    tensor<float, extents<dyn>> places(20);
    fill_with(x, 31);
    const as_column rows(places.data(), 5);
    const as_row columns(places.data() + 10, 7);
    const auto both = [&](const as_column& by_rows, const as_row& by_columns) {
        return si::try_run(split, by_rows = sum(x, axes<1>), by_columns = sum(x, axes<0>));
    };
    const auto says = [](const si::status& said, si::error code, int operand, int output) {
        return said.code() == code && said.operand == operand && said.output == output;
    };
    CHECK(both(rows, columns).ok());  // (operands 0 and 1 are both mentions of x)
    CHECK(says(both(rows, as_row(nullptr, 7)), si::error::null_pointer, 3, 1));
    CHECK(says(both(as_column(nullptr, 5), columns), si::error::null_pointer, 2, 0));
    CHECK(says(both(rows, as_row(places.data() + 10, 6)), si::error::size_mismatch, 3, 1));
    CHECK(says(both(rows, as_row(x.data() + 1, 7)), si::error::overlap, 3, 1));
    // Of operands that differ one of them, and never what lies between the stages.
    const auto three = [&](const matrix& a, const matrix& b) { return si::try_run(split, y.view() = a / sum(a * b, axes<1>) * sum(b, axes<0>)); };
    CHECK(three(x, x).ok());
    const auto differ = [](const si::status& said) { return said.code() == si::error::size_mismatch && said.operand < 4 && said.found != 0; };
    CHECK(differ(three(x, shorter)));
    CHECK(differ(three(shorter, x)));
    CHECK(differ(three(x, lower)));
    CHECK(differ(three(lower, x)));
    const view negative(x.data(), -5, 7);
    CHECK(says(si::try_run(split, y.view() = negative / sum(negative, axes<1>) * sum(negative, axes<0>)), si::error::bad_view, 0, -1));
    // A view that is only asked for its shape is neither read nor in the way.
    const auto beside = [&](const strided& shape_only) {
        return si::try_run(split, rows = sum(x, axes<1>), columns = sum(x, axes<0>) + si::cast<float>(si::iota<1>(shape_only)));
    };
    const extents<dyn, dyn> sizes(5, 7);
    CHECK(beside(strided(nullptr, sizes, si::array<i64, 2>{{7, 1}})).ok());
    CHECK(beside(strided(places.data(), sizes, si::array<i64, 2>{{7, 1}})).ok());
    CHECK(beside(strided(places.data(), sizes, si::array<i64, 2>{{i64(1) << 62, 1}})).ok());
    CHECK(si::try_run(reference, y.view() = x + si::cast<float>(si::iota<0>(view(nullptr, 5, 7)))).ok());
}

TEST_CASE("where only the cut form is possible, its status counts") {
    matrix x(2, 3), short_rows(2, 2), none(2, 0);
    column y(2);
    tensor<si::i32, extents<dyn, dyn>> a(2, 3), b(2, 0);
    tensor<si::i32, extents<dyn>> whole(2);
    fill_with(x, 14);
    const si::tensor_view<float, extents<dyn, dyn>> nowhere(nullptr, 2, 2);
    CHECK(si::try_run(split, y.view() = sum(x, axes<1>) + sum(nowhere, axes<1>)).code() == si::error::null_pointer);
    CHECK(si::try_run(split, whole.view() = max(a, axes<1>, si::drop) + max(b, axes<1>, si::drop)).code() == si::error::empty_reduction);
}

namespace {
/// An executor with memory of its own between stages.
struct with_workspace {
    using memory_space = si::host_memory;
    char* memory;
    i64* asked;
    template <class Assignment>
    si::status launch(const Assignment& assigned) const {
        return reference.launch(assigned);
    }
    void* workspace(i64 bytes) const {
        *asked = bytes;
        return memory;
    }
};
}  // namespace

TEST_CASE("memory between stages comes from the executor when it offers some") {
    alignas(64) char memory[1024];
    i64 asked = 0;
    tensor<float, extents<7, 3>> x, y, by_hand;
    fill_with(x, 13);
    const auto formula = x / sum(x, axes<1>) * sum(x, axes<0>);
    si::run(si::split(with_workspace{memory, &asked}), y.view() = formula);
    si::run(split, by_hand.view() = formula);
    CHECK(asked == 64);
    CHECK(same(y, by_hand));
    si::run(si::split(with_workspace{nullptr, &asked}), y.view() = x + 1.0f);  // one kernel: nothing is asked for
    CHECK(si::try_run(si::split(with_workspace{nullptr, &asked}), y.view() = formula).code() == si::error::out_of_memory);
}
