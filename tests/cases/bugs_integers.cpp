// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer width, division, shifts, comparisons; float to integer casts; integer powers; mixed types.
#include <sinter/backend/cpu.hpp>

#include "bugs.hpp"

using namespace bugs;

TEST_CASE("B047 pytorch#108520: an i32 sum is widened before the cast") {
    on_each([](const auto& executor) {
        for_lengths([&](i64 n) {
            const auto x = repeated<i32>(n, 2147483647);
            CHECK(same(si::eval(executor, si::cast<i64>(x + x)), [](i64) { return -2; }));
        });
    });
}
TEST_CASE("B049 pytorch#183901: an i64 coordinate times a constant is computed in i32") {
    on_each([](const auto& executor) {
        for_lengths([&](i64 n) {
            CHECK(same(si::eval(executor, si::iota<0>(si::extents<dyn>(n)) * 1500000000), [](i64 i) { return i * 1500000000; }));
        });
    });
}
TEST_CASE("B053 xsimd#339: unsigned comparison done signed") {
    on_each([](const auto& executor) {
        for_lengths([&](i64 n) {
            const auto a = generated<u32>(n, [](i64 i) { return i % 8; });
            const auto c = si::eval(executor, a - 5);
            CHECK(same(c, [](i64 i) { return u32(i % 8) - 5u; }));
            CHECK(same(si::eval(executor, (a - 5) < 3), [](i64 i) { return i % 8 >= 5; }));
        });
        CHECK(same(si::eval(executor, row<u8>({200, 100}) < row<u8>({100, 200})), {false, true}));
        CHECK(same(si::eval(executor, row<u64>({~u64(0), u64(1)}) > row<u64>({u64(1), ~u64(0)})), {true, false}));
        CHECK(same(si::eval(executor, maximum(row<u16>({65535}), 1)), {65535}));
    });
}
TEST_CASE("B055 kfr#255: 8-bit shifts in vector code; B057 CMSIS_5#320: counts of 32 and more") {
    on_each([](const auto& executor) {
        for_lengths([&](i64 n) {
            const auto x = generated<u8>(n, [](i64 i) { return i % 3 == 0 ? 0x80 : i % 3 == 1 ? 0xff : 1; });
            CHECK(same(si::eval(executor, x >> 1), [](i64 i) { return u8(i % 3 == 0 ? 0x40 : i % 3 == 1 ? 0x7f : 0); }));
            const auto s = generated<i8>(n, [](i64 i) { return i % 2 ? -1 : -128; });
            CHECK(same(si::eval(executor, s >> 1), [](i64 i) { return i8(i % 2 ? -1 : -64); }));
            CHECK(same(si::eval(executor, repeated<u8>(n, 3) << 7), [](i64) { return u8(0x80); }));
            CHECK(same(si::eval(executor, repeated<i32>(n, 1) << 32), [](i64) { return 0; }));
            CHECK(same(si::eval(executor, repeated<i32>(n, -8) >> 40), [](i64) { return -1; }));
            CHECK(same(si::eval(executor, repeated<u32>(n, 8) >> 40), [](i64) { return u32(0); }));
        });
    });
}
TEST_CASE("B059 pytorch#1164: the remainder takes the dividend's sign") {
    on_each([](const auto& executor) {
        for_types<i64, i32, i8>([&](auto type) {
            using element = decltype(type);
            const auto d = generated<element>(9, [](i64 i) { return i / 3 - i % 3; });
            CHECK(same(si::eval(executor, remainder(d, 3)), {0, 2, 1, 1, 0, 2, 2, 1, 0}));
            CHECK(same(si::eval(executor, fmod(d, 3)), {0, -1, -2, 1, 0, -1, 2, 1, 0}));
        });
    });
}
TEST_CASE("B061 pytorch#188048: floor division with an infinite dividend; B063, B065: division that traps") {
    on_each([](const auto& executor) {
        CHECK(same(si::eval(executor, floor_divide(row<float>({nan, infinity, -infinity}), 1.0f)), {nan, nan, nan}));
        const i64 lowest = i64(u64(1) << 63);
        for_lengths([&](i64 n) {
            CHECK(same(si::eval(executor, floor_divide(repeated<i64>(n, lowest), -1)), [&](i64) { return lowest; }));
            CHECK(same(si::eval(executor, repeated<i64>(n, lowest) / -1), [&](i64) { return lowest; }));
            CHECK(same(si::eval(executor, repeated<i64>(n, lowest) % -1), [&](i64) { return i64(0); }));
            const auto x = generated<i32>(n, [](i64 i) { return i % 5 == 0 ? 0 : i % 2 ? 100 : -100; }), zero = repeated<i32>(n, 0);
            CHECK(same(si::eval(executor, x / zero), [](i64) { return 0; }));
            CHECK(same(si::eval(executor, floor_divide(x, zero)), [](i64) { return 0; }));
            CHECK(same(si::eval(executor, x % zero), [](i64) { return 0; }));
        });
    });
}
TEST_CASE("B067 pytorch#131910, B069 pytorch#190421: float to integer casts depend on the code path") {
    on_each([](const auto& executor) {
        const float points[] = {-1.7f, -255, -256.5f, 256.9f, 300};
        const u8 saturated[] = {0, 0, 0, 255, 255}, wrapped[] = {255, 1, 0, 0, 44};
        const float edges[] = {infinity, -infinity, nan, 3e9f, -3e9f};
        const i32 expected[] = {2147483647, -2147483647 - 1, 0, 2147483647, -2147483647 - 1};
        for_lengths([&](i64 n) {
            const auto x = generated<float>(n, [&](i64 i) { return points[i % 5]; });
            CHECK(same(si::eval(executor, si::cast<u8>(x)), [&](i64 i) { return saturated[i % 5]; }));
            CHECK(same(si::eval(executor, si::cast_wrap<u8>(x)), [&](i64 i) { return wrapped[i % 5]; }));
            const auto e = generated<float>(n, [&](i64 i) { return edges[i % 5]; });
            CHECK(same(si::eval(executor, si::cast<i32>(e)), [&](i64 i) { return expected[i % 5]; }));
        });
        // As a constant too.
        const auto one = row<i32>({0});
        CHECK(same(si::eval(executor, si::cast<i32>(one * 0 + infinity)), {2147483647}));
        CHECK(same(si::eval(executor, si::cast<i32>(where(one == 0, infinity, 0.0f))), {2147483647}));
        CHECK(same(si::eval(executor, si::cast<i32>(where(one == 0, nan, 0.0f))), {0}));
    });
}
TEST_CASE("B158 jax#5987: integer 0 to the 64") {
    on_each([](const auto& executor) {
        const i32 base[] = {0, 0, 3, -2, 2}, exponent[] = {64, 0, 4, 3, 33}, expected[] = {0, 1, 81, -8, 0};
        for_lengths([&](i64 n) {
            const auto a = generated<i32>(n, [&](i64 i) { return base[i % 5]; }), b = generated<i32>(n, [&](i64 i) { return exponent[i % 5]; });
            CHECK(same(si::eval(executor, pow(a, b)), [&](i64 i) { return expected[i % 5]; }));
        });
    });
}
TEST_CASE("B164 pytorch#179845, B166 pytorch#143729: i32 with bf16 and with f32") {
    on_each([](const auto& executor) {
        // The documented rule: the float wins; the chain is f32 and rounds when stored as bf16.
        CHECK(same(si::eval(executor, row<i32>({257}) + row<bf16>({0})), {256}));
        CHECK(same(si::eval(executor, si::cast<float>(row<i32>({257}) + row<bf16>({0}))), {257}));
        CHECK(same(si::eval(executor, row<i32>({1, 2, 3}) * row<float>({.5, .5, .5})), {.5, 1, 1.5}));
    });
}
