// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Outputs that are also inputs, element for element: pointwise, over rows and columns, with several outputs; and the
// overlaps that must be refused before anything is written.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

namespace {
/// Memories of rank 3 for every length; the first one is an output that holds values.
template <class Build>
void cube_cases(tally& all, mix how, const Build& build, i64 longest = 3000) {
    using cube = si::extents<dyn, dyn, dyn>;
    for (int l = 0; l < fold_length_count; ++l) {
        const i64 n = fold_length(l);
        if (n > longest) continue;
        for (int c = 0; c < output_layouts; ++c) {
            const shape sizes = c % 2 ? shape{3, {n, 2, 3}} : shape{3, {2, 1 + c % 3, n}};
            all.same(build, memory<float, cube>(place(sizes, layout(c)), how, u64(l * 10 + c)),
                     memory<float, cube>(place(sizes, input_layout(c + 3, 1, l)), how, u64(l * 10 + c + 5000)));
        }
    }
}
}  // namespace

TEST_CASE("pointwise: the output is the first operand") {
    tally all("in place, pointwise");
    cube_cases(all, mix::special, [](auto y, auto x) {
        return y = si::let(y, x, [](auto a, auto b) { return a * b + a - abs(a); });
    });
}
TEST_CASE("rows: softmax in place") {
    tally all("in place, softmax");
    cube_cases(all, mix::sprinkled, [](auto y, auto) { return y = si::softmax(y); });
}
TEST_CASE("rows: softmax in place whose operand is needed again with the result") {
    tally all("in place, softmax times its operand");
    cube_cases(all, mix::sprinkled, [](auto y, auto x) {
        return y = si::let(y, x, [](auto a, auto b) { return si::softmax(a) * a + exp(a - max(a, si::last_axis)) * b; });
    });
}
TEST_CASE("rows: a fold of two phases reads a costly value of the operand twice") {
    tally all("in place, normalised exponentials");
    cube_cases(all, mix::plain, [](auto y, auto) {
        return y = si::let(y, [](auto a) { return si::normalize(exp(a), si::last_axis, 1e-5f); });
    });
}
TEST_CASE("rows: a residual is updated and normalised, two outputs") {
    tally all("in place, residual and norm");
    cube_cases(all, mix::plain, [](auto y, auto x) {
        return si::tie(y, x) = si::let(y, x, [](auto a, auto b) {
                   const auto h = a + b;
                   return si::outputs(h, si::rms_norm(h, 1e-5f));
               });
    });
}
TEST_CASE("columns: normalize over the first axis in place") {
    tally all("in place, columns");
    cube_cases(all, mix::sprinkled, [](auto y, auto) { return y = si::normalize(y, si::axes<0>, 1e-5f); });
}
TEST_CASE("all axes: scaled by the largest magnitude in place") {
    tally all("in place, all axes");
    cube_cases(all, mix::sprinkled, [](auto y, auto) {
        return y = si::let(y, [](auto a) { return a / max(abs(a), si::axes<0, 1, 2>); });
    });
}

// Beside a larger output of the same kernel, an element of a smaller one would be updated at every row.
TEST_CASE("an element that is stored several times isn't updated in place; a row's own result, stored once, is") {
    each_executor([&](const auto& executor, const char*) {
        if constexpr (si::is_same<typename si::remove_cvref<decltype(executor)>::memory_space, si::host_memory>) {
            float values[32], all[32], columns[8], rows[4];
            for (float& value : values) value = 1;
            for (float& value : columns) value = 3;
            for (float& value : rows) value = 5;
            const si::tensor_view<float, si::extents<4, 8>> x(values), y(all);
            const si::tensor_view<float, si::extents<8>> of_columns(columns);
            const si::tensor_view<float, si::extents<4, 1>> of_rows(rows);
            CHECK(si::try_run(executor, y = x + of_columns, of_columns = of_columns * 2).code() == si::error::overlap);
            CHECK(si::try_run(executor, y = x + of_rows, of_rows = of_rows * 2).code() == si::error::overlap);
            for (const float value : columns) CHECK(value == 3);
            for (const float value : rows) CHECK(value == 5);
            CHECK(si::try_run(executor, y = x + of_rows, of_rows = of_rows * sum(x, si::last_axis)).ok());
            for (const float value : all) CHECK(value == 6);
            for (const float value : rows) CHECK(value == 40);
            CHECK(si::try_run(executor, y = x + of_columns, of_columns = of_columns + sum(x, si::axes<0>, si::drop)).ok());
            for (const float value : all) CHECK(value == 4);
            for (const float value : columns) CHECK(value == 7);
        }
    });
}

TEST_CASE("overlaps other than element for element are refused; nothing is written") {
    float data[64];
    for (int i = 0; i < 64; ++i) data[i] = float(i);
    using line_view = si::tensor_view<float, line>;
    using grid_view = si::tensor_view<float, si::extents<4, 4>>;
    const line_view whole_line(data, 32), shifted(data + 1, 32), head(data, 31), second_half(data + 32, 32);
    const grid_view square(data), next_square(data + 16);
    each_executor([&](const auto& executor, const char*) {
        if constexpr (si::is_same<typename si::remove_cvref<decltype(executor)>::memory_space, si::host_memory>) {
            CHECK(si::try_run(executor, shifted = whole_line + 1).code() == si::error::overlap);
            CHECK(si::try_run(executor, whole_line = si::flip<0>(whole_line) + 1).code() == si::error::overlap);
            CHECK(si::try_run(executor, square = si::copy(si::transpose(square))).code() == si::error::overlap);
            CHECK(si::try_run(executor, si::tie(whole_line, shifted) = si::let(second_half, [](auto a) {
                      return si::outputs(a, a + 1);
                  })).code() == si::error::overlap);
            CHECK(si::try_run(executor, whole_line = shifted + whole_line).code() == si::error::overlap);
            for (int i = 0; i < 64; ++i) CHECK(data[i] == float(i));
            CHECK(si::try_run(executor, next_square = si::transpose(square) + 0).ok());
            for (int i = 0; i < 64; ++i) data[i] = float(i);
        }
    });
}
