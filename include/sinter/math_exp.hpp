// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exponentials: exp exp2 expm1 sinh cosh tanh sigmoid, and those that sums over a row need. exp, tanh, sigmoid and those are for f32 and
// f64, the others for f32.
// Errors in units in the last place (ulp), over all f32 inputs, subnormal results included; f64 on samples.
#pragma once

#include "math_core.hpp"

namespace sinter::lane {
namespace detail {

/// e^x 2^Shift, Shift 0 or -1. NaN goes through.
template <int Shift, class Value>
SINTER_INLINE Value exp_scaled(Value x) {
  constexpr int bias = format<Value>::bias;
  if constexpr (is_f32<Value>) {
    const auto [rest, power] =
        reduce_exponent<2 * bias + Shift>(at_most(at_least(x, -104.0f), 89.0f - Shift));
    return scale_in_halves(exp_of_rest(rest), power);
  } else {
    const auto [rest, power] =
        reduce_exponent<2 * bias + Shift>(at_most(at_least(x, -746.0), 710.0 - Shift));
    return scale_in_halves(exp_of_rest_less_one(rest) + 1.0, power);
  }
}

/// 2^r for |r| <= 1/2, to 2^-26.9.
template <class Value>
SINTER_INLINE Value exp2_of_rest(Value r) {
  return polynomial(r, 0x1.17ce86p-13f, 0x1.5ef448p-10f, 0x1.3b67eap-7f, 0x1.c6af9ep-5f, 0x1.ebfb94p-3f, 0x1.62e43p-1f, 1.0f);
}

/// What exp_below knows of `top`: x log2 e + base is 2^23 1.5 + Shift + n, n = round(x log2 e) - round(top log2 e), rounded to an integer,
/// since there numbers step by one.
template <int Shift>
inline constexpr float base_below_zero = 0x1.8p23f + static_cast<float>(Shift);
template <int Shift, class Value>
SINTER_INLINE Value base_below(Value top) {
  return fma(top, Value(-0x1.715476p+0f), Value(base_below_zero<Shift>));
}
/// x log2 e = round(x log2 e) + rest, the sum with base_below in `power`.
template <class Value>
SINTER_INLINE exponent<Value> reduce_exponent_below(Value x, Value base) {
  const Value sum = fma(x, Value(0x1.715476p+0f), base);
  return {fma(x, Value(0x1.715476p+0f), base - sum), bits(sum)};
}

/// (e^x - 1) 2^Shift, Shift -1 or -2, so that results up to twice the largest float come out. s q + (s - 1) with s =
/// 2^n, q = e^r - 1; |x| < 1/2 is left whole, since there the two terms would cancel.
template <int Shift, class Value>
SINTER_INLINE Value expm1_scaled(Value x) {
  constexpr float unit = Shift == -1 ? 0.5f : 0.25f;
  constexpr unsigned bias = 127 + Shift;
  x = at_most(at_least(x, -20.0f), Shift == -1 ? 89.0f : 89.6f);
  const auto [rest, power] = reduce_exponent<bias>(x);
  const auto whole = abs(x) < 0.5f;
  const Value r = select(whole, x, rest);
  const Value scale = from_bits<float>(shift_left<23>(select(whole, unsigned_lane<Value>(bias), power)));
  const Value tail =
      polynomial(r, 0x1.acd01ap-13f, 0x1.6f4ae4p-10f, 0x1.1102cap-7f, 0x1.5551b8p-5f, 0x1.555564p-3f, 0x1.000002p-1f);
  return fma(scale, fma(r * r, tail, r), scale - unit);
}

/// (1 + e^x) unit for x = n ln 2 + rest, n in the low bits of `power` and unit a power of two that keeps 2^n unit
/// normal. The sum 2^n + 1 and what it rounds away are kept apart, so that e^x isn't rounded on its own.
template <class Value>
SINTER_INLINE Value one_plus_exp(Value rest, unsigned_lane<Value> power, Value unit) {
  const Value scale = from_bits<typename Value::element>(shift_left<exponent_place<Value>>(power) + bits(unit));
  const Value sum = scale + unit;
  const Value lost = unit - (sum - scale);
  return sum + fma(scale, exp_of_rest_less_one(rest), lost);
}

/// tanh for |x| < 0.56.
template <class Value>
SINTER_INLINE Value tanh_near_zero(Value x) {
  const Value square = x * x;
  if constexpr (is_f32<Value>) {
    return fma(x * square,
               polynomial(square, -0x1.9454f2p-8f, 0x1.5811f6p-6f, -0x1.b905c4p-5f, 0x1.110c5ep-3f, -0x1.555548p-2f),
               x);
  } else {
    return fma(x * square,
               polynomial(square, -0x1.3fc3f41723f13p-16, 0x1.5a891f4978945p-14, -0x1.e86ed9fb8cb46p-13,
                          0x1.346ad90e967b9p-11, -0x1.7d8cdd5866211p-10, 0x1.d6d261f560dffp-9, -0x1.226e2db07abc9p-7,
                          0x1.664f484ee7eb1p-6, -0x1.ba1ba1b950403p-5, 0x1.11111111104abp-3, -0x1.555555555554dp-2),
               x);
  }
}

}  // namespace detail

/// e^x: n = round(x / ln 2), r = x - n ln 2, a polynomial of degree 6 (f64: 11), 2^n in two factors. Error: 1.02 ulp.
template <float_lane Value>
SINTER_INLINE Value exp(Value x) {
  return detail::exp_scaled<0>(x);
}

/// exp(x), its bits, for x <= 0 or NaN. There is no overflow to clamp, and 2^n is made in one piece, 2^63 (2^511) too large so that it
/// is normal for every n: the last product is the only one that rounds. Four instructions of exp's eighteen less.
template <float_lane Value>
SINTER_INLINE Value exp_nonpositive(Value x) {
  constexpr int bias = detail::format<Value>::bias;
  if constexpr (detail::is_f32<Value>) {
    const auto [rest, power] = detail::reduce_exponent<bias + 63>(at_least(x, -104.0f));
    return detail::scale_at_once(detail::exp_of_rest(rest), power) * 0x1p-63f;
  } else {
    const auto [rest, power] = detail::reduce_exponent<bias + 511>(at_least(x, -746.0));
    return detail::scale_at_once(detail::exp_of_rest_less_one(rest) + 1.0, power) * 0x1p-511;
  }
}

/// e^(x - top) c for x <= top, c between 0.7 and 1.42 a function of top alone, exp_below(top, top): for the logarithm of a sum whose terms share
/// their top, divided by c. It is 2^(x log2 e - k), k = round(top log2 e): an integer is all that is taken from the exponent, and x - top
/// is neither formed nor rounded. From |top| = 2^20 on, where k has no place left, it is of x - top, and c 1; for f64 it is e^(x - top). NaN
/// where x or top is, or top is infinite. Error, relative to e^(x - top) c: 3 2^-24 + (top - x) 2^-26.
template <float_lane Value>
SINTER_INLINE Value exp_below(Value x, Value top) {
  if constexpr (detail::is_f32<Value>) {
    constexpr int shift = detail::format<Value>::bias + 63;
    const Value taken = select(abs(top) < 0x1p20f, Value(0.0f), top), left = top - taken;
    const auto [rest, power] = detail::reduce_exponent_below(at_least(x - taken, left - 106.0f), detail::base_below<shift>(left));
    return detail::scale_at_once(detail::exp2_of_rest(rest), power) * 0x1p-63f;
  } else {
    return exp_nonpositive(x - top);
  }
}

/// exp_below(x, 0), e^x for x <= 0 or NaN, exactly 1 at 0, for differences: their rounding has cost up to |x| 2^-24 already, so that one constant
/// for log2 e does. Error, relative: 1.4 2^-24 + |x| 2^-26. One instruction of exp_nonpositive's fourteen less.
template <float_lane Value>
SINTER_INLINE Value exp_below_zero(Value x) {
  if constexpr (detail::is_f32<Value>) {
    constexpr int shift = detail::format<Value>::bias + 63;
    const auto [rest, power] = detail::reduce_exponent_below(at_least(x, -106.0f), Value(detail::base_below_zero<shift>));
    return detail::scale_at_once(detail::exp2_of_rest(rest), power) * 0x1p-63f;
  } else {
    return exp_nonpositive(x);
  }
}

/// exp_below(x, top), its bits, for |top| < 2^20 and top - 86 <= x <= top, with base = exp_below_base(top): the result is normal, so that n is added
/// to its exponent. Four instructions less, of exp_below_zero three. (The bases differ by an even number, so that halves round alike.)
template <f32_lane Value>
SINTER_INLINE Value exp_below_base(Value top) {
  return detail::base_below<0>(top);
}
template <f32_lane Value>
SINTER_INLINE Value exp_below_normal(Value x, Value base = Value(detail::base_below_zero<0>)) {
  const auto [rest, power] = detail::reduce_exponent_below(x, base);
  return from_bits<float>(bits(detail::exp2_of_rest(rest)) + shift_left<23>(power));
}

/// 2^x, exact for integers. Error: 0.92 ulp.
template <f32_lane Value>
SINTER_INLINE Value exp2(Value x) {
  constexpr float magic = 0x1.8p23f + 254.0f;
  x = at_most(at_least(x, -151.0f), 129.0f);
  const Value sum = x + magic;
  const Value rest = x - (sum - magic);
  return detail::scale_in_halves(detail::exp2_of_rest(rest), bits(sum));
}

/// e^x - 1. Error: 1.43 ulp.
template <f32_lane Value>
SINTER_INLINE Value expm1(Value x) {
  return select(abs(x) < 0x1p-60f, x,
                copysign(2.0f * detail::expm1_scaled<-1>(x), x));  // half of a subnormal loses a bit
}

/// With m = e^|x| - 1: (m + m / (m + 1)) / 2. Error: 2.21 ulp.
template <f32_lane Value>
SINTER_INLINE Value sinh(Value x) {
  const Value quarter = detail::expm1_scaled<-2>(abs(x));
  const Value finite = at_most(quarter, 0x1p100f);
  const Value result = 2.0f * (quarter + finite / fma(finite, Value(4.0f), Value(1.0f)));
  return select(abs(x) < 0x1p-60f, x, copysign(result, x));
}

/// With h = e^|x| / 2: h + 1 / (4 h). Error: 1.49 ulp.
template <f32_lane Value>
SINTER_INLINE Value cosh(Value x) {
  const Value half = detail::exp_scaled<-1>(abs(x));
  return half + 0.25f / half;
}

/// |x| < 0.55: an odd polynomial; else 1 - 2 / (e^2|x| + 1). Error: 1.34 ulp.
template <float_lane Value>
SINTER_INLINE Value tanh(Value x) {
  using Type = typename Value::element;
  const Value magnitude = abs(x);
  const auto [rest, power] =
      detail::reduce_exponent<detail::format<Value>::bias>(at_most(magnitude, Type(20)) * Type(2));
  const Value scale = from_bits<Type>(shift_left<detail::exponent_place<Value>>(power));
  const Value outer =
      Type(1) - detail::quotient_by_sum(Value(Type(2)), fma(scale, detail::exp_of_rest_less_one(rest), scale + Type(1)));
  return copysign(select(magnitude < Type(0.55f), detail::tanh_near_zero(magnitude), outer), x);
}

/// 1 / (1 + e^-x), numerator and denominator times 2^-32 (2^-64), so that e^-x stays finite as long as the result
/// isn't 0. Error: 1.70 ulp.
template <float_lane Value>
SINTER_INLINE Value sigmoid(Value x) {
  using Type = typename Value::element;
  constexpr Type largest = detail::is_f32<Value> ? Type(104) : Type(746);
  const Value unit(detail::is_f32<Value> ? Type(0x1p-32) : Type(0x1p-64));
  const auto [rest, power] = detail::reduce_exponent<0>(at_most(at_least(-x, Type(-60)), largest));
  return detail::quotient_by_sum(unit, detail::one_plus_exp(rest, power, unit));
}

}  // namespace sinter::lane
