// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 reductions whose axes are dropped.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

#include <sinter/split.hpp>

#include <initializer_list>

using namespace harness;

TEST_CASE("float over first axes, dropped") {
    tally counted("float over first axes, dropped");
    fold_cases<1>(counted, types<dropped<float>, dropped<float>, dropped<float>, dropped<float>, dropped<float>>{},
                  types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0>, si::drop), max(a, si::axes<0>, si::drop),
                           mean(a, si::axes<0>, si::drop), variance(a, si::axes<0>, 0, si::drop),
                           logsumexp(a, si::axes<0>, si::drop));
    }), 3000);
}

TEST_CASE("float over last axes, dropped") {
    tally counted("float over last axes, dropped");
    fold_cases<4>(counted, types<dropped<float>, dropped<float>, dropped<float>, dropped<float>, dropped<float>>{},
                  types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::last_axis, si::drop), max(a, si::last_axis, si::drop),
                           mean(a, si::last_axis, si::drop), variance(a, si::last_axis, 0, si::drop),
                           logsumexp(a, si::last_axis, si::drop));
    }), 3000);
}

TEST_CASE("float over first and last axes, dropped") {
    tally counted("float over first and last axes, dropped");
    fold_cases<5>(counted, types<dropped<float>, dropped<float>, dropped<float>, dropped<float>, dropped<float>>{},
                  types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0, -1>, si::drop), max(a, si::axes<0, -1>, si::drop),
                           mean(a, si::axes<0, -1>, si::drop), variance(a, si::axes<0, -1>, 0, si::drop),
                           logsumexp(a, si::axes<0, -1>, si::drop));
    }), 3000);
}

TEST_CASE("float over middle and last axes, dropped") {
    tally counted("float over middle and last axes, dropped");
    fold_cases<6>(counted, types<dropped<float>, dropped<float>, dropped<float>, dropped<float>, dropped<float>>{},
                  types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<1, 2>, si::drop), max(a, si::axes<1, 2>, si::drop),
                           mean(a, si::axes<1, 2>, si::drop), variance(a, si::axes<1, 2>, 0, si::drop),
                           logsumexp(a, si::axes<1, 2>, si::drop));
    }), 3000);
}

TEST_CASE("float over all axes, dropped") {
    tally counted("float over all axes, dropped");
    fold_cases<7>(counted, types<dropped<float>, dropped<float>, dropped<float>, dropped<float>, dropped<float>>{},
                  types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0, 1, 2>, si::drop), max(a, si::axes<0, 1, 2>, si::drop),
                           mean(a, si::axes<0, 1, 2>, si::drop), variance(a, si::axes<0, 1, 2>, 0, si::drop),
                           logsumexp(a, si::axes<0, 1, 2>, si::drop));
    }), 3000);
}

namespace {
using si::operator""_d;
template <class Matrix, class Vector>
void fits(Matrix both, Vector one) {
    float x[6] = {1, 2, 3, 6, 5, 4}, y[6]{}, m[2]{}, s[2]{};
    const auto in = si::view(static_cast<const float*>(x), both);
    const auto check = [&](si::status got) {
        CHECK((got.ok() && y[0] == 2 && y[5] == 8 && m[0] == 3 && m[1] == 6));
        m[0] = m[1] = y[0] = y[5] = 0;
    };
    const auto apart = si::tie(si::view(y, both), si::view(m, one)) =
        si::let(in, [](auto v) { return si::outputs(v * 2.0f, max(v, si::axes<1>, si::drop)); });
    check(si::try_run(si::reference, apart));
    check(si::try_run(si::split(si::reference), apart));
    const auto together = si::tie(si::view(y, both), si::view(m, one)) = si::let(in, [](auto v) {
        return si::outputs(v * 2.0f + (max(v, si::axes<1>) - max(v, si::axes<1>)), max(v, si::axes<1>, si::drop));
    });
    check(si::try_run(si::reference, together));
    const auto three = si::tie(si::view(m, one), si::view(s, one), si::view(y, both)) = si::let(in, [](auto v) {
        return si::outputs(max(v, si::axes<1>, si::drop), sum(v, si::axes<1>, si::drop), v * 2.0f);
    });
    check(si::try_run(si::reference, three));
    CHECK((s[0] == 6 && s[1] == 15));
}
}  // namespace

TEST_CASE("a reduction that drops its axis beside one that keeps it is one kernel") {
    tally all("dropped beside kept");
    for (int l = 0; l < fold_length_count; l += 2)
        for (int c = 0; c < 5; ++c) {
            const i64 n = fold_length(l), rows = c < 2 ? 1 + c : c * 9;
            if (n > 3000) continue;
            const placement line = place({1, {rows}}, layout::contiguous), column = place({1, {n}}, layout::contiguous);
            const placement matrix = place({2, {rows, n}}, layout(c));
            using vector = si::extents<dyn>;
            // The rows' values as a vector, before and after the elements; then columns'; then inner axes of three.
            all.same([](auto y, auto m, auto x) {
                         return si::tie(y, m) = si::let(x, [](auto a) { return si::outputs(a - mean(a, si::last_axis), mean(a, si::last_axis, si::drop) * 2.0f); });
                     },
                     memory<float, plane>(matrix, mix::anything, 1), memory<float, vector>(line, mix::anything, 2),
                     memory<float, plane>(matrix, mix::sprinkled, u64(l)));
            all.same([](auto m, auto y, auto x) {
                         return si::tie(m, y) = si::let(x, [](auto a) { return si::outputs(max(a, si::last_axis, si::drop), si::softmax(a)); });
                     },
                     memory<float, vector>(line, mix::anything, 1), memory<float, plane>(matrix, mix::anything, 2),
                     memory<float, plane>(matrix, mix::sprinkled, u64(l)));
            all.same([](auto y, auto m, auto x) {
                         return si::tie(y, m) = si::let(x, [](auto a) { return si::outputs(a - mean(a, si::axes<0>), variance(a, si::axes<0>, si::drop)); });
                     },
                     memory<float, plane>(matrix, mix::anything, 1), memory<float, vector>(column, mix::anything, 2),
                     memory<float, plane>(matrix, mix::sprinkled, u64(l)));
            if (n > 300) continue;
            const placement cube = place({3, {3, rows, n}}, layout::contiguous), outer = place({2, {3, n}}, layout::contiguous);
            all.same([](auto y, auto m, auto x) {
                         return si::tie(y, m) = si::let(x, [](auto a) { return si::outputs(a / sum(a, si::axes<1>), sum(a, si::axes<1>, si::drop)); });
                     },
                     memory<float, si::extents<dyn, dyn, dyn>>(cube, mix::anything, 1), memory<float, plane>(outer, mix::anything, 2),
                     memory<float, si::extents<dyn, dyn, dyn>>(cube, mix::plain, u64(l)));
        }
    // Run-time sizes, the reduction in no other output: they fit as well, square or not.
    for (i64 rows : {1, 2, 5, 33})
        for (i64 n : {1, 2, 5, 33, 100}) {
            const placement line = place({1, {rows}}, layout::contiguous), column = place({1, {n}}, layout::contiguous);
            const placement matrix = place({2, {rows, n}}, layout::contiguous);
            using vector = si::extents<dyn>;
            all.same([](auto y, auto m, auto x) {
                         return si::tie(y, m) = si::let(x, [](auto a) { return si::outputs(a * 2.0f, max(a, si::last_axis, si::drop)); });
                     },
                     memory<float, plane>(matrix, mix::anything, 1), memory<float, vector>(line, mix::anything, 2),
                     memory<float, plane>(matrix, mix::sprinkled, u64(n)));
            all.same([](auto y, auto m, auto x) {
                         return si::tie(y, m) = si::let(x, [](auto a) { return si::outputs(abs(a), sum(a, si::axes<0>, si::drop)); });
                     },
                     memory<float, plane>(matrix, mix::anything, 1), memory<float, vector>(column, mix::anything, 2),
                     memory<float, plane>(matrix, mix::sprinkled, u64(n)));
            all.same([](auto s, auto y, auto m, auto x) {
                         return si::tie(s, y, m) = si::let(x, [](auto a) {
                             return si::outputs(sum(a, si::last_axis, si::drop), a + 1.0f, max(a, si::last_axis, si::drop) * 0.5f);
                         });
                     },
                     memory<float, vector>(line, mix::anything, 1), memory<float, plane>(matrix, mix::anything, 2),
                     memory<float, vector>(line, mix::anything, 3), memory<float, plane>(matrix, mix::sprinkled, u64(n)));
        }
    using si::extents;
    fits(extents<2, 3>(), extents<2>());
    fits(extents<dyn, dyn>(2, 3), extents<dyn>(2));
    fits(extents<dyn, 3>(2), extents<dyn>(2));
    fits(extents<2, dyn>(3), extents<2>());
    fits(extents<dyn, dyn>(2, 3), extents<2>());
    fits(extents<"rows"_d, "cols"_d>(2, 3), extents<"rows"_d>(2));
    fits(extents<"rows"_d, "cols"_d>(2, 3), extents<dyn>(2));
    // A square one, whose sizes fit otherwise, too.
    float x[9] = {3, 1, 2, 9, 7, 8, 4, 6, 5}, y[9], m[3];
    const auto in = si::view(x, si::extents<3, 3>{});
    si::run(si::reference, si::view(y, si::extents<3, 3>{}) = in - max(in, si::last_axis), si::view(m) = max(in, si::last_axis, si::drop));
    CHECK((m[0] == 3 && m[1] == 9 && m[2] == 6 && y[0] == 0 && y[1] == -2 && y[8] == -1));
}
