// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer and bool operators on the reference backend against oracles in plain loops: wrapping (T3), division, shifts and
// powers that are total (A2), 8-bit types exhaustively.
#include <doctest/doctest.h>

#include "support.hpp"

using namespace support;
using si::reference;

TEST_CASE("T3: integers stay in their type and wrap at every step of a chain") {
    CHECK(same(si::eval(reference, row<u8>({128}) + row<u8>({128})), {0}));
    CHECK(same(si::eval(reference, si::cast<i32>(row<u8>({128}) + row<u8>({128}))), {0}));
    CHECK(same(si::eval(reference, row<i8>({127}) + 1), {-128}));
    CHECK(same(si::eval(reference, -row<i8>({-128, 5})), {-128, -5}));
    CHECK(same(si::eval(reference, abs(row<i32>({-2147483647 - 1, -5}))), {-2147483647 - 1, 5}));
    CHECK(same(si::eval(reference, -row<u32>({1u, 0u})), {4294967295u, 0u}));
    CHECK(same(si::eval(reference, row<u16>({65535}) * row<u16>({65535})), {1}));
    CHECK(same(si::eval(reference, row<i64>({i64(1) << 62}) * 4), {i64(0)}));
    CHECK(same(si::eval(reference, (row<u8>({200}) + row<u8>({100})) / 2), {22}));
}

TEST_CASE("A2: integer division, remainders and shifts are total") {
    const auto n = row<i32>({7, -7, 7, -7, 5, -2147483647 - 1});
    const auto d = row<i32>({2, 2, -2, -2, 0, -1});
    CHECK(same(si::eval(reference, n / d), {3, -3, -3, 3, 0, -2147483647 - 1}));
    CHECK(same(si::eval(reference, n % d), {1, -1, 1, -1, 0, 0}));
    CHECK(same(si::eval(reference, floor_divide(n, d)), {3, -4, -4, 3, 0, -2147483647 - 1}));
    CHECK(same(si::eval(reference, remainder(n, d)), {1, 1, -1, -1, 0, 0}));
    CHECK(same(si::eval(reference, fmod(n, d)), {1, -1, 1, -1, 0, 0}));
    CHECK(same(si::eval(reference, row<i32>({1, 1, -8, -8, 8}) << row<i32>({31, 32, 1, -1, 40})), {-2147483647 - 1, 0, -16, 0, 0}));
    CHECK(same(si::eval(reference, row<i32>({-8, -8, 8, 8}) >> row<i32>({1, 40, 40, -1})), {-4, -1, 0, 0}));
    CHECK(same(si::eval(reference, row<u8>({0x80, 0xff, 1}) >> 1), {0x40, 0x7f, 0}));
    CHECK(same(si::eval(reference, row<u32>({8}) >> row<u32>({40})), {0}));
    CHECK(same(si::eval(reference, pow(row<i32>({0, 0, 3, -2, 2, 1, -1, -1, 2, 0}), row<i32>({64, 0, 4, 3, 33, -5, -3, -4, -1, -1}))),
               {0, 1, 81, -8, 0, 1, -1, 1, 0, 0}));
}

TEST_CASE("8-bit integers: every pair, every operator") {
    row_of<i8> a(i64(65536)), b(i64(65536));
    for (int i = 0; i < 65536; ++i) {
        a[i] = static_cast<i8>(i / 256 - 128);
        b[i] = static_cast<i8>(i % 256 - 128);
    }
    const auto each = [&](const auto& expression, auto oracle) {
        return same(si::eval(reference, expression), [&](i64 i) { return oracle(int(a[i]), int(b[i])); });
    };
    const auto floor_of = [](int x, int y) { return y == 0 ? 0 : (x - ((x % y + y) % y)) / y; };
    CHECK(each(a + b, [](int x, int y) { return i8(x + y); }));
    CHECK(each(a - b, [](int x, int y) { return i8(x - y); }));
    CHECK(each(a * b, [](int x, int y) { return i8(x * y); }));
    CHECK(each(a / b, [](int x, int y) { return y == 0 ? i8(0) : i8(x / y); }));
    CHECK(each(a % b, [](int x, int y) { return y == 0 ? i8(0) : i8(x % y); }));
    CHECK(each(floor_divide(a, b), [&](int x, int y) { return i8(floor_of(x, y)); }));
    CHECK(each(remainder(a, b), [&](int x, int y) { return y == 0 ? i8(0) : i8(x - floor_of(x, y) * y); }));
    CHECK(each(a & b, [](int x, int y) { return i8(x & y); }));
    CHECK(each(a ^ b, [](int x, int y) { return i8(x ^ y); }));
    CHECK(each(a << b, [](int x, int y) { return y < 0 || y > 7 ? i8(0) : i8(x << y); }));
    CHECK(each(a >> b, [](int x, int y) { return y < 0 || y > 7 ? i8(x < 0 ? -1 : 0) : i8(x >> y); }));
    CHECK(each(minimum(a, b), [](int x, int y) { return i8(x < y ? x : y); }));
    CHECK(each(pow(a, b), [](int x, int y) {
        if (y < 0) return i8(x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0);
        unsigned power = 1;
        for (int i = 0; i < y; ++i) power *= unsigned(x);
        return i8(power);
    }));
}

TEST_CASE("bool: logical by ~ and !, arithmetic as u8, min and max are all and any") {
    const auto p = row<bool>({false, false, true, true}), q = row<bool>({false, true, false, true});
    CHECK(same(si::eval(reference, ~p), {true, true, false, false}));
    CHECK(same(si::eval(reference, !p), {true, true, false, false}));
    CHECK(same(si::eval(reference, p + q), {0, 1, 1, 2}));
    CHECK(same(si::eval(reference, p - q), {0, 255, 1, 0}));
    CHECK(same(si::eval(reference, p & q), {false, false, false, true}));
    CHECK(same(si::eval(reference, minimum(p, q)), {false, false, false, true}));
    CHECK(same(si::eval(reference, maximum(p, q)), {false, true, true, true}));
    CHECK(same(si::eval(reference, p < q), {false, true, false, false}));
}

