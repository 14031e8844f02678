// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats of 8 and 4 bits as storage: e4m3fn, e5m2 and their fnuz forms, e2m1 (one in a byte), and e8m0, the power of two that scales a
// block. Arithmetic on them is done in f32. The conversions are written once over any lane of u32 codes, so that a backend needs to
// load and store bytes only.
//
// From a number: the exact value is rounded once, half to even. What is too large becomes the largest finite value (an infinity, too,
// except in the fnuz forms, where it is the NaN); `saturation::off` gives the infinity of e5m2 and the NaN of the others instead. A NaN
// stays one. e2m1 has neither: it saturates always, and a NaN gives its largest value. e8m0 rounds as its mode says (up by default);
// a zero gives its smallest power; a NaN, an infinity and what is negative its NaN.
#pragma once

#include "lane.hpp"

namespace sinter {

enum class saturation : u8 { on, off };
enum class scale_rounding : u8 { up, down, nearest };

/// What sets one small float apart.
struct small_format {
    int mantissa;        ///< explicit fraction bits
    int bias;            ///< of the exponent
    u32 largest;         ///< code of the largest finite value
    u32 nan;             ///< code of the NaN; 0: none
    u32 infinity;        ///< code of +infinity; 0: none
    u32 sign;            ///< code bit of the sign
    bool unsigned_zero;  ///< no -0: its code is the NaN
};

#define SINTER_SMALL_FLOAT(name, ...)                                        \
    struct name {                                                                        \
        u8 bits;                                                                         \
        static constexpr small_format format{__VA_ARGS__};                               \
        name() = default;                                                                \
        template <class Number>                                                          \
        SINTER_INLINE explicit name(Number value);                                       \
        SINTER_INLINE explicit operator float() const;                                   \
        SINTER_INLINE explicit operator double() const;                                  \
        static SINTER_INLINE name from_bits(u8 bits_value) {                             \
            name result{};                                                               \
            result.bits = bits_value;                                                    \
            return result;                                                               \
        }                                                                                \
    };                                                                                   \
    template <>                                                                          \
    struct dtype_tag<name> : detail::dtype_tag_of<dtype::name> {};                       \
    namespace detail {                                                                   \
    template <>                                                                          \
    struct type_of_dtype<dtype::name> {                                                  \
        using type = name;                                                               \
    };                                                                                   \
    }
SINTER_SMALL_FLOAT(f8_e4m3fn, .mantissa = 3, .bias = 7, .largest = 0x7e, .nan = 0x7f, .infinity = 0, .sign = 0x80, .unsigned_zero = false)
SINTER_SMALL_FLOAT(f8_e5m2, .mantissa = 2, .bias = 15, .largest = 0x7b, .nan = 0x7f, .infinity = 0x7c, .sign = 0x80, .unsigned_zero = false)
SINTER_SMALL_FLOAT(f8_e4m3fnuz, .mantissa = 3, .bias = 8, .largest = 0x7f, .nan = 0x80, .infinity = 0, .sign = 0x80, .unsigned_zero = true)
SINTER_SMALL_FLOAT(f8_e5m2fnuz, .mantissa = 2, .bias = 16, .largest = 0x7f, .nan = 0x80, .infinity = 0, .sign = 0x80, .unsigned_zero = true)
SINTER_SMALL_FLOAT(f4_e2m1, .mantissa = 1, .bias = 1, .largest = 0x7, .nan = 0, .infinity = 0, .sign = 0x8, .unsigned_zero = false)
SINTER_SMALL_FLOAT(f8_e8m0, .mantissa = 0, .bias = 127, .largest = 0xfe, .nan = 0xff, .infinity = 0, .sign = 0, .unsigned_zero = true)
#undef SINTER_SMALL_FLOAT

template <class Type>
inline constexpr bool is_small_float_v = false;
// clang-format off
template <> inline constexpr bool is_small_float_v<f8_e4m3fn> = true;
template <> inline constexpr bool is_small_float_v<f8_e5m2> = true;
template <> inline constexpr bool is_small_float_v<f8_e4m3fnuz> = true;
template <> inline constexpr bool is_small_float_v<f8_e5m2fnuz> = true;
template <> inline constexpr bool is_small_float_v<f4_e2m1> = true;
template <> inline constexpr bool is_small_float_v<f8_e8m0> = true;
// clang-format on

namespace lane {

/// The f32 values of u32 lanes of codes; exact. A code's exponent and fraction, moved to an f32's place, are that f32 times a power of
/// two, subnormals too.
template <class Small, lane_value Bits>
SINTER_INLINE auto small_to_float(Bits code) {
    constexpr small_format format = Small::format;
    using real = typename Bits::template rebind<float>;
    if constexpr (__is_same(Small, f8_e8m0)) {
        Bits power = select(equal(code, Bits(0u)), Bits(0x00400000u), shift_left<23>(code));
        return from_bits<float>(select(equal(code, Bits(format.nan)), Bits(0x7fc00000u), power));
    } else {
        constexpr float scale = __builtin_bit_cast(float, u32(127 + 127 - format.bias) << 23);
        const Bits magnitude = bit_and(code, Bits(format.sign - 1));
        Bits out = bits(mul(from_bits<float>(shift_left<23 - format.mantissa>(magnitude)), real(scale)));
        if constexpr (format.unsigned_zero) {
            constexpr u32 shift = format.sign == 0x80 ? 24 : 28;
            out = bit_or(out, shift_left<int(shift)>(bit_xor(code, magnitude)));
            return from_bits<float>(select(equal(code, Bits(format.nan)), Bits(0x7fc00000u), out));
        } else {
            if constexpr (format.infinity != 0) out = select(equal(magnitude, Bits(format.infinity)), Bits(0x7f800000u), out);
            if constexpr (format.nan != 0) {
                constexpr u32 last = format.infinity != 0 ? format.infinity : format.largest;
                out = select(less(Bits(last), magnitude), Bits(0x7fc00000u), out);
            }
            constexpr u32 shift = format.sign == 0x80 ? 24 : 28;
            return from_bits<float>(bit_or(out, shift_left<int(shift)>(bit_xor(bit_and(code, Bits(format.sign * 2 - 1)), magnitude))));
        }
    }
}

/// The codes, u32 lanes, of f32 lanes.
template <class Small, saturation Saturate, lane_value Real>
SINTER_INLINE auto small_from_float(Real x) {
    constexpr small_format format = Small::format;
    static_assert(!__is_same(Small, f8_e8m0));
    using word = typename Real::template rebind<u32>;
    const word all = bits(x);
    const word magnitude = bit_and(all, word(0x7fffffffu));
    constexpr int drop = 23 - format.mantissa;
    constexpr u32 lowest = u32(127 + 1 - format.bias) << 23;  // the smallest normal number
    // A subnormal result counts steps of its format: adding the number whose last bit is that step rounds there.
    constexpr u32 anchor = u32(127 + 1 - format.bias - format.mantissa + 23) << 23;
    const word below_normal = sub(bits(add(from_bits<float>(magnitude), Real(__builtin_bit_cast(float, anchor)))), word(anchor));
    const word odd = bit_and(shift_right<drop>(magnitude), word(1u));
    const word rounded = add(add(magnitude, odd), word((1u << (drop - 1)) - 1));
    const word normal = sub(shift_right<drop>(rounded), word(u32(127 - format.bias) << format.mantissa));
    word code = select(less(magnitude, word(lowest)), below_normal, normal);
    constexpr bool saturates = Saturate == saturation::on || format.nan == 0;
    constexpr u32 beyond = saturates ? format.largest : format.infinity != 0 ? format.infinity : format.nan;
    if constexpr (saturates && format.unsigned_zero) {
        code = select(less(word(format.largest), code), word(beyond), code);
        code = select(equal(magnitude, word(0x7f800000u)), word(format.nan), code);
    } else {
        code = select(less(word(format.largest), code), word(beyond), code);
    }
    const word sign = bit_and(shift_right<(format.sign == 0x80 ? 24 : 28)>(all), word(format.sign));
    if constexpr (format.unsigned_zero) {
        const word whole = select(bit_or(equal(code, word(0u)), equal(code, word(format.nan))), code, bit_or(code, sign));
        return select(less(word(0x7f800000u), magnitude), word(format.nan), whole);
    } else {
        constexpr u32 nan = format.nan != 0 ? format.nan : format.largest;
        return bit_or(select(less(word(0x7f800000u), magnitude), word(nan), code), sign);  // a NaN keeps its sign
    }
}

/// The power of two at or above (below, nearest to) f32 lanes, as e8m0 codes in u32 lanes.
template <scale_rounding Mode, lane_value Real>
SINTER_INLINE auto e8m0_from_float(Real x) {
    using word = typename Real::template rebind<u32>;
    const word all = bits(x);
    const word fraction = bit_and(all, word(0x7fffffu));
    word code = shift_right<23>(bit_and(all, word(0x7fffffffu)));
    // 2^-127 is code 0 and a subnormal f32: what is at most that is code 0, what lies above rounds like the others from code 0 on.
    const auto subnormal = equal(code, word(0u));
    const word step = select(subnormal, word(0x400000u), word(0u));  // where the power itself lies in the fraction
    if constexpr (Mode == scale_rounding::up)
        code = add(code, select(less(step, fraction), word(1u), word(0u)));
    else if constexpr (Mode == scale_rounding::nearest)
        // Half way between two powers is 1.5 times the lower one; from there on up.
        code = add(code, select(less(select(subnormal, word(0x5fffffu), word(0x3fffffu)), fraction), word(1u), word(0u)));
    code = select(less(word(254u), code), word(254u), code);
    const word nan = word(f8_e8m0::format.nan);
    // Signed comparison: negative numbers, but not -0, and what isn't finite.
    const auto outside = bit_or(less(word(0x80000000u), all), equal(bit_and(all, word(0x7f800000u)), word(0x7f800000u)));
    return select(outside, nan, code);
}

namespace detail {
template <class Small, saturation Saturate, class Real>
SINTER_INLINE auto small_codes(Real x) {
    if constexpr (__is_same(Small, f8_e8m0))
        return e8m0_from_float<scale_rounding::up>(x);
    else
        return small_from_float<Small, Saturate>(x);
}
}  // namespace detail

}  // namespace lane

namespace detail {
/// The codec of a small float: a conversion saturates, while a store keeps an infinity that is there already.
template <class Small>
struct small_codec {
    using compute = float;
    using code = u8;
    static constexpr bool identity = false;
    template <class Lane>
    static SINTER_INLINE auto from_codes(Lane codes) {
        return lane::small_to_float<Small>(convert<u32>(codes));
    }
    template <class Lane>
    static SINTER_INLINE auto to_codes(Lane real) {
        return convert<u8>(lane::detail::small_codes<Small, saturation::off>(real));
    }
    template <class Lane>
    static SINTER_INLINE Small stored(Lane real) {
        return Small::from_bits(to_codes(real).value);
    }
    static SINTER_INLINE float decode(Small from) { return from_codes(lane::scalar<u8>(from.bits)).value; }
    template <class Number>
    static SINTER_INLINE Small encode(Number value) {
        if constexpr (__is_same(Number, float)) {
            return Small::from_bits(static_cast<u8>(lane::detail::small_codes<Small, saturation::on>(lane::scalar<float>(value)).value));
        } else if constexpr (__is_same(Number, double)) {
            // To f32 so that the last bit holds all that is below it (rounded to odd): the rounding that follows sees the exact value.
            const float nearest = sinter::convert<float>(value);
            u32 bits = __builtin_bit_cast(u32, nearest);
            const bool exact = soft::bits_of(sinter::convert<double>(nearest)) == soft::bits_of(value) || step::is_nan(value);
            if (!exact && (bits & 1) == 0) {
                const bool above = step::less(sinter::convert<double>(nearest), value);
                const bool away = above != (bits >> 31 != 0);
                bits = (bits & 0x7fffffffu) == 0x7f800000u ? bits - 1 : away ? bits + 1 : bits - 1;
            }
            return encode(__builtin_bit_cast(float, bits));
        } else {
            return encode(to_double_for_rounding(value));
        }
    }
};
}  // namespace detail

#define SINTER_SMALL_CODEC(name)                                                               \
    template <>                                                                                \
    struct codec<name> : detail::small_codec<name> {};                                         \
    template <class Number>                                                                    \
    SINTER_INLINE name::name(Number value) : bits(convert<name>(value).bits) {}                \
    SINTER_INLINE name::operator float() const { return decode(*this); }                       \
    SINTER_INLINE name::operator double() const { return step::widen(decode(*this)); }
SINTER_SMALL_CODEC(f8_e4m3fn)
SINTER_SMALL_CODEC(f8_e5m2)
SINTER_SMALL_CODEC(f8_e4m3fnuz)
SINTER_SMALL_CODEC(f8_e5m2fnuz)
SINTER_SMALL_CODEC(f4_e2m1)
SINTER_SMALL_CODEC(f8_e8m0)
#undef SINTER_SMALL_CODEC

/// A number as a small float without saturation: too large becomes the infinity of e5m2, the NaN of the others.
template <class Small>
SINTER_INLINE Small convert_no_saturate(float value) {
    return Small::from_bits(static_cast<u8>(lane::detail::small_codes<Small, saturation::off>(lane::scalar<float>(value)).value));
}
/// A scale as a power of two, rounded as said.
template <scale_rounding Mode>
SINTER_INLINE f8_e8m0 power_of_two(float value) {
    return f8_e8m0::from_bits(static_cast<u8>(lane::e8m0_from_float<Mode>(lane::scalar<float>(value)).value));
}

}  // namespace sinter
