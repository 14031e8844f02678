// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NaN in max, min, relu, clamp; signed zeros; signs of remainders.
#include <sinter/backend/cpu.hpp>

#include "bugs.hpp"

using namespace bugs;

TEST_CASE("B001 pytorch#93784: clamp_min drops NaN, maximum keeps it from one operand only") {
    on_each([](const auto& executor) {
        for_types<f16, bf16, float, double>([&](auto type) {
            using element = decltype(type);
            const auto x = row<element>({-3, nan, -1, 0, 1, 2, nan}), y = row<element>({0, 0, nan, 0, 0, 0, 0});
            CHECK(same(si::eval(executor, relu(x)), {0, nan, 0, 0, 1, 2, nan}));
            CHECK(same(si::eval(executor, maximum(x, 0.5)), {0.5, nan, 0.5, 0.5, 1, 2, nan}));
            CHECK(same(si::eval(executor, maximum(x, y)), {0, nan, nan, 0, 1, 2, nan}));
            CHECK(same(si::eval(executor, maximum(y, x)), {0, nan, nan, 0, 1, 2, nan}));
        });
        for_lengths([&](i64 n) {
            // The NaN walks through every position.
            const auto x = repeated<float>(n, -1), zero = repeated<float>(n, 0);
            for (i64 at = 0; at < n; at += n > 65 ? 37 : 1) {
                x(at) = nan;
                const auto expected = [&](i64 i) { return i == at ? nan : 0.0f; };
                CHECK(same(si::eval(executor, relu(x)), expected));
                CHECK(same(si::eval(executor, minimum(zero, clamp(x, 0.0f, 5.0f))), expected));
                x(at) = -1;
            }
        });
    });
}
TEST_CASE("B003 onnxruntime#21455: NaN lost in min and max against a single element") {
    on_each([](const auto& executor) {
        const auto x = grid<float>(si::extents<3, 1>{}, {nan, 1, 20});
        const auto b = grid<float>(si::extents<1>{}, {10});
        CHECK(same(si::eval(executor, minimum(x, b)), {nan, 1, 10}));
        CHECK(same(si::eval(executor, minimum(b, x)), {nan, 1, 10}));
        CHECK(same(si::eval(executor, maximum(x, b)), {nan, 10, 20}));
        CHECK(same(si::eval(executor, maximum(b, x)), {nan, 10, 20}));
        // The single element is the NaN.
        const auto lost = grid<float>(si::extents<1>{}, {nan});
        CHECK(same(si::eval(executor, maximum(lost, x)), {nan, nan, nan}));
    });
}
TEST_CASE("B005 nx#963, B028 cub#662, B018 tensorflow#4131: reductions start from an infinity and keep NaN") {
    on_each([](const auto& executor) {
        for_types<float, double, f16, bf16>([&](auto type) {
            using element = decltype(type);
            for_lengths([&](i64 n) {
                CHECK(not_a_number(si::eval(executor, min(repeated<element>(n, nan)))));
                CHECK(not_a_number(si::eval(executor, max(repeated<element>(n, nan)))));
                CHECK(same(si::eval(executor, min(repeated<element>(n, infinity))), si::convert<element>(infinity)));
                CHECK(same(si::eval(executor, max(repeated<element>(n, -infinity))), si::convert<element>(-infinity)));
            });
        });
        const auto two = grid<float>(si::extents<2, 5>{}, {nan, nan, nan, nan, nan, 1, 2, 3, 4, 5});
        CHECK(same(si::eval(executor, min(two, si::axes<1>)), {nan, 1}));
        CHECK(same(si::eval(executor, max(two, si::axes<0>)), {nan, nan, nan, nan, nan}));
    });
}
TEST_CASE("B007 pytorch#13448: sigmoid of NaN is a tiny number for some elements") {
    on_each([](const auto& executor) {
        for_lengths([&](i64 n) {
            CHECK(same(si::eval(executor, sigmoid(repeated<float>(n, nan))), [](i64) { return nan; }));
            CHECK(same(si::eval(executor, si::silu(repeated<float>(n, nan))), [](i64) { return nan; }));
        });
    });
}
TEST_CASE("B009 pytorch#186018: sin(atan(NaN)) is 1") {
    on_each([](const auto& executor) {
        CHECK(close(si::eval(executor, sin(atan(row<float>({nan, 0, 1})))), {nan, 0.0, 0.70710678}, 1e-6));
    });
}
TEST_CASE("B012 mlx#4063: a maximum of zeros of both signs is -0") {
    on_each([](const auto& executor) {
        for_lengths([&](i64 n) {
            const auto x = generated<float>(n + 1, [](i64 i) {
                return __builtin_bit_cast(float, i % 2 ? 0u : 0x80000000u);  // by bits: -ffast-math makes one zero of `? 0.0f : -0.0f`
            });
            CHECK(same(si::eval(executor, 1.0f / max(x)), infinity));
            CHECK(same(si::eval(executor, 1.0f / min(x)), -infinity));
        });
        CHECK(same(si::eval(executor, max(row<float>({-0.0f, 0.0f, -0.0f}))), 0.0f));
        CHECK(same(si::eval(executor, max(row<float>({0.0f, -0.0f}))), 0.0f));
    });
}
TEST_CASE("B014 pytorch#193755: a zero remainder takes the sign of the wrong operand") {
    on_each([](const auto& executor) {
        const auto a = row<float>({-1, 2, -1, 1}), b = row<float>({1, -1, 1, -1});
        CHECK(same(si::eval(executor, remainder(a, b)), {0.0f, -0.0f, 0.0f, -0.0f}));
        CHECK(same(si::eval(executor, fmod(a, b)), {-0.0f, 0.0f, -0.0f, 0.0f}));
    });
}
TEST_CASE("B016 pytorch#189804: vectorised gelu near -5.53, and its sign") {
    on_each([](const auto& executor) {
        const float points[] = {-5.533906936645508f, -5.531643390655518f, -10, -13};
        const double expected[] = {-8.66541e-8, -8.77441e-8, -7.61985e-23, -7.95231e-38};
        for_lengths([&](i64 n) {
            const auto found = si::eval(executor, gelu(generated<float>(n, [&](i64 i) { return points[i % 4]; })));
            bool good = true;
            for (i64 i = 0; i < n; ++i) {
                const double error = double(found[i]) - expected[i % 4];
                good = good && error < 1.2e-7 && error > -1.2e-7 && (i % 4 > 1 || found[i] < 0);
            }
            CHECK(good);
        });
        CHECK(same(si::eval(executor, sign(gelu(row<float>({points[0], points[1]})))), {-1, -1}));
    });
}
