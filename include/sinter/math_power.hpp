// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Powers and roots: pow (f32 and integers), rsqrt (f32 and f64), cbrt and hypot (f32); and the unevaluated sums of
// two floats that pow is made of. Errors in ulp; of functions of two arguments on samples.
#pragma once

#include "math_core.hpp"

namespace sinter::lane {
namespace detail {

/// An unevaluated sum: `high` is the rounded value, `low` about what that rounding lost.
template <class Value>
struct pair {
  Value high, low;
};
/// Exact if the first operand is 0 or no smaller in magnitude than the second, or if both differ by a factor below 2.
template <class Value>
SINTER_INLINE pair<Value> ordered_sum(Value large, Value little) {
  const Value sum = large + little;
  return {sum, little - (sum - large)};
}
template <class Value>
SINTER_INLINE pair<Value> product(Value left, Value right) {
  const Value high = left * right;
  return {high, fms(left, right, high)};
}

/// log2(x) to about 2^-32 of itself, for positive finite x = 2^n (1 + f). With s = f / (2 + f):
/// log2(1 + f) = 2 / ln 2 (s + s (s^2 / 3 + s^4 (1/5 + ...))), all but the inner polynomial as pairs.
template <class Value>
SINTER_INLINE pair<Value> log2_pair(Value x) {
  const auto [n, f] = split_mantissa(x);
  const auto denominator = ordered_sum(Value(2.0f), f);
  const Value reciprocal = 1.0f / denominator.high;
  const Value s = f * reciprocal;
  const Value s_low = fma(-s, denominator.low, fma(-s, denominator.high, f)) * reciprocal;

  const auto square = product(s, s);
  const Value square_low = fma(s + s, s_low, square.low);
  const auto third = product(square.high, Value(0x1.555556p-2f));
  const Value third_low = third.low + fma(square.high, Value(-0x1.555556p-27f), square_low * 0x1.555556p-2f);
  const Value inner = polynomial(square.high, 0x1.9083fep-4f, 0x1.c63da8p-4f, 0x1.2493b6p-3f, 0x1.999998p-3f);
  const auto tail = ordered_sum(third.high, fma(square.high * square.high, inner, third_low));

  const auto cubic = product(s, tail.high);
  const auto half_log = ordered_sum(s, cubic.high);
  const Value half_log_low = half_log.low + (fma(s, tail.low, fma(s_low, tail.high, cubic.low)) + s_low);
  const auto scaled = product(half_log.high, Value(0x1.715476p+1f));
  const Value scaled_low =
      fma(half_log_low, Value(0x1.715476p+1f), fma(half_log.high, Value(0x1.4ae0cp-25f), scaled.low));
  const auto sum = ordered_sum(n, scaled.high);
  return ordered_sum(sum.high, sum.low + scaled_low);
}

/// 2^(high + low), to 2^-27 before the one rounding at the end: what is exact comes out exact.
template <class Value>
SINTER_INLINE Value exp2_of_pair(pair<Value> x) {
  constexpr float magic = 0x1.8p23f + 254.0f;
  const Value high = at_most(at_least(x.high, -160.0f), 160.0f);
  const Value low = select(high == x.high, x.low, Value(0.0f));
  const Value sum = high + magic;
  const auto rest = ordered_sum(high - (sum - magic), low);
  const auto linear = product(rest.high, Value(ln2));
  const Value linear_low = fma(rest.high, Value(-0x1.05c61p-29f), fma(rest.low, Value(ln2), linear.low));
  const Value curved = polynomial(rest.high, 0x1.c4b49ep-17f, 0x1.4425ep-13f, 0x1.5db5fp-10f, 0x1.3b2a56p-7f,
                                  0x1.c6b06ep-5f, 0x1.ebfbep-3f);
  const auto result = ordered_sum(Value(1.0f), linear.high);
  return scale_in_halves(result.high + (result.low + fma(rest.high * rest.high, curved, linear_low)), bits(sum));
}

template <class Value>
SINTER_INLINE Value pow_of_floats(Value x, Value y) {
  const Value magnitude = abs(x), exponent = abs(y);
  // 2^(y log2|x|); beyond 2^40 y can't change the result any more
  const auto logarithm = log2_pair(magnitude);
  const Value bounded = at_most(at_least(y, -0x1p40f), 0x1p40f);
  const auto power = product(bounded, logarithm.high);
  Value result = exp2_of_pair(pair<Value>{power.high, fma(bounded, logarithm.low, power.low)});
  // 0, infinity or 1 as base, infinity as exponent
  const auto rises = y > 0.0f, zero = magnitude == 0.0f;
  const Value endless(infinity), none(0.0f);
  result = select(zero | (magnitude == infinity), select(zero ^ rises, endless, none), result);
  const Value limit = select((magnitude > 1.0f) ^ rises, none, endless);
  result = select(exponent == infinity, select(magnitude == 1.0f, Value(1.0f), limit), result);
  // a negative base: odd exponents keep the sign, fractions of finite bases have no real power
  const Value half = y * 0.5f;
  const auto whole = round_even(y) == y;
  const auto odd = whole & (round_even(half) != half);
  result = select(sign_bit(x) & odd, -result, result);
  result = select((x < 0.0f) & (magnitude < infinity) & ~whole, not_a_number<Value>(), result);
  result = select(is_nan(x) | is_nan(y), not_a_number<Value>(), result);
  return select((y == 0.0f) | (x == 1.0f), Value(1.0f), result);
}

/// By squaring; products wrap. To a negative power: 0, except of 1 and -1 (A2).
template <class Value>
SINTER_INLINE Value pow_of_integers(Value x, Value y) {
  using Type = typename Value::element;
  using Natural = unsigned_lane<Value>;
  const Value zero(Type{0}), one(Type{1});
  Value start = one, base = x;
  Natural exponent = bits(y);
  if constexpr (has_sign<Type>) {
    const Value minus_one = zero - one;
    const Value parity = select((y & one) == zero, one, minus_one);
    const auto negative = y < zero;
    start = select(negative, select(x == one, one, select(x == minus_one, parity, zero)), one);
    exponent = select(negative, splat_bits<Value>(0), exponent);
  }
  Value result = start;
  while (any(exponent != splat_bits<Value>(0))) {
    result = select((exponent & splat_bits<Value>(1)) == splat_bits<Value>(0), result, result * base);
    base = base * base;
    exponent = shift_right<1>(exponent);
  }
  return result;
}

}  // namespace detail

/// x^y. Floats: error 0.8 ulp on samples, exact where the result is an integer that f32 can represent (A4); edges as
/// in the array API.
template <lane_value Value>
SINTER_INLINE Value pow(Value x, Value y) {
  if constexpr (detail::is_float_lane<Value>) {
    static_assert(f32_lane<Value>, "pow of f64 isn't there yet");
    return detail::pow_of_floats(x, y);
  } else {
    return detail::pow_of_integers(x, y);
  }
}

/// 1 / sqrt(x), both rounded. Error: 1.50 ulp.
template <float_lane Value>
SINTER_INLINE Value rsqrt(Value x) {
  return reciprocal(sqrt(x));
}

/// A guess of |x|^(-1/3) from the bits, two steps of third order y += y (h / 3 + 2/9 h^2), h = 1 - x y^3; then x y^2
/// with one Newton step, its residual exact. Error: 0.80 ulp.
template <f32_lane Value>
SINTER_INLINE Value cbrt(Value x) {
  const Value magnitude = abs(x);
  const auto subnormal = magnitude < 0x1p-126f;
  const Value scaled = select(subnormal, magnitude * 0x1p24f, magnitude);
  const Value guess = fma(convert<float>(from_bits<i32>(bits(scaled))), Value(-0x1.555556p-2f), Value(1419966080.0f));
  Value inverse = from_bits<float>(bits(convert<i32>(guess)));
  for (int step = 0; step < 2; ++step) {
    const Value error = fma(-(scaled * inverse * inverse), inverse, Value(1.0f));
    inverse = fma(inverse * error, fma(error, Value(0x1.c71c72p-3f), Value(0x1.555556p-2f)), inverse);
  }
  const Value square_of_inverse = inverse * inverse;
  const Value root = scaled * square_of_inverse;
  const auto square = detail::product(root, root);
  const Value residual = fma(-square.low, root, fma(-square.high, root, scaled));
  const Value better = fma(residual * square_of_inverse, Value(0x1.555556p-2f), root);
  const Value result = select(subnormal, better * 0x1p-8f, better);
  return select((magnitude > 0.0f) & (magnitude < detail::infinity), copysign(result, x), x);
}

/// sqrt(x^2 + y^2), scaled so that no square overflows or loses bits; infinite beside NaN too. Error: 1.2 ulp on
/// samples.
template <f32_lane Value>
SINTER_INLINE Value hypot(Value x, Value y) {
  const Value width = abs(x), height = abs(y), larger = max_raw(width, height);
  const auto huge = larger > 0x1p62f, tiny = larger < 0x1p-62f;
  const Value shrink = select(huge, Value(0x1p-66f), select(tiny, Value(0x1p88f), Value(1.0f)));
  const Value grow = select(huge, Value(0x1p66f), select(tiny, Value(0x1p-88f), Value(1.0f)));
  const Value a = width * shrink, b = height * shrink;
  const auto infinite = (width == detail::infinity) | (height == detail::infinity);
  return select(infinite, Value(detail::infinity), sqrt(fma(a, a, b * b)) * grow);
}

}  // namespace sinter::lane
