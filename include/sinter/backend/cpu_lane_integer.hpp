// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU lane's primitives that every element type has (add .. select), those of integers and of masks, and bits. Integers
// are compilers' vector operators: what wraps is computed unsigned, what would be undefined is avoided, and narrow types
// are brought back into their own range after each step. It holds no integer division, no conversion and no memory
// access (cpu_lane_convert.hpp).
#pragma once

#include "cpu_lane_float.hpp"

namespace sinter::backend::SINTER_ISA {
inline namespace SINTER_CPU_FEATURES {

// ---- registers ------------------------------------------------------------------------------------------------------------------

/// Cells brought into the range of `Type`: an 8- or 16-bit value extended to its cell again. Nothing for 32 and 64 bits.
template <class Type, class Register>
SINTER_FORCE_INLINE auto renormalise(Register value) {
    constexpr int spare = 32 - 8 * int(sizeof(Type));
    if constexpr (spare <= 0) {
        return as<Type>(value);
    } else if constexpr (has_sign<Type>) {
        return as<i32>(as<u32>(value) << spare) >> spare;
    } else {
        return as<u32>(value) & ((1u << (8 * sizeof(Type))) - 1);
    }
}

/// An integer comparison, as a mask for such cells.
template <relation Relation, class Register>
SINTER_FORCE_INLINE auto simd_compare_integer(Register left, Register right) {
#if SINTER_CPU_AVX512
    typename storage<bool, cells<Register>>::type result;
#define SINTER_CPU_COMPARE(number)                                                                                        \
    if constexpr (sizeof(left[0]) == 4 && has_sign<cell_in<Register>>) {                                                  \
        __asm__(SINTER_CPU_TEXT_2I("vpcmpd", number) : "=k"(result) : "v"(left), "v"(right));                             \
    } else if constexpr (sizeof(left[0]) == 4) {                                                                          \
        __asm__(SINTER_CPU_TEXT_2I("vpcmpud", number) : "=k"(result) : "v"(left), "v"(right));                            \
    } else if constexpr (has_sign<cell_in<Register>>) {                                                                   \
        __asm__(SINTER_CPU_TEXT_2I("vpcmpq", number) : "=k"(result) : "v"(left), "v"(right));                             \
    } else {                                                                                                              \
        __asm__(SINTER_CPU_TEXT_2I("vpcmpuq", number) : "=k"(result) : "v"(left), "v"(right));                            \
    }
    if constexpr (Relation == relation::equal) {
        SINTER_CPU_COMPARE("0")
    } else if constexpr (Relation == relation::less) {
        SINTER_CPU_COMPARE("1")
    } else {
        SINTER_CPU_COMPARE("2")
    }
#undef SINTER_CPU_COMPARE
    return result;
#else
    using Mask = simd<signed_cell<Register>, int(sizeof(Register))>;
    if constexpr (Relation == relation::equal) {
        return Mask(left == right);
    } else if constexpr (Relation == relation::less) {
        return Mask(left < right);
    } else {
        return Mask(left <= right);
    }
#endif
}

#if SINTER_CPU_AVX512
// Within k registers: the plain operators would often take the way through general ones.
#define SINTER_CPU_MASK_BINARY(name, instruction)                                            \
    template <class Mask>                                                                    \
    SINTER_FORCE_INLINE Mask name(Mask left, Mask right) {                                   \
        Mask result;                                                                         \
        __asm__(SINTER_CPU_TEXT_2(instruction) : "=k"(result) : "k"(left), "k"(right));      \
        return result;                                                                       \
    }
SINTER_CPU_MASK_BINARY(mask_and, "kandw")
SINTER_CPU_MASK_BINARY(mask_or, "korw")
SINTER_CPU_MASK_BINARY(mask_xor, "kxorw")
SINTER_CPU_MASK_BINARY(mask_without, "kandnw")  // ~left & right
#undef SINTER_CPU_MASK_BINARY
#endif

// ---- primitives: arithmetic -----------------------------------------------------------------------------------------------------
// Floats go to their instruction, integers wrap: the same line serves i8 and f64.

#define SINTER_CPU_ARITHMETIC(name, symbol)                                                                   \
    template <class Type, int Width>                                                                          \
    SINTER_FORCE_INLINE vec<Type, Width> name(vec<Type, Width> left, vec<Type, Width> right) {                \
        static_assert(!__is_same(Type, bool), "a mask has no arithmetic: convert it");                        \
        if constexpr (is_split<Type, Width>) {                                                                  \
            vec<Type, Width> result;                                                                          \
            result.data.low = name(left.data.low, right.data.low);                                            \
            result.data.high = name(left.data.high, right.data.high);                                         \
            return result;                                                                                    \
        } else if constexpr (is_float<Type>) {                                                                \
            return left.of(simd_##name(left.data, right.data));                                               \
        } else {                                                                                              \
            using Wrapping = lane::unsigned_like<cell<Type>>;                                                 \
            return left.of(renormalise<Type>(as<Wrapping>(left.data) symbol as<Wrapping>(right.data)));       \
        }                                                                                                     \
    }
SINTER_CPU_ARITHMETIC(add, +)
SINTER_CPU_ARITHMETIC(sub, -)
SINTER_CPU_ARITHMETIC(mul, *)
#undef SINTER_CPU_ARITHMETIC

/// Products of 16-bit numbers in 32-bit cells: pmaddwd multiplies the halves of each cell and adds both products, and one upper half is 0.
/// One instruction, where pmulld is two or more and SSE2 has none.
template <bool LeftCounts, int Width>
SINTER_FORCE_INLINE vec<i32, Width> mul_short(vec<i32, Width> left, vec<i32, Width> right) {
    if constexpr (is_split<i32, Width>) {
        vec<i32, Width> result;
        result.data.low = mul_short<LeftCounts>(left.data.low, right.data.low);
        result.data.high = mul_short<LeftCounts>(left.data.high, right.data.high);
        return result;
    } else if constexpr (!SINTER_CPU_X86) {
        return mul(left, right);
    } else {
#if SINTER_CPU_X86
        auto lower = left.data;
        if constexpr (!LeftCounts) lower = lower & 0xffff;
        auto result = left.data;
        SINTER_CPU_X86_BINARY("pmaddwd", result, lower, right.data);
        return left.of(result);
#endif
    }
}

// ---- primitives: comparison and selection ---------------------------------------------------------------------------------------

#define SINTER_CPU_RELATION(name)                                                                             \
    template <class Type, int Width>                                                                          \
    SINTER_FORCE_INLINE mask_of<Width> name(vec<Type, Width> left, vec<Type, Width> right) {                  \
        if constexpr (is_split<bool, Width>) {                                                                \
            mask_of<Width> result;                                                                            \
            result.data.low = name(left.data.low, right.data.low);                                            \
            result.data.high = name(left.data.high, right.data.high);                                         \
            return result;                                                                                    \
        } else if constexpr (is_split<Type, Width>) {                                                         \
            return join{name(low(left), low(right)), name(high(left), high(right))};                          \
        } else if constexpr (is_float<Type>) {                                                                \
            return mask_from<Width>(simd_compare<relation::name>(left.data, right.data));                     \
        } else {                                                                                              \
            return mask_from<Width>(simd_compare_integer<relation::name>(left.data, right.data));             \
        }                                                                                                     \
    }
SINTER_CPU_RELATION(equal)
SINTER_CPU_RELATION(less)
SINTER_CPU_RELATION(less_equal)
#undef SINTER_CPU_RELATION

// Of masks: false < true.
template <int Width>
SINTER_FORCE_INLINE mask_of<Width> equal(mask_of<Width> left, mask_of<Width> right) {
    return bit_not(bit_xor(left, right));
}
template <int Width>
SINTER_FORCE_INLINE mask_of<Width> less(mask_of<Width> left, mask_of<Width> right) {
    return bit_and(bit_not(left), right);
}
template <int Width>
SINTER_FORCE_INLINE mask_of<Width> less_equal(mask_of<Width> left, mask_of<Width> right) {
    return bit_or(bit_not(left), right);
}

template <class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width> select(mask_of<Width> mask, vec<Type, Width> yes, vec<Type, Width> no) {
    if constexpr (is_split<bool, Width>) {
        vec<Type, Width> result;
        result.data.low = select(mask.data.low, yes.data.low, no.data.low);
        result.data.high = select(mask.data.high, yes.data.high, no.data.high);
        return result;
    } else if constexpr (is_split<Type, Width>) {
        return join{select(low(mask), low(yes), low(no)), select(high(mask), high(yes), high(no))};
    } else if constexpr (!__is_same(Type, bool)) {
        return yes.of(simd_select(mask_for<Type>(mask), yes.data, no.data));
    } else {
#if SINTER_CPU_AVX512
        return yes.of(mask_or(mask_and(mask.data, yes.data), mask_without(mask.data, no.data)));
#else
        return yes.of((mask.data & yes.data) | (~mask.data & no.data));
#endif
    }
}

/// left < right ? left : right: the second one when unordered or equal.
template <class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width> min_raw(vec<Type, Width> left, vec<Type, Width> right) {
    if constexpr (is_split<Type, Width>) {
        vec<Type, Width> result;
        result.data.low = min_raw(left.data.low, right.data.low);
        result.data.high = min_raw(left.data.high, right.data.high);
        return result;
    } else if constexpr (is_float<Type>) {
        return left.of(simd_min_raw(left.data, right.data));
    } else if constexpr (__is_same(Type, bool)) {
        return bit_and(left, right);
    } else {
        return left.of(left.data < right.data ? left.data : right.data);
    }
}
/// left > right ? left : right: the second one when unordered or equal.
template <class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width> max_raw(vec<Type, Width> left, vec<Type, Width> right) {
    if constexpr (is_split<Type, Width>) {
        vec<Type, Width> result;
        result.data.low = max_raw(left.data.low, right.data.low);
        result.data.high = max_raw(left.data.high, right.data.high);
        return result;
    } else if constexpr (is_float<Type>) {
        return left.of(simd_max_raw(left.data, right.data));
    } else if constexpr (__is_same(Type, bool)) {
        return bit_or(left, right);
    } else {
        return left.of(left.data > right.data ? left.data : right.data);
    }
}

// ---- primitives: bits -----------------------------------------------------------------------------------------------------------

/// The same bits as an unsigned integer of the element's size.
template <class Type, int Width>
SINTER_FORCE_INLINE vec<lane::unsigned_like<Type>, Width> bits(vec<Type, Width> value) {
    using Unsigned = lane::unsigned_like<Type>;
    if constexpr (is_split<Type, Width>) {
        vec<lane::unsigned_like<Type>, Width> result;
        result.data.low = bits(value.data.low);
        result.data.high = bits(value.data.high);
        return result;
    } else {
        return vec<Unsigned, Width>::of(renormalise<Unsigned>(value.data));
    }
}
template <class Type, class Unsigned, int Width>
SINTER_FORCE_INLINE vec<Type, Width> from_bits(vec<Unsigned, Width> value) {
    static_assert(sizeof(Type) == sizeof(Unsigned), "from_bits keeps the size");
    if constexpr (is_split<Type, Width>) {
        vec<Type, Width> result;
        result.data.low = from_bits<Type>(value.data.low);
        result.data.high = from_bits<Type>(value.data.high);
        return result;
    } else {
        return vec<Type, Width>::of(renormalise<Type>(value.data));
    }
}

// Of normalised cells `and`, `or` and `xor` are normalised.
#define SINTER_CPU_BITWISE(name, symbol, mask_name)                                                           \
    template <class Type, int Width>                                                                          \
    SINTER_FORCE_INLINE vec<Type, Width> name(vec<Type, Width> left, vec<Type, Width> right) {                \
        if constexpr (is_split<Type, Width>) {                                                                  \
            vec<Type, Width> result;                                                                          \
            result.data.low = name(left.data.low, right.data.low);                                            \
            result.data.high = name(left.data.high, right.data.high);                                         \
            return result;                                                                                    \
        } else if constexpr (__is_same(Type, bool)) {                                                         \
            return left.of(SINTER_CPU_MASK_OPERATION(mask_name, symbol));                                     \
        } else {                                                                                              \
            return left.of(left.data symbol right.data);                                                      \
        }                                                                                                     \
    }
#if SINTER_CPU_AVX512
#define SINTER_CPU_MASK_OPERATION(mask_name, symbol) mask_name(left.data, right.data)
#else
#define SINTER_CPU_MASK_OPERATION(mask_name, symbol) left.data symbol right.data
#endif
SINTER_CPU_BITWISE(bit_and, &, mask_and)
SINTER_CPU_BITWISE(bit_or, |, mask_or)
SINTER_CPU_BITWISE(bit_xor, ^, mask_xor)
#undef SINTER_CPU_BITWISE
#undef SINTER_CPU_MASK_OPERATION

template <class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width> bit_not(vec<Type, Width> value) {
    if constexpr (is_split<Type, Width>) {
        vec<Type, Width> result;
        result.data.low = bit_not(value.data.low);
        result.data.high = bit_not(value.data.high);
        return result;
    } else if constexpr (!__is_same(Type, bool)) {
        return value.of(renormalise<Type>(~value.data));
    } else if constexpr (!SINTER_CPU_AVX512) {
        return value.of(~value.data);
    } else {
        return bit_xor(value, vec<Type, Width>(true));  // bits above Width stay zero
    }
}

/// A count that is negative, or the width or more, shifts everything out.
template <class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width> shift_left(vec<Type, Width> value, vec<Type, Width> count) {
    if constexpr (is_split<Type, Width>) {
        vec<Type, Width> result;
        result.data.low = shift_left(value.data.low, count.data.low);
        result.data.high = shift_left(value.data.high, count.data.high);
        return result;
    } else {
        using Wrapping = lane::unsigned_like<cell<Type>>;
        const auto places = as<Wrapping>(count.data);  // a negative count becomes a huge one
        const auto in_range = decltype(places)(places < Wrapping(8 * sizeof(Type)));
        const auto shifted = as<Wrapping>(value.data) << (places & Wrapping(8 * sizeof(cell<Type>) - 1));
        return value.of(renormalise<Type>(shifted & in_range));
    }
}
/// Signed types fill with the sign; so does a count out of range.
template <class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width> shift_right(vec<Type, Width> value, vec<Type, Width> count) {
    if constexpr (is_split<Type, Width>) {
        vec<Type, Width> result;
        result.data.low = shift_right(value.data.low, count.data.low);
        result.data.high = shift_right(value.data.high, count.data.high);
        return result;
    } else {
        using Wrapping = lane::unsigned_like<cell<Type>>;
        constexpr Wrapping most = 8 * sizeof(Type) - 1;
        const auto places = as<Wrapping>(count.data);
        const auto in_range = decltype(places)(places <= most);
        if constexpr (has_sign<Type>) {
            return value.of(value.data >> as<cell<Type>>((places & in_range) | (most & ~in_range)));
        } else {
            return value.of((value.data >> (places & most)) & in_range);
        }
    }
}
template <int Count, class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width> shift_left(vec<Type, Width> value) {
    static_assert(Count >= 0 && Count < 8 * int(sizeof(Type)), "a constant shift count lies within the type");
    if constexpr (is_split<Type, Width>) {
        vec<Type, Width> result;
        result.data.low = shift_left<Count>(value.data.low);
        result.data.high = shift_left<Count>(value.data.high);
        return result;
    } else {
        return value.of(renormalise<Type>(as<lane::unsigned_like<cell<Type>>>(value.data) << Count));
    }
}
template <int Count, class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width> shift_right(vec<Type, Width> value) {
    static_assert(Count >= 0 && Count < 8 * int(sizeof(Type)), "a constant shift count lies within the type");
    if constexpr (is_split<Type, Width>) {
        vec<Type, Width> result;
        result.data.low = shift_right<Count>(value.data.low);
        result.data.high = shift_right<Count>(value.data.high);
        return result;
    } else {
        return value.of(value.data >> Count);
    }
}

// ---- primitives: over the lanes of a mask ---------------------------------------------------------------------------------------

template <int Width>
SINTER_FORCE_INLINE bool any(mask_of<Width> mask) {
    if constexpr (is_split<bool, Width>) {
        return any(bit_or(low(mask), high(mask)));
    } else {
#if SINTER_CPU_AVX512
        return mask.data != 0;
#elif SINTER_CPU_X86
        int signs;
        __asm__(SINTER_CPU_TEXT_1(SINTER_CPU_VEX("movmskps")) : "=r"(signs) : "x"(mask.data));
        return (signs & ((1 << Width) - 1)) != 0;
#else
        const auto halves = as<u64>(mask.data);  // two lanes are one half
        return (halves[0] | (Width == 2 ? 0 : halves[1])) != 0;
#endif
    }
}
template <int Width>
SINTER_FORCE_INLINE bool all(mask_of<Width> mask) {
    return !any(bit_not(mask));
}

}  // namespace SINTER_CPU_FEATURES
}  // namespace sinter::backend::SINTER_ISA
