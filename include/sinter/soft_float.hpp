// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binary floating point by integers: formats, and one rounding step that everything exact ends in. It serves constant
// evaluation (where a compiler refuses to overflow, to divide by zero or to make a NaN), conversions that have no
// instruction, and fma on targets without one. It holds no element type and no lane; run-time arithmetic isn't done here
// where an instruction exists.
#pragma once

#include "config.hpp"

namespace sinter::soft {

/// A binary interchange format: `precision` counts the hidden bit. Everything else follows from the two numbers.
template <class Bits, int Precision, int Exponent_bits>
struct format {
    using bits = Bits;
    static constexpr int precision = Precision;
    static constexpr int bias = (1 << (Exponent_bits - 1)) - 1;
    static constexpr int least = 2 - bias - Precision;  // exponent of the last place of a subnormal
    static constexpr u64 hidden = u64{1} << (Precision - 1);
    static constexpr u64 infinity = u64{(1u << Exponent_bits) - 1} << (Precision - 1);
    static constexpr u64 sign = u64{1} << (Precision - 1 + Exponent_bits);
    static constexpr u64 quiet_nan = infinity | (hidden >> 1);
};

using binary16 = format<u16, 11, 5>;
using bfloat16 = format<u16, 8, 8>;
using binary32 = format<u32, 24, 8>;
using binary64 = format<u64, 53, 11>;

template <class Float>
struct format_of;
template <>
struct format_of<float> {
    using type = binary32;
};
template <>
struct format_of<double> {
    using type = binary64;
};

template <class Float>
SINTER_INLINE u64 bits_of(Float value) {
    return __builtin_bit_cast(typename format_of<Float>::type::bits, value);
}
template <class Float>
SINTER_INLINE Float float_of(u64 bits) {
    return __builtin_bit_cast(Float, static_cast<typename format_of<Float>::type::bits>(bits));
}

/// Index of the highest set bit; `value` isn't 0.
SINTER_INLINE int top_bit(u64 value) { return 63 - __builtin_clzll(value); }

/// The bits of (-1)^negative * (significand + epsilon) * 2^exponent, rounded once to nearest even, where epsilon is in (0, 1)
/// if `sticky` and 0 otherwise. Subnormal results and overflow to infinity come out right. With `sticky` the significand must
/// have at least two bits more than the format's precision, or be below every half.
template <class Format>
SINTER_INLINE u64 round_pack(bool negative, u64 significand, int exponent, bool sticky = false) {
    const u64 sign = negative ? Format::sign : 0;
    if (significand == 0) {
        return sign;
    }
    const int top = top_bit(significand) + exponent;
    if (top > Format::bias) {
        return sign | Format::infinity;
    }
    int last = top - (Format::precision - 1);
    last = last < Format::least ? Format::least : last;
    const int drop = last - exponent;
    u64 kept = 0;
    if (drop <= 0) {
        kept = significand << -drop;
    } else if (drop <= 64) {
        kept = drop == 64 ? 0 : significand >> drop;
        const u64 rest = significand << (64 - drop);
        const u64 half = u64{1} << 63;
        kept += rest > half || (rest == half && (sticky || (kept & 1) != 0)) ? 1 : 0;
    }
    // `kept` carries the hidden bit, so it adds one to the exponent field of a normal number; a carry of the rounding
    // moves into the field by itself.
    const u64 magnitude = kept + (static_cast<u64>(last - Format::least) << (Format::precision - 1));
    return sign | magnitude;
}

/// A finite number as significand * 2^exponent.
struct unpacked {
    u64 significand;
    int exponent;
};

/// Takes a finite number's magnitude apart (the sign bit may be set).
template <class Format>
SINTER_INLINE unpacked unpack(u64 bits) {
    const int field = static_cast<int>((bits & Format::infinity) >> (Format::precision - 1));
    const u64 fraction = bits & (Format::hidden - 1);
    return field == 0 ? unpacked{fraction, Format::least} : unpacked{fraction | Format::hidden, field - 1 + Format::least};
}

/// One format to another, rounded once; a NaN becomes the quiet one.
template <class To, class From>
SINTER_INLINE u64 reformat(u64 bits) {
    const bool negative = (bits & From::sign) != 0;
    const u64 magnitude = bits & (From::sign - 1);
    if (magnitude >= From::infinity) {
        return (negative ? To::sign : 0) | (magnitude == From::infinity ? To::infinity : To::quiet_nan);
    }
    const unpacked number = unpack<From>(bits);
    return round_pack<To>(negative, number.significand, number.exponent);
}

// ---- arithmetic of constant evaluation --------------------------------------------------------------------------------------
//
// Compilers agree on ordinary constants and on nothing else, so an operation goes to the native operator when neither
// operand nor result can leave the range of normal numbers, and through integers when it might.

// Called when run on targets without fma, so the symbols carry the instruction set.
inline namespace SINTER_ISA {

__extension__ typedef unsigned __int128 u128;

/// In constant evaluation: zero, or an exponent so moderate that one operation on two such numbers gives zero or a normal number.
/// Never when run, where flags may rewrite the native operator.
template <class Float>
SINTER_HOST_DEVICE constexpr bool is_ordinary(Float value) {
    if (!__builtin_is_constant_evaluated()) {
        return false;
    }
    using Format = typename format_of<Float>::type;
    const u64 magnitude = bits_of(value) & (Format::sign - 1);
    const int exponent = static_cast<int>(magnitude >> (Format::precision - 1)) - Format::bias;
    constexpr int limit = Format::bias / 2 - Format::precision;
    return magnitude == 0 || (exponent > -limit && exponent < limit);
}

/// Rounds a 128-bit significand.
template <class Format>
SINTER_HOST_DEVICE constexpr u64 round_pack_wide(bool negative, u128 significand, int exponent, bool sticky) {
    const u64 high = static_cast<u64>(significand >> 64);
    if (high == 0) {
        return round_pack<Format>(negative, static_cast<u64>(significand), exponent, sticky);
    }
    const int drop = top_bit(high) + 1;
    const u64 kept = static_cast<u64>(significand >> drop);
    const bool lost = (static_cast<u64>(significand) << (64 - drop)) != 0;  // 1 <= drop <= 64
    return round_pack<Format>(negative, kept, exponent + drop, sticky || lost);
}

/// a * b + c, rounded once.
template <class Float>
SINTER_HOST_DEVICE constexpr Float fma(Float left, Float right, Float addend) {
    using Format = typename format_of<Float>::type;
    const u64 left_bits = bits_of(left);
    const u64 right_bits = bits_of(right);
    const u64 addend_bits = bits_of(addend);
    const u64 left_magnitude = left_bits & (Format::sign - 1);
    const u64 right_magnitude = right_bits & (Format::sign - 1);
    const u64 addend_magnitude = addend_bits & (Format::sign - 1);
    const u64 product_sign = (left_bits ^ right_bits) & Format::sign;
    const u64 addend_sign = addend_bits & Format::sign;
    constexpr u64 infinity = Format::infinity;

    if (left_magnitude > infinity || right_magnitude > infinity || addend_magnitude > infinity) {
        return float_of<Float>(Format::quiet_nan);
    }
    if (left_magnitude == infinity || right_magnitude == infinity) {
        const bool invalid = left_magnitude == 0 || right_magnitude == 0 ||
                             (addend_magnitude == infinity && addend_sign != product_sign);
        return float_of<Float>(invalid ? Format::quiet_nan : product_sign | infinity);
    }
    if (addend_magnitude == infinity) {
        return addend;
    }
    const bool product_is_zero = left_magnitude == 0 || right_magnitude == 0;
    if (product_is_zero) {
        // A sum of two zeros is -0 only if both are.
        return addend_magnitude == 0 ? float_of<Float>(addend_sign & product_sign) : addend;
    }

    const unpacked first = unpack<Format>(left_bits);
    const unpacked second = unpack<Format>(right_bits);
    u128 big = static_cast<u128>(first.significand) * second.significand;
    int big_exponent = first.exponent + second.exponent;
    bool negative = product_sign != 0;
    if (addend_magnitude == 0) {
        return float_of<Float>(round_pack_wide<Format>(negative, big, big_exponent, false));
    }
    const unpacked third = unpack<Format>(addend_bits);
    u128 small_one = third.significand;
    int small_exponent = third.exponent;

    // Both with their highest bit at 125: one bit of headroom for the carry, and more than the format's precision below
    // it, so that what falls off the end of the smaller one is only ever sticky.
    const u64 product_high = static_cast<u64>(big >> 64);
    const int product_top = product_high != 0 ? 64 + top_bit(product_high) : top_bit(static_cast<u64>(big));
    big <<= 125 - product_top;
    big_exponent -= 125 - product_top;
    const int addend_shift = 125 - top_bit(third.significand);
    small_one <<= addend_shift;
    small_exponent -= addend_shift;
    if (small_exponent > big_exponent || (small_exponent == big_exponent && small_one > big)) {
        const u128 significand = big;
        big = small_one;
        small_one = significand;
        const int exponent = big_exponent;
        big_exponent = small_exponent;
        small_exponent = exponent;
        negative = addend_sign != 0;
    }
    const int distance = big_exponent - small_exponent;
    const u128 aligned = distance > 127 ? 0 : small_one >> distance;
    const bool sticky = distance > 127 || (aligned << distance) != small_one;
    const u128 sum = product_sign == addend_sign ? big + aligned : big - aligned - (sticky ? 1 : 0);
    if (sum == 0 && !sticky) {
        return float_of<Float>(0);
    }
    return float_of<Float>(round_pack_wide<Format>(negative, sum, big_exponent, sticky));
}

template <class Float>
SINTER_HOST_DEVICE constexpr Float negated(Float value) {
    return float_of<Float>(bits_of(value) ^ format_of<Float>::type::sign);
}

template <class Float>
SINTER_HOST_DEVICE constexpr Float add(Float left, Float right) {
    return is_ordinary(left) && is_ordinary(right) ? left + right : fma(left, Float{1}, right);
}
template <class Float>
SINTER_HOST_DEVICE constexpr Float sub(Float left, Float right) {
    return is_ordinary(left) && is_ordinary(right) ? left - right : fma(left, Float{1}, negated(right));
}
template <class Float>
SINTER_HOST_DEVICE constexpr Float mul(Float left, Float right) {
    return is_ordinary(left) && is_ordinary(right) ? left * right : fma(left, right, float_of<Float>(format_of<Float>::type::sign));
}

template <class Float>
SINTER_HOST_DEVICE constexpr Float div(Float left, Float right) {
    using Format = typename format_of<Float>::type;
    const u64 left_magnitude = bits_of(left) & (Format::sign - 1);
    const u64 right_magnitude = bits_of(right) & (Format::sign - 1);
    if (is_ordinary(left) && is_ordinary(right) && right_magnitude != 0) {
        return left / right;
    }
    const u64 sign = (bits_of(left) ^ bits_of(right)) & Format::sign;
    if (left_magnitude > Format::infinity || right_magnitude > Format::infinity ||
        (left_magnitude == right_magnitude && (left_magnitude == 0 || left_magnitude == Format::infinity))) {
        return float_of<Float>(Format::quiet_nan);
    }
    if (left_magnitude == Format::infinity || right_magnitude == 0) {
        return float_of<Float>(sign | Format::infinity);
    }
    if (left_magnitude == 0 || right_magnitude == Format::infinity) {
        return float_of<Float>(sign);
    }
    const unpacked above = unpack<Format>(left_magnitude);
    const unpacked below = unpack<Format>(right_magnitude);
    const int above_shift = 63 - top_bit(above.significand);
    const int below_shift = 63 - top_bit(below.significand);
    const u128 numerator = static_cast<u128>(above.significand << above_shift) << 62;
    const u64 denominator = below.significand << below_shift;
    const u64 quotient = static_cast<u64>(numerator / denominator);  // 62 or 63 bits
    const int exponent = (above.exponent - above_shift) - (below.exponent - below_shift) - 62;
    return float_of<Float>(round_pack<Format>(sign != 0, quotient, exponent, numerator % denominator != 0));
}

template <class Float>
SINTER_HOST_DEVICE constexpr Float sqrt(Float value) {
    using Format = typename format_of<Float>::type;
    const u64 bits = bits_of(value);
    const u64 magnitude = bits & (Format::sign - 1);
    if (magnitude == 0) {
        return value;
    }
    if (magnitude > Format::infinity || bits != magnitude) {
        return float_of<Float>(Format::quiet_nan);
    }
    if (magnitude == Format::infinity) {
        return value;
    }
    const unpacked number = unpack<Format>(bits);
    const int shift = 63 - top_bit(number.significand);
    const int exponent = number.exponent - shift;
    const int widen = 62 + (exponent & 1);  // leaves an even exponent
    const u128 square = static_cast<u128>(number.significand << shift) << widen;
    u64 root = 0;
    for (u64 bit = u64{1} << 63; bit != 0; bit >>= 1) {
        const u64 candidate = root | bit;
        if (static_cast<u128>(candidate) * candidate <= square) {
            root = candidate;
        }
    }
    return float_of<Float>(round_pack<Format>(false, root, (exponent - widen) / 2, static_cast<u128>(root) * root != square));
}

}  // inline namespace SINTER_ISA

}  // namespace sinter::soft
