// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of float arithmetic: an operation on plain float or double that is rounded once to nearest even, is never
// contracted with its neighbours and takes every NaN, infinity, zero and subnormal at its word, whatever flags the file
// is compiled with. Each function has three faces: constant evaluation (soft_float.hpp), the device (a named instruction),
// the host (an instruction, or an operator between barriers). It knows nothing of lanes.
#pragma once

#include "config.hpp"
#include "soft_float.hpp"

// Only the builtin itself, written in the condition, is folded before anything is inlined, even at -O0.
#define SINTER_CONSTANT_EVALUATED __builtin_is_constant_evaluated()

#if !SINTER_DEVICE_PASS && !SINTER_MSVC && (defined(__x86_64__) || defined(__i386__)) && defined(__SSE2__)
#define SINTER_X86_STEPS 1
#else
#define SINTER_X86_STEPS 0
#endif
#if !SINTER_DEVICE_PASS && !SINTER_MSVC && defined(__aarch64__)
#define SINTER_ARM_STEPS 1
#else
#define SINTER_ARM_STEPS 0
#endif

// The register class of the barrier: under AVX-512 the upper sixteen registers are allowed too.
#if defined(__AVX512F__)
#define SINTER_X86_REGISTER "v"
#else
#define SINTER_X86_REGISTER "x"
#endif

// An x86 instruction result = left op right, in both assembler dialects; the two-operand form where there is no AVX.
#if defined(__AVX__)
#define SINTER_X86_BINARY(instruction, result, left, right)                             \
    __asm__("{v" instruction " %2, %1, %0|v" instruction " %0, %1, %2}"                 \
            : "=" SINTER_X86_REGISTER(result)                                           \
            : SINTER_X86_REGISTER(left), SINTER_X86_REGISTER(right))
#else
#define SINTER_X86_BINARY(instruction, result, left, right)                             \
    (result) = (left);                                                                  \
    __asm__("{" instruction " %1, %0|" instruction " %0, %1}" : "+x"(result) : "x"(right))
#endif

namespace sinter::step {

/// Hides a float from the optimiser: nothing is folded, contracted or reassociated across it.
template <class Float>
SINTER_INLINE Float opaque(Float value) {
    if (!SINTER_CONSTANT_EVALUATED) {
        SINTER_BARRIER(value);
    }
    return value;
}

/// Hides two floats in one statement. Two barriers on the same value are one value to the optimiser, so that -ffast-math
/// folds x - x to 0, which a NaN and an infinity must not give.
template <class Float>
SINTER_INLINE void hide_pair([[maybe_unused]] Float& left, [[maybe_unused]] Float& right) {
#if SINTER_X86_STEPS
    __asm__("" : "+" SINTER_X86_REGISTER(left), "+" SINTER_X86_REGISTER(right));
#elif SINTER_ARM_STEPS
    __asm__("" : "+w"(left), "+w"(right));
#elif !SINTER_DEVICE_PASS && !SINTER_MSVC
    __asm__("" : "+m"(left), "+m"(right));
#endif
}

template <class Float>
SINTER_INLINE bool is_nan(Float value) {
    using Format = typename soft::format_of<Float>::type;
    return (soft::bits_of(value) & (Format::sign - 1)) > Format::infinity;
}

// ---- arithmetic -------------------------------------------------------------------------------------------------------------

template <class Float>
SINTER_INLINE Float add(Float left, Float right) {
    if (SINTER_CONSTANT_EVALUATED) {
        return soft::add(left, right);
    }
#if SINTER_DEVICE_PASS
    Float result;
    if constexpr (sizeof(Float) == 4) {
        asm("add.rn.f32 %0, %1, %2;" : "=f"(result) : "f"(left), "f"(right));
    } else {
        asm("add.rn.f64 %0, %1, %2;" : "=d"(result) : "d"(left), "d"(right));
    }
    return result;
#else
    return opaque(opaque(left) + opaque(right));
#endif
}

template <class Float>
SINTER_INLINE Float sub(Float left, Float right) {
    if (SINTER_CONSTANT_EVALUATED) {
        return soft::sub(left, right);
    }
#if SINTER_DEVICE_PASS
    Float result;
    if constexpr (sizeof(Float) == 4) {
        asm("sub.rn.f32 %0, %1, %2;" : "=f"(result) : "f"(left), "f"(right));
    } else {
        asm("sub.rn.f64 %0, %1, %2;" : "=d"(result) : "d"(left), "d"(right));
    }
    return result;
#else
    hide_pair(left, right);
    return opaque(left - right);
#endif
}

template <class Float>
SINTER_INLINE Float mul(Float left, Float right) {
    if (SINTER_CONSTANT_EVALUATED) {
        return soft::mul(left, right);
    }
#if SINTER_DEVICE_PASS
    Float result;
    if constexpr (sizeof(Float) == 4) {
        asm("mul.rn.f32 %0, %1, %2;" : "=f"(result) : "f"(left), "f"(right));
    } else {
        asm("mul.rn.f64 %0, %1, %2;" : "=d"(result) : "d"(left), "d"(right));
    }
    return result;
#else
    return opaque(opaque(left) * opaque(right));
#endif
}

/// A barrier doesn't stop -ffast-math from dividing by a reciprocal estimate: the instruction is named.
template <class Float>
SINTER_INLINE Float div(Float left, Float right) {
    if (SINTER_CONSTANT_EVALUATED) {
        return soft::div(left, right);
    }
#if SINTER_DEVICE_PASS
    Float result;
    if constexpr (sizeof(Float) == 4) {
        asm("div.rn.f32 %0, %1, %2;" : "=f"(result) : "f"(left), "f"(right));
    } else {
        asm("div.rn.f64 %0, %1, %2;" : "=d"(result) : "d"(left), "d"(right));
    }
    return result;
#elif SINTER_X86_STEPS
    Float result;
    if constexpr (sizeof(Float) == 4) {
        SINTER_X86_BINARY("divss", result, left, right);
    } else {
        SINTER_X86_BINARY("divsd", result, left, right);
    }
    return result;
#elif SINTER_ARM_STEPS
    Float result;
    if constexpr (sizeof(Float) == 4) {
        __asm__("fdiv %s0, %s1, %s2" : "=w"(result) : "w"(left), "w"(right));
    } else {
        __asm__("fdiv %d0, %d1, %d2" : "=w"(result) : "w"(left), "w"(right));
    }
    return result;
#else
    return opaque(opaque(left) / opaque(right));
#endif
}

/// 1 / value. The device's own instruction takes fewer than a division.
template <class Float>
SINTER_INLINE Float reciprocal(Float value) {
#if SINTER_DEVICE_PASS
    if (!SINTER_CONSTANT_EVALUATED) {
        Float result;
        if constexpr (sizeof(Float) == 4) {
            asm("rcp.rn.f32 %0, %1;" : "=f"(result) : "f"(value));
        } else {
            asm("rcp.rn.f64 %0, %1;" : "=d"(result) : "d"(value));
        }
        return result;
    }
#endif
    return div(Float(1), value);
}

template <class Float>
SINTER_INLINE Float sqrt(Float value) {
    if (SINTER_CONSTANT_EVALUATED) {
        return soft::sqrt(value);
    }
#if SINTER_DEVICE_PASS
    Float result;
    if constexpr (sizeof(Float) == 4) {
        asm("sqrt.rn.f32 %0, %1;" : "=f"(result) : "f"(value));
    } else {
        asm("sqrt.rn.f64 %0, %1;" : "=d"(result) : "d"(value));
    }
    return result;
#elif SINTER_X86_STEPS
    Float result;
    if constexpr (sizeof(Float) == 4) {
        SINTER_X86_BINARY("sqrtss", result, value, value);
    } else {
        SINTER_X86_BINARY("sqrtsd", result, value, value);
    }
    return result;
#elif SINTER_ARM_STEPS
    Float result;
    if constexpr (sizeof(Float) == 4) {
        __asm__("fsqrt %s0, %s1" : "=w"(result) : "w"(value));
    } else {
        __asm__("fsqrt %d0, %d1" : "=w"(result) : "w"(value));
    }
    return result;
#else
    return opaque(sizeof(Float) == 4 ? static_cast<Float>(__builtin_sqrtf(static_cast<float>(opaque(value))))
                                     : static_cast<Float>(__builtin_sqrt(static_cast<double>(opaque(value)))));
#endif
}

// ---- conversions between the two --------------------------------------------------------------------------------------------

SINTER_INLINE double widen(float value) {
#if SINTER_DEVICE_PASS
    if (!SINTER_CONSTANT_EVALUATED) {
        double result;
        asm("cvt.f64.f32 %0, %1;" : "=d"(result) : "f"(value));
        return result;
    }
#endif
    return static_cast<double>(opaque(value));
}

SINTER_INLINE float narrow(double value) {
    if (SINTER_CONSTANT_EVALUATED) {
        return soft::float_of<float>(soft::reformat<soft::binary32, soft::binary64>(soft::bits_of(value)));
    }
#if SINTER_DEVICE_PASS
    float result;
    asm("cvt.rn.f32.f64 %0, %1;" : "=f"(result) : "d"(value));
    return result;
#else
    return opaque(static_cast<float>(opaque(value)));
#endif
}

// ---- fma --------------------------------------------------------------------------------------------------------------------

// Where the target has none. Symbols carry the instruction set; templates, so that targets with fma don't pay for them.
inline namespace SINTER_ISA {

template <class Float>
struct sum_and_error {
    Float sum;
    Float error;
};

/// Knuth: left + right = sum + error exactly, barring overflow.
template <class Float>
SINTER_INLINE sum_and_error<Float> two_sum(Float left, Float right) {
    const Float sum = add(left, right);
    const Float part = sub(sum, left);
    return {sum, add(sub(left, sub(sum, part)), sub(right, part))};
}

/// sum + error rounded to odd: of the two neighbours of an inexact sum, the one with an odd last bit. A later rounding to
/// fewer bits (two less, at least) then gives what rounding the exact value would have given.
template <class Double>
SINTER_INLINE Double to_odd(sum_and_error<Double> exact) {
    const u64 sum = soft::bits_of(exact.sum);
    const u64 error = soft::bits_of(exact.error);
    if (error << 1 == 0 || (sum & 1) != 0) {
        return exact.sum;
    }
    const bool away_from_zero = ((sum ^ error) >> 63) == 0;
    return soft::float_of<Double>(away_from_zero ? sum + 1 : sum - 1);
}

/// The product of two floats is exact in double; the sum, rounded to odd there, may be rounded again.
template <class Float>
SINTER_INLINE Float emulated_fma_narrow(Float left, Float right, Float addend) {
    const double product = mul(widen(left), widen(right));
    const sum_and_error<double> exact = two_sum(product, widen(addend));
    const bool finite = (soft::bits_of(exact.sum) & soft::binary64::infinity) != soft::binary64::infinity;
    return narrow(finite ? to_odd(exact) : exact.sum);
}

SINTER_INLINE int exponent_field(double value) { return static_cast<int>((soft::bits_of(value) >> 52) & 0x7ff); }
SINTER_INLINE bool is_moderate(int field) { return field > 1023 - 900 && field < 1023 + 900; }

/// Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd" (2008). Exact
/// while nothing overflows and no error term underflows; operands that could go there take the integer way.
template <class Float>
SINTER_HOST_DEVICE inline Float emulated_fma_wide(Float left, Float right, Float addend) {
    const int left_exponent = exponent_field(left);
    const int right_exponent = exponent_field(right);
    const int addend_exponent = exponent_field(addend);
    if (soft::bits_of(left) << 1 == 0 || soft::bits_of(right) << 1 == 0) {
        return add(mul(left, right), addend);
    }
    if (!is_moderate(left_exponent) || !is_moderate(right_exponent) || !is_moderate(left_exponent + right_exponent - 1023) ||
        !(is_moderate(addend_exponent) || soft::bits_of(addend) << 1 == 0)) {
        return soft::fma(left, right, addend);
    }
    // Dekker's product, by Veltkamp's splitting.
    constexpr Float splitter = 134217729.0;  // 2^27 + 1
    const Float left_scaled = mul(left, splitter);
    const Float left_high = sub(left_scaled, sub(left_scaled, left));
    const Float left_low = sub(left, left_high);
    const Float right_scaled = mul(right, splitter);
    const Float right_high = sub(right_scaled, sub(right_scaled, right));
    const Float right_low = sub(right, right_high);
    const Float product = mul(left, right);
    const Float residue = sub(mul(left_low, right_low), sub(sub(sub(product, mul(left_high, right_high)), mul(left_low, right_high)),
                                                             mul(left_high, right_low)));
    const sum_and_error<Float> low = two_sum(addend, residue);
    const sum_and_error<Float> high = two_sum(product, low.sum);
    return add(high.sum, to_odd(two_sum(low.error, high.error)));
}

}  // inline namespace SINTER_ISA

/// left * right + addend, rounded once, on every target.
template <class Float>
SINTER_INLINE Float fma(Float left, Float right, Float addend) {
    if (SINTER_CONSTANT_EVALUATED) {
        return soft::fma(left, right, addend);
    }
#if SINTER_DEVICE_PASS
    Float result;
    if constexpr (sizeof(Float) == 4) {
        asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(result) : "f"(left), "f"(right), "f"(addend));
    } else {
        asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(result) : "d"(left), "d"(right), "d"(addend));
    }
    return result;
#elif SINTER_X86_STEPS && defined(__FMA__)
    if constexpr (sizeof(Float) == 4) {
        __asm__("{vfmadd231ss %2, %1, %0|vfmadd231ss %0, %1, %2}"
                : "+" SINTER_X86_REGISTER(addend)
                : SINTER_X86_REGISTER(left), SINTER_X86_REGISTER(right));
    } else {
        __asm__("{vfmadd231sd %2, %1, %0|vfmadd231sd %0, %1, %2}"
                : "+" SINTER_X86_REGISTER(addend)
                : SINTER_X86_REGISTER(left), SINTER_X86_REGISTER(right));
    }
    return addend;
#elif SINTER_ARM_STEPS
    Float result;
    if constexpr (sizeof(Float) == 4) {
        __asm__("fmadd %s0, %s1, %s2, %s3" : "=w"(result) : "w"(left), "w"(right), "w"(addend));
    } else {
        __asm__("fmadd %d0, %d1, %d2, %d3" : "=w"(result) : "w"(left), "w"(right), "w"(addend));
    }
    return result;
#else
    if constexpr (sizeof(Float) == 4) {
        return emulated_fma_narrow(left, right, addend);
    } else {
        return emulated_fma_wide(left, right, addend);
    }
#endif
}

// ---- comparison -------------------------------------------------------------------------------------------------------------

/// Orders the numbers as integers: both zeros give 0.
template <class Float>
SINTER_INLINE i64 order_key(Float value) {
    const u64 bits = soft::bits_of(value);
    const i64 magnitude = static_cast<i64>(bits & (soft::format_of<Float>::type::sign - 1));
    return bits == static_cast<u64>(magnitude) ? magnitude : -magnitude;
}

#if SINTER_DEVICE_PASS
// Named, because -ftz=true would compare subnormals as zeros.
#define SINTER_COMPARE(symbol, relation)                                                                                      \
    if (!SINTER_CONSTANT_EVALUATED) {                                                                                         \
        unsigned result;                                                                                                      \
        if constexpr (sizeof(Float) == 4) {                                                                                   \
            asm("{.reg .pred p; setp." relation ".f32 p, %1, %2; selp.u32 %0, 1, 0, p;}" : "=r"(result) : "f"(left), "f"(right)); \
        } else {                                                                                                              \
            asm("{.reg .pred p; setp." relation ".f64 p, %1, %2; selp.u32 %0, 1, 0, p;}" : "=r"(result) : "d"(left), "d"(right)); \
        }                                                                                                                     \
        return result != 0;                                                                                                   \
    }                                                                                                                         \
    return left symbol right
#elif defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
// The compiler assumes that no NaN exists, so it may turn a comparison around: only integers are safe.
#define SINTER_COMPARE(symbol, relation) return !is_nan(left) && !is_nan(right) && order_key(left) symbol order_key(right)
#else
#define SINTER_COMPARE(symbol, relation) return opaque(left) symbol opaque(right)
#endif

template <class Float>
SINTER_INLINE bool less(Float left, Float right) {
    SINTER_COMPARE(<, "lt");
}
template <class Float>
SINTER_INLINE bool less_equal(Float left, Float right) {
    SINTER_COMPARE(<=, "le");
}
template <class Float>
SINTER_INLINE bool equal(Float left, Float right) {
    SINTER_COMPARE(==, "eq");
}
#undef SINTER_COMPARE

/// left < right ? left : right; the second when either is NaN, or both are zeros.
template <class Float>
SINTER_INLINE Float min_raw(Float left, Float right) {
#if SINTER_X86_STEPS
    if (!SINTER_CONSTANT_EVALUATED) {
        Float result;
        if constexpr (sizeof(Float) == 4) {
            SINTER_X86_BINARY("minss", result, left, right);
        } else {
            SINTER_X86_BINARY("minsd", result, left, right);
        }
        return result;
    }
#endif
    return less(left, right) ? opaque(left) : opaque(right);
}

/// left > right ? left : right; the second when either is NaN, or both are zeros.
template <class Float>
SINTER_INLINE Float max_raw(Float left, Float right) {
#if SINTER_X86_STEPS
    if (!SINTER_CONSTANT_EVALUATED) {
        Float result;
        if constexpr (sizeof(Float) == 4) {
            SINTER_X86_BINARY("maxss", result, left, right);
        } else {
            SINTER_X86_BINARY("maxsd", result, left, right);
        }
        return result;
    }
#endif
    return less(right, left) ? opaque(left) : opaque(right);
}

// ---- rounding ---------------------------------------------------------------------------------------------------------------

/// To an integer, halves to even; the sign survives on zeros.
template <class Float>
SINTER_INLINE Float round_even(Float value) {
    if (!SINTER_CONSTANT_EVALUATED) {
#if SINTER_DEVICE_PASS
        Float result;
        if constexpr (sizeof(Float) == 4) {
            asm("cvt.rni.f32.f32 %0, %1;" : "=f"(result) : "f"(value));
        } else {
            asm("cvt.rni.f64.f64 %0, %1;" : "=d"(result) : "d"(value));
        }
        return result;
#elif SINTER_ARM_STEPS
        Float result;
        if constexpr (sizeof(Float) == 4) {
            __asm__("frintn %s0, %s1" : "=w"(result) : "w"(value));
        } else {
            __asm__("frintn %d0, %d1" : "=w"(result) : "w"(value));
        }
        return result;
#elif SINTER_X86_STEPS && defined(__AVX__)
        Float result;
        if constexpr (sizeof(Float) == 4) {
            __asm__("{vroundss $8, %1, %1, %0|vroundss %0, %1, %1, 8}" : "=x"(result) : "x"(value));
        } else {
            __asm__("{vroundsd $8, %1, %1, %0|vroundsd %0, %1, %1, 8}" : "=x"(result) : "x"(value));
        }
        return result;
#endif
    }
    // Adding the number whose last place is 1 rounds by itself. Above it every number is an integer (or not finite).
    using Format = typename soft::format_of<Float>::type;
    const u64 bits = soft::bits_of(value);
    const u64 sign = bits & Format::sign;
    constexpr Float places = static_cast<Float>(Format::hidden);
    const Float magnitude = soft::float_of<Float>(bits ^ sign);
    if ((bits ^ sign) >= soft::bits_of(places)) {
        return value;
    }
    return soft::float_of<Float>(soft::bits_of(sub(add(magnitude, places), places)) | sign);
}

}  // namespace sinter::step

#undef SINTER_X86_BINARY
#undef SINTER_X86_REGISTER
#undef SINTER_X86_STEPS
#undef SINTER_ARM_STEPS
