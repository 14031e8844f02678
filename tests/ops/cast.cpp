// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cast and cast_wrap on the reference backend (T4): every exact value is rounded once, half to even; float to integer
// truncates and saturates; integers wrap.
#include <doctest/doctest.h>

#include "support.hpp"

using namespace support;
using si::reference;

namespace {
/// Bits of the f16 nearest to a double, by search over all of them: neighbours, ties to the even one.
u16 nearest_f16(double value) {
    if (not_a_number(value)) return 0x7e00;
    const bool negative = (bits_of(value) >> 63) != 0;
    const double magnitude = negative ? -value : value;
    u16 best = 0;
    if (magnitude >= 65520) {
        best = 0x7c00;
    } else {
        unsigned low = 0, high = 0x7bff;  // largest finite one not above
        while (low < high) {
            const unsigned middle = (low + high + 1) / 2;
            if (si::convert<double>(f16::from_bits(u16(middle))) <= magnitude)
                low = middle;
            else
                high = middle - 1;
        }
        const double below = si::convert<double>(f16::from_bits(u16(low)));
        const double above = low == 0x7bff ? 65536 : si::convert<double>(f16::from_bits(u16(low + 1)));
        const double up = above - magnitude, down = magnitude - below;
        best = u16(up < down || (up == down && low % 2) ? low + 1 : low);
    }
    return u16(best | (negative ? 0x8000 : 0));
}
}  // namespace

TEST_CASE("f64 and f32 to f16 round once, directly") {
    generator random;
    const auto x = generated<double>(4000, [&](i64 i) {
        const double scale[] = {1, 1e-6, 70000, 1e-7, 300};
        return random.unit() * scale[i % 5];
    });
    // Beside a tie in f16, so near that f32 would round onto the tie: a double rounding shows.
    const auto near_ties = row<double>({1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11 - 0x1p-40, 1 + 0x1p-11, 1 + 3 * 0x1p-11, 65520.0, 65519.999999,
                                        0x1p-25, 0x1p-25 + 0x1p-60, -0x1p-26, 0x1.8p-24});
    CHECK(same(si::eval(reference, si::cast<f16>(x)), [&](i64 i) { return f16::from_bits(nearest_f16(x(i))); }));
    CHECK(same(si::eval(reference, si::cast<f16>(near_ties)), [&](i64 i) { return f16::from_bits(nearest_f16(near_ties(i))); }));
    CHECK(same(si::eval(reference, si::cast<f16>(si::cast<float>(x))), [&](i64 i) { return f16::from_bits(nearest_f16(float(x(i)))); }));
    // Stored to an f16 output the same rounding happens.
    row_of<f16> stored(i64(10));
    si::run(reference, stored.view() = si::copy(near_ties));
    CHECK(same(stored, [&](i64 i) { return f16::from_bits(nearest_f16(near_ties(i))); }));
}
TEST_CASE("to bf16: ties to even, overflow to infinity, NaN stays NaN") {
    CHECK(same(si::eval(reference, si::cast<bf16>(row<float>({0x1.01p0f, 0x1.03p0f, 0x1.010002p0f, 3.4e38f, -0.0f, nan, infinity}))),
               {1.0f, 0x1.04p0f, 0x1.02p0f, infinity, -0.0f, nan, infinity}));
    CHECK(same(si::eval(reference, si::cast<bf16>(row<double>({0x1.01p0 + 0x1p-40}))), {0x1.02p0f}));
    CHECK(same(si::eval(reference, si::cast<bf16>(row<i32>({257, 259, 16842753}))), {256.0f, 260.0f, 16908288.0f}));
}
TEST_CASE("integers to floats round the exact value once") {
    const i64 halfway = (i64(1) << 24) + 1;                               // a tie in f32
    const i64 just_above = (i64(1) << 60) + (i64(1) << 36) + 1;           // above a tie, seen only in 64 bits
    CHECK(same(si::eval(reference, si::cast<float>(row<i64>({halfway, halfway + 2, just_above, -just_above}))),
               {16777216.0f, 16777220.0f, 0x1.000002p60f, -0x1.000002p60f}));
    CHECK(same(si::eval(reference, si::cast<double>(row<i64>({(i64(1) << 53) + 1, (i64(1) << 53) + 3}))), {0x1p53, 0x1p53 + 4}));
    CHECK(same(si::eval(reference, si::cast<f16>(row<i64>({2049, 2051, 65519, 65520, -70000}))),
               {2048.0f, 2052.0f, 65504.0f, infinity, -infinity}));
    CHECK(same(si::eval(reference, si::cast<f16>(row<u64>({(u64(1) << 63) + 1}))), {infinity}));
    CHECK(same(si::eval(reference, si::cast<bf16>(row<i64>({just_above}))), {0x1p60f}));
    CHECK(same(si::eval(reference, si::cast<bf16>(row<i64>({(i64(1) << 60) + (i64(1) << 52) + 1}))), {0x1.02p60f}));
}
namespace {
/// An integer's magnitude with `Mantissa` bits behind its first one, ties to even, by integers alone; the largest ones run into the next power.
template <int Mantissa>
double rounded(u64 magnitude) {
    int top = 63;
    while (top > 0 && magnitude >> top == 0) --top;
    if (top <= Mantissa) return double(magnitude);
    const int drop = top - Mantissa;
    u64 kept = magnitude >> drop;
    const u64 rest = magnitude - (kept << drop), half = u64(1) << (drop - 1);
    if (rest > half || (rest == half && kept % 2 != 0)) ++kept;
    double value = double(kept);
    for (int i = 0; i < drop; ++i) value *= 2;
    return value;
}
/// Every power of two, the ties of 7 and 10 bits above it, the middle and the last number below the next; with all that f64 drops, or
/// that would be its last bit or half of it, beside them.
template <class Integer>
auto beside_ties() {
    constexpr int places = sizeof(Integer) * 8 - (Integer(-1) < Integer(0) ? 1 : 0), forms = 8, steps = 17, signs = Integer(-1) < Integer(0) ? 2 : 1;
    return generated<Integer>(i64(places * forms * steps * signs), [](i64 i) {
        const u64 power = u64(1) << (i % places), form = u64(i / places % forms), step = u64(i / (places * forms) % steps);
        const u64 base[] = {power,
                            power + (power >> 8),
                            power + 3 * (power >> 8),
                            power + (power >> 11),
                            power + 3 * (power >> 11),
                            power + (power >> 1),
                            power + (power - 1) - ((power - 1) >> 8),
                            power + (power - 1)};
        const u64 beside = step == 0 ? 0 : (step < 9 ? u64(0) - 1 : u64(1)) * (u64(1) << (step - 1) % 8 * 2) + (step > 12 ? 1 : 0);
        const u64 value = base[form] + beside;
        return i / (places * forms * steps) == 1 ? Integer(0 - value) : Integer(value);
    });
}
template <class Integer, class Small, int Mantissa>
bool rounds_once(double overflow, double beyond) {
    const auto x = beside_ties<Integer>();
    const auto expected = [&](i64 i) {
        const bool negative = x(i) < 0;
        const double value = rounded<Mantissa>(negative ? 0 - u64(x(i)) : u64(x(i)));
        const double placed = value >= overflow ? beyond : value;
        return si::convert<Small>(negative ? -placed : placed);
    };
    row_of<Small> stored(x.count());
    si::run(reference, stored.view() = si::copy(x));
    return same(stored, expected) && same(si::eval(reference, si::cast<Small>(x)), expected);
}
template <class Integer>
void rounds_to_every_float() {
    CHECK(rounds_once<Integer, float, 23>(infinity, infinity));
    CHECK(rounds_once<Integer, double, 52>(infinity, infinity));
    CHECK(rounds_once<Integer, f16, 10>(65536, infinity));
    CHECK(rounds_once<Integer, bf16, 7>(infinity, infinity));
    CHECK(rounds_once<Integer, si::f8_e4m3fn, 3>(448, 448));
    CHECK(rounds_once<Integer, si::f8_e5m2, 2>(57344, 57344));
    // The power of two at or above, nearest to and at or below.
    const auto x = beside_ties<Integer>();
    const auto power = [&](i64 i, u64 first_bits_to_rise) {
        if (x(i) < 0) return si::f8_e8m0::from_bits(255);
        if (x(i) == 0) return si::f8_e8m0::from_bits(0);
        int top = 63;
        while (u64(x(i)) >> top == 0) --top;
        const u64 above = (u64(x(i)) << (63 - top)) & ~(u64(1) << 63);
        return si::f8_e8m0::from_bits(u8(127 + top + (above >= first_bits_to_rise)));
    };
    CHECK(same(si::eval(reference, si::cast<si::f8_e8m0>(x)), [&](i64 i) { return power(i, 1); }));
    CHECK(same(si::eval(reference, si::power_of_two<si::scale_rounding::up>(x)), [&](i64 i) { return power(i, 1); }));
    CHECK(same(si::eval(reference, si::power_of_two<si::scale_rounding::nearest>(x)), [&](i64 i) { return power(i, u64(1) << 62); }));
    CHECK(same(si::eval(reference, si::power_of_two<si::scale_rounding::down>(x)), [&](i64 i) { return power(i, ~u64(0)); }));
}
}  // namespace
TEST_CASE("integers of 32 and 64 bits round to every float type once") {
    rounds_to_every_float<i64>();
    rounds_to_every_float<u64>();
    rounds_to_every_float<i32>();
    rounds_to_every_float<u32>();
}
TEST_CASE("floats to integers truncate and saturate; NaN is 0") {
    const auto x = row<float>({1.9f, -1.9f, 300, -300, infinity, -infinity, nan, 3e9f, -3e9f, -0.5f, 2147483648.0f, 127.99f});
    CHECK(same(si::eval(reference, si::cast<i32>(x)),
               {1, -1, 300, -300, 2147483647, -2147483647 - 1, 0, 2147483647, -2147483647 - 1, 0, 2147483647, 127}));
    CHECK(same(si::eval(reference, si::cast<u8>(x)), {1, 0, 255, 0, 255, 0, 0, 255, 0, 0, 255, 127}));
    CHECK(same(si::eval(reference, si::cast<i8>(x)), {1, -1, 127, -128, 127, -128, 0, 127, -128, 0, 127, 127}));
    CHECK(same(si::eval(reference, si::cast<u64>(row<double>({1e19, 2e19, -1}))), {u64(10000000000000000000u), ~u64(0), u64(0)}));
    CHECK(same(si::eval(reference, si::cast<i64>(row<double>({9.3e18, -9.3e18, 0x1p62}))), {i64(~(u64(1) << 63)), i64(u64(1) << 63), i64(1) << 62}));
    CHECK(same(si::eval(reference, si::cast<bool>(row<float>({0, -0.0f, nan, 0.1f, 1e-45f}))), {false, false, true, true, true}));
}
TEST_CASE("cast_wrap truncates, then wraps") {
    const auto x = row<float>({-1.7f, -255, -256.5f, 256.9f, 300, nan, infinity});
    CHECK(same(si::eval(reference, si::cast_wrap<u8>(x)), {255, 1, 0, 0, 44, 0, 0}));
    CHECK(same(si::eval(reference, si::cast_wrap<i8>(x)), {-1, 1, 0, 0, 44, 0, 0}));
    CHECK(same(si::eval(reference, si::cast_wrap<u32>(row<double>({4294967297.5, -1}))), {1u, 4294967295u}));
}
TEST_CASE("integers to narrower integers wrap, to wider ones extend") {
    CHECK(same(si::eval(reference, si::cast<i8>(row<i32>({127, 128, 255, 256, -129}))), {127, -128, -1, 0, 127}));
    CHECK(same(si::eval(reference, si::cast<u64>(row<i8>({-1}))), {~u64(0)}));
    CHECK(same(si::eval(reference, si::cast<i64>(row<u32>({4294967295u}))), {i64(4294967295)}));
    CHECK(same(si::eval(reference, si::cast<i32>(row<bool>({true, false}))), {1, 0}));
}
TEST_CASE("every f16 and bf16 value survives the way to f32 and f64 and back") {
    row_of<f16> half(i64(65536));
    row_of<bf16> brain(i64(65536));
    for (int i = 0; i < 65536; ++i) {
        half[i] = f16::from_bits(u16(i));
        brain[i] = bf16::from_bits(u16(i));
    }
    CHECK(same(si::eval(reference, si::cast<f16>(si::cast<double>(half))), [&](i64 i) { return half[i]; }));
    CHECK(same(si::eval(reference, si::cast<f16>(si::cast<float>(half))), [&](i64 i) { return half[i]; }));
    CHECK(same(si::eval(reference, si::cast<bf16>(si::cast<double>(brain))), [&](i64 i) { return brain[i]; }));
    CHECK(same(si::eval(reference, si::copy(brain)), [&](i64 i) { return brain[i]; }));
}
