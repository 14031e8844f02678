// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The largest or smallest of 16-bit floats as memory holds them, two an instruction, and where it stands: for folds that choose one of
// an operand's elements. Rules of lane::maximum and minimum: NaN if any is one, +0 over -0. No loop over memory here.
#pragma once

#include "cuda_encode.cuh"

namespace sinter::detail::device {

/// What a monoid chooses; `places`: its index (32 bits), not its value; `first`: the first of equals.
template <class Monoid>
struct choice_of {
    static constexpr bool known = false, largest = false, first = false, places = false;
};
template <>
struct choice_of<monoids::max_of> {
    static constexpr bool known = true, largest = true, first = true, places = false;
};
template <>
struct choice_of<monoids::min_of> {
    static constexpr bool known = true, largest = false, first = true, places = false;
};
template <bool Largest, pick Which>
struct choice_of<monoids::arg_of<Largest, Which, i32>> {
    static constexpr bool known = true, largest = Largest, first = Which == pick::first, places = true;
};

template <class Storage>
inline constexpr bool is_half_float = __is_same(Storage, bf16) || __is_same(Storage, f16);

/// Two of the number that every other one is better than or equal to.
template <class Half, bool Largest>
inline constexpr unsigned worst_pair = (__is_same(Half, bf16) ? 0x7f807f80u : 0x7c007c00u) | (Largest ? 0x80008000u : 0u);

template <class Half>
__device__ __forceinline__ float decode_half(unsigned bits) {
    Half half;
    const u16 low = static_cast<u16>(bits);
    __builtin_memcpy(&half, &low, 2);
    return lane::scalar<float>::load(&half).value;
}
/// The number in a pair's lower or upper half. (A bf16 is an f32's upper half: one instruction, where the compiler, which may want the pair's
/// register for other things, takes three to cut out 16 bits and move them back.)
template <class Half>
__device__ __forceinline__ float decode_in_pair(unsigned pair, bool upper) {
    if constexpr (__is_same(Half, bf16))
        return __builtin_bit_cast(float, upper ? pair & 0xffff0000u : pair << 16);
    else
        return decode_half<Half>(upper ? pair >> 16 : pair);
}
template <class Half>
__device__ __forceinline__ bool is_nan_half(unsigned bits) {
    return (bits & 0x7fffu) > (worst_pair<Half, false> & 0x7fffu);
}

/// The better half of either place.
template <class Half, bool Largest>
__device__ __forceinline__ unsigned better_pair(unsigned left, unsigned right) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned out;
    if constexpr (__is_same(Half, bf16) && Largest)
        asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(out) : "r"(left), "r"(right));
    else if constexpr (__is_same(Half, bf16))
        asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(out) : "r"(left), "r"(right));
    else if constexpr (Largest)
        asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(out) : "r"(left), "r"(right));
    else
        asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(out) : "r"(left), "r"(right));
    return out;
#else
    unsigned out = 0;
    for (int half = 0; half < 32; half += 16) {
        const unsigned x = left >> half & 0xffffu, y = right >> half & 0xffffu;
        const float a = decode_half<Half>(x), b = decode_half<Half>(y);
        // Of equals that are no zeros the bits are the same; of zeros the positive one is larger.
        const bool takes_left = is_nan_half<Half>(x) || (!is_nan_half<Half>(y) && (Largest ? a > b || (a == b && x < 0x8000u) : a < b || (a == b && x >= 0x8000u)));
        out |= (takes_left ? x : y) << half;
    }
    return out;
#endif
}

/// Exponentials of differences that are known to lie in [-86, 0]; exp_below's get exp_below_base(top) in place of top.
struct normal_exponential {
    template <class Value>
    static SINTER_INLINE Value apply(Value x) {
        return lane::exp_below_normal(x);
    }
};
struct normal_exponential_below {
    template <class Value>
    static SINTER_INLINE Value apply(Value x, Value base) {
        return lane::exp_below_normal(x, base);
    }
};
struct normal_policy {
    template <class Op>
    using instead_of = conditional<is_same<Op, exp_below_zero_op>, normal_exponential, conditional<is_same<Op, exp_below_op>, normal_exponential_below, Op>>;
};
template <class Kernel>
struct normal_kernel : Kernel {
    using policy = normal_policy;
};

/// place = Low where the lower half of `pair` equals that of `with`, High where the upper one does; where both do, the lower one's
/// where it comes first. A NaN equals nothing.
template <class Half, int Low, int High, bool LowLast>
__device__ __forceinline__ void place_of_equal(int& place, unsigned pair, unsigned with) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    constexpr int then = LowLast ? Low : High, before = LowLast ? High : Low;
    // p is the lower half's
    if constexpr (__is_same(Half, bf16) && LowLast)
        asm("{.reg .pred p, q; setp.eq.bf16x2 p|q, %1, %2; @q mov.b32 %0, %3; @p mov.b32 %0, %4;}" : "+r"(place) : "r"(pair), "r"(with), "n"(before), "n"(then));
    else if constexpr (__is_same(Half, bf16))
        asm("{.reg .pred p, q; setp.eq.bf16x2 p|q, %1, %2; @p mov.b32 %0, %3; @q mov.b32 %0, %4;}" : "+r"(place) : "r"(pair), "r"(with), "n"(before), "n"(then));
    else if constexpr (LowLast)
        asm("{.reg .pred p, q; setp.eq.f16x2 p|q, %1, %2; @q mov.b32 %0, %3; @p mov.b32 %0, %4;}" : "+r"(place) : "r"(pair), "r"(with), "n"(before), "n"(then));
    else
        asm("{.reg .pred p, q; setp.eq.f16x2 p|q, %1, %2; @p mov.b32 %0, %3; @q mov.b32 %0, %4;}" : "+r"(place) : "r"(pair), "r"(with), "n"(before), "n"(then));
#else
    const bool low = step::equal(decode_half<Half>(pair), decode_half<Half>(with)), high = step::equal(decode_half<Half>(pair >> 16), decode_half<Half>(with >> 16));
    place = low && (LowLast || !high) ? Low : high ? High : place;
#endif
}

}  // namespace sinter::detail::device
