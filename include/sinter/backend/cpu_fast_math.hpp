// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Approximations of f32 functions for the policy `fast` on the CPU: what the portable functions spend on the last bit, on subnormal
// results and on equal bits everywhere is left out. Infinities and NaN mean what they should; a zero may lose its sign where a sum makes
// it. Bounds over all inputs, in docs/numerics, are found by `scripts/sweep --fast`. Which operations use them is in cpu_fast.hpp.
//
// 2^t = 2^n 2^f with a polynomial of degree 5 for 2^f, to 2^-23.3. With AVX-512 n is the floor of t, which two instructions find and apply
// for every t; elsewhere n is the nearest integer, found by a sum, and t is kept where 2^(n - 1) is normal or 0: results below 2^-125
// are 0 there.
#pragma once

#include "../math_log.hpp"
#include "../math_power.hpp"
#include "cpu_lane_convert.hpp"
#include "cpu_lane_float.hpp"
#include "cpu_lane_integer.hpp"

namespace sinter::backend::SINTER_ISA {
inline namespace SINTER_CPU_FEATURES {
namespace approximate {

using lane::at_least;
using lane::at_most;
using lane::fms;
using lane::from_bits;
using lane::shift_left;
using lane::shift_right;

// ---- products in sums -----------------------------------------------------------------------------------------------------------
// One instruction where there is one; else two, and two roundings: an exact fma by integers would be for its bits alone.

/// left * right + addend.
template <class Value>
SINTER_FORCE_INLINE Value product_plus(Value left, Value right, Value addend) {
    if constexpr (Value::has_fma)
        return fma(left, right, addend);
    else
        return add(mul(left, right), addend);
}
/// left * right - subtrahend.
template <class Value>
SINTER_FORCE_INLINE Value product_minus(Value left, Value right, Value subtrahend) {
    if constexpr (Value::has_fma)
        return fms(left, right, subtrahend);
    else
        return sub(mul(left, right), subtrahend);
}
/// minuend - left * right.
template <int Width>
SINTER_FORCE_INLINE vec<float, Width> minus_product(vec<float, Width> minuend, vec<float, Width> left, vec<float, Width> right) {
    using Value = vec<float, Width>;
    if constexpr (!Value::has_fma) {
        return sub(minuend, mul(left, right));
    } else if constexpr (is_split<float, Width>) {
        Value result;
        result.data.low = minus_product(minuend.data.low, left.data.low, right.data.low);
        result.data.high = minus_product(minuend.data.high, left.data.high, right.data.high);
        return result;
    } else {
#if SINTER_CPU_FMA && SINTER_GCC
        return Value::of(simd_fma(-left.data, right.data, minuend.data));  // g++ merges the sign into the instruction
#elif SINTER_CPU_FMA
        __asm__("vfnmadd213ps {%2, %1, %0|%0, %1, %2}"
                : "+" SINTER_CPU_REGISTER(left.data)
                : SINTER_CPU_IN(right.data), SINTER_CPU_IN(minuend.data));
        return left;
#elif SINTER_CPU_NEON
        __asm__("fmls %0.4s, %1.4s, %2.4s" : "+w"(minuend.data) : "w"(left.data), "w"(right.data));
        return minuend;
#else
        return minuend;
#endif
    }
}
/// into += left * right, in place: no accumulator is copied within a loop.
template <int Width>
SINTER_FORCE_INLINE void accumulate_product(vec<float, Width>& into, vec<float, Width> left, vec<float, Width> right) {
    if constexpr (is_split<float, Width>) {
        accumulate_product(into.data.low, left.data.low, right.data.low);
        accumulate_product(into.data.high, left.data.high, right.data.high);
    } else {
#if SINTER_CPU_FMA
        __asm__("vfmadd231ps {%2, %1, %0|%0, %1, %2}"
                : "+" SINTER_CPU_REGISTER(into.data)
                : SINTER_CPU_IN(left.data), SINTER_CPU_IN(right.data));
#else
        into = product_plus(left, right, into);
#endif
    }
}
template <class Value>
SINTER_FORCE_INLINE void accumulate_value(Value& into, Value term) {
    accumulate(into, term);
}
template <class Value, class... Lower>
SINTER_FORCE_INLINE Value polynomial(Value x, float highest, Lower... lower) {
    Value sum(highest);
    ((sum = product_plus(sum, x, Value(lower))), ...);
    return sum;
}

// ---- powers of two --------------------------------------------------------------------------------------------------------------

inline constexpr float log2_of_e = 0x1.715476p+0f;

#if SINTER_CPU_AVX512
/// t - floor(t), from 0 to 1; of infinities 0.
template <int Width>
SINTER_FORCE_INLINE vec<float, Width> above_floor(vec<float, Width> t) {
    vec<float, Width> result;
    if constexpr (is_split<float, Width>) {
        result.data.low = above_floor(t.data.low);
        result.data.high = above_floor(t.data.high);
    } else {
        __asm__(SINTER_CPU_TEXT_1I("vreduceps", "9") : "=v"(result.data) : "v"(t.data));
    }
    return result;
}
/// value * 2^floor(t), for every t.
template <int Width>
SINTER_FORCE_INLINE vec<float, Width> scale(vec<float, Width> value, vec<float, Width> t) {
    vec<float, Width> result;
    if constexpr (is_split<float, Width>) {
        result.data.low = scale(value.data.low, t.data.low);
        result.data.high = scale(value.data.high, t.data.high);
    } else {
        __asm__(SINTER_CPU_TEXT_2("vscalefps") : "=v"(result.data) : "v"(value.data), "v"(t.data));
    }
    return result;
}
#endif

/// n = round(t) in two forms: as it is, and n + Shift in the low bits of `power`. |t| < 2^21.
template <int Shift, class Value>
struct nearest {
    static constexpr float magic = 0x1.8p23f + float(Shift);
    Value sum, n;
    SINTER_FORCE_INLINE explicit nearest(Value shifted) : sum(shifted), n(sub(shifted, Value(magic))) {}
    SINTER_FORCE_INLINE Value scale() const { return from_bits<float>(shift_left<23>(bits(sum))); }
};

/// 2^t. `Low`: t is no less than -126 already; `High`: no more than 128. (By a name of its own: lane::exp2 would be found for a lane, too.)
template <bool Low, bool High, class Value>
SINTER_FORCE_INLINE Value exp2_within(Value t) {
#if SINTER_CPU_AVX512
    const Value power_of_fraction =
        polynomial(above_floor(t), 0x1.e96912p-10f, 0x1.277c1cp-7f, 0x1.c91c1p-5f, 0x1.ebdb6ap-3f, 0x1.62e4bap-1f, 1.0f);
    return scale(power_of_fraction, t);
#else
    if constexpr (!Low) t = at_least(t, -126.0f);
    if constexpr (!High) t = at_most(t, 128.0f);
    using rounded = nearest<126, Value>;
    const rounded at(add(t, Value(rounded::magic)));
    const Value f = sub(t, at.n);
    return mul(polynomial(f, 0x1.5cc5a2p-9f, 0x1.3cf4d6p-6f, 0x1.c6b58ep-4f, 0x1.ebf9a2p-2f, 0x1.62e42ap+0f, 2.0f), at.scale());
#endif
}
template <class Value>
SINTER_FORCE_INLINE Value exp2(Value t) {
    return exp2_within<false, false>(t);
}
/// e^x; `Nonpositive`: for x <= 0 or NaN.
template <bool Nonpositive, class Value>
SINTER_FORCE_INLINE Value exp(Value x) {
#if SINTER_CPU_AVX512
    return exp2_within<false, false>(mul(x, Value(log2_of_e)));
#else
    x = at_least(x, -87.4f);
    if constexpr (!Nonpositive) x = at_most(x, 89.0f);
    using rounded = nearest<126, Value>;
    const rounded at(product_plus(x, Value(log2_of_e), Value(rounded::magic)));
    const Value f = product_minus(x, Value(log2_of_e), at.n);
    return mul(polynomial(f, 0x1.5cc5a2p-9f, 0x1.3cf4d6p-6f, 0x1.c6b58ep-4f, 0x1.ebf9a2p-2f, 0x1.62e42ap+0f, 2.0f), at.scale());
#endif
}

// ---- quotients by 1 + 2^t ---------------------------------------------------------------------------------------------------------
// By division: an estimate of the reciprocal and a step of Newton's take three more of the instructions that these are made of (measured on
// Zen 4: gelu_tanh in cache 0.87 of the speed, of 32-byte registers 0.81).

/// 1 / (1 + e^-x).
template <class Value>
SINTER_FORCE_INLINE Value sigmoid(Value x) {
    return div(Value(1.0f), add(exp2_within<false, false>(mul(x, Value(-log2_of_e))), Value(1.0f)));
}
/// x / (1 + e^-x); below -87 as at -87, where it is -2^-119.
template <class Value>
SINTER_FORCE_INLINE Value silu(Value x) {
    x = at_least(x, -87.0f);
    return div(x, add(exp2_within<false, true>(mul(x, Value(-log2_of_e))), Value(1.0f)));
}
/// x / (1 + 2^(-2 log2(e) sqrt(2 / pi) (x + 0.044715 x^3))); below -9.5 as at -9.5, where it is -2^-107.
template <class Value>
SINTER_FORCE_INLINE Value gelu_tanh(Value x) {
    x = at_least(x, -9.5f);
    const Value t = mul(x, product_plus(mul(x, x), Value(-0x1.a5a7d0p-4f), Value(-0x1.26aec2p+1f)));
    return div(x, add(exp2_within<false, true>(t), Value(1.0f)));
}
/// m / (m + 2) for m = e^2x - 1 = 2^n (2^f - 1) + (2^n - 1). (Degree 6: near 0 the polynomial's error stands beside f, not beside 1.)
template <class Value>
SINTER_FORCE_INLINE Value tanh(Value x) {
    using rounded = nearest<127, Value>;
    const Value t = mul(at_most(at_least(x, -10.0f), 10.0f), Value(2.0f * log2_of_e));
    const rounded at(add(t, Value(rounded::magic)));
    const Value f = sub(t, at.n), two_to_n = at.scale();
    const Value power_less_one =
        mul(f, polynomial(f, 0x1.179a8p-13f, 0x1.5ef4dcp-10f, 0x1.3b6816p-7f, 0x1.c6af9ep-5f, 0x1.ebfb94p-3f, 0x1.62e43p-1f));
    const Value m = product_plus(two_to_n, power_less_one, sub(two_to_n, Value(1.0f)));
    return div(m, add(m, Value(2.0f)));
}

/// x Phi(x), Phi the normal distribution, as max(x, 0) - a Phi(-a) for a = |x|, and Phi(-a) = 2^P(a), P of degree 11. Below -6.5 as at -6.5,
/// where it is -2^-31.8.
template <class Value>
SINTER_FORCE_INLINE Value gelu(Value x) {
    const Value a = at_most(abs(x), 6.5f);
    const Value t = polynomial(a, 0x1.a243bcp-30f, -0x1.0bdc32p-24f, 0x1.2e2c42p-20f, -0x1.86d98cp-17f, 0x1.355c28p-14f, -0x1.0c017ep-12f,
                               -0x1.2f8576p-14f, 0x1.ce81e6p-8f, -0x1.ae5004p-5f, -0x1.d635a6p-2f, -0x1.26af04p+0f, -1.0f);
    return minus_product(max_raw(Value(0.0f), x), a, exp2_within<true, true>(t));
}

// ---- logarithms, roots ------------------------------------------------------------------------------------------------------------

#if SINTER_CPU_X86
/// 1 / sqrt(x) to 2^-11.4; AVX-512's to 2^-14.
template <int Width>
SINTER_FORCE_INLINE vec<float, Width> rsqrt_estimate(vec<float, Width> x) {
    vec<float, Width> result;
    if constexpr (is_split<float, Width>) {
        result.data.low = rsqrt_estimate(x.data.low);
        result.data.high = rsqrt_estimate(x.data.high);
    } else {
#if SINTER_CPU_AVX512
        SINTER_CPU_X86_UNARY("rsqrt14ps", result.data, x.data);
#else
        SINTER_CPU_X86_UNARY("rsqrtps", result.data, x.data);
#endif
    }
    return result;
}
#endif

/// For normal positive x = 2^n (1 + f), 1/sqrt 2 <= 1 + f < sqrt 2: n and log(1 + f).
template <class Value>
struct logarithm {
    Value n, of_rest;
    SINTER_FORCE_INLINE explicit logarithm(Value x) {
        using Bits = decltype(bits(x));
        const Bits above = sub(bits(x), Bits(0x3f3504f3u));
        n = convert<float>(shift_right<23>(from_bits<i32>(above)));
        const Value f = sub(from_bits<float>(sub(bits(x), bit_and(above, Bits(0xff800000u)))), Value(1.0f));
        const Value tail = polynomial(f, 0x1.66d21ap-4f, -0x1.255a6ap-3f, 0x1.317f24p-3f, -0x1.53524ap-3f, 0x1.98d23p-3f, -0x1.0004cap-2f,
                                      0x1.5556f6p-2f, -0x1.fffffap-2f);
        of_rest = product_plus(mul(f, f), tail, f);
    }
};
/// Where an element is none of these numbers the portable function computes all of them, which is rare.
template <class Value>
SINTER_FORCE_INLINE bool has_logarithm(Value x) {
    return all(bit_and(less_equal(Value(0x1p-126f), x), less(x, Value(lane::detail::infinity))));
}
template <class Value>
SINTER_FORCE_INLINE Value log(Value x) {
    if (!has_logarithm(x)) [[unlikely]]
        return lane::log(x);
    const logarithm<Value> of(x);
    return product_plus(of.n, Value(0x1.62e43p-1f), of.of_rest);
}
template <class Value>
SINTER_FORCE_INLINE Value log2(Value x) {
    if (!has_logarithm(x)) [[unlikely]]
        return lane::log2(x);
    const logarithm<Value> of(x);
    return product_plus(of.of_rest, Value(log2_of_e), of.n);
}
template <class Value>
SINTER_FORCE_INLINE Value log10(Value x) {
    if (!has_logarithm(x)) [[unlikely]]
        return lane::log10(x);
    const logarithm<Value> of(x);
    return product_plus(of.n, Value(0x1.344136p-2f), mul(of.of_rest, Value(0x1.bcb7b2p-2f)));
}

/// The processor's estimate and a step of Newton's; where that is no number (of 0, infinity, a negative number, NaN) the estimate, which
/// is what it should be. Without AVX-512 subnormal x count as zeros.
template <class Value>
SINTER_FORCE_INLINE Value rsqrt(Value x) {
#if SINTER_CPU_X86
    const Value guess = rsqrt_estimate(x);
    const Value error = minus_product(Value(1.0f), mul(x, guess), guess);
    // (A zero, a subnormal number or infinity makes the error NaN or -inf: the guess stands.)
    return select(less_equal(Value(-1.0f), error), product_plus(mul(guess, Value(0.5f)), error, guess), guess);
#else
    return lane::rsqrt(x);
#endif
}

}  // namespace approximate
}  // namespace SINTER_CPU_FEATURES
}  // namespace sinter::backend::SINTER_ISA
