// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU lane's bottom layer: which instruction set this file is compiled for, the registers, the struct `vec` that a kernel
// computes on, and how one splits into halves and joins again. It holds no operation on values (cpu_lane_float.hpp,
// cpu_lane_integer.hpp) and no memory access (cpu_lane_convert.hpp).
//
// `vec<Type, Width>` has the same Width for every element type of a kernel. A 32-bit element takes 32 bits of a register, a
// 64-bit one 64; 8- and 16-bit integers are computed in 32-bit cells that always hold the value itself (sign- or
// zero-extended), so they wrap in their own type. A vec of more than one register is a pair of halves, recursively: that
// needs no loop, so it stays in registers at every optimisation level. A vec of less than one register (two 32-bit
// elements) leaves the upper cells unspecified. A mask is a k register under AVX-512, else 32-bit cells of all ones or zero.
//
// Registers are GCC's vector types, as the platform's own (__m256) and xsimd's are: their casts to each other are free. What
// the compilers do well with operators on them (integers, shuffles, bits) is written so. Every float operation is one asm
// instruction: no flag can contract, reassociate or fold it, and unlike a barrier on the operands of an intrinsic it never
// copies one that is used again. So no header of intrinsics is needed: parsing one costs more than all of Sinter.
#pragma once

#include "../config.hpp"
#include "../lane.hpp"
#include "../scalar.hpp"

#if SINTER_CUDA
#error "[SINTER-B002] the CPU lanes don't compile in a CUDA file: put CPU kernels into a .cpp file of their own, and link."
#endif

// ---- the instruction set ------------------------------------------------------------------------------------------------------------
// One of X86, NEON and GENERIC is 1. A user may define SINTER_CPU_GENERIC to get the plain one: floats go lane by lane.
#if defined(SINTER_CPU_GENERIC)
#undef SINTER_CPU_GENERIC
#define SINTER_CPU_GENERIC 1
#elif defined(__SSE2__) || defined(__aarch64__)
#define SINTER_CPU_GENERIC 0
#else
#define SINTER_CPU_GENERIC 1
#endif
#if !SINTER_CPU_GENERIC && defined(__SSE2__)
#define SINTER_CPU_X86 1
#else
#define SINTER_CPU_X86 0
#endif
#if !SINTER_CPU_GENERIC && defined(__aarch64__)
#define SINTER_CPU_NEON 1
#else
#define SINTER_CPU_NEON 0
#endif
// Within x86: k-register masks and 64-byte registers, or 32-byte registers, or 16-byte ones; the encoding; single features.
#if SINTER_CPU_X86 && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define SINTER_CPU_AVX512 1
#define SINTER_CPU_BYTES 64
#define SINTER_CPU_REGISTER "v"
#elif SINTER_CPU_X86 && defined(__AVX2__) && defined(__FMA__)
#define SINTER_CPU_AVX512 0
#define SINTER_CPU_BYTES 32
#define SINTER_CPU_REGISTER "x"
#else
#define SINTER_CPU_AVX512 0
#define SINTER_CPU_BYTES 16
#define SINTER_CPU_REGISTER "x"
#endif
#if SINTER_CPU_X86 && defined(__AVX__)
#define SINTER_CPU_AVX 1
#else
#define SINTER_CPU_AVX 0
#endif
#if SINTER_CPU_X86 && defined(__SSE4_1__)
#define SINTER_CPU_SSE41 1
#else
#define SINTER_CPU_SSE41 0
#endif
#if SINTER_CPU_X86 && defined(__FMA__)
#define SINTER_CPU_FMA 1
#else
#define SINTER_CPU_FMA 0
#endif
#if SINTER_CPU_X86 && defined(__F16C__)
#define SINTER_CPU_F16C 1
#else
#define SINTER_CPU_F16C 0
#endif

#if SINTER_CPU_AVX512 && SINTER_CPU_F16C && defined(__AVX512VNNI__)
#define SINTER_CPU_VNNI 1  // sums of four products of bytes
#else
#define SINTER_CPU_VNNI 0
#endif

#if SINTER_CPU_VNNI && defined(__AVX512VBMI__)
#define SINTER_CPU_VBMI 1  // permutations of bytes
#else
#define SINTER_CPU_VBMI 0
#endif

// A second, inline namespace tells apart what SINTER_ISA calls by one name, so that kernels, whose names contain vec, are
// distinct functions for the linker too.
#if SINTER_CPU_GENERIC
#define SINTER_CPU_FEATURES plain
#elif SINTER_CPU_VBMI
#define SINTER_CPU_FEATURES with_vnni_vbmi
#elif SINTER_CPU_VNNI
#define SINTER_CPU_FEATURES with_vnni
#elif SINTER_CPU_F16C && SINTER_CPU_BYTES > 16
#define SINTER_CPU_FEATURES with_f16c
#elif SINTER_CPU_F16C && SINTER_CPU_FMA
#define SINTER_CPU_FEATURES with_avx_f16c_fma
#elif SINTER_CPU_F16C
#define SINTER_CPU_FEATURES with_avx_f16c
#elif SINTER_CPU_BYTES == 16 && SINTER_CPU_FMA
#define SINTER_CPU_FEATURES with_avx_fma
#elif SINTER_CPU_BYTES == 16 && SINTER_CPU_AVX
#define SINTER_CPU_FEATURES with_avx
#elif SINTER_CPU_BYTES == 16 && SINTER_CPU_SSE41
#define SINTER_CPU_FEATURES with_sse41
#else
#define SINTER_CPU_FEATURES baseline
#endif

// ---- one instruction ------------------------------------------------------------------------------------------------------------
// The operand lists of both assembler dialects (-masm=intel swaps them), and the prefix that AVX gives to a mnemonic.

#if SINTER_CPU_AVX
#define SINTER_CPU_VEX(name) "v" name
#else
#define SINTER_CPU_VEX(name) name
#endif
#define SINTER_CPU_TEXT_1(name) name " {%1, %0|%0, %1}"
#define SINTER_CPU_TEXT_1I(name, immediate) name " {$" immediate ", %1, %0|%0, %1, " immediate "}"
#define SINTER_CPU_TEXT_2(name) name " {%2, %1, %0|%0, %1, %2}"
#define SINTER_CPU_TEXT_2I(name, immediate) name " {$" immediate ", %2, %1, %0|%0, %1, %2, " immediate "}"
#define SINTER_CPU_OUT(value) "=" SINTER_CPU_REGISTER(value)
#define SINTER_CPU_IN(value) SINTER_CPU_REGISTER(value)
// A two-operand instruction as one statement: SSE overwrites its left operand, which the compiler sees to.
#if SINTER_CPU_AVX
#define SINTER_CPU_X86_BINARY(name, result, left, right) \
    __asm__(SINTER_CPU_TEXT_2("v" name) : SINTER_CPU_OUT(result) : SINTER_CPU_IN(left), SINTER_CPU_IN(right))
#define SINTER_CPU_X86_BINARY_I(name, immediate, result, left, right) \
    __asm__(SINTER_CPU_TEXT_2I("v" name, immediate) : SINTER_CPU_OUT(result) : SINTER_CPU_IN(left), SINTER_CPU_IN(right))
#else
#define SINTER_CPU_X86_BINARY(name, result, left, right) \
    __asm__(name " {%2, %0|%0, %2}" : "=x"(result) : "0"(decltype(result)(left)), "x"(right))
#define SINTER_CPU_X86_BINARY_I(name, immediate, result, left, right) \
    __asm__(name " {$" immediate ", %2, %0|%0, %2, " immediate "}" : "=x"(result) : "0"(decltype(result)(left)), "x"(right))
#endif
#if SINTER_CPU_AVX512
#define SINTER_CPU_EXTRACT "vextracti32x4"  // may name the upper sixteen registers
#else
#define SINTER_CPU_EXTRACT "vextracti128"
#endif
#define SINTER_CPU_X86_UNARY(name, result, operand) \
    __asm__(SINTER_CPU_TEXT_1(SINTER_CPU_VEX(name)) : SINTER_CPU_OUT(result) : SINTER_CPU_IN(operand))

namespace sinter::backend::SINTER_ISA {
inline namespace SINTER_CPU_FEATURES {

/// Lanes of f32 in one register: the usual width of a kernel.
inline constexpr int native_width = SINTER_CPU_BYTES / 4;

// ---- registers ------------------------------------------------------------------------------------------------------------------

template <class Cell, int Bytes>
struct register_of {
    typedef Cell type __attribute__((vector_size(Bytes)));
};
template <class Cell, int Bytes>
using simd = typename register_of<Cell, Bytes>::type;

/// What a register holds for an element: 8- and 16-bit integers are held in 32 bits, and so is a mask without k registers.
template <class Type>
struct cell_of {
    using type = Type;
};
// clang-format off
template <> struct cell_of<i8> { using type = i32; };
template <> struct cell_of<i16> { using type = i32; };
template <> struct cell_of<u8> { using type = u32; };
template <> struct cell_of<u16> { using type = u32; };
template <> struct cell_of<bool> { using type = i32; };
// clang-format on
template <class Type>
using cell = typename cell_of<Type>::type;

template <class Type>
inline constexpr bool is_float = __is_same(Type, float) || __is_same(Type, double);
template <class Type>
inline constexpr bool has_sign = static_cast<Type>(-1) < static_cast<Type>(1);

/// Whether a vec is a pair of halves.
template <class Type, int Width>
inline constexpr bool is_split = Width * int(sizeof(cell<Type>)) > SINTER_CPU_BYTES;
/// Bytes of its register when it isn't: at least 16, though two 32-bit cells use 8 of them.
template <class Type, int Width>
inline constexpr int register_bytes = Width * int(sizeof(cell<Type>)) < 16 ? 16 : Width * int(sizeof(cell<Type>));

template <class Type, int Width, bool Split = is_split<Type, Width>>
struct storage {
    using type = simd<cell<Type>, register_bytes<Type, Width>>;
};
template <class Type, int Width>
struct vec;
// The halves are read as members wherever both sides of an operation are pairs: taking a pair apart by functions and joining it
// again doubled clang's time for a kernel of pairs.
template <class Type, int Width>
struct storage<Type, Width, true> {
    struct type {
        vec<Type, Width / 2> low, high;
    };
};
#if SINTER_CPU_AVX512
// Bits above Width are zero.
template <int Width>
struct storage<bool, Width, false> {
    using type = u8;
};
template <>
struct storage<bool, 16, false> {
    using type = u16;
};
#endif

/// Every lane of a register. (Zero plus a value would lose -0.)
template <class Register, class Value>
SINTER_FORCE_INLINE Register broadcast(Value value) {
    constexpr int lanes = sizeof(Register) / sizeof(Value);
    if constexpr (lanes == 2) {
        return Register{value, value};
    } else if constexpr (lanes == 4) {
        return Register{value, value, value, value};
    } else if constexpr (lanes == 8) {
        return Register{value, value, value, value, value, value, value, value};
    } else {
        return Register{value, value, value, value, value, value, value, value,
                        value, value, value, value, value, value, value, value};
    }
}

// ---- the lane value -------------------------------------------------------------------------------------------------------------

template <class Type, int Width>
struct vec : lane::base {
    static_assert(Width >= 2 && (Width & (Width - 1)) == 0, "the width of a CPU lane is a power of two, at least 2");

    using element = Type;
    static constexpr int width = Width;
    static constexpr bool has_fma = SINTER_CPU_FMA || SINTER_CPU_NEON;
    template <class Other>
    using rebind = vec<Other, Width>;
    using mask = vec<bool, Width>;
    using data_type = typename storage<Type, Width>::type;

    /// A register, a k mask, or a pair of halves. For an interface with intrinsics: `_mm256_..(x.data)`, `of(_mm256_..)`.
    data_type data;

    vec() = default;
    SINTER_FORCE_INLINE explicit vec(Type value) {
        if constexpr (is_split<Type, Width>) {
            const vec<Type, Width / 2> half(value);
            data = {half, half};
        } else if constexpr (!__is_same(Type, bool)) {
            data = broadcast<data_type>(static_cast<cell<Type>>(value));
        } else if constexpr (SINTER_CPU_AVX512) {
            data = static_cast<data_type>(value ? (1 << Width) - 1 : 0);
        } else {
            data = broadcast<data_type>(value ? -1 : 0);
        }
    }
    static SINTER_FORCE_INLINE vec of(data_type value) {
        vec result;
        result.data = value;
        return result;
    }

    // Defined in cpu_lane_convert.hpp. Storage is the element type itself, or a storage type of it.
    template <class Storage>
    static SINTER_FORCE_INLINE vec load(const Storage* from);
    template <class Storage>
    static SINTER_FORCE_INLINE vec load_strided(const Storage* from, i64 stride);
    template <class Storage>
    static SINTER_FORCE_INLINE vec load_first(const Storage* from, int count, i64 stride);
    static SINTER_FORCE_INLINE vec iota();
};

template <int Width>
using mask_of = vec<bool, Width>;

// ---- halves ---------------------------------------------------------------------------------------------------------------------

/// Whether an operation goes half by half: one of its types needs several registers.
template <int Width, class... Types>
inline constexpr bool splits = (is_split<Types, Width> || ...);

/// The lower or upper half of the lanes, as a vec of half the width. Free if it is a pair already.
template <bool High, class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width / 2> half(vec<Type, Width> value) {
    using Half = vec<Type, Width / 2>;
    if constexpr (is_split<Type, Width>) {
        if constexpr (High) {
            return value.data.high;
        } else {
            return value.data.low;
        }
    } else if constexpr (SINTER_CPU_AVX512 && __is_same(Type, bool)) {
#if SINTER_CPU_AVX512
        if constexpr (Width == 16) {
            u16 bits = value.data;
            if constexpr (High) __asm__("kshiftrw {$8, %1, %0|%0, %1, 8}" : "=k"(bits) : "k"(value.data));
            return Half::of(static_cast<u8>(bits));
        }
#endif
        const int bits = High ? value.data >> (Width / 2) : value.data & ((1 << (Width / 2)) - 1);
        return Half::of(static_cast<typename Half::data_type>(bits));
    } else {
        const auto whole = value.data;
        constexpr int lanes = sizeof(whole) / sizeof(whole[0]);
        static_assert(lanes >= 4 && sizeof(whole[0]) == 4, "only registers of 32-bit cells are taken apart");
#if SINTER_CPU_BYTES > 16
        // Said in assembly because g++ finds a slow permutation for the upper half.
        if constexpr (High && lanes == 16) {
            typename Half::data_type upper;
            __asm__(SINTER_CPU_TEXT_1I("vextracti64x4", "1") : "=v"(upper) : "v"(whole));
            return Half::of(upper);
        } else if constexpr (High && lanes == 8) {
            typename Half::data_type upper;
            __asm__(SINTER_CPU_TEXT_1I(SINTER_CPU_EXTRACT, "1") : SINTER_CPU_OUT(upper) : SINTER_CPU_IN(whole));
            return Half::of(upper);
        } else if constexpr (lanes == 16) {
            return Half::of(__builtin_shufflevector(whole, whole, 0, 1, 2, 3, 4, 5, 6, 7));
        } else if constexpr (lanes == 8) {
            return Half::of(__builtin_shufflevector(whole, whole, 0, 1, 2, 3));
        } else
#endif
        {
            return Half::of(High ? __builtin_shufflevector(whole, whole, 2, 3, 2, 3) : whole);
        }
    }
}
template <class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width / 2> low(vec<Type, Width> value) {
    return half<false>(value);
}
template <class Type, int Width>
SINTER_FORCE_INLINE vec<Type, Width / 2> high(vec<Type, Width> value) {
    return half<true>(value);
}

/// The vec of twice the width from its halves. Always written with braces, which evaluate from left to right: the lower half
/// is then computed, and loaded, first, and a row is read in ascending order. (g++ evaluates arguments from the right.)
template <class Type, int Width>
struct join {
    using Half = vec<Type, Width>;
    using Whole = vec<Type, 2 * Width>;
    Half lower, upper;

    SINTER_FORCE_INLINE join(Half lower_half, Half upper_half) : lower(lower_half), upper(upper_half) {}

    SINTER_FORCE_INLINE operator Whole() const {
        if constexpr (is_split<Type, 2 * Width>) {
            return Whole::of({lower, upper});
        } else if constexpr (SINTER_CPU_AVX512 && __is_same(Type, bool)) {
#if SINTER_CPU_AVX512
            if constexpr (Width == 8) {
                u16 bits;
                __asm__("kunpckbw {%1, %2, %0|%0, %2, %1}" : "=k"(bits) : "k"(lower.data), "k"(upper.data));
                return Whole::of(bits);
            }
#endif
            return Whole::of(static_cast<typename Whole::data_type>(lower.data | upper.data << Width));
        } else if constexpr (Width == 8) {
            return Whole::of(__builtin_shufflevector(lower.data, upper.data, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
        } else if constexpr (Width == 4) {
            return Whole::of(__builtin_shufflevector(lower.data, upper.data, 0, 1, 2, 3, 4, 5, 6, 7));
        } else {
            static_assert(Width == 2);
            return Whole::of(__builtin_shufflevector(lower.data, upper.data, 0, 1, 4, 5));
        }
    }
};

// ---- cells ----------------------------------------------------------------------------------------------------------------------

namespace detail {
template <class Type>
Type plain(const Type&);
}  // namespace detail

/// The type of a register's cells, and the integers of their size.
template <class Register>
using cell_in = decltype(detail::plain(Register{}[0]));
template <class Register>
using unsigned_cell = lane::unsigned_like<cell_in<Register>>;
template <class Register>
using signed_cell = lane::signed_like<cell_in<Register>>;

template <class Register>
inline constexpr int cells = int(sizeof(Register) / sizeof(cell_in<Register>));

/// The same bits in other cells.
template <class Cell, class Register>
SINTER_FORCE_INLINE simd<Cell, int(sizeof(Register))> as(Register value) {
    return reinterpret_cast<simd<Cell, int(sizeof(Register))>>(value);
}

/// The slow way: cell by cell, for what has no instruction.
template <class Function, class Register, class... More>
SINTER_FORCE_INLINE Register each_cell(Function function, Register value, More... more) {
    for (int at = 0; at < cells<Register>; ++at) {
        value[at] = function(value[at], more[at]...);
    }
    return value;
}

/// 64-bit integer cells to the low 32 bits of each. Two of them give a register whose upper cells are unspecified.
template <class Register>
SINTER_FORCE_INLINE auto narrow(Register value) {
    constexpr int bytes = sizeof(Register);
    using Result = simd<i32, bytes == 16 ? 16 : bytes / 2>;
#if SINTER_CPU_AVX512
    Result result;
    __asm__(SINTER_CPU_TEXT_1("vpmovqd") : "=v"(result) : "v"(value));
    return result;
#else
    const auto pieces = as<i32>(value);
    if constexpr (SINTER_CPU_GENERIC) {
        return Result{i32(value[0]), i32(value[1]), 0, 0};
    } else if constexpr (bytes == 32) {
        const auto lower = __builtin_shufflevector(pieces, pieces, 0, 1, 2, 3);
        const auto upper = high(vec<i32, 8>::of(pieces)).data;
        return Result(__builtin_shufflevector(lower, upper, 0, 2, 4, 6));
    } else {
        return Result(__builtin_shufflevector(pieces, pieces, 0, 2, 0, 2));
    }
#endif
}

/// The lower `Width` 32-bit cells extended to 64 bits, by sign or by zeros.
template <bool Sign, int Width, class Register>
SINTER_FORCE_INLINE simd<i64, Width * 8> widen(Register value) {
    using Result [[maybe_unused]] = simd<i64, Width * 8>;
#if SINTER_CPU_SSE41
    Result result;
    if constexpr (Sign) {
        SINTER_CPU_X86_UNARY("pmovsxdq", result, value);
    } else {
        SINTER_CPU_X86_UNARY("pmovzxdq", result, value);
    }
    return result;
#elif SINTER_CPU_GENERIC
    return Result{Sign ? i64(i32(value[0])) : i64(u32(value[0])), Sign ? i64(i32(value[1])) : i64(u32(value[1]))};
#else
    const auto extension = Sign ? as<i32>(value) >> 31 : simd<i32, 16>{};
    return as<i64>(__builtin_shufflevector(as<i32>(value), extension, 0, 4, 1, 5));
#endif
}

}  // namespace SINTER_CPU_FEATURES
}  // namespace sinter::backend::SINTER_ISA
