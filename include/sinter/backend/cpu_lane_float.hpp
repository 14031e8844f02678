// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU lane's float primitives, comparison and selection: one asm instruction each where there is one, so that a result
// is rounded once whatever the flags. It holds no integer operation (cpu_lane_integer.hpp) and no conversion
// (cpu_lane_convert.hpp).
#pragma once

#include "cpu_lane_register.hpp"

namespace sinter::backend::SINTER_ISA {
inline namespace SINTER_CPU_FEATURES {

// ---- registers: arithmetic ------------------------------------------------------------------------------------------------------
// Each `simd_` function takes registers of f32 or f64 cells, of any size.

#if SINTER_CPU_X86
#define SINTER_CPU_FLOAT_BINARY(name, x86, neon)                     \
    template <class Register>                                        \
    SINTER_FORCE_INLINE Register simd_##name(Register left, Register right) { \
        Register result;                                             \
        if constexpr (sizeof(left[0]) == 4) {                        \
            SINTER_CPU_X86_BINARY(x86 "ps", result, left, right);    \
        } else {                                                     \
            SINTER_CPU_X86_BINARY(x86 "pd", result, left, right);    \
        }                                                            \
        return result;                                               \
    }
#elif SINTER_CPU_NEON
#define SINTER_CPU_FLOAT_BINARY(name, x86, neon)                                                  \
    template <class Register>                                                                     \
    SINTER_FORCE_INLINE Register simd_##name(Register left, Register right) {                     \
        Register result;                                                                          \
        if constexpr (sizeof(left[0]) == 4) {                                                     \
            __asm__(neon " %0.4s, %1.4s, %2.4s" : "=w"(result) : "w"(left), "w"(right));          \
        } else {                                                                                  \
            __asm__(neon " %0.2d, %1.2d, %2.2d" : "=w"(result) : "w"(left), "w"(right));          \
        }                                                                                         \
        return result;                                                                            \
    }
#else
#define SINTER_CPU_FLOAT_BINARY(name, x86, neon)                                                  \
    template <class Register>                                                                     \
    SINTER_FORCE_INLINE Register simd_##name(Register left, Register right) {                     \
        using Scalar = lane::scalar<cell_in<Register>>;                                           \
        return each_cell([](auto one, auto two) { return lane::name(Scalar(one), Scalar(two)).value; }, left, right); \
    }
#endif
SINTER_CPU_FLOAT_BINARY(add, "add", "fadd")
SINTER_CPU_FLOAT_BINARY(sub, "sub", "fsub")
SINTER_CPU_FLOAT_BINARY(mul, "mul", "fmul")
SINTER_CPU_FLOAT_BINARY(div, "div", "fdiv")
#if !SINTER_CPU_NEON
SINTER_CPU_FLOAT_BINARY(min_raw, "min", "")  // x86: the second operand if unordered or equal, as the primitive says
SINTER_CPU_FLOAT_BINARY(max_raw, "max", "")
#endif
#undef SINTER_CPU_FLOAT_BINARY

#if SINTER_CPU_AVX && !SINTER_CPU_GENERIC
/// The sum in place (measured on g++ 12: a loop over accumulators has one register copy less per step).
template <class Type, int Width>
    requires(lane::is_float_element<Type>)
SINTER_FORCE_INLINE void accumulate(vec<Type, Width>& into, vec<Type, Width> term) {
    if constexpr (is_split<Type, Width>) {
        accumulate(into.data.low, term.data.low);
        accumulate(into.data.high, term.data.high);
    }
#if SINTER_CPU_AVX512
    else if constexpr (sizeof(Type) == 4)
        __asm__("vaddps {%1, %0, %0|%0, %0, %1}" : "+v"(into.data) : "v"(term.data));
    else
        __asm__("vaddpd {%1, %0, %0|%0, %0, %1}" : "+v"(into.data) : "v"(term.data));
#else
    else if constexpr (sizeof(Type) == 4)
        __asm__("vaddps {%1, %0, %0|%0, %0, %1}" : "+x"(into.data) : "x"(term.data));
    else
        __asm__("vaddpd {%1, %0, %0|%0, %0, %1}" : "+x"(into.data) : "x"(term.data));
#endif
}
#endif

template <class Register>
SINTER_FORCE_INLINE Register simd_sqrt(Register value) {
#if SINTER_CPU_GENERIC
    return each_cell([](auto one) { return lane::sqrt(lane::scalar<cell_in<Register>>(one)).value; }, value);
#else
    Register result;
    if constexpr (sizeof(value[0]) == 4) {
#if SINTER_CPU_X86
        SINTER_CPU_X86_UNARY("sqrtps", result, value);
    } else {
        SINTER_CPU_X86_UNARY("sqrtpd", result, value);
#else
        __asm__("fsqrt %0.4s, %1.4s" : "=w"(result) : "w"(value));
    } else {
        __asm__("fsqrt %0.2d, %1.2d" : "=w"(result) : "w"(value));
#endif
    }
    return result;
#endif
}

/// left * right + addend, rounded once.
template <class Register>
SINTER_FORCE_INLINE Register simd_fma(Register left, Register right, Register addend) {
#if SINTER_CPU_FMA && SINTER_GCC
    // The builtin, which g++ never folds, lets it choose the operand that the instruction overwrites.
    Register result;
    constexpr bool single = sizeof(left[0]) == 4;
#if SINTER_CPU_AVX512
    constexpr int nearest = 4;  // the rounding mode in force
    if constexpr (sizeof(Register) == 64 && single) {
        result = __builtin_ia32_vfmaddps512_mask(left, right, addend, static_cast<short>(-1), nearest);
    } else if constexpr (sizeof(Register) == 64) {
        result = __builtin_ia32_vfmaddpd512_mask(left, right, addend, static_cast<u8>(-1), nearest);
    } else
#endif
        if constexpr (sizeof(Register) == 32 && single) {
        result = __builtin_ia32_vfmaddps256(left, right, addend);
    } else if constexpr (sizeof(Register) == 32) {
        result = __builtin_ia32_vfmaddpd256(left, right, addend);
    } else if constexpr (single) {
        result = __builtin_ia32_vfmaddps(left, right, addend);
    } else {
        result = __builtin_ia32_vfmaddpd(left, right, addend);
    }
    __asm__("" : "+" SINTER_CPU_REGISTER(result));
    return result;
#elif SINTER_CPU_FMA
    // Under unsafe flags clang folds its builtin with constants. 213 overwrites the factor that a Horner step is done with.
    if constexpr (sizeof(left[0]) == 4) {
        __asm__("vfmadd213ps {%2, %1, %0|%0, %1, %2}"
                : "+" SINTER_CPU_REGISTER(left)
                : SINTER_CPU_IN(right), SINTER_CPU_IN(addend));
    } else {
        __asm__("vfmadd213pd {%2, %1, %0|%0, %1, %2}"
                : "+" SINTER_CPU_REGISTER(left)
                : SINTER_CPU_IN(right), SINTER_CPU_IN(addend));
    }
    return left;
#elif SINTER_CPU_NEON
    if constexpr (sizeof(left[0]) == 4) {
        __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(addend) : "w"(left), "w"(right));
    } else {
        __asm__("fmla %0.2d, %1.2d, %2.2d" : "+w"(addend) : "w"(left), "w"(right));
    }
    return addend;
#else
    // Exact by integers: for its bits, not for its speed.
    using Scalar = lane::scalar<cell_in<Register>>;
    return each_cell([](auto one, auto two, auto three) { return lane::fma(Scalar(one), Scalar(two), Scalar(three)).value; },
                     left, right, addend);
#endif
}

// ---- registers: comparison and selection ----------------------------------------------------------------------------------------
// A comparison of registers gives a k mask under AVX-512, else cells of ones or zeros as wide as the operands'.

enum class relation { equal = 0, less = 1, less_equal = 2, unordered = 3, ordered = 7 };  // x86's numbers; `ordered` there only

template <relation Relation, class Register>
SINTER_FORCE_INLINE auto simd_compare(Register left, Register right) {
#if SINTER_CPU_AVX512
    typename storage<bool, cells<Register>>::type result;
#define SINTER_CPU_COMPARE(suffix, number) \
    __asm__(SINTER_CPU_TEXT_2I("vcmp" suffix, number) : "=k"(result) : "v"(left), "v"(right))
#elif SINTER_CPU_X86
    simd<signed_cell<Register>, int(sizeof(Register))> result;
#define SINTER_CPU_COMPARE(suffix, number) SINTER_CPU_X86_BINARY_I("cmp" suffix, number, result, left, right)
#else
    using Mask = simd<signed_cell<Register>, int(sizeof(Register))>;
    Mask result;
#endif
#if SINTER_CPU_X86
#define SINTER_CPU_COMPARE_BOTH(number)          \
    if constexpr (sizeof(left[0]) == 4) {        \
        SINTER_CPU_COMPARE("ps", number);        \
    } else {                                     \
        SINTER_CPU_COMPARE("pd", number);        \
    }
    if constexpr (Relation == relation::equal) {
        SINTER_CPU_COMPARE_BOTH("0")
    } else if constexpr (Relation == relation::less) {
        SINTER_CPU_COMPARE_BOTH("1")
    } else if constexpr (Relation == relation::less_equal) {
        SINTER_CPU_COMPARE_BOTH("2")
    } else if constexpr (Relation == relation::unordered) {
        SINTER_CPU_COMPARE_BOTH("3")
    } else {
        SINTER_CPU_COMPARE_BOTH("7")
    }
#undef SINTER_CPU_COMPARE_BOTH
#undef SINTER_CPU_COMPARE
    return result;
#elif SINTER_CPU_NEON
#define SINTER_CPU_COMPARE(name)                                                          \
    if constexpr (sizeof(left[0]) == 4) {                                                 \
        __asm__(name " %0.4s, %1.4s, %2.4s" : "=w"(result) : "w"(right), "w"(left));      \
    } else {                                                                              \
        __asm__(name " %0.2d, %1.2d, %2.2d" : "=w"(result) : "w"(right), "w"(left));      \
    }
    if constexpr (Relation == relation::less) {
        SINTER_CPU_COMPARE("fcmgt")  // right > left
    } else if constexpr (Relation == relation::less_equal) {
        SINTER_CPU_COMPARE("fcmge")
    } else if constexpr (Relation == relation::equal) {
        SINTER_CPU_COMPARE("fcmeq")
    } else {
        return ~(simd_compare<relation::equal>(left, left) & simd_compare<relation::equal>(right, right));
    }
#undef SINTER_CPU_COMPARE
    return result;
#else
    using Scalar = lane::scalar<cell_in<Register>>;
    for (int at = 0; at < cells<Register>; ++at) {
        const Scalar one(left[at]), two(right[at]);
        bool holds = false;
        if constexpr (Relation == relation::equal) {
            holds = lane::equal(one, two).value;
        } else if constexpr (Relation == relation::less) {
            holds = lane::less(one, two).value;
        } else if constexpr (Relation == relation::less_equal) {
            holds = lane::less_equal(one, two).value;
        } else {
            holds = !lane::equal(one, one).value || !lane::equal(two, two).value;
        }
        result[at] = holds ? -1 : 0;
    }
    return result;
#endif
}

/// mask ? yes : no, cell by cell. `mask` is as the comparisons give it for such cells; cells of any type.
template <class Mask, class Register>
SINTER_FORCE_INLINE Register simd_select(Mask mask, Register yes, Register no) {
#if SINTER_CPU_AVX512
    Register result;
    if constexpr (sizeof(yes[0]) == 4) {
        __asm__("vblendmps {%1, %2, %0%{%3%}|%0%{%3%}, %2, %1}" : "=v"(result) : "v"(yes), "v"(no), "Yk"(mask));
    } else {
        __asm__("vblendmpd {%1, %2, %0%{%3%}|%0%{%3%}, %2, %1}" : "=v"(result) : "v"(yes), "v"(no), "Yk"(mask));
    }
    return result;
#elif SINTER_CPU_AVX
    Register result;
    __asm__("vblendvps {%3, %1, %2, %0|%0, %2, %1, %3}" : "=x"(result) : "x"(yes), "x"(no), "x"(mask));
    return result;
#else
    return Register((mask & Mask(yes)) | (~mask & Mask(no)));
#endif
}

#if SINTER_CPU_NEON
template <class Register>
SINTER_FORCE_INLINE Register simd_min_raw(Register left, Register right) {
    return simd_select(simd_compare<relation::less>(left, right), left, right);
}
template <class Register>
SINTER_FORCE_INLINE Register simd_max_raw(Register left, Register right) {
    return simd_select(simd_compare<relation::less>(right, left), left, right);
}
#endif

enum class rounding { nearest = 8, down = 9, up = 10, zero = 11 };  // x86's numbers; 8: don't raise the inexact flag

#if SINTER_CPU_SSE41 || SINTER_CPU_NEON
#define SINTER_CPU_HAS_ROUND 1
#else
#define SINTER_CPU_HAS_ROUND 0
#endif

/// To an integer. Without an instruction only to the nearest, halves to even.
template <rounding Mode, class Register>
SINTER_FORCE_INLINE Register simd_round(Register value) {
#if SINTER_CPU_HAS_ROUND
    Register result;
#if SINTER_CPU_AVX512
#define SINTER_CPU_ROUND(suffix, x86, neon) __asm__(SINTER_CPU_TEXT_1I("vrndscale" suffix, x86) : "=v"(result) : "v"(value))
#elif SINTER_CPU_X86
#define SINTER_CPU_ROUND(suffix, x86, neon) \
    __asm__(SINTER_CPU_TEXT_1I(SINTER_CPU_VEX("round") suffix, x86) : "=x"(result) : "x"(value))
#else
#define SINTER_CPU_ROUND(suffix, x86, neon) __asm__(neon " %0" suffix ", %1" suffix : "=w"(result) : "w"(value))
#endif
#if SINTER_CPU_X86
#define SINTER_CPU_ROUND_BOTH(x86, neon)      \
    if constexpr (sizeof(value[0]) == 4) {    \
        SINTER_CPU_ROUND("ps", x86, neon);    \
    } else {                                  \
        SINTER_CPU_ROUND("pd", x86, neon);    \
    }
#else
#define SINTER_CPU_ROUND_BOTH(x86, neon)      \
    if constexpr (sizeof(value[0]) == 4) {    \
        SINTER_CPU_ROUND(".4s", x86, neon);   \
    } else {                                  \
        SINTER_CPU_ROUND(".2d", x86, neon);   \
    }
#endif
    if constexpr (Mode == rounding::nearest) {
        SINTER_CPU_ROUND_BOTH("8", "frintn")
    } else if constexpr (Mode == rounding::down) {
        SINTER_CPU_ROUND_BOTH("9", "frintm")
    } else if constexpr (Mode == rounding::up) {
        SINTER_CPU_ROUND_BOTH("10", "frintp")
    } else {
        SINTER_CPU_ROUND_BOTH("11", "frintz")
    }
#undef SINTER_CPU_ROUND_BOTH
#undef SINTER_CPU_ROUND
    return result;
#else
    // |x| + 2^23 - 2^23 rounds to an integer; from 2^23 on every float is one. Infinities and NaN fail the comparison.
    static_assert(Mode == rounding::nearest);
    using Cell = cell_in<Register>;
    using Bits = unsigned_cell<Register>;
    const Bits top = Bits(1) << (sizeof(Bits) * 8 - 1);
    const Register magic = broadcast<Register>(static_cast<Cell>(sizeof(Cell) == 4 ? 0x1p23 : 0x1p52));
    const auto sign = as<Bits>(value) & top;
    const Register magnitude = Register(as<Bits>(value) ^ sign);
    const Register rounded = simd_sub(simd_add(magnitude, magic), magic);
    return simd_select(simd_compare<relation::less>(magnitude, magic), Register(as<Bits>(rounded) | sign), value);
#endif
}

// ---- masks and registers --------------------------------------------------------------------------------------------------------

/// The mask of a kernel from what a comparison of registers gave.
template <int Width, class Result>
SINTER_FORCE_INLINE mask_of<Width> mask_from(Result result) {
#if SINTER_CPU_AVX512
    if constexpr (Width == 2) {
        result = static_cast<Result>(result & 3);  // a register has four cells at least
    }
    return mask_of<Width>::of(result);
#else
    if constexpr (sizeof(result[0]) == 4) {
        return mask_of<Width>::of(as<i32>(result));
    } else {
        return mask_of<Width>::of(narrow(result));
    }
#endif
}

/// The mask that selects among cells of `Type`.
template <class Type, int Width>
SINTER_FORCE_INLINE auto mask_for(mask_of<Width> mask) {
    if constexpr (!SINTER_CPU_AVX512 && sizeof(cell<Type>) == 8) {
        return widen<true, Width>(mask.data);
    } else {
        return mask.data;
    }
}

// ---- primitives -----------------------------------------------------------------------------------------------------------------
// For f32 and f64 lanes. Those that integers have too are in cpu_lane_integer.hpp, which calls down here.

template <class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width> fma(vec<Type, Width> left, vec<Type, Width> right, vec<Type, Width> addend) {
    static_assert(is_float<Type>);
    if constexpr (is_split<Type, Width>) {
        vec<Type, Width> result;
        result.data.low = fma(left.data.low, right.data.low, addend.data.low);
        result.data.high = fma(left.data.high, right.data.high, addend.data.high);
        return result;
    } else {
        return left.of(simd_fma(left.data, right.data, addend.data));
    }
}

template <class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width> sqrt(vec<Type, Width> value) {
    static_assert(is_float<Type>);
    if constexpr (is_split<Type, Width>) {
        vec<Type, Width> result;
        result.data.low = sqrt(value.data.low);
        result.data.high = sqrt(value.data.high);
        return result;
    } else {
        return value.of(simd_sqrt(value.data));
    }
}

#define SINTER_CPU_ROUND(name, mode)                                     \
    template <class Type, int Width>                                     \
        requires is_float<Type>                                          \
    SINTER_FORCE_INLINE vec<Type, Width> name(vec<Type, Width> value) {  \
        if constexpr (is_split<Type, Width>) {                             \
            vec<Type, Width> result;                                     \
            result.data.low = name(value.data.low);                      \
            result.data.high = name(value.data.high);                    \
            return result;                                               \
        } else {                                                         \
            return value.of(simd_round<rounding::mode>(value.data));     \
        }                                                                \
    }
SINTER_CPU_ROUND(round_even, nearest)

// ---- beyond the primitives: the bits of lane.hpp's, in fewer instructions -------------------------------------------------------

#if SINTER_CPU_HAS_ROUND
SINTER_CPU_ROUND(floor, down)
SINTER_CPU_ROUND(ceil, up)
SINTER_CPU_ROUND(trunc, zero)
#endif
#undef SINTER_CPU_ROUND

template <class Type, int Width>
    requires is_float<Type>
SINTER_FORCE_INLINE mask_of<Width> is_nan(vec<Type, Width> value) {
    if constexpr (is_split<bool, Width>) {
        mask_of<Width> result;
        result.data.low = is_nan(value.data.low);
        result.data.high = is_nan(value.data.high);
        return result;
    } else if constexpr (is_split<Type, Width>) {
        return join{is_nan(low(value)), is_nan(high(value))};
    } else {
        return mask_from<Width>(simd_compare<relation::unordered>(value.data, value.data));
    }
}

#if SINTER_CPU_FMA && SINTER_CLANG
/// (g++ merges the negation into the instruction by itself; clang kept its mask in a register, and spilled that in GELU.)
template <class Type, int Width>
    requires is_float<Type>
SINTER_FORCE_INLINE vec<Type, Width> fms(vec<Type, Width> left, vec<Type, Width> right, vec<Type, Width> subtrahend) {
    if constexpr (is_split<Type, Width>) {
        vec<Type, Width> result;
        result.data.low = fms(left.data.low, right.data.low, subtrahend.data.low);
        result.data.high = fms(left.data.high, right.data.high, subtrahend.data.high);
        return result;
    } else {
        if constexpr (sizeof(Type) == 4) {
            __asm__("vfmsub213ps {%2, %1, %0|%0, %1, %2}"
                    : "+" SINTER_CPU_REGISTER(left.data)
                    : SINTER_CPU_IN(right.data), SINTER_CPU_IN(subtrahend.data));
        } else {
            __asm__("vfmsub213pd {%2, %1, %0|%0, %1, %2}"
                    : "+" SINTER_CPU_REGISTER(left.data)
                    : SINTER_CPU_IN(right.data), SINTER_CPU_IN(subtrahend.data));
        }
        return left;
    }
}
#endif

#if SINTER_CPU_AVX
template <class Type, int Width>
    requires is_float<Type>
SINTER_FORCE_INLINE void keep_ordered(mask_of<Width>& ordered, vec<Type, Width> left, vec<Type, Width> right) {
    if constexpr (is_split<bool, Width>) {
        keep_ordered(ordered.data.low, low(left), low(right));
        keep_ordered(ordered.data.high, high(left), high(right));
    } else if constexpr (is_split<Type, Width>) {
        mask_of<Width / 2> lower = low(ordered), upper = high(ordered);
        keep_ordered(lower, low(left), low(right));
        keep_ordered(upper, high(left), high(right));
        ordered = join{lower, upper};
    } else {
        const auto both = mask_from<Width>(simd_compare<relation::ordered>(left.data, right.data));
#if SINTER_CPU_AVX512
        // In a general register, where this is one step of a loop's chain. A comparison that keeps the mask itself, or an `and` of masks,
        // makes it ten: g++ moves the mask from one turn to the next, or spills it.
        __asm__("and {%k1, %k0|%k0, %k1}" : "+r"(ordered.data) : "r"(both.data) : "cc");
#else
        ordered = bit_and(ordered, both);
#endif
    }
}
#endif

#if SINTER_CPU_AVX512
/// NaN if either is; +0 > -0. vrange orders zeros but prefers a number to a NaN: where unordered, the sum is the NaN.
template <class Type, int Width>
    requires is_float<Type>
SINTER_FORCE_INLINE vec<Type, Width> maximum(vec<Type, Width> left, vec<Type, Width> right) {
    if constexpr (is_split<Type, Width>) {
        vec<Type, Width> result;
        result.data.low = maximum(left.data.low, right.data.low);
        result.data.high = maximum(left.data.high, right.data.high);
        return result;
    } else {
        const auto unordered = simd_compare<relation::unordered>(left.data, right.data);
        auto result = left.data;
#define SINTER_CPU_MAXIMUM(suffix)                                                             \
    __asm__(SINTER_CPU_TEXT_2I("vrange" suffix, "5") : "=v"(result) : "v"(left.data), "v"(right.data)); \
    __asm__("vadd" suffix " {%2, %1, %0%{%3%}|%0%{%3%}, %1, %2}"                               \
            : "+v"(result)                                                                     \
            : "v"(left.data), "v"(right.data), "Yk"(unordered))
        if constexpr (sizeof(Type) == 4) {
            SINTER_CPU_MAXIMUM("ps");
        } else {
            SINTER_CPU_MAXIMUM("pd");
        }
#undef SINTER_CPU_MAXIMUM
        return left.of(result);
    }
}
#elif SINTER_CPU_NEON
// One instruction each, with the same rules for NaN and zeros.
#define SINTER_CPU_EXTREMUM(name, neon)                                                                        \
    template <class Type, int Width>                                                                           \
        requires is_float<Type>                                                                                \
    SINTER_FORCE_INLINE vec<Type, Width> name(vec<Type, Width> left, vec<Type, Width> right) {                 \
        if constexpr (is_split<Type, Width>) {                                                                   \
            vec<Type, Width> result;                                                                           \
            result.data.low = name(left.data.low, right.data.low);                                             \
            result.data.high = name(left.data.high, right.data.high);                                          \
            return result;                                                                                     \
        } else {                                                                                               \
            if constexpr (sizeof(Type) == 4) {                                                                 \
                __asm__(neon " %0.4s, %1.4s, %2.4s" : "=w"(left.data) : "w"(left.data), "w"(right.data));      \
            } else {                                                                                           \
                __asm__(neon " %0.2d, %1.2d, %2.2d" : "=w"(left.data) : "w"(left.data), "w"(right.data));      \
            }                                                                                                  \
            return left;                                                                                       \
        }                                                                                                      \
    }
SINTER_CPU_EXTREMUM(minimum, "fmin")
SINTER_CPU_EXTREMUM(maximum, "fmax")
#undef SINTER_CPU_EXTREMUM
#endif

}  // namespace SINTER_CPU_FEATURES
}  // namespace sinter::backend::SINTER_ISA
