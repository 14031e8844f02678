// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variance, mean, accumulators of 16-bit floats.
#include <sinter/backend/cpu.hpp>

#include "bugs.hpp"

using namespace bugs;

TEST_CASE("B033 pytorch#2470: variance of two close large numbers is 0") {
    on_each([](const auto& executor) {
        const auto x = row<float>({2281.5f, 2281.25f});
        CHECK(same(si::eval(executor, variance(x, si::last_axis, 1)), {0.03125}));
        CHECK(same(si::eval(executor, variance(x)), 0.015625f));
        for_lengths([&](i64 n) {
            // Pairs around any centre: the population variance is exact.
            const auto many = generated<float>(2 * n, [](i64 i) { return i % 2 ? 2281.5f : 2281.25f; });
            CHECK(close(double(si::eval(executor, variance(many))), 0.015625, 1e-6));
        });
    });
}
TEST_CASE("B035 pytorch#184151: the standard deviation of 1e20-sized data overflows") {
    on_each([](const auto& executor) {
        const auto x = row<double>({1e20, 1.1e20, 0.9e20});
        CHECK(close(si::eval(executor, sqrt(variance(x, si::last_axis, 1))), {1e19}, 1e-9));
        // In f32 the square of 1e19 still fits: the deviations are squared, not the data.
        const auto narrow = row<float>({1e19, 1.1e19, 0.9e19});
        CHECK(close(si::eval(executor, sqrt(variance(narrow, si::last_axis, 1))), {1e18}, 1e-5));
    });
}
TEST_CASE("B037 pytorch#141541: GroupNorm over two million elements loses accuracy") {
    const i64 n = 2097151;
    const auto x = generated<float>(n, [](i64 i) { return float(i % 7 - 3 + 100); });
    on_each([&](const auto& executor) {
        CHECK(close(double(si::eval(executor, mean(x))), 100.0, 1e-6));
        CHECK(close(double(si::eval(executor, variance(x))), 4.0, 1e-6));
    });
    si::tensor<float, si::extents<dyn>> y(n);
    si::run(si::cpu, y.view() = si::normalize(x, si::axes<0>, 0.0f));
    CHECK(close(double(y[6]), 1.5, 1e-5));
}
TEST_CASE("B039 tensorflow#115732, B041 tensorflow#56890: 16-bit counts and sums overflow") {
    on_each([](const auto& executor) {
        const auto alternating = generated<f16>(65536, [](i64 i) { return i % 2 ? 0.0f : 1.0f; });
        CHECK(same(si::eval(executor, mean(alternating)), si::convert<f16>(0.5f)));
        CHECK(same(si::eval(executor, sqrt(variance(alternating))), si::convert<f16>(0.5f)));
        CHECK(same(si::eval(executor, mean(repeated<f16>(70528, 1))), si::convert<f16>(1.0f)));
        CHECK(same(si::eval(executor, mean(repeated<f16>(10, 60000))), si::convert<f16>(60000.0f)));
    });
}
TEST_CASE("B043 pytorch#74438, B045 ollama37#199: partial results are cut to 16 bits") {
    const i64 half = i64(1) << 18;
    const auto x = generated<f16>(2 * half, [&](i64 i) { return i < half ? 1.0f : -1.0f; });
    const auto tiny = repeated<bf16>(i64(1) << 20, 0x1p-10f);
    on_each([&](const auto& executor) {
        CHECK(same(si::eval(executor, sum(x)), si::convert<f16>(0.0f)));
        CHECK(same(si::eval(executor, mean(x)), si::convert<f16>(0.0f)));
        CHECK(si::eval(executor, si::cast<float>(sum(tiny))) == 1024.0f);
    });
}
TEST_CASE("B176 tensorflow#33588: a mean of int8 overflows") {
    on_each([](const auto& executor) {
        CHECK(si::eval(executor, mean(repeated<i8>(1000, 127))) == 127.0f);
        CHECK(si::eval(executor, si::cast<i8>(round(mean(row<i8>({7, 7, 3}))))) == 6);
    });
}
