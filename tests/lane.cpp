// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scalar lane: integer rules exhaustively for 8 bits and on edges for the wider types, float rules on every pair of
// special values, rounding against integer arithmetic, memory, and what no flag may rewrite.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <sinter/lane.hpp>

#include "numbers.hpp"

namespace lane = sinter::lane;
namespace soft = sinter::soft;
using lane::scalar;
using namespace test_numbers;

namespace {

// ---- integers ----

template <class Type>
constexpr int bit_count = 8 * static_cast<int>(sizeof(Type));
template <class Type>
constexpr bool has_sign = static_cast<Type>(-1) < static_cast<Type>(1);

/// The exact value modulo 2^n, brought into the type's range by arithmetic.
template <class Type>
Type wrap(wide_int value) {
    const wide_int modulus = static_cast<wide_int>(1) << bit_count<Type>;
    wide_int rest = value % modulus;
    rest = rest < 0 ? rest + modulus : rest;
    return static_cast<Type>(has_sign<Type> && rest >= modulus / 2 ? rest - modulus : rest);
}

template <class Type>
int integer_faults(Type left, Type right) {
    const scalar<Type> one(left);
    const scalar<Type> other(right);
    const wide_int wide_left = left;
    const wide_int wide_right = right;
    int bad = 0;
    bad += (one + other).value != wrap<Type>(wide_left + wide_right);
    bad += (one - other).value != wrap<Type>(wide_left - wide_right);
    // (u64 squared doesn't fit: the product wraps in an unsigned type)
    bad += (one * other).value != wrap<Type>(static_cast<wide_int>(static_cast<unsigned __int128>(wide_left) * static_cast<unsigned __int128>(wide_right)));
    bad += (one / other).value != (right == 0 ? 0 : wrap<Type>(wide_left / wide_right));
    bad += (one % other).value != (right == 0 ? 0 : wrap<Type>(wide_left % wide_right));
    bad += (-one).value != wrap<Type>(-wide_left);
    bad += abs(one).value != wrap<Type>(wide_left < 0 ? -wide_left : wide_left);
    bad += (one & other).value != static_cast<Type>(left & right);
    bad += (one | other).value != static_cast<Type>(left | right);
    bad += (one ^ other).value != static_cast<Type>(left ^ right);
    bad += (~one).value != wrap<Type>(-wide_left - 1);
    bad += (one < other).value != (wide_left < wide_right);
    bad += (one <= other).value != (wide_left <= wide_right);
    bad += (one > other).value != (wide_left > wide_right);
    bad += (one >= other).value != (wide_left >= wide_right);
    bad += (one == other).value != (wide_left == wide_right);
    bad += (one != other).value != (wide_left != wide_right);
    bad += minimum(one, other).value != (wide_left < wide_right ? left : right);
    bad += maximum(one, other).value != (wide_left > wide_right ? left : right);
    bad += select(one < other, one, other).value != (wide_left < wide_right ? left : right);
    bad += sign(one).value != wrap<Type>((wide_left > 0) - (wide_left < 0));
    const bool in_range = wide_right >= 0 && wide_right < bit_count<Type>;
    const wide_int power = in_range ? static_cast<wide_int>(1) << static_cast<int>(wide_right) : 1;
    bad += (one << other).value != (in_range ? wrap<Type>(wide_left * power) : Type{0});
    const wide_int floored = (wide_left - ((wide_left % power) + power) % power) / power;
    bad += (one >> other).value != static_cast<Type>(in_range ? floored : wide_left < 0 ? -1 : 0);
    return bad;
}

template <class Type>
void integer_edges() {
    const Type low = has_sign<Type> ? static_cast<Type>(u64{1} << (bit_count<Type> - 1)) : Type{0};
    const Type high = static_cast<Type>(~low);
    const Type edges[] = {low, static_cast<Type>(low + 1), static_cast<Type>(low / 2), static_cast<Type>(-7), static_cast<Type>(-2),
                          static_cast<Type>(-1), 0, 1, 2, 3, 7, static_cast<Type>(bit_count<Type> - 1), static_cast<Type>(bit_count<Type>),
                          static_cast<Type>(bit_count<Type> + 1), 100, static_cast<Type>(high / 2), static_cast<Type>(high / 2 + 1),
                          static_cast<Type>(high - 1), high};
    generator random;
    int bad = 0;
    for (const Type left : edges) {
        for (const Type right : edges) {
            bad += integer_faults<Type>(left, right);
        }
        for (int i = 0; i < 50; ++i) {
            bad += integer_faults<Type>(left, static_cast<Type>(random()));
            bad += integer_faults<Type>(static_cast<Type>(random()), left);
        }
    }
    CHECK(bad == 0);
}

// ---- floats ----

template <class Float>
using format = typename soft::format_of<Float>::type;

template <class Float>
u64 bits_of(scalar<Float> operand) {
    return soft::bits_of(operand.value);
}
template <class Float>
bool is_nan_bits(u64 bits) {
    return (bits & (format<Float>::sign - 1)) > format<Float>::infinity;
}
template <class Float>
bool same(scalar<Float> operand, u64 expected) {
    return bits_of(operand) == expected || (is_nan_bits<Float>(bits_of(operand)) && is_nan_bits<Float>(expected));
}

/// Both zeros, subnormals, ordinary numbers, infinities and NaN of both signs, quiet and signalling; hidden from the optimiser.
template <class Float>
struct specials {
    static constexpr int count = 22;
    u64 bits[count];
    specials() {
        using Format = format<Float>;
        const u64 one = static_cast<u64>(Format::bias) << (Format::precision - 1);
        const u64 magnitudes[count / 2] = {0,      1,      Format::hidden - 1, Format::hidden, one - 1, one, one + Format::hidden + 1,
                                           Format::infinity - 1, Format::infinity, Format::infinity + 1, Format::quiet_nan};
        for (int i = 0; i < count / 2; ++i) {
            volatile u64 hidden = magnitudes[i];
            bits[2 * i] = hidden;
            bits[2 * i + 1] = hidden | Format::sign;
        }
    }
    scalar<Float> operator[](int index) const { return scalar<Float>(soft::float_of<Float>(bits[index])); }
};

/// -1, 0, 1, or 2 for unordered; -0 equals +0 here.
template <class Float>
int order(u64 left, u64 right) {
    if (is_nan_bits<Float>(left) || is_nan_bits<Float>(right)) {
        return 2;
    }
    const u64 mask = format<Float>::sign - 1;
    const i64 one = (left & ~mask) != 0 ? -static_cast<i64>(left & mask) : static_cast<i64>(left);
    const i64 other = (right & ~mask) != 0 ? -static_cast<i64>(right & mask) : static_cast<i64>(right);
    return one < other ? -1 : one > other;
}

template <class Float>
void float_rules() {
    using Format = format<Float>;
    const specials<Float> values;
    int comparisons = 0;
    int extremes = 0;
    int kinds = 0;
    int arithmetic = 0;
    for (int row = 0; row < values.count; ++row) {
        const scalar<Float> one = values[row];
        const u64 left = values.bits[row];
        const u64 magnitude = left & (Format::sign - 1);
        kinds += is_nan(one).value != is_nan_bits<Float>(left);
        kinds += is_inf(one).value != (magnitude == Format::infinity);
        kinds += is_finite(one).value != (magnitude < Format::infinity);
        kinds += sign_bit(one).value != (left != magnitude);
        kinds += bits_of(-one) != (left ^ Format::sign);
        kinds += bits_of(abs(one)) != magnitude;
        kinds += lane::convert<bool>(one).value != (magnitude != 0);
        kinds += !same(sign(one), is_nan_bits<Float>(left) ? left
                                  : magnitude == 0         ? 0
                                                           : soft::bits_of(Float{1}) | (left & Format::sign));
        for (int column = 0; column < values.count; ++column) {
            const scalar<Float> other = values[column];
            const u64 right = values.bits[column];
            const int relation = order<Float>(left, right);
            comparisons += (one < other).value != (relation == -1);
            comparisons += (one <= other).value != (relation == -1 || relation == 0);
            comparisons += (one > other).value != (relation == 1);
            comparisons += (one >= other).value != (relation == 1 || relation == 0);
            comparisons += (one == other).value != (relation == 0);
            comparisons += (one != other).value != (relation != 0);
            comparisons += bits_of(select(one < other, one, other)) != (relation == -1 ? left : right);
            comparisons += bits_of(copysign(one, other)) != (magnitude | (right & Format::sign));

            extremes += !same(min_raw(one, other), relation == -1 ? left : right);
            extremes += !same(max_raw(one, other), relation == 1 ? left : right);
            // With zeros ordered by sign.
            const bool zeros = magnitude == 0 && (right & (Format::sign - 1)) == 0;
            const bool left_is_less = relation == -1 || (zeros && left > right);
            const u64 lower = left_is_less ? left : right;
            const u64 upper = left_is_less ? right : left;
            extremes += !same(minimum(one, other), relation == 2 ? Format::quiet_nan : lower);
            extremes += !same(maximum(one, other), relation == 2 ? Format::quiet_nan : upper);
            const u64 number = is_nan_bits<Float>(left) ? right : left;
            extremes += !same(fmin(one, other), relation == 2 ? number : lower);
            extremes += !same(fmax(one, other), relation == 2 ? number : upper);

            arithmetic += !same(one + other, soft::bits_of(soft::add(one.value, other.value)));
            arithmetic += !same(one - other, soft::bits_of(soft::sub(one.value, other.value)));
            arithmetic += !same(one * other, soft::bits_of(soft::mul(one.value, other.value)));
            arithmetic += !same(one / other, soft::bits_of(soft::div(one.value, other.value)));
            for (int third = 0; third < values.count; ++third) {
                arithmetic += !same(fma(one, other, values[third]),
                                    soft::bits_of(soft::fma(one.value, other.value, values[third].value)));
            }
        }
    }
    CHECK(comparisons == 0);
    CHECK(extremes == 0);
    CHECK(kinds == 0);
    CHECK(arithmetic == 0);
    const scalar<Float> low(2);
    const scalar<Float> high(1);
    CHECK(bits_of(clamp(scalar<Float>(5), low, high)) == soft::bits_of(Float{1}));
    CHECK(bits_of(clamp(scalar<Float>(-5), low, high)) == soft::bits_of(Float{1}));
}

/// floor, ceil, trunc, round by splitting the bits at the binary point.
template <class Float>
int rounding_faults(u64 bits) {
    using Format = format<Float>;
    const scalar<Float> operand(soft::float_of<Float>(bits));
    const u64 magnitude = bits & (Format::sign - 1);
    const u64 sign = bits & Format::sign;
    const int exponent = static_cast<int>(magnitude >> (Format::precision - 1)) - Format::bias;
    u64 down = magnitude;  // towards zero, and the next integer away from it
    u64 up = magnitude;
    u64 closest = magnitude;
    if (exponent < Format::precision - 1) {
        const u64 one = static_cast<u64>(Format::bias) << (Format::precision - 1);
        if (exponent < 0) {
            down = 0;
            up = magnitude == 0 ? 0 : one;
            const u64 half = one - Format::hidden;
            closest = magnitude > half ? one : 0;
        } else {
            const u64 unit = Format::hidden >> exponent;
            const u64 rest = magnitude & (unit - 1);
            down = magnitude - rest;
            up = rest == 0 ? down : down + unit;
            const bool odd = exponent == 0 ? true : (down & unit) != 0;
            closest = 2 * rest > unit || (2 * rest == unit && odd) ? up : down;
        }
    }
    int bad = 0;
    bad += !same(trunc(operand), sign | down);
    bad += !same(floor(operand), sign | (sign != 0 ? up : down));
    bad += !same(ceil(operand), sign | (sign != 0 ? down : up));
    bad += !same(round_even(operand), sign | closest);
    return bad;
}

template <class Float>
void rounding() {
    using Format = format<Float>;
    generator random;
    int bad = 0;
    const u64 exponents = Format::infinity >> (Format::precision - 1);
    for (u64 exponent = 0; exponent <= exponents; ++exponent) {
        for (int place = -1; place < Format::precision - 1; ++place) {
            const u64 bit = place < 0 ? 0 : u64{1} << place;
            const u64 above = random() & ~(2 * bit - 1) & (Format::hidden - 1);
            for (const u64 fraction : {bit, above | bit, (above | bit) + 1, (above | bit) - 1}) {
                const u64 bits = (exponent << (Format::precision - 1)) | (fraction & (Format::hidden - 1));
                bad += rounding_faults<Float>(bits);
                bad += rounding_faults<Float>(bits | Format::sign);
            }
        }
    }
    CHECK(bad == 0);
}

template <class Value>
SINTER_INLINE Value polynomial(Value operand) {
    return (operand * 0.5f + 0.25f) * operand - operand / 3.0f;
}

}  // namespace

TEST_CASE("8-bit integers, every pair") {
    int bad = 0;
    for (int left = 0; left < 256; ++left) {
        for (int right = 0; right < 256; ++right) {
            bad += integer_faults<i8>(static_cast<i8>(left), static_cast<i8>(right));
            bad += integer_faults<u8>(static_cast<u8>(left), static_cast<u8>(right));
        }
    }
    CHECK(bad == 0);
}

TEST_CASE("wider integers, every pair of edges") {
    integer_edges<i16>();
    integer_edges<u16>();
    integer_edges<i32>();
    integer_edges<u32>();
    integer_edges<i64>();
    integer_edges<u64>();
}

TEST_CASE("integers stay in their type before the next step widens them") {
    const scalar<u8> half(128);
    CHECK(lane::convert<i32>(half + half).value == 0);
    CHECK(lane::convert<i32>(scalar<i8>(127) + i8{1}).value == -128);
    CHECK(lane::shift_left<7>(scalar<i8>(1)).value == -128);
    CHECK(lane::shift_right<7>(scalar<i8>(-128)).value == -1);
    CHECK(lane::shift_right<7>(scalar<u8>(128)).value == 1);
}

TEST_CASE_TEMPLATE("special values in every pair", Float, float, double) { float_rules<Float>(); }
TEST_CASE_TEMPLATE("rounding to integers", Float, float, double) { rounding<Float>(); }

TEST_CASE("no flag contracts, reassociates or approximates") {
    generator random;
    int bad = 0;
    for (int i = 0; i < 20000; ++i) {
        const auto moderate = [&] { return soft::float_of<float>((random() & 0x807fffff) | ((120 + random() % 16) << 23)); };
        const scalar<float> one(moderate());
        const scalar<float> other(moderate());
        const scalar<float> third(moderate());
        bad += !same(one * other + third, soft::bits_of(soft::add(soft::mul(one.value, other.value), third.value)));
        bad += !same(one * other - third, soft::bits_of(soft::sub(soft::mul(one.value, other.value), third.value)));
        bad += !same(one + other - one, soft::bits_of(soft::sub(soft::add(one.value, other.value), one.value)));
        bad += !same(one / 3.0f, soft::bits_of(soft::div(one.value, 3.0f)));
        bad += !same(one / other * other, soft::bits_of(soft::mul(soft::div(one.value, other.value), other.value)));
        bad += !same(sqrt(abs(one)), soft::bits_of(soft::sqrt(abs(one).value)));
        bad += !same(1.0f / sqrt(abs(one)), soft::bits_of(soft::div(1.0f, soft::sqrt(abs(one).value))));
        const float scaled = soft::add(soft::mul(one.value, 0.5f), 0.25f);
        bad += !same(polynomial(one), soft::bits_of(soft::sub(soft::mul(scaled, one.value), soft::div(one.value, 3.0f))));
    }
    CHECK(bad == 0);
    // x - x, x * 0 and x + 0 look foldable.
    const specials<float> values;
    for (int i = 0; i < values.count; ++i) {
        const scalar<float> one = values[i];
        bad += !same(one - one, soft::bits_of(soft::sub(one.value, one.value)));
        bad += !same(one * 0.0f, soft::bits_of(soft::mul(one.value, 0.0f)));
        bad += !same(one + 0.0f, soft::bits_of(soft::add(one.value, 0.0f)));
        bad += !same(0.0f - one, soft::bits_of(soft::sub(0.0f, one.value)));
        bad += !same(select(one > 0.0f, one, scalar<float>(0)), order<float>(values.bits[i], 0) == 1 ? values.bits[i] : 0);
    }
    CHECK(bad == 0);
}

TEST_CASE("a value that isn't selected doesn't leak") {
    const specials<float> values;
    int bad = 0;
    for (int i = 0; i < values.count; ++i) {
        for (int other = 0; other < values.count; ++other) {
            volatile bool choice = (i + other) % 2 == 0;
            bad += bits_of(select(scalar<bool>(choice), values[i], values[other])) != values.bits[choice ? i : other];
        }
    }
    CHECK(bad == 0);
}

TEST_CASE("memory") {
    const si::f16 halves[] = {si::f16(1.5f), si::f16(-2), si::f16::from_bits(0x7c00)};
    CHECK(lane::load<scalar<float>>(halves).value == 1.5f);
    CHECK(lane::load_strided<scalar<float>>(halves + 1, 7).value == -2);
    CHECK(lane::load_first<scalar<float>>(halves + 1, 1, 1).value == -2);
    CHECK(lane::load_first<scalar<float>>(static_cast<const si::f16*>(nullptr), 0, 1).value == 0);

    si::bf16 brain{};
    store(&brain, scalar<float>(0x1.01p0f));  // a tie
    CHECK(brain.bits == 0x3f80);
    store_first(&brain, scalar<float>(7), 0, 1);
    CHECK(brain.bits == 0x3f80);
    store_strided(&brain, scalar<float>(7), 3);
    CHECK(brain.bits == 0x40e0);

    unsigned char byte = 2;
    const auto truth = lane::load<scalar<bool>>(reinterpret_cast<const bool*>(&byte));
    CHECK(truth.value);
    bool stored = false;
    store(&stored, truth & !scalar<bool>(false));
    CHECK(stored);

    CHECK(lane::iota<scalar<i32>>().value == 0);
    CHECK(first(scalar<i64>(5)) == 5);
    CHECK(any(scalar<bool>(true)));
    CHECK_FALSE(all(scalar<bool>(false)));
    CHECK(lane::from_bits<float>(bits(scalar<float>(2.5f))).value == 2.5f);
    CHECK(bits(scalar<i8>(-1)).value == 255);
}

namespace constants {

using single = scalar<float>;
static_assert(sizeof(single) == 4 && sizeof(scalar<i8>) == 1 && __is_trivially_copyable(single) && single::width == 1);
static_assert(__is_same(single::mask, scalar<bool>) && __is_same(single::rebind<double>, scalar<double>));
static_assert(first(polynomial(single(2))) == 2.5f - 0x1.555556p-1f);
static_assert(first(is_nan(single(0) / 0.0f)) && first(is_inf(1.0f / single(0))) && first(is_finite(single(-3e38f))));
static_assert(first(floor(single(-0.5f))) == -1 && first(ceil(single(1.25f))) == 2 && first(trunc(single(-7.9f))) == -7);
static_assert(first(bits(minimum(single(0.0f), single(-0.0f)))) == 0x80000000u);
static_assert(first(bits(maximum(single(-0.0f), single(0.0f)))) == 0);
static_assert(first(is_nan(maximum(single(1), single(0) / 0.0f))) && first(fmax(single(1), single(0) / 0.0f)) == 1);
static_assert(first(scalar<i8>(-128) / i8{-1}) == -128 && first(scalar<i32>(7) % 0) == 0 && first(-scalar<u8>(1)) == 255);
static_assert(first(scalar<i16>(-1) >> i16{99}) == -1 && first(scalar<u16>(1) << u16{16}) == 0 && first(scalar<i8>(1) << i8{-1}) == 0);
static_assert(first(lane::convert<u8>(single(300))) == 255 && first(lane::convert_wrap<u8>(single(300))) == 44);

constexpr bool stores_in_constant_evaluation() {
    si::f16 memory[2] = {};
    store(memory, scalar<float>(65520));
    store_first(memory + 1, scalar<float>(1), 1, 1);
    return memory[0].bits == 0x7c00 && lane::load<single>(memory + 1).value == 1;
}
static_assert(stores_in_constant_evaluation());

}  // namespace constants
