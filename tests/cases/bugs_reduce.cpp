// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax and masked rows, what a reduction starts from, idle lanes.
#include <sinter/backend/cpu.hpp>

#include "bugs.hpp"

using namespace bugs;

TEST_CASE("B018 tensorflow#4131: max starts from the lowest finite number") {
    on_each([](const auto& executor) {
        CHECK(same(si::eval(executor, max(row<float>({-infinity, -infinity}))), -infinity));
        CHECK(same(si::eval(executor, min(row<float>({infinity, infinity}))), infinity));
        const auto columns = grid<float>(si::extents<2, 3>{}, {-infinity, 1, -infinity, -infinity, 2, 3});
        CHECK(same(si::eval(executor, max(columns, si::axes<0>)), {-infinity, 2, 3}));
    });
}
TEST_CASE("B020 mlx#2395: a masked row in the middle holds leftover values") {
    on_each([](const auto& executor) {
        for (const i64 n : {i64(3), i64(17), i64(64), i64(257)}) {
            si::tensor<float, si::extents<4, dyn>> x(n), y(n);
            si::tensor<bool, si::extents<4, dyn>> mask(n);
            for (i64 i = 0; i < 4 * n; ++i) {
                x[i] = float(i % 7);
                y[i] = 123;
                mask[i] = i / n != 1;
            }
            si::run(executor, y.view() = si::softmax(x, mask));
            for (i64 r = 0; r < 4; ++r) {
                double all = 0;
                bool zero = true;
                for (i64 c = 0; c < n; ++c) {
                    all += double(y[r * n + c]);
                    zero = zero && y[r * n + c] == 0;
                }
                CHECK((r == 1 ? zero : close(all, 1.0, 1e-5)));
            }
        }
    });
}
TEST_CASE("B022 flashinfer#4401: logits below a mask's sentinel are lost") {
    on_each([](const auto& executor) {
        const auto x = grid<float>(si::extents<1, 3>{}, {-60000, -59999, 7});
        const auto mask = grid<bool>(si::extents<1, 3>{}, {true, true, false});
        CHECK(close(si::eval(executor, si::softmax(x, mask)), {0.26894142, 0.73105858, 0.0}, 1e-6));
    });
}
TEST_CASE("B024 triton#11406: softmax built by hand with a dropped axis") {
    on_each([](const auto& executor) {
        const auto x = grid<float>(si::extents<2, 2>{}, {0, 2, 3, 1});
        // Dropped, stored, and stretched again by name; without unsqueeze the shapes still broadcast, along the other axis.
        const auto top = si::eval(executor, max(x, si::axes<1>, si::drop));
        const auto total = si::eval(executor, sum(exp(x - si::unsqueeze<1>(top.view())), si::axes<1>, si::drop));
        CHECK(close(si::eval(executor, exp(x - si::unsqueeze<1>(top.view())) / si::unsqueeze<1>(total.view())),
                    {0.11920292, 0.88079708, 0.88079708, 0.11920292}, 1e-6));
        const auto in_one = si::let(x, [](auto a) {
            const auto e = exp(a - si::unsqueeze<1>(max(a, si::axes<1>, si::drop)));
            return e / si::unsqueeze<1>(sum(e, si::axes<1>, si::drop));
        });
        CHECK(close(si::eval(executor, in_one), {0.11920292, 0.88079708, 0.88079708, 0.11920292}, 1e-6));
        const auto kept_axes = si::let(x, [](auto a) {
            const auto e = exp(a - max(a, si::axes<1>));
            return e / sum(e, si::axes<1>);
        });
        CHECK(close(si::eval(executor, kept_axes), {0.11920292, 0.88079708, 0.88079708, 0.11920292}, 1e-6));
    });
}
TEST_CASE("B026 allennlp#890: a fully masked log-softmax row is NaN and leaks") {
    on_each([](const auto& executor) {
        const auto x = grid<float>(si::extents<2, 6>{}, {.3423, .3423, .3423, .3423, .3423, .3423, .3725, .5344, .2128, .3324, .2745, .2454});
        const auto mask = grid<float>(si::extents<2, 1>{}, {0, 1});
        const auto plain = si::eval(executor, si::log_softmax(log(mask) + x));
        const auto alone = si::eval(executor, si::log_softmax(si::slice<0, 1, 2>(x)));
        for (i64 i = 0; i < 6; ++i) {
            CHECK(not_a_number(plain[i]));
            CHECK(same(plain[6 + i], alone[i]));
        }
        const auto masked = si::eval(executor, si::softmax(x, mask != 0));
        for (i64 i = 0; i < 6; ++i) CHECK(masked[i] == 0);
    });
}
TEST_CASE("B030 tt-metal#12662: padding zeros win a maximum over negatives") {
    on_each([](const auto& executor) {
        for_types<float, bf16, f16, double, i8, i32>([&](auto type) {
            using element = decltype(type);
            for_lengths([&](i64 n) {
                const auto x = si::view(repeated<element>(6 * n, -1).data(), si::extents<2, 3, dyn>(n));
                CHECK(same(si::eval(executor, max(x, si::last_axis)), {-1, -1, -1, -1, -1, -1}));
                CHECK(same(si::eval(executor, min(-x, si::last_axis)), {1, 1, 1, 1, 1, 1}));
            });
        });
        const auto x = si::view(repeated<float>(24, -1).data(), si::extents<1, 2, 3, 4>{});
        CHECK(same(si::eval(executor, max(x, si::last_axis)), {-1, -1, -1, -1, -1, -1}));
    });
}
TEST_CASE("B032 pytorch#191499: unused vector lanes pollute 8-bit minima and maxima") {
    on_each([](const auto& executor) {
        for (i64 n = 1; n <= 300; n += n < 130 ? 1 : 29) {
            CHECK(si::eval(executor, min(repeated<u8>(n, 7))) == 7);
            CHECK(si::eval(executor, max(repeated<i8>(n, -7))) == -7);
            CHECK(si::eval(executor, min(repeated<i16>(n, 300))) == 300);
            CHECK(si::eval(executor, prod(repeated<i8>(n, -1))) == (n % 2 ? -1 : 1));
            CHECK(si::eval(executor, all(repeated<bool>(n, true))));
        }
    });
}
