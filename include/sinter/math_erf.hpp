// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The error function and what is made of it, for f32: erf erfc gelu. Errors in ulp over all inputs.
#pragma once

#include "math_core.hpp"

namespace sinter::lane {
namespace detail {

/// e^(factor * a^2) = 2^n (1 + rest), n + Shift in the low bits of `power`; factor is -1 or -1/2. What the square
/// rounds away goes into the exponent's rest: else its error would be multiplied by a^2.
template <int Shift, class Value>
SINTER_INLINE exponent<Value> gaussian(Value a, Value square, float factor) {
  constexpr float magic = 0x1.8p23f + static_cast<float>(Shift);
  const Value x = square * factor, lost = fms(a, a, square) * factor;
  const Value sum = fma(x, Value(0x1.715476p+0f), Value(magic));
  const Value n = sum - magic;
  const Value rest = fma(n, Value(-0x1.62e4p-1f), x) + fma(n, Value(-0x1.7f7d1cp-20f), lost);
  return {exp_of_rest_less_one(rest), bits(sum)};
}

/// erf(x) for |x| < 0.93: x + x P(x^2), of degree 13.
template <class Value>
SINTER_INLINE Value erf_near_zero(Value x, Value square) {
  return fma(x,
             polynomial(square, 0x1.56b44ep-14f, -0x1.a7f2f2p-11f, 0x1.54760ep-8f, -0x1.b80438p-6f, 0x1.ce2d76p-4f,
                        -0x1.81274p-2f, 0x1.06eba8p-3f),
             x);
}

}  // namespace detail

/// |x| < 0.92: a polynomial; else 1 - e^(a Q(a) - a) for a = |x|, Q of degree 5. Error: 1.02 ulp.
template <f32_lane Value>
SINTER_INLINE Value erf(Value x) {
  const Value magnitude = at_most(abs(x), 4.0f), square = magnitude * magnitude;
  const Value outer = detail::polynomial(magnitude, 0x1.c11784p-13f, -0x1.a5900ep-9f, 0x1.77193p-6f, -0x1.af2dfap-4f,
                                         -0x1.457c36p-1f, -0x1.073352p-3f);
  const auto [rest, power] = detail::reduce_exponent<127>(fms(magnitude, outer, magnitude));
  const Value complement = detail::scale_at_once(detail::exp_of_rest(rest), power);
  return copysign(select(magnitude < 0.921875f, detail::erf_near_zero(magnitude, square), 1.0f - complement), x);
}

/// |x| < 1/2: 1 - erf(x). Else with a = |x|: e^(-a^2) Q / (sqrt(pi) a Q + P), P and Q polynomials in a of degrees 4
/// and 5; from 2 for negative x. So 1 / (e^(a^2) erfc(a)) is sqrt(pi) a, by far the larger part, plus P / Q, and
/// errors of Q cancel. Error: 3.25 ulp for all x.
template <f32_lane Value>
SINTER_INLINE Value erfc(Value x) {
  const Value a = at_most(abs(x), 10.2f), square = a * a;
  const auto [rest, power] = detail::gaussian<2 * 127>(a, square, -1.0f);
  const Value p = detail::polynomial(a, 0x1.78aac8p-7f, 0x1.986436p-4f, 0x1.99c5b8p-2f, 0x1.bd28p-1f, 1.0f);
  const Value q =
      detail::polynomial(a, 0x1.a8f8f8p-7f, 0x1.cd12ep-4f, 0x1.dab2fep-2f, 0x1.1a0c2ep+0f, 0x1.837616p+0f, 1.0f);
  const Value quotient = q / fma(a * q, Value(0x1.c5bf8ap+0f), p);
  const Value tail = detail::scale_in_halves(fma(quotient, rest, quotient), power);
  return select(abs(x) < 0.5f, 1.0f - detail::erf_near_zero(x, square), select(x < 0.0f, 2.0f - tail, tail));
}

/// x Phi(x), Phi the normal distribution, as max(x, 0) - a Phi(-a) for a = |x|, and a Phi(-a) = e^(-a^2 / 2) R /
/// (sqrt(2 pi) R + P), P and R = a + a^2 (...) of degrees 3 and 5, as in erfc. The result has the sign of x, -0 for
/// -inf. Error: 3.87 ulp for x >= -3, below 0.011 * 2^-24 absolute.
template <f32_lane Value>
SINTER_INLINE Value gelu(Value x) {
  const Value a = at_most(abs(x), 14.5f), square = a * a;
  const auto [rest, power] = detail::gaussian<127 + 32>(a, square, -0.5f);  // 2^(n + 32) is normal for every a
  const Value p = detail::polynomial(a, 0x1.491adep-6f, 0x1.a4ef8ep-3f, 0x1.b1aba8p-1f, 2.0f);
  const Value over =
      fma(square, detail::polynomial(a, 0x1.0851dcp-7f, 0x1.4b07e2p-4f, 0x1.773ccep-2f, 0x1.c203ep-1f), a);
  const Value quotient = over / fma(over, Value(0x1.40d932p+1f), p);
  const Value tail = detail::scale_at_once(fma(quotient, rest, quotient), power) * 0x1p-32f;
  return select(x < 0.0f, -tail, x - tail);
}

}  // namespace sinter::lane
