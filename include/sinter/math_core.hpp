// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the math headers share: polynomials, reduction of an exponent's argument, multiplication by powers of two, and
// splitting a number into exponent and mantissa. Internal: the functions themselves stand in the other math_*.hpp.
//
// How the functions are written. Each is one straight-line algorithm over a lane value: every step is a primitive
// that rounds once, fma stands where it is written and nowhere else, cases are chosen by `select`. So a function
// gives the same bits on every lane, and is pinned by its text: a changed constant or order changes the contract. A
// branch appears only as `if (any(mask))` around a rare, dear path whose result is then selected lane by lane, and as
// `while (any(mask))` in the exact remainders. Coefficients are minimax fits of relative error, rounded to the
// element type from the lowest power up, the rest refitted after each one. The bounds stated were found by
// bench/math_sweep over all 2^32 inputs.
#pragma once

#include "lane.hpp"

namespace sinter::lane {

template <class Value>
concept f32_lane = lane_value<Value> && __is_same(typename Value::element, float);
template <class Value>
concept float_lane = lane_value<Value> && is_float_element<typename Value::element>;

namespace detail {

template <class Value>
inline constexpr bool is_f32 = __is_same(typename Value::element, float);
/// Where the exponent begins in the bits.
template <class Value>
inline constexpr int exponent_place = format<Value>::precision - 1;
template <class Value>
inline constexpr u64 exponent_and_sign = format<Value>::sign | format<Value>::infinity;
template <class Value>
using signed_lane = typename Value::template rebind<signed_like<typename Value::element>>;

inline constexpr float infinity = __builtin_inff();
inline constexpr float half_pi = 0x1.921fb6p+0f;
inline constexpr float pi = 0x1.921fb6p+1f;
inline constexpr float ln2 = 0x1.62e43p-1f;

/// By bits, so that no flag has an opinion on it.
template <class Value>
SINTER_INLINE Value not_a_number() {
  return from_bits<typename Value::element>(splat_bits<Value>(format<Value>::quiet_nan));
}

/// Horner's rule, one fma a coefficient, the highest power first.
template <class Value, class... Lower>
SINTER_INLINE Value polynomial(Value x, typename Value::element highest, Lower... lower) {
  Value sum(highest);
  ((sum = fma(sum, x, Value(lower))), ...);
  return sum;
}

/// The result, negated where the highest bit of `sign` is set.
template <class Value>
SINTER_INLINE Value flip_sign(Value result, unsigned_lane<Value> sign) {
  return from_bits<typename Value::element>(bits(result) ^ (sign & splat_bits<Value>(format<Value>::sign)));
}

// ---- e^x = 2^n e^r -------------------------------------------------------------------------------------------------

/// x = n ln 2 + rest, |rest| < 0.3467. The low bits of `power` hold n + Shift.
template <class Value>
struct exponent {
  Value rest;
  unsigned_lane<Value> power;
};

/// Cody and Waite's reduction. The sum with 1.5 * 2^23 (2^52) rounds to an integer and leaves it in the low bits. The
/// first product is exact and cancels, for |n| < 2^9 (2^19): ln 2's upper part is short.
template <int Shift, class Value>
SINTER_INLINE exponent<Value> reduce_exponent(Value x) {
  if constexpr (is_f32<Value>) {
    constexpr float magic = 0x1.8p23f + static_cast<float>(Shift);
    const Value sum = fma(x, Value(0x1.715476p+0f), Value(magic));
    const Value n = sum - magic;
    return {fma(n, Value(-0x1.7f7d1cp-20f), fma(n, Value(-0x1.62e4p-1f), x)), bits(sum)};
  } else {
    constexpr double magic = 0x1.8p52 + Shift;
    const Value sum = fma(x, Value(0x1.71547652b82fep+0), Value(magic));
    const Value n = sum - magic;
    return {fma(n, Value(-0x1.cf79abc9e3b3ap-40), fma(n, Value(-0x1.62e42fefap-1), x)), bits(sum)};
  }
}

/// e^r for |r| < 0.3467, to 2^-27.9.
template <class Value>
SINTER_INLINE Value exp_of_rest(Value r) {
  return polynomial(r, 0x1.6ab98p-10f, 0x1.126d0cp-7f, 0x1.55589ap-5f, 0x1.55540ep-3f, 0x1.fffff8p-2f, 1.0f, 1.0f);
}

/// e^r - 1 for |r| < 0.3467, to 2^-28.1 (2^-57) of e^r: for sums in which 1 is added later, so that it is rounded once.
template <class Value>
SINTER_INLINE Value exp_of_rest_less_one(Value r) {
  if constexpr (is_f32<Value>) {
    const Value tail = polynomial(r, 0x1.6af49p-10f, 0x1.124244p-7f, 0x1.555838p-5f, 0x1.555486p-3f, 0x1.fffffcp-2f);
    return fma(r * r, tail, r);
  } else {
    const Value tail =
        polynomial(r, 0x1.ae883c8b0e716p-26, 0x1.28b02d1b4a807p-22, 0x1.71ded17955d73p-19, 0x1.a019981adce16p-16,
                   0x1.a01a013916542p-13, 0x1.6c16c184c15d6p-10, 0x1.11111111267ffp-7, 0x1.55555555505e4p-5,
                   0x1.55555555554fdp-3, 0x1.000000000000ap-1);
    return fma(r * r, tail, r);
  }
}

/// value * 2^n, n + the format's exponent bias in the low bits of `power`, for normal 2^n: one factor.
template <class Value>
SINTER_INLINE Value scale_at_once(Value value, unsigned_lane<Value> power) {
  return value * from_bits<typename Value::element>(shift_left<exponent_place<Value>>(power));
}

/// 2^n for normal results, n in two's complement.
template <class Value>
SINTER_INLINE Value power_of_two(unsigned_lane<Value> n) {
  return from_bits<typename Value::element>(
      shift_left<exponent_place<Value>>(n + splat_bits<Value>(format<Value>::bias)));
}

/// value * 2^n, n + twice the bias in the low bits of `power`, for every n of a finite result and some beyond. 2^n is
/// split into two factors of which the first product is exact, so that a subnormal result is rounded once.
template <class Value>
SINTER_INLINE Value scale_in_halves(Value value, unsigned_lane<Value> power) {
  using Type = typename Value::element;
  constexpr int place = exponent_place<Value>;
  const auto half = shift_left<place - 1>(power) & splat_bits<Value>(exponent_and_sign<Value>);
  return value * from_bits<Type>(half) * from_bits<Type>(shift_left<place>(power) - half);
}

// ---- division by a sum of exponentials -----------------------------------------------------------------------------

/// x / y for 2^-64 <= y <= 2^121 and x that is 0, or whose quotient is normal, or where y >= 2^117 and x is a power of two, or y is one;
/// not for x = -inf. NaN goes through.
template <class Value>
SINTER_INLINE Value quotient_by_sum(Value x, Value y) {
  return x / y;
}
#if SINTER_DEVICE_PASS
/// On a GPU the general division tests its operands and branches, which keeps neighbouring elements apart. Within these bounds nothing
/// under- or overflows: the reciprocal and two corrections of the quotient whose residuals are exact give the rounded quotient. (The
/// division's own fast path does the same. Where the quotient is subnormal, |x - q y| is exact, too, and a tie needs y a power of two.)
SINTER_INLINE scalar<float> quotient_by_sum(scalar<float> x, scalar<float> y) {
  if (SINTER_CONSTANT_EVALUATED) return x / y;
  float guess;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(y.value));
  const scalar<float> first(guess);
  const scalar<float> inverse = fma(first, fma(-y, first, scalar<float>(1.0f)), first);
  const scalar<float> rough = x * inverse, minus_inverse = -inverse;
  // The residuals' signs are turned, so that one of +0 adds -0: then a quotient of -0 keeps its sign.
  const scalar<float> close = fma(fma(y, rough, -x), minus_inverse, rough);
  const scalar<float> result = fma(fma(y, close, -x), minus_inverse, close);
  return select(x < infinity, result, x);
}
#endif

// ---- x = 2^n (1 + f) -----------------------------------------------------------------------------------------------

template <class Value>
struct mantissa {
  Value n, f;
};

/// For positive finite x, 1/sqrt 2 <= 1 + f < sqrt 2. f is exact.
template <class Value>
SINTER_INLINE mantissa<Value> split_mantissa(Value x) {
  using Type = typename Value::element;
  constexpr Type least_normal = is_f32<Value> ? Type(0x1p-126) : Type(0x1p-1022);
  constexpr u64 sqrt_half = is_f32<Value> ? 0x3f3504f3u : 0x3fe6a09e667f3bcdu;
  const auto subnormal = x < least_normal;
  const auto pattern = bits(select(subnormal, x * Type(0x1p54), x));
  const auto above = pattern - splat_bits<Value>(sqrt_half);
  const Value n = convert<Type>(shift_right<exponent_place<Value>>(from_bits<signed_like<Type>>(above)));
  const auto one_and_f = pattern - (above & splat_bits<Value>(exponent_and_sign<Value>));
  return {select(subnormal, n - Type(54), n), from_bits<Type>(one_and_f) - Type(1)};
}

/// log(1 + f) - f for 1/sqrt 2 <= 1 + f <= sqrt 2: f^2 times a polynomial, to 2^-26.2 of log(1 + f).
template <class Value>
SINTER_INLINE Value log1p_less_f(Value f) {
  return f * f *
         polynomial(f, -0x1.74d08ep-4f, 0x1.19401cp-3f, -0x1.0c46aep-3f, 0x1.201488p-3f, -0x1.542e88p-3f,
                    0x1.99b8a4p-3f, -0x1.00044cp-2f, 0x1.55554ep-2f, -0x1.fffff8p-2f);
}

}  // namespace detail
}  // namespace sinter::lane
