// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types: the storage types f16 and bf16, the list of value types (`dtype`) with its promotion rules, the codec
// between what memory holds and what arithmetic sees, and every conversion. It holds no arithmetic (lane.hpp) and no
// quantized type.
#pragma once

#include "config.hpp"
#include "float_step.hpp"
#include "soft_float.hpp"

namespace sinter {

using f32 = float;
using f64 = double;

/// IEEE half precision as storage. Arithmetic is done in f32; conversions are explicit and rounded once.
struct f16 {
    u16 bits;

    f16() = default;
    template <class Number>
    SINTER_INLINE explicit f16(Number value);
    SINTER_INLINE explicit operator float() const;
    SINTER_INLINE explicit operator double() const;
    static SINTER_INLINE f16 from_bits(u16 bits_value) {
        f16 result{};
        result.bits = bits_value;
        return result;
    }
};

/// The upper half of an f32 as storage. Arithmetic is done in f32; conversions are explicit and rounded once.
struct bf16 {
    u16 bits;

    bf16() = default;
    template <class Number>
    SINTER_INLINE explicit bf16(Number value);
    SINTER_INLINE explicit operator float() const;
    SINTER_INLINE explicit operator double() const;
    static SINTER_INLINE bf16 from_bits(u16 bits_value) {
        bf16 result{};
        result.bits = bits_value;
        return result;
    }
};

// ---- value types ------------------------------------------------------------------------------------------------------------

// g++ takes scoped enumerators for shadows of the aliases of the same name.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
/// The value types. Their numbers mean nothing: later kinds are appended. The last five are real numbers that memory holds as codes
/// (quantized.hpp): any operation but one that only moves or chooses codes takes them for f32.
enum class dtype : unsigned char {
    boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64,
    f8_e4m3fn, f8_e5m2, f8_e4m3fnuz, f8_e5m2fnuz, f4_e2m1, f8_e8m0,
    q8, qu8, q16, qu16, q32
};
#pragma GCC diagnostic pop

/// What a C++ type is as an element. Open: a later storage type specialises it and `codec`.
template <class Type>
struct dtype_tag {
    static constexpr bool known = false;
};

/// Numbers that an element type has beside its dtype, as one: scale and zero point. The hashes of plans take them in.
template <class Type>
inline constexpr u64 element_parameters = 0;

namespace detail {
template <dtype Code>
struct dtype_tag_of {
    static constexpr bool known = true;
    static constexpr dtype code = Code;
};
template <dtype Code>
struct type_of_dtype;
}  // namespace detail

// clang-format off
template <> struct dtype_tag<bool> : detail::dtype_tag_of<dtype::boolean> {};
template <> struct dtype_tag<char> : detail::dtype_tag_of<(static_cast<char>(-1) < 0 ? dtype::i8 : dtype::u8)> {};
template <> struct dtype_tag<signed char> : detail::dtype_tag_of<dtype::i8> {};
template <> struct dtype_tag<short> : detail::dtype_tag_of<dtype::i16> {};
template <> struct dtype_tag<int> : detail::dtype_tag_of<dtype::i32> {};
template <> struct dtype_tag<long> : detail::dtype_tag_of<(sizeof(long) == 8 ? dtype::i64 : dtype::i32)> {};
template <> struct dtype_tag<long long> : detail::dtype_tag_of<dtype::i64> {};
template <> struct dtype_tag<unsigned char> : detail::dtype_tag_of<dtype::u8> {};
template <> struct dtype_tag<unsigned short> : detail::dtype_tag_of<dtype::u16> {};
template <> struct dtype_tag<unsigned> : detail::dtype_tag_of<dtype::u32> {};
template <> struct dtype_tag<unsigned long> : detail::dtype_tag_of<(sizeof(long) == 8 ? dtype::u64 : dtype::u32)> {};
template <> struct dtype_tag<unsigned long long> : detail::dtype_tag_of<dtype::u64> {};
template <> struct dtype_tag<f16> : detail::dtype_tag_of<dtype::f16> {};
template <> struct dtype_tag<bf16> : detail::dtype_tag_of<dtype::bf16> {};
template <> struct dtype_tag<float> : detail::dtype_tag_of<dtype::f32> {};
template <> struct dtype_tag<double> : detail::dtype_tag_of<dtype::f64> {};

namespace detail {
template <> struct type_of_dtype<dtype::boolean> { using type = bool; };
template <> struct type_of_dtype<dtype::i8> { using type = i8; };
template <> struct type_of_dtype<dtype::i16> { using type = i16; };
template <> struct type_of_dtype<dtype::i32> { using type = i32; };
template <> struct type_of_dtype<dtype::i64> { using type = i64; };
template <> struct type_of_dtype<dtype::u8> { using type = u8; };
template <> struct type_of_dtype<dtype::u16> { using type = u16; };
template <> struct type_of_dtype<dtype::u32> { using type = u32; };
template <> struct type_of_dtype<dtype::u64> { using type = u64; };
template <> struct type_of_dtype<dtype::f16> { using type = f16; };
template <> struct type_of_dtype<dtype::bf16> { using type = bf16; };
template <> struct type_of_dtype<dtype::f32> { using type = f32; };
template <> struct type_of_dtype<dtype::f64> { using type = f64; };
template <> struct type_of_dtype<dtype::q8> { using type = f32; };
template <> struct type_of_dtype<dtype::qu8> { using type = f32; };
template <> struct type_of_dtype<dtype::q16> { using type = f32; };
template <> struct type_of_dtype<dtype::qu16> { using type = f32; };
template <> struct type_of_dtype<dtype::q32> { using type = f32; };
}  // namespace detail
// clang-format on

template <class Type>
inline constexpr bool is_scalar_v = dtype_tag<Type>::known;
template <class Type>
inline constexpr dtype dtype_of = dtype_tag<Type>::code;
template <dtype Code>
using type_of = typename detail::type_of_dtype<Code>::type;

SINTER_INLINE const char* dtype_name(dtype type) {
    switch (type) {
        case dtype::boolean: return "bool";
        case dtype::i8: return "i8";
        case dtype::i16: return "i16";
        case dtype::i32: return "i32";
        case dtype::i64: return "i64";
        case dtype::u8: return "u8";
        case dtype::u16: return "u16";
        case dtype::u32: return "u32";
        case dtype::u64: return "u64";
        case dtype::f16: return "f16";
        case dtype::bf16: return "bf16";
        case dtype::f32: return "f32";
        case dtype::f64: return "f64";
        case dtype::f8_e4m3fn: return "f8_e4m3fn";
        case dtype::f8_e5m2: return "f8_e5m2";
        case dtype::f8_e4m3fnuz: return "f8_e4m3fnuz";
        case dtype::f8_e5m2fnuz: return "f8_e5m2fnuz";
        case dtype::f4_e2m1: return "f4_e2m1";
        case dtype::f8_e8m0: return "f8_e8m0";
        case dtype::q8: return "q8";
        case dtype::qu8: return "qu8";
        case dtype::q16: return "q16";
        case dtype::qu16: return "qu16";
        case dtype::q32: return "q32";
    }
    return "?";
}

/// Bytes of one element.
SINTER_INLINE int dtype_size(dtype type) {
    switch (type) {
        case dtype::i16:
        case dtype::u16:
        case dtype::f16:
        case dtype::bf16:
        case dtype::q16:
        case dtype::qu16: return 2;
        case dtype::i32:
        case dtype::u32:
        case dtype::f32:
        case dtype::q32: return 4;
        case dtype::i64:
        case dtype::u64:
        case dtype::f64: return 8;
        default: return 1;
    }
}

SINTER_INLINE bool is_float(dtype type) { return type >= dtype::f16; }
/// Real numbers that memory holds as integer codes.
SINTER_INLINE bool is_quantized_type(dtype type) { return type >= dtype::q8; }
/// Real numbers of 8 or fewer bits that aren't codes.
SINTER_INLINE bool is_small_float(dtype type) { return type >= dtype::f8_e4m3fn && type <= dtype::f8_e8m0; }
/// Integers proper: a bool isn't one.
SINTER_INLINE bool is_integer(dtype type) { return type >= dtype::i8 && type <= dtype::u64; }
SINTER_INLINE bool is_signed(dtype type) { return is_float(type) || (type >= dtype::i8 && type <= dtype::i64); }

/// The type that arithmetic on such values happens in.
SINTER_INLINE dtype compute_dtype(dtype type) {
    return type == dtype::f16 || type == dtype::bf16 || type > dtype::f64 ? dtype::f32 : type;
}
/// The type that a value has once it is no code any more.
SINTER_INLINE dtype real_dtype(dtype type) { return is_quantized_type(type) ? dtype::f32 : type; }

/// The value type of an operation on two tensors. Commutative and idempotent, but not associative (u64 with i8 is i64).
SINTER_INLINE dtype promote(dtype left, dtype right) {
    if (left == right || right == dtype::boolean) {
        return left;
    }
    if (left == dtype::boolean) {
        return right;
    }
    if (is_float(left) || is_float(right)) {
        if (!is_float(left) || !is_float(right)) {
            return is_float(left) ? left : right;
        }
        if (dtype_size(left) == dtype_size(right) || left == dtype::f8_e8m0 || right == dtype::f8_e8m0) {
            return left == dtype::f64 || right == dtype::f64 ? dtype::f64 : dtype::f32;  // f16 with bf16: neither holds the other
        }
        return dtype_size(left) > dtype_size(right) ? left : right;
    }
    if (is_signed(left) == is_signed(right)) {
        return dtype_size(left) > dtype_size(right) ? left : right;
    }
    const dtype with_sign = is_signed(left) ? left : right;
    const int bytes = dtype_size(is_signed(left) ? right : left);  // of the unsigned one
    if (dtype_size(with_sign) > bytes || with_sign == dtype::i64) {
        return with_sign;
    }
    return bytes == 1 ? dtype::i16 : bytes == 2 ? dtype::i32 : dtype::i64;
}

/// The value type of a tensor with a C++ scalar. The scalar is weak: it takes the tensor's kind.
SINTER_INLINE dtype promote_scalar(dtype tensor, dtype scalar) {
    if (is_float(tensor) || scalar == dtype::boolean) {
        return tensor;
    }
    if (is_float(scalar)) {
        return dtype::f32;
    }
    return tensor == dtype::boolean ? dtype::u8 : tensor;  // a bool in arithmetic counts as u8
}

namespace detail {
template <class Storage, bool Known = is_scalar_v<Storage>>
struct type_of_storage {
    using type = Storage;
};
template <class Storage>
struct type_of_storage<Storage, true> : type_of_dtype<dtype_of<Storage>> {};
}  // namespace detail

// ---- storage codec ----------------------------------------------------------------------------------------------------------

/// How memory holds values of a type: `compute` is what arithmetic sees, `decode` gets there, `encode` comes back, rounding
/// once from any number that isn't a storage type itself. Specialise it, with `dtype_tag`, for a new storage type.
/// The other names of an integer, `char` and one of `long` and `long long`, compute as the type that `dtype` names.
template <class Storage>
struct codec {
    using compute = typename detail::type_of_storage<Storage>::type;
    static constexpr bool identity = true;
    static SINTER_INLINE compute decode(Storage value) { return static_cast<compute>(value); }
    static SINTER_INLINE Storage encode(compute value) { return static_cast<Storage>(value); }
};

template <class Storage>
using compute_of = typename codec<Storage>::compute;

template <class Storage>
SINTER_INLINE compute_of<Storage> decode(Storage value) {
    return codec<Storage>::decode(value);
}
template <class Storage, class Value>
SINTER_INLINE Storage encode(Value value) {
    return codec<Storage>::encode(value);
}

namespace detail {

template <class Type>
inline constexpr bool is_float_v = __is_same(Type, float) || __is_same(Type, double);

/// An integer as a double that every shorter float format rounds to the same value: exact up to 53 bits, above them
/// rounded to odd, which keeps the place of the exact value between, or on, the shorter format's halves.
template <class Integer>
SINTER_INLINE double to_double_for_rounding(Integer value) {
    if constexpr (sizeof(Integer) < 8) {
        return static_cast<double>(value);
    } else {
        const bool negative = value < 0;
        u64 magnitude = static_cast<u64>(value);
        magnitude = negative ? 0 - magnitude : magnitude;
        const u64 low = magnitude & 0x7ff;
        if (magnitude >> 53 != 0 && low != 0) {
            magnitude = (magnitude ^ low) | 0x800;
        }
        const double result = static_cast<double>(magnitude);
        return negative ? -result : result;
    }
}

SINTER_INLINE u16 f16_from_f32(float value) {
#if SINTER_DEVICE_PASS
    if (!SINTER_CONSTANT_EVALUATED) {
        u16 result = 0;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
        return result;
    }
#elif defined(__F16C__)
    if (!SINTER_CONSTANT_EVALUATED) {
        float result = value;
        __asm__("{vcvtps2ph $0, %0, %0|vcvtps2ph %0, %0, 0}" : "+x"(result));
        return static_cast<u16>(__builtin_bit_cast(u32, result));
    }
#endif
    return static_cast<u16>(soft::reformat<soft::binary16, soft::binary32>(soft::bits_of(value)));
}

SINTER_INLINE float f32_from_f16(u16 half) {
#if SINTER_DEVICE_PASS
    if (!SINTER_CONSTANT_EVALUATED) {
        float result = 0;
        asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(half));
        return result;
    }
#elif defined(__F16C__)
    if (!SINTER_CONSTANT_EVALUATED) {
        float result = __builtin_bit_cast(float, static_cast<u32>(half));
        __asm__("vcvtph2ps %0, %0" : "+x"(result));
        return result;
    }
#endif
    const u32 sign = (half & 0x8000u) << 16;
    const u32 exponent = half & 0x7c00u;
    const u32 fraction = half & 0x3ffu;
    if (exponent == 0) {
        // Subnormal: an integer times 2^-24, exact, and normal in f32 (so flush-to-zero can't touch it).
        const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
        return __builtin_bit_cast(float, __builtin_bit_cast(u32, magnitude) | sign);
    }
    const u32 rebias = exponent == 0x7c00u ? 224u << 23 : 112u << 23;
    return __builtin_bit_cast(float, sign | (((exponent | fraction) << 13) + rebias));
}

SINTER_INLINE u16 bf16_from_f32(float value) {
#if SINTER_DEVICE_PASS && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (!SINTER_CONSTANT_EVALUATED) {
        u16 result = 0;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(value));
        return result;
    }
#endif
    const u32 bits = __builtin_bit_cast(u32, value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return static_cast<u16>((bits >> 16) | 0x40u);  // a quiet NaN; rounding could carry into infinity or zero
    }
    return static_cast<u16>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace detail

template <>
struct codec<f16> {
    using compute = float;
    static constexpr bool identity = false;
    static SINTER_INLINE float decode(f16 value) { return detail::f32_from_f16(value.bits); }
    template <class Number>
    static SINTER_INLINE f16 encode(Number value) {
        if constexpr (__is_same(Number, float)) {
            return f16::from_bits(detail::f16_from_f32(value));
        } else if constexpr (__is_same(Number, double)) {
            return f16::from_bits(static_cast<u16>(soft::reformat<soft::binary16, soft::binary64>(soft::bits_of(value))));
        } else {
            return encode(detail::to_double_for_rounding(value));
        }
    }
};

template <>
struct codec<bf16> {
    using compute = float;
    static constexpr bool identity = false;
    static SINTER_INLINE float decode(bf16 value) { return __builtin_bit_cast(float, static_cast<u32>(value.bits) << 16); }
    template <class Number>
    static SINTER_INLINE bf16 encode(Number value) {
        if constexpr (__is_same(Number, float)) {
            return bf16::from_bits(detail::bf16_from_f32(value));
        } else if constexpr (__is_same(Number, double)) {
            return bf16::from_bits(static_cast<u16>(soft::reformat<soft::bfloat16, soft::binary64>(soft::bits_of(value))));
        } else {
            return encode(detail::to_double_for_rounding(value));
        }
    }
};

// ---- conversions ------------------------------------------------------------------------------------------------------------

namespace detail {

/// x != 0 without a float comparison; a NaN isn't zero.
template <class Float>
SINTER_INLINE bool is_nonzero(Float value) {
    return (soft::bits_of(value) & (soft::format_of<Float>::type::sign - 1)) != 0;
}

template <class Integer>
inline constexpr Integer integer_max = static_cast<Integer>(static_cast<Integer>(-1) < static_cast<Integer>(1)
                                                                ? ~u64{0} >> (65 - 8 * sizeof(Integer))
                                                                : ~u64{0} >> (64 - 8 * sizeof(Integer)));
template <class Integer>
inline constexpr Integer integer_min = static_cast<Integer>(~integer_max<Integer>);  // 0 for unsigned: ~max wraps to it

#if SINTER_DEVICE_PASS
/// The instruction saturates by itself, to 32 or 64 bits; what it makes of a NaN depends on the types.
template <class Integer, class Float>
SINTER_INLINE Integer saturate_on_device(Float value) {
    if (step::is_nan(value)) {
        return 0;
    }
    constexpr bool has_sign = integer_min<Integer> < 0;
    if constexpr (sizeof(Integer) == 8) {
        u64 result;
        if constexpr (sizeof(Float) == 4) {
            if constexpr (has_sign) {
                asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(result) : "f"(value));
            } else {
                asm("cvt.rzi.u64.f32 %0, %1;" : "=l"(result) : "f"(value));
            }
        } else {
            if constexpr (has_sign) {
                asm("cvt.rzi.s64.f64 %0, %1;" : "=l"(result) : "d"(value));
            } else {
                asm("cvt.rzi.u64.f64 %0, %1;" : "=l"(result) : "d"(value));
            }
        }
        return static_cast<Integer>(result);
    } else if constexpr (has_sign) {
        i32 result;
        if constexpr (sizeof(Float) == 4) {
            asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(result) : "f"(value));
        } else {
            asm("cvt.rzi.s32.f64 %0, %1;" : "=r"(result) : "d"(value));
        }
        constexpr i32 low = integer_min<Integer>;
        constexpr i32 high = integer_max<Integer>;
        return static_cast<Integer>(result < low ? low : result > high ? high : result);
    } else {
        u32 result;
        if constexpr (sizeof(Float) == 4) {
            asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(result) : "f"(value));
        } else {
            asm("cvt.rzi.u32.f64 %0, %1;" : "=r"(result) : "d"(value));
        }
        constexpr u32 high = integer_max<Integer>;
        return static_cast<Integer>(result > high ? high : result);
    }
}
#endif

/// Truncates and saturates; NaN gives 0. Range tests are made on bits, so that no flag can drop them.
template <class Integer, class Float>
SINTER_INLINE Integer saturate_to_integer(Float value) {
    using Format = typename soft::format_of<Float>::type;
    constexpr bool has_sign = integer_min<Integer> < 0;
#if SINTER_DEVICE_PASS
    if (!SINTER_CONSTANT_EVALUATED) {
        return saturate_on_device<Integer>(value);
    }
#endif
    const u64 bits = soft::bits_of(value);
    const u64 magnitude = bits & (Format::sign - 1);
    const bool negative = (bits & Format::sign) != 0;
    constexpr u64 two_to_63 = static_cast<u64>(63 + Format::bias) << (Format::precision - 1);
    if (magnitude < two_to_63) {
        const i64 whole = static_cast<i64>(value);
        if constexpr (sizeof(Integer) < 8) {
            constexpr i64 low = integer_min<Integer>;
            constexpr i64 high = integer_max<Integer>;
            return static_cast<Integer>(whole < low ? low : whole > high ? high : whole);
        } else {
            return static_cast<Integer>(has_sign || whole > 0 ? whole : 0);
        }
    }
    if (magnitude > Format::infinity) {
        return 0;
    }
    if (negative) {
        return integer_min<Integer>;
    }
    if constexpr (sizeof(Integer) == 8 && !has_sign) {
        if (magnitude < two_to_63 + Format::hidden) {
            return static_cast<Integer>((bits | Format::hidden) << (64 - Format::precision));
        }
    }
    return integer_max<Integer>;
}

/// Truncates and keeps the low 64 bits; NaN and infinity give 0.
template <class Float>
SINTER_INLINE u64 wrap_to_integer(Float value) {
    using Format = typename soft::format_of<Float>::type;
    const u64 bits = soft::bits_of(value);
    if ((bits & Format::infinity) == Format::infinity) {
        return 0;
    }
    const soft::unpacked number = soft::unpack<Format>(bits);
    const int shift = number.exponent;
    const u64 magnitude = shift <= -64 || shift >= 64 ? 0 : shift < 0 ? number.significand >> -shift : number.significand << shift;
    return (bits & Format::sign) != 0 ? 0 - magnitude : magnitude;
}

}  // namespace detail

/// Every conversion between element types: the exact value rounded once. Float to integer truncates and saturates, NaN
/// gives 0; integer to integer wraps; to bool is x != 0.
template <class To, class From>
SINTER_INLINE To convert(From value) {
    static_assert(is_scalar_v<To> && is_scalar_v<From>, "sinter::convert works between element types");
    if constexpr (__is_same(To, From)) {
        return value;
    } else if constexpr (!codec<From>::identity) {
        return convert<To>(decode(value));
    } else if constexpr (__is_same(From, bool)) {
        return convert<To>(static_cast<u8>(value ? 1 : 0));
    } else if constexpr (!codec<To>::identity) {
        return encode<To>(value);
    } else if constexpr (__is_same(To, bool)) {
        if constexpr (detail::is_float_v<From>) {
            return detail::is_nonzero(value);
        } else {
            return value != 0;
        }
    } else if constexpr (detail::is_float_v<From> && !detail::is_float_v<To>) {
        return detail::saturate_to_integer<To>(value);
    } else if constexpr (__is_same(From, double) && __is_same(To, float)) {
        return step::narrow(value);
    } else if constexpr (__is_same(From, float) && __is_same(To, double)) {
        return step::widen(value);
    } else {
        return static_cast<To>(value);
    }
}

/// As `convert`, but float to integer truncates and wraps; NaN and infinity give 0.
template <class To, class From>
SINTER_INLINE To convert_wrap(From value) {
    if constexpr (!codec<From>::identity) {
        return convert_wrap<To>(decode(value));
    } else if constexpr (detail::is_float_v<From> && !detail::is_float_v<To> && codec<To>::identity && !__is_same(To, bool)) {
        return static_cast<To>(detail::wrap_to_integer(value));
    } else {
        return convert<To>(value);
    }
}

template <class Number>
SINTER_INLINE f16::f16(Number value) : bits(convert<f16>(value).bits) {}
SINTER_INLINE f16::operator float() const { return decode(*this); }
SINTER_INLINE f16::operator double() const { return step::widen(decode(*this)); }
template <class Number>
SINTER_INLINE bf16::bf16(Number value) : bits(convert<bf16>(value).bits) {}
SINTER_INLINE bf16::operator float() const { return decode(*this); }
SINTER_INLINE bf16::operator double() const { return step::widen(decode(*this)); }

}  // namespace sinter
