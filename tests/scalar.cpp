// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types: every conversion against a slow oracle that knows only integers, the promotion table, constant evaluation,
// and single float steps against integer arithmetic. The file must pass under every flag that the library promises to survive.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <math.h>

#include <doctest/doctest.h>

#include <sinter/scalar.hpp>

#include "numbers.hpp"

namespace soft = sinter::soft;
namespace step = sinter::step;
using namespace test_numbers;
using si::dtype;

namespace {

// ---- the oracle: compares exact numbers, and finds the nearest by bisection over midpoints ----

struct exact {
    u64 significand;
    int exponent;
};

int highest(u64 value) {
    int top = -1;
    for (; value != 0; value >>= 1) {
        ++top;
    }
    return top;
}

int compare(exact left, exact right) {
    if (left.significand == 0 || right.significand == 0) {
        return (left.significand != 0) - (right.significand != 0);
    }
    const int left_top = highest(left.significand);
    const int right_top = highest(right.significand);
    if (left_top + left.exponent != right_top + right.exponent) {
        return left_top + left.exponent < right_top + right.exponent ? -1 : 1;
    }
    const u64 left_aligned = left.significand << (63 - left_top);
    const u64 right_aligned = right.significand << (63 - right_top);
    return left_aligned < right_aligned ? -1 : left_aligned > right_aligned;
}

struct layout {
    int fraction_bits;
    int exponent_bits;
    u64 top() const { return ((u64{1} << exponent_bits) - 1) << fraction_bits; }
    u64 sign() const { return u64{1} << (fraction_bits + exponent_bits); }
    exact value(u64 magnitude) const {  // of infinity: the number that would follow the largest
        const int field = static_cast<int>(magnitude >> fraction_bits);
        const u64 fraction = magnitude & ((u64{1} << fraction_bits) - 1);
        const int bias = (1 << (exponent_bits - 1)) - 1;
        return field == 0 ? exact{fraction, 1 - bias - fraction_bits}
                          : exact{fraction + (u64{1} << fraction_bits), field - bias - fraction_bits};
    }
};
constexpr layout half_layout{10, 5};
constexpr layout brain_layout{7, 8};
constexpr layout single_layout{23, 8};
constexpr layout double_layout{52, 11};

u64 nearest(layout to, bool negative, exact number) {
    u64 low = 0;
    u64 high = to.top();
    while (low < high) {  // the first h whose midpoint with h + 1 isn't below the number
        const u64 middle = (low + high) / 2;
        const exact value = to.value(middle);
        const int order = compare(number, exact{2 * value.significand + 1, value.exponent - 1});
        if (order > 0 || (order == 0 && middle % 2 == 1)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low | (negative ? to.sign() : 0);
}

bool is_nan(layout from, u64 bits) { return (bits & (from.sign() - 1)) > from.top(); }

/// The right bits of one format's number in another; ~0 stands for any NaN.
u64 converted(layout from, layout to, u64 bits) {
    const u64 magnitude = bits & (from.sign() - 1);
    const bool negative = (bits & from.sign()) != 0;
    if (is_nan(from, bits)) {
        return ~u64{0};
    }
    if (magnitude == from.top()) {
        return to.top() | (negative ? to.sign() : 0);
    }
    return nearest(to, negative, from.value(magnitude));
}

bool agrees(layout to, u64 bits, u64 expected) { return expected == ~u64{0} ? is_nan(to, bits) : bits == expected; }

/// Truncated, as a wide integer that saturates far out.
wide_int truncated(layout from, u64 bits) {
    const exact number = from.value(bits & (from.sign() - 1));
    wide_int result = number.significand;
    for (int i = 0; i > number.exponent; --i) {
        result /= 2;
    }
    for (int i = 0; i < number.exponent && result < (static_cast<wide_int>(1) << 100); ++i) {
        result *= 2;
    }
    return (bits & from.sign()) != 0 ? -result : result;
}

template <class Integer>
void limits(wide_int& low, wide_int& high) {
    const int bits = 8 * static_cast<int>(sizeof(Integer));
    const bool with_sign = static_cast<Integer>(-1) < static_cast<Integer>(1);
    low = with_sign ? -(static_cast<wide_int>(1) << (bits - 1)) : 0;
    high = (static_cast<wide_int>(1) << (with_sign ? bits - 1 : bits)) - 1;
}

template <class Integer>
Integer saturated(layout from, u64 bits) {
    if (is_nan(from, bits)) {
        return 0;
    }
    wide_int low = 0;
    wide_int high = 0;
    limits<Integer>(low, high);
    const wide_int value = truncated(from, bits);
    return static_cast<Integer>(value < low ? low : value > high ? high : value);
}

u64 wrapped(layout from, u64 bits) {
    const u64 magnitude = bits & (from.sign() - 1);
    if (magnitude >= from.top()) {
        return 0;
    }
    const exact number = from.value(magnitude);
    u64 result = number.significand;
    for (int i = 0; i > number.exponent; --i) {
        result /= 2;
    }
    for (int i = 0; i < number.exponent; ++i) {
        result *= 2;
    }
    return (bits & from.sign()) != 0 ? 0 - result : result;
}

/// f32 bits with every exponent, both signs, and fractions that are ties, next to ties, or random.
template <class Function>
void over_floats(Function function) {
    generator random;
    for (u32 exponent = 0; exponent < 256; ++exponent) {
        for (int place = -1; place < 23; ++place) {
            const u32 bit = place < 0 ? 0 : 1u << place;
            for (u32 upper = 0; upper < 2; ++upper) {
                const u32 above = static_cast<u32>(random()) & ~(2 * bit - 1) & 0x7fffff;
                const u32 base = (exponent << 23) | (upper == 0 ? 0 : above) | bit;
                for (const u32 bits : {base - 1, base, base + 1, base ^ static_cast<u32>(random() & 0x7fffff)}) {
                    function(bits & 0x7fffffffu);
                    function(bits | 0x80000000u);
                }
            }
        }
    }
}
template <class Function>
void over_doubles(Function function) {
    generator random;
    for (u64 exponent = 0; exponent < 2048; exponent += exponent > 860 && exponent < 1160 ? 3 : 29) {
        for (int place = -1; place < 52; ++place) {
            const u64 bit = place < 0 ? 0 : u64{1} << place;
            const u64 above = random() & ~(2 * bit - 1) & ((u64{1} << 52) - 1);
            for (const u64 base : {(exponent << 52) | bit, (exponent << 52) | above | bit}) {
                for (const u64 bits : {base - 1, base, base + 1}) {
                    function(bits & ~(u64{1} << 63));
                    function(bits | (u64{1} << 63));
                }
            }
        }
    }
}

float single(u32 bits) { return __builtin_bit_cast(float, bits); }
double wide(u64 bits) { return __builtin_bit_cast(double, bits); }
u64 bits_of(float value) { return __builtin_bit_cast(u32, value); }
u64 bits_of(double value) { return __builtin_bit_cast(u64, value); }
u64 bits_of(si::f16 value) { return value.bits; }
u64 bits_of(si::bf16 value) { return value.bits; }

}  // namespace

TEST_CASE("all 2^16 patterns of f16 and bf16 decode to their value and come back") {
    int bad = 0;
    for (u32 pattern = 0; pattern < 65536; ++pattern) {
        const si::f16 half = si::f16::from_bits(static_cast<u16>(pattern));
        bad += !agrees(single_layout, bits_of(si::decode(half)), converted(half_layout, single_layout, pattern));
        bad += !agrees(double_layout, bits_of(static_cast<double>(half)), converted(half_layout, double_layout, pattern));
        const si::f16 half_back = si::encode<si::f16>(si::decode(half));
        bad += is_nan(half_layout, pattern) ? !is_nan(half_layout, half_back.bits) : half_back.bits != pattern;
        bad += is_nan(half_layout, pattern) ? 0 : si::f16(static_cast<double>(half)).bits != pattern;

        const si::bf16 brain = si::bf16::from_bits(static_cast<u16>(pattern));
        bad += !agrees(single_layout, bits_of(si::decode(brain)), converted(brain_layout, single_layout, pattern));
        const si::bf16 brain_back = si::encode<si::bf16>(si::decode(brain));
        bad += is_nan(brain_layout, pattern) ? !is_nan(brain_layout, brain_back.bits) : brain_back.bits != pattern;
        bad += is_nan(brain_layout, pattern) ? 0 : si::bf16(static_cast<double>(brain)).bits != pattern;
    }
    CHECK(bad == 0);
}

TEST_CASE("f32 rounds once to f16, bf16 and integers") {
    int bad = 0;
    over_floats([&](u32 bits) {
        const float value = single(bits);
        bad += !agrees(half_layout, bits_of(si::convert<si::f16>(value)), converted(single_layout, half_layout, bits));
        bad += !agrees(brain_layout, bits_of(si::convert<si::bf16>(value)), converted(single_layout, brain_layout, bits));
        bad += !agrees(double_layout, bits_of(si::convert<double>(value)), converted(single_layout, double_layout, bits));
        bad += si::convert<bool>(value) != ((bits << 1) != 0);
    });
    CHECK(bad == 0);
    bad = 0;
    over_floats([&](u32 bits) {
        const float value = single(bits);
        bad += si::convert<i8>(value) != saturated<i8>(single_layout, bits);
        bad += si::convert<u8>(value) != saturated<u8>(single_layout, bits);
        bad += si::convert<i16>(value) != saturated<i16>(single_layout, bits);
        bad += si::convert<u16>(value) != saturated<u16>(single_layout, bits);
        bad += si::convert<i32>(value) != saturated<i32>(single_layout, bits);
        bad += si::convert<u32>(value) != saturated<u32>(single_layout, bits);
        bad += si::convert<i64>(value) != saturated<i64>(single_layout, bits);
        bad += si::convert<u64>(value) != saturated<u64>(single_layout, bits);
        bad += si::convert_wrap<u64>(value) != wrapped(single_layout, bits);
        bad += si::convert_wrap<i8>(value) != static_cast<i8>(wrapped(single_layout, bits));
        bad += si::convert_wrap<i32>(value) != static_cast<i32>(wrapped(single_layout, bits));
    });
    CHECK(bad == 0);
}

TEST_CASE("f64 rounds once, never through f32") {
    int bad = 0;
    over_doubles([&](u64 bits) {
        const double value = wide(bits);
        bad += !agrees(half_layout, bits_of(si::convert<si::f16>(value)), converted(double_layout, half_layout, bits));
        bad += !agrees(brain_layout, bits_of(si::convert<si::bf16>(value)), converted(double_layout, brain_layout, bits));
        bad += !agrees(single_layout, bits_of(si::convert<float>(value)), converted(double_layout, single_layout, bits));
        bad += soft::reformat<soft::binary32, soft::binary64>(bits) != bits_of(si::convert<float>(value)) && !is_nan(double_layout, bits);
        bad += si::convert<i8>(value) != saturated<i8>(double_layout, bits);
        bad += si::convert<u32>(value) != saturated<u32>(double_layout, bits);
        bad += si::convert<i32>(value) != saturated<i32>(double_layout, bits);
        bad += si::convert<i64>(value) != saturated<i64>(double_layout, bits);
        bad += si::convert<u64>(value) != saturated<u64>(double_layout, bits);
        bad += si::convert_wrap<u64>(value) != wrapped(double_layout, bits);
        bad += si::convert_wrap<i16>(value) != static_cast<i16>(wrapped(double_layout, bits));
        bad += si::convert<bool>(value) != ((bits << 1) != 0);
    });
    CHECK(bad == 0);
    // 1 + 2^-11 is a tie of f16, and f32 can't hold what lies just above it.
    CHECK(si::f16(1.0 + 0x1p-11 + 0x1p-40).bits == 0x3c01);
    CHECK(si::f16(1.0 + 0x1p-11).bits == 0x3c00);
}

TEST_CASE("integers round once") {
    generator random;
    int bad = 0;
    const auto probe = [&](u64 magnitude) {
        const exact number{magnitude, 0};
        bad += bits_of(si::convert<float>(magnitude)) != nearest(single_layout, false, number);
        bad += bits_of(si::convert<double>(magnitude)) != nearest(double_layout, false, number);
        bad += bits_of(si::convert<si::f16>(magnitude)) != nearest(half_layout, false, number);
        bad += bits_of(si::convert<si::bf16>(magnitude)) != nearest(brain_layout, false, number);
        const i64 with_sign = static_cast<i64>(magnitude);
        const exact absolute{with_sign < 0 ? 0 - magnitude : magnitude, 0};
        bad += bits_of(si::convert<float>(with_sign)) != nearest(single_layout, with_sign < 0, absolute);
        bad += bits_of(si::convert<double>(with_sign)) != nearest(double_layout, with_sign < 0, absolute);
        bad += bits_of(si::convert<si::f16>(with_sign)) != nearest(half_layout, with_sign < 0, absolute);
        bad += bits_of(si::convert<si::bf16>(with_sign)) != nearest(brain_layout, with_sign < 0, absolute);
        const i32 short_one = static_cast<i32>(magnitude);
        const exact short_absolute{short_one < 0 ? 0 - static_cast<u64>(short_one) : static_cast<u64>(short_one), 0};
        bad += bits_of(si::convert<float>(short_one)) != nearest(single_layout, short_one < 0, short_absolute);
        bad += bits_of(si::convert<si::f16>(short_one)) != nearest(half_layout, short_one < 0, short_absolute);
        bad += bits_of(si::convert<si::bf16>(short_one)) != nearest(brain_layout, short_one < 0, short_absolute);
    };
    for (int place = 0; place < 64; ++place) {
        for (int lower = -1; lower < place; ++lower) {
            const u64 value = (u64{1} << place) | (lower < 0 ? 0 : u64{1} << lower);
            for (const u64 near_value : {value - 1, value, value + 1, value | (random() >> (63 - place) >> 1)}) {
                probe(near_value);
                probe(0 - near_value);
            }
        }
    }
    CHECK(bad == 0);
    CHECK(si::convert<si::bf16>(i32{0x01010001}).bits == 0x4b81);  // above the tie 0x01010000, which f32 would make of it
}

TEST_CASE("integer to integer wraps, bool is 0 or 1") {
    CHECK(si::convert<i8>(i32{128}) == -128);
    CHECK(si::convert<u8>(i32{-1}) == 255);
    CHECK(si::convert<i64>(~u64{0}) == -1);
    CHECK(si::convert<u64>(i8{-1}) == ~u64{0});
    CHECK(si::convert<bool>(i32{256}));
    CHECK(si::convert_wrap<bool>(0.25f));
    CHECK(si::convert<i32>(true) == 1);
    CHECK(bits_of(si::convert<si::f16>(true)) == 0x3c00);
    CHECK(si::convert<bool>(si::f16::from_bits(0x8000)) == false);
    CHECK(si::convert<bool>(si::f16::from_bits(0x0001)) == true);
    CHECK(si::convert<bool>(si::bf16::from_bits(0x7fc0)) == true);
    CHECK(si::convert<i32>(si::bf16::from_bits(0x7f80)) == 2147483647);
    CHECK(si::convert<si::bf16>(si::f16::from_bits(0x3c01)).bits == 0x3f80);
    CHECK(si::convert_wrap<u8>(si::f16(300.0f)) == 44);
}

TEST_CASE("promotion") {
    using enum dtype;
    const dtype all[] = {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64};
    for (const dtype left : all) {
        CHECK(si::promote(left, left) == left);
        for (const dtype right : all) {
            CHECK(si::promote(left, right) == si::promote(right, left));
        }
    }
    CHECK(si::promote(f16, bf16) == f32);
    CHECK(si::promote(f16, f64) == f64);
    CHECK(si::promote(f16, i64) == f16);
    CHECK(si::promote(boolean, bf16) == bf16);
    CHECK(si::promote(u8, i8) == i16);
    CHECK(si::promote(u16, i8) == i32);
    CHECK(si::promote(u16, i16) == i32);
    CHECK(si::promote(u32, i32) == i64);
    CHECK(si::promote(u8, i32) == i32);
    CHECK(si::promote(u64, i8) == i64);
    CHECK(si::promote(u64, i64) == i64);
    CHECK(si::promote(u8, u32) == u32);
    CHECK(si::promote_scalar(f16, f64) == f16);
    CHECK(si::promote_scalar(i8, f64) == f32);
    CHECK(si::promote_scalar(i8, i32) == i8);
    CHECK(si::promote_scalar(f32, i32) == f32);
    CHECK(si::compute_dtype(bf16) == f32);
    CHECK(si::compute_dtype(i8) == i8);
    CHECK(si::dtype_size(boolean) == 1);
    CHECK(si::dtype_size(f16) == 2);
    CHECK(si::dtype_of<long long> == i64);
    CHECK(si::dtype_of<float> == f32);
    CHECK(doctest::String(si::dtype_name(boolean)) == "bool");
    CHECK(doctest::String(si::dtype_name(bf16)) == "bf16");
    CHECK_FALSE(si::is_scalar_v<generator>);
    CHECK_FALSE(si::is_integer(boolean));
    CHECK(si::is_signed(i8));
    CHECK_FALSE(si::is_signed(u8));
}

namespace {

/// Operands that meet the corners: every class of number, and exponents near a partner's.
template <class Float>
Float operand(generator& random, u64 partner) {
    constexpr bool narrow = sizeof(Float) == 4;
    const layout form = narrow ? single_layout : double_layout;
    const u64 fraction_mask = (u64{1} << form.fraction_bits) - 1;
    u64 bits = random();
    const u64 choice = random() % 16;
    if (choice == 0) {
        bits &= form.sign();  // zero
    } else if (choice == 1) {
        bits &= form.sign() | fraction_mask;  // subnormal
    } else if (choice == 2) {
        bits = (bits & form.sign()) | form.top() | (random() % 4 == 0 ? 1 : 0);
    } else if (choice < 8) {
        // An exponent near a partner's, and a fraction with long runs.
        const u64 exponent = ((partner >> form.fraction_bits) + random() % 9 - 4) & (form.top() >> form.fraction_bits);
        const u64 run = fraction_mask >> (random() % 52 % static_cast<u64>(form.fraction_bits));
        bits = (bits & form.sign()) | (exponent << form.fraction_bits) | (random() % 2 == 0 ? run : ~run & fraction_mask);
    } else if (choice < 10) {
        bits &= form.sign() | form.top() | (random() % 2 == 0 ? 0 : 1);
    }
    return soft::float_of<Float>(bits);
}

template <class Float>
bool same(Float left, Float right) {
    return bits_of(left) == bits_of(right) || (step::is_nan(left) && step::is_nan(right));
}

// Through pointers: clang makes a product and a sum of the builtin under -funsafe-math-optimizations.
float (*volatile library_fmaf)(float, float, float) = &fmaf;
double (*volatile library_fmad)(double, double, double) = &fma;
float library_fma(float left, float right, float addend) { return library_fmaf(left, right, addend); }
double library_fma(double left, double right, double addend) { return library_fmad(left, right, addend); }

template <class Float>
void steps(int count) {
    generator random;
    int sums = 0;
    int products = 0;
    int quotients = 0;
    int roots = 0;
    int fused = 0;
    int emulated = 0;
    for (int i = 0; i < count; ++i) {
        const Float left = operand<Float>(random, soft::bits_of(Float{1}));
        const Float right = operand<Float>(random, soft::bits_of(left));
        const u64 product = soft::bits_of(soft::mul(left, right));
        const Float addend = operand<Float>(random, random() % 2 == 0 ? product : product - (u64{24} << soft::format_of<Float>::type::precision));
        sums += !same(step::add(left, right), soft::fma(left, Float{1}, right));
        sums += !same(step::sub(left, right), soft::sub(left, right));
        sums += !same(step::add(left, addend), soft::add(left, addend));
        products += !same(step::mul(left, right), soft::mul(left, right));
        quotients += !same(step::div(left, right), soft::div(left, right));
        roots += !same(step::sqrt(left), soft::sqrt(left));
        const Float expected = soft::fma(left, right, addend);
        fused += !same(step::fma(left, right, addend), expected);
        if constexpr (sizeof(Float) == 4) {
            emulated += !same(step::emulated_fma_narrow(left, right, addend), expected);
        } else {
            emulated += !same(step::emulated_fma_wide(left, right, addend), expected);
        }
        volatile Float hidden = left;  // the library's fma is a second witness
        emulated += !same(library_fma(hidden, right, addend), expected);
    }
    CHECK(sums == 0);
    CHECK(products == 0);
    CHECK(quotients == 0);
    CHECK(roots == 0);
    CHECK(fused == 0);
    CHECK(emulated == 0);
}

}  // namespace

TEST_CASE("steps of f32 agree with integer arithmetic, fma emulated or not") { steps<float>(300000); }
TEST_CASE("steps of f64 agree with integer arithmetic, fma emulated or not") { steps<double>(300000); }

namespace constants {

constexpr float infinity = step::div(1.0f, 0.0f);
constexpr float not_a_number = step::sub(infinity, infinity);
constexpr double largest = 0x1.fffffffffffffp1023;

static_assert(soft::bits_of(infinity) == 0x7f800000u);
static_assert(step::is_nan(not_a_number) && !step::is_nan(infinity));
static_assert(soft::bits_of(step::add(largest, largest)) == soft::binary64::infinity);
static_assert(soft::bits_of(step::mul(3e38f, -3e38f)) == 0xff800000u);
static_assert(step::mul(0x1p-1074, 0x1p-1) == 0 && step::mul(0x1.8p-1074, 1.0) != 0);
static_assert(step::fma(0x1p-600, 0x1p-474, 0x1p-1074) == 0x1p-1073);
static_assert(step::fma(largest, 2.0, -largest) == largest);
static_assert(step::fma(1.0f + 0x1p-12f, 1.0f + 0x1p-12f, -1.0f) == 0x1p-11f + 0x1p-24f);
static_assert(step::sqrt(2.0) == 0x1.6a09e667f3bcdp0 && step::sqrt(0x1p-1074) == 0x1p-537);
static_assert(soft::bits_of(step::sqrt(-0.0)) == soft::binary64::sign && step::is_nan(step::sqrt(-1.0f)));
static_assert(step::round_even(2.5f) == 2 && step::round_even(-3.5) == -4 && step::round_even(0x1p60) == 0x1p60);
static_assert(soft::bits_of(step::round_even(-0.25f)) == 0x80000000u);
static_assert(!step::less(not_a_number, 1.0f) && !step::equal(not_a_number, not_a_number) && step::less_equal(-0.0f, 0.0f));
static_assert(si::convert<float>(1e300) == infinity && si::convert<float>(0x1p-149) == 0x1p-149f);
static_assert(si::convert<i32>(1e10f) == 2147483647 && si::convert<i32>(not_a_number) == 0 && si::convert<u8>(-3.0f) == 0);
static_assert(si::convert_wrap<u8>(300.7f) == 44 && si::convert_wrap<i8>(-129.0f) == 127 && si::convert_wrap<i32>(infinity) == 0);
static_assert(si::f16(65519.99f).bits == 0x7bff && si::f16(65520.0f).bits == 0x7c00 && si::f16(0x1p-25f).bits == 0);
static_assert(static_cast<float>(si::f16::from_bits(1)) == 0x1p-24f && static_cast<double>(si::bf16(1)) == 1);
static_assert(sizeof(si::f16) == 2 && __is_trivially_copyable(si::f16) && __is_trivially_copyable(si::bf16));

}  // namespace constants
