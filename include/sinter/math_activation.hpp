// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Activations made of exponentials and logarithms, for f32: silu gelu_tanh mish elu softplus logaddexp. Each is one
// formula that neither overflows nor loses the subnormal range: e^x is held times a power of two where it would leave
// the normal numbers. Errors in ulp over all inputs.
#pragma once

#include "math_exp.hpp"
#include "math_log.hpp"

namespace sinter::lane {

/// x sigmoid(x) = x / (1 + e^-x). Error: 1.80 ulp.
template <f32_lane Value>
SINTER_INLINE Value silu(Value x) {
  const Value bounded = at_least(x, -112.0f);  // below -112 the result is -0
  const auto [rest, power] = detail::reduce_exponent<0>(at_least(-bounded, -60.0f));
  const Value unit = select(x < -60.0f, Value(0x1p-40f), Value(1.0f));
  return detail::quotient_by_sum(bounded, detail::one_plus_exp(rest, power, unit)) * unit;
}

/// x / (1 + e^v), v = -2 sqrt(2 / pi) (x + 0.044715 x^3), which is x (1 + tanh(-v / 2)) / 2; v and its coefficients
/// as sums of two floats. Error: 3.42 ulp for x >= -3, below 0.011 * 2^-24 absolute.
template <f32_lane Value>
SINTER_INLINE Value gelu_tanh(Value x) {
  constexpr float linear = -0x1.988454p+0f, linear_low = 0x1.857936p-25f;
  constexpr float cubic = -0x1.2444f2p-4f, cubic_low = -0x1.49b16ap-29f;
  const Value bounded = at_least(x, -11.5f);  // below -11.5 the result is -0
  const Value y = at_most(bounded, 8.5f), square = y * y;
  const Value slope = fma(square, Value(cubic), Value(linear));
  const Value slope_low = fma(square, Value(cubic), linear - slope) + fma(square, Value(cubic_low), Value(linear_low));
  const Value v = y * slope;
  const Value v_low = fma(y, slope_low, fms(y, slope, v));
  const auto [rest, power] = detail::reduce_exponent<0>(v);
  const Value unit = select(x < -4.0f, Value(0x1p-64f), Value(1.0f));
  return detail::quotient_by_sum(bounded, detail::one_plus_exp(rest + v_low, power, unit)) * unit;
}

/// x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2). e^x = s (1 + t), s a power of two, and n = 2 s (1 +
/// u): then the result is y + y u with y = x s / (1 + s + s u), and e^x and n aren't rounded on their own. Error:
/// 2.82 ulp.
template <f32_lane Value>
SINTER_INLINE Value mish(Value x) {
  const Value bounded = at_least(x, -112.0f);  // below -112 the result is -0
  const auto low = x < -60.0f;                       // here the denominator is 1, and s is held times 2^40
  const Value unit = select(low, Value(0x1p40f), Value(1.0f));
  const auto [rest, power] = detail::reduce_exponent<0>(at_most(bounded, 30.0f));
  const Value lifted = from_bits<float>(shift_left<23>(power) + bits(unit));
  const Value s = select(low, Value(0.0f), lifted), half = 0.5f * s;
  const Value t = detail::exp_of_rest_less_one(rest);
  const Value half_exp = fma(half, t, half);
  const Value u = fma(half_exp, t, half_exp) + t;
  const Value y = bounded / fma(s, u, s + 1.0f) * lifted;
  return select(x > 16.0f, x, fma(y, u, y) * select(low, Value(0x1p-40f), Value(1.0f)));
}

/// x > 0: x, else alpha (e^x - 1). Error: 0.79 ulp.
template <f32_lane Value>
SINTER_INLINE Value elu(Value x, Value alpha) {
  return select(x > 0.0f, x, alpha * expm1(x));
}
template <f32_lane Value>
SINTER_INLINE Value elu(Value x) {
  return select(x > 0.0f, x, expm1(x));
}

/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|). Error: 1.89 ulp.
template <f32_lane Value>
SINTER_INLINE Value softplus(Value x) {
  return detail::log1p_unguarded(exp_nonpositive(-abs(x))) + max_raw(x, Value(0.0f));
}

/// log(e^x + e^y) = max(x, y) + log1p(e^-|x - y|). Error: 2.7 ulp on samples where the result is at least 1/4 in
/// magnitude; nearer to 0, where the two terms cancel, 2^-23.8 absolute.
template <f32_lane Value>
SINTER_INLINE Value logaddexp(Value x, Value y) {
  const Value distance = select(x == y, Value(0.0f), abs(x - y));  // inf - inf
  return detail::log1p_unguarded(exp_nonpositive(-distance)) + max_raw(x, y);
}

}  // namespace sinter::lane
