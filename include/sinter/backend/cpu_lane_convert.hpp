// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU lane's conversions and integer division, which goes through them. Each conversion gives the bits of
// sinter::convert; this header holds no rule of its own, and no memory access (cpu_lane_memory.hpp).
#pragma once

#include "cpu_lane_integer.hpp"

namespace sinter::backend::SINTER_ISA {
inline namespace SINTER_CPU_FEATURES {

// ---- instructions ---------------------------------------------------------------------------------------------------------------

namespace detail {

/// One instruction (on NEON sometimes two) between vecs of one register. To an integer it truncates; what doesn't fit, and
/// NaN, gives on x86 the signed MIN or the unsigned MAX, on NEON the nearest limit and 0.
template <class To, class From>
struct conversion {
    static constexpr bool exists = false;
};

#if SINTER_CPU_X86
#define SINTER_CPU_CONVERT(x86, neon, result, operand) SINTER_CPU_X86_UNARY(x86, result, operand)
#else
#define SINTER_CPU_CONVERT(x86, neon, result, operand) __asm__(neon : "=w"(result) : "w"(operand))
#endif
#define SINTER_CPU_CONVERSION(to, from, x86, neon)                           \
    template <>                                                              \
    struct conversion<to, from> {                                            \
        static constexpr bool exists = true;                                 \
        template <int Width>                                                 \
        static SINTER_FORCE_INLINE vec<to, Width> of(vec<from, Width> value) { \
            vec<to, Width> result;                                           \
            SINTER_CPU_CONVERT(x86, neon, result.data, value.data);          \
            return result;                                                   \
        }                                                                    \
    };
#if !SINTER_CPU_GENERIC
SINTER_CPU_CONVERSION(f32, i32, "cvtdq2ps", "scvtf %0.4s, %1.4s")
SINTER_CPU_CONVERSION(f64, i32, "cvtdq2pd", "sxtl %0.2d, %1.2s\n\tscvtf %0.2d, %0.2d")
SINTER_CPU_CONVERSION(f64, f32, "cvtps2pd", "fcvtl %0.2d, %1.2s")
SINTER_CPU_CONVERSION(f32, f64, "cvtpd2ps", "fcvtn %0.2s, %1.2d")
SINTER_CPU_CONVERSION(i32, f32, "cvttps2dq", "fcvtzs %0.4s, %1.4s")
SINTER_CPU_CONVERSION(i32, f64, "cvttpd2dq", "fcvtzs %0.2d, %1.2d\n\tsqxtn %0.2s, %0.2d")
#endif
#if SINTER_CPU_AVX512 || SINTER_CPU_NEON
SINTER_CPU_CONVERSION(f32, u32, "cvtudq2ps", "ucvtf %0.4s, %1.4s")
SINTER_CPU_CONVERSION(f64, u32, "cvtudq2pd", "uxtl %0.2d, %1.2s\n\tucvtf %0.2d, %0.2d")
SINTER_CPU_CONVERSION(f64, i64, "cvtqq2pd", "scvtf %0.2d, %1.2d")
SINTER_CPU_CONVERSION(f64, u64, "cvtuqq2pd", "ucvtf %0.2d, %1.2d")
SINTER_CPU_CONVERSION(u32, f32, "cvttps2udq", "fcvtzu %0.4s, %1.4s")
SINTER_CPU_CONVERSION(u32, f64, "cvttpd2udq", "fcvtzu %0.2d, %1.2d\n\tuqxtn %0.2s, %0.2d")
SINTER_CPU_CONVERSION(i64, f32, "cvttps2qq", "fcvtl %0.2d, %1.2s\n\tfcvtzs %0.2d, %0.2d")
SINTER_CPU_CONVERSION(i64, f64, "cvttpd2qq", "fcvtzs %0.2d, %1.2d")
SINTER_CPU_CONVERSION(u64, f32, "cvttps2uqq", "fcvtl %0.2d, %1.2s\n\tfcvtzu %0.2d, %0.2d")
SINTER_CPU_CONVERSION(u64, f64, "cvttpd2uqq", "fcvtzu %0.2d, %1.2d")
#endif
#if SINTER_CPU_AVX512
SINTER_CPU_CONVERSION(f32, i64, "cvtqq2ps", "")
SINTER_CPU_CONVERSION(f32, u64, "cvtuqq2ps", "")
#endif
#undef SINTER_CPU_CONVERSION
#undef SINTER_CPU_CONVERT

template <class To, class From, int Width>
SINTER_FORCE_INLINE vec<To, Width> instruction(vec<From, Width> value) {
    return conversion<To, From>::of(value);
}

/// The other type's lanes one by one.
template <class To, class From, int Width>
SINTER_FORCE_INLINE vec<To, Width> convert_each(vec<From, Width> value) {
    vec<To, Width> result(To{});
    for (int at = 0; at < Width; ++at) {
        result.data[at] = static_cast<cell<To>>(sinter::convert<To>(static_cast<From>(value.data[at])));
    }
    return result;
}

template <class To, class From, int Width>
SINTER_FORCE_INLINE vec<To, Width> integer_from_integer(vec<From, Width> value) {
    if constexpr (sizeof(cell<To>) == sizeof(cell<From>)) {
        return vec<To, Width>::of(renormalise<To>(value.data));
    } else if constexpr (sizeof(cell<To>) == 8) {
        return vec<To, Width>::of(as<To>(widen<has_sign<From>, Width>(value.data)));
    } else {
        return vec<To, Width>::of(renormalise<To>(narrow(value.data)));
    }
}

template <class To, class From, int Width>
SINTER_FORCE_INLINE vec<To, Width> float_from_integer(vec<From, Width> value) {
    if constexpr (SINTER_CPU_GENERIC) {
        return convert_each<To>(value);
    } else if constexpr (sizeof(From) < 4) {
        return instruction<To>(integer_from_integer<i32>(value));
    } else if constexpr (conversion<To, From>::exists) {
        return instruction<To>(value);
    } else if constexpr (sizeof(From) == 8) {
        return convert_each<To>(value);
    } else if constexpr (__is_same(To, double)) {
        const auto centred = instruction<double>(from_bits<i32>(bit_xor(value, vec<u32, Width>(0x80000000u))));
        return add(centred, vec<double, Width>(0x1p31));
    } else {
        // Both halves are exact, the product too: one rounding, in the sum.
        const auto upper = instruction<float>(from_bits<i32>(shift_right<16>(value)));
        const auto lower = instruction<float>(from_bits<i32>(bit_and(value, vec<u32, Width>(0xffffu))));
        return add(mul(upper, vec<float, Width>(65536.0f)), lower);
    }
}

/// The integer where the mask holds, else 0.
template <class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width> keep(mask_of<Width> mask, vec<Type, Width> value) {
    if constexpr (SINTER_CPU_AVX512) {
        return select(mask, value, vec<Type, Width>(0));
    } else {
        using data_type = typename vec<Type, Width>::data_type;
        return value.of(value.data & data_type(mask.data));
    }
}

/// Truncates and saturates; NaN gives 0. The raw extremes give their second operand for NaN.
template <class To, class From, int Width>
SINTER_FORCE_INLINE vec<To, Width> integer_from_float(vec<From, Width> value) {
    using Float = vec<From, Width>;
    constexpr To lowest = sinter::detail::integer_min<To>;
    constexpr To highest = sinter::detail::integer_max<To>;
    const Float zero(0);
    if constexpr (SINTER_CPU_GENERIC || (sizeof(To) == 8 && !conversion<To, From>::exists)) {
        return convert_each<To>(value);
    } else if constexpr (SINTER_CPU_NEON && sizeof(To) >= 4) {
        return instruction<To>(value);
    } else if constexpr (SINTER_CPU_NEON) {
        const auto whole = instruction<i32>(value);
        return vec<To, Width>::of(as<cell<To>>(min_raw(max_raw(whole, vec<i32, Width>(lowest)), vec<i32, Width>(highest)).data));
    } else if constexpr (sizeof(To) < 4 || (sizeof(To) == 4 && sizeof(From) == 8 && has_sign<To>)) {
        // The limits are floats.
        const Float clamped = min_raw(max_raw(value, Float(lowest)), Float(highest));
        const auto whole = vec<To, Width>::of(as<cell<To>>(instruction<i32>(clamped).data));
        if constexpr (has_sign<To>) {
            return keep(equal(value, value), whole);
        } else {
            return whole;
        }
    } else if constexpr (has_sign<To>) {
        const Float beyond(sizeof(To) == 8 ? From(0x1p63) : From(0x1p31));
        const auto whole = instruction<To>(value);
        if constexpr (SINTER_CPU_AVX512) {
            return keep(equal(value, value), select(less_equal(beyond, value), vec<To, Width>(highest), whole));
        } else {
            // What is too large came as MIN, and ~MIN is MAX.
            return keep(equal(value, value), whole.of(whole.data ^ less_equal(beyond, value).data));
        }
    } else if constexpr (SINTER_CPU_AVX512) {
        return instruction<To>(max_raw(value, zero));
    } else {
        // u32 from what converts to i32: the upper half is shifted down by 2^31, exactly, and back as a bit.
        const Float half(From(0x1p31));
        const Float positive = max_raw(value, zero);
        const auto upper = less_equal(half, positive);
        const auto whole = from_bits<u32>(instruction<i32>(sub(positive, select(upper, half, zero))));
        const auto result = bit_xor(whole, select(upper, vec<u32, Width>(0x80000000u), vec<u32, Width>(0)));
        return select(less_equal(Float(From(0x1p32)), value), vec<u32, Width>(highest), result);
    }
}

}  // namespace detail

// ---- primitives: conversion -----------------------------------------------------------------------------------------------------

/// One rounding of the exact value; see sinter::convert.
template <class To, class From, int Width>
SINTER_FORCE_INLINE vec<To, Width> convert(vec<From, Width> value) {
    if constexpr (__is_same(To, From)) {
        return value;
    } else if constexpr (splits<Width, To, From>) {
        return join{convert<To>(low(value)), convert<To>(high(value))};
    } else if constexpr (__is_same(From, bool)) {
        return select(value, vec<To, Width>(1), vec<To, Width>(0));
    } else if constexpr (__is_same(To, bool)) {
        return bit_not(equal(value, vec<From, Width>(0)));
    } else if constexpr (!is_float<To> && !is_float<From>) {
        return detail::integer_from_integer<To>(value);
    } else if constexpr (!is_float<From>) {
        return detail::float_from_integer<To>(value);
    } else if constexpr (!is_float<To>) {
        return detail::integer_from_float<To>(value);
    } else if constexpr (SINTER_CPU_GENERIC) {
        return detail::convert_each<To>(value);
    } else {
        return detail::instruction<To>(value);
    }
}

/// As convert, but float to integer truncates and wraps; NaN and infinity give 0. Lane by lane there.
template <class To, class From, int Width>
SINTER_FORCE_INLINE vec<To, Width> convert_wrap(vec<From, Width> value) {
    if constexpr (!is_float<From> || is_float<To> || __is_same(To, bool)) {
        return convert<To>(value);
    } else if constexpr (splits<Width, To, From>) {
        return join{convert_wrap<To>(low(value)), convert_wrap<To>(high(value))};
    } else {
        vec<To, Width> result(To{});
        for (int at = 0; at < Width; ++at) {
            result.data[at] = static_cast<cell<To>>(sinter::convert_wrap<To>(static_cast<From>(value.data[at])));
        }
        return result;
    }
}

/// Half to even, of what is in the range of i32: one instruction, in the rounding mode that every call sets.
#if (SINTER_CPU_X86 || SINTER_CPU_NEON) && !SINTER_CPU_GENERIC
template <int Width>
SINTER_FORCE_INLINE vec<i32, Width> round_to_i32(vec<float, Width> value) {
    if constexpr (is_split<float, Width>) {
        return join{round_to_i32(low(value)), round_to_i32(high(value))};
    } else {
        vec<i32, Width> result;
#if SINTER_CPU_X86
        __asm__(SINTER_CPU_TEXT_1(SINTER_CPU_VEX("cvtps2dq")) : SINTER_CPU_OUT(result.data) : SINTER_CPU_IN(value.data));
#else
        __asm__("fcvtns %0.4s, %1.4s" : "=w"(result.data) : "w"(value.data));
#endif
        return result;
    }
}
#endif
/// Half to even to what f16 holds, as f32 again; NaN stays NaN. In place of the general form of `lane::round_to_f16`.
#if SINTER_CPU_F16C && !SINTER_CPU_GENERIC
template <int Width>
SINTER_FORCE_INLINE vec<float, Width> round_to_f16(vec<float, Width> value) {
    if constexpr (is_split<float, Width>) {
        return join{round_to_f16(low(value)), round_to_f16(high(value))};
    } else {
        simd<u16, (Width <= 8 ? 16 : 32)> codes;
        vec<float, Width> result;
        __asm__(SINTER_CPU_TEXT_1I("vcvtps2ph", "0") : SINTER_CPU_OUT(codes) : SINTER_CPU_IN(value.data));
        __asm__(SINTER_CPU_TEXT_1("vcvtph2ps") : SINTER_CPU_OUT(result.data) : SINTER_CPU_IN(codes));
        return result;
    }
}
#endif
/// i32 that are in the range of a narrower type: their cells as they are.
template <class To, int Width>
    requires(sizeof(To) < 4)
SINTER_FORCE_INLINE vec<To, Width> convert_in_range(vec<i32, Width> value) {
    if constexpr (is_split<i32, Width>)
        return join{convert_in_range<To>(low(value)), convert_in_range<To>(high(value))};
    else
        return vec<To, Width>::of(__builtin_bit_cast(typename vec<To, Width>::data_type, value.data));
}

// ---- primitives: integer division -----------------------------------------------------------------------------------------------

/// x / 0 is 0, MIN / -1 is MIN. 8 and 16 bits go through f32, 32 bits through f64: a quotient q + r/d, r < d, stays below
/// q + 1 after rounding, since it is 1/d away and that is more than the precision has to offer. 64 bits go lane by lane.
template <class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width> div(vec<Type, Width> left, vec<Type, Width> right) {
    static_assert(!__is_same(Type, bool), "a mask has no arithmetic: convert it");
    if constexpr (is_split<Type, Width>) {
        vec<Type, Width> result;
        result.data.low = div(left.data.low, right.data.low);
        result.data.high = div(left.data.high, right.data.high);
        return result;
    } else if constexpr (is_float<Type>) {
        return left.of(simd_div(left.data, right.data));
    } else if constexpr (sizeof(Type) == 8 || SINTER_CPU_GENERIC) {
        using Scalar = lane::scalar<Type>;
        return left.of(each_cell(
            [](auto one, auto two) {
                return cell<Type>(lane::div(Scalar(static_cast<Type>(one)), Scalar(static_cast<Type>(two))).value);
            },
            left.data, right.data));
    } else {
        // What a division by zero converts to is replaced; so is MIN / -1 where the conversion saturates.
        const vec<Type, Width> zero(0);
        vec<Type, Width> quotient;
        if constexpr (sizeof(Type) == 4) {
            quotient = convert<Type>(div(convert<double>(left), convert<double>(right)));
            if constexpr (has_sign<Type>) {
                quotient = select(equal(right, vec<Type, Width>(-1)), sub(zero, left), quotient);
            }
        } else {
            const auto whole = detail::instruction<i32>(div(convert<float>(left), convert<float>(right)));
            quotient = quotient.of(renormalise<Type>(whole.data));
        }
        return select(equal(right, zero), zero, quotient);
    }
}

/// left - left / right * right, and 0 where right is 0.
template <class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width> rem(vec<Type, Width> left, vec<Type, Width> right) {
    static_assert(!is_float<Type>, "rem is for integers");
    const vec<Type, Width> zero(0);
    return select(equal(right, zero), zero, sub(left, mul(div(left, right), right)));
}

}  // namespace SINTER_CPU_FEATURES
}  // namespace sinter::backend::SINTER_ISA
