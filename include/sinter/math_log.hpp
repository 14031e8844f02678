// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Logarithms and the inverse hyperbolic functions: log (f32 and f64), log2 log10 log1p asinh acosh atanh (f32).
// Errors in ulp over all f32 inputs, subnormal ones included; f64 on samples.
#pragma once

#include "math_core.hpp"

namespace sinter::lane {
namespace detail {

/// A logarithm's edges: inf and NaN stay, below 0 NaN, of both zeros -inf.
template <class Value>
SINTER_INLINE Value log_edges(Value x, Value result) {
  using Type = typename Value::element;
  result = select(x < Type(infinity), result, x);
  result = select(x < Type(0), not_a_number<Value>(), result);
  return select(x == Type(0), Value(Type(-infinity)), result);
}

/// log(1 + x) for -1 < x < inf.
template <class Value>
SINTER_INLINE Value log1p_unguarded(Value x) {
  // n and f from 1 + x, but f = x 2^-n + (2^-n - 1): what 1 + x rounds away isn't lost. n may be 128.
  const auto above = (bits(1.0f + x) - 0x3f3504f3u) & 0xff800000u;
  const Value scale = from_bits<float>(0x40800000u - above) * 0.25f;
  const Value f = fma(x, scale, scale - 1.0f);
  const Value n = convert<float>(shift_right<23>(from_bits<i32>(above)));
  return fma(n, Value(ln2), f + log1p_less_f(f));
}

}  // namespace detail

/// x = 2^n (1 + f): n ln 2 + log(1 + f), the polynomial of degree 10 (f64: in s = f / (2 + f), of degree 15). Error:
/// 1.00 ulp.
template <float_lane Value>
SINTER_INLINE Value log(Value x) {
  const auto [n, f] = detail::split_mantissa(x);
  if constexpr (detail::is_f32<Value>) {
    return detail::log_edges(x, fma(n, Value(detail::ln2), f + detail::log1p_less_f(f)));
  } else {
    // 2 atanh(s) = f - (f^2 / 2 - s (f^2 / 2 + s^2 tail)); ln 2 in two parts, n times the upper exact
    const Value s = f / (f + 2.0);
    const Value square = s * s;
    const Value tail = square * detail::polynomial(square, 0x1.2f05a5cb06773p-3, 0x1.39a1bca88a7e8p-3,
                                                   0x1.74663e6f541cfp-3, 0x1.c71c520e1d9fcp-3, 0x1.24924941e73cdp-2,
                                                   0x1.999999997fed8p-2, 0x1.5555555555592p-1);
    const Value half_square = f * f * 0.5;
    const Value low = fma(s, half_square + tail, n * 0x1.a39ef35793c76p-33);
    return detail::log_edges(x, fma(n, Value(0x1.62e42feep-1), f - (half_square - low)));
  }
}

/// n + log2(e) log(1 + f), log2(e) in two parts. Exact for powers of two. Error: 1.20 ulp.
template <f32_lane Value>
SINTER_INLINE Value log2(Value x) {
  const auto [n, f] = detail::split_mantissa(x);
  const Value low = fma(detail::log1p_less_f(f), Value(0x1.715476p+0f), f * 0x1.4ae0cp-26f);
  return detail::log_edges(x, n + fma(f, Value(0x1.715476p+0f), low));
}

/// n log10(2) + log10(e) log(1 + f), both constants in two parts. Error: 1.13 ulp.
template <f32_lane Value>
SINTER_INLINE Value log10(Value x) {
  const auto [n, f] = detail::split_mantissa(x);
  const Value low = fma(detail::log1p_less_f(f), Value(0x1.bcb7b2p-2f), f * -0x1.5b235ep-27f);
  const Value middle = fma(f, Value(0x1.bcb7b2p-2f), fma(n, Value(0x1.04d428p-12f), low));
  return detail::log_edges(x, fma(n, Value(0x1.34p-2f), middle));  // n times 9 bits is exact
}

/// log(1 + x); of -0 it is -0. Error: 1.56 ulp.
template <f32_lane Value>
SINTER_INLINE Value log1p(Value x) {
  Value result = select(x < detail::infinity, detail::log1p_unguarded(x), x);
  result = select(x < -1.0f, detail::not_a_number<Value>(), result);
  return copysign(select(x == -1.0f, Value(-detail::infinity), result), x);
}

/// With a = |x|: log1p(a + a^2 / (1 + sqrt(a^2 + 1))); above 2^30 log1p(a) + ln 2. Error: 1.96 ulp.
template <f32_lane Value>
SINTER_INLINE Value asinh(Value x) {
  const Value magnitude = abs(x);
  const auto large = magnitude > 0x1p30f;
  const Value square = magnitude * magnitude;
  const Value less_one = select(large, magnitude, magnitude + square / (sqrt(square + 1.0f) + 1.0f));
  return copysign(log1p(less_one) + select(large, Value(detail::ln2), Value(0.0f)), x);
}

/// With t = x - 1: log1p(t + sqrt(t^2 + 2 t)); above 2^30 log1p(x) + ln 2. Below 1 NaN. Error: 2.09 ulp.
template <f32_lane Value>
SINTER_INLINE Value acosh(Value x) {
  const Value t = x - 1.0f;
  const auto large = x > 0x1p30f;
  const Value less_one = select(large, x, t + sqrt(fma(t, t, 2.0f * t)));
  const Value result = log1p(less_one) + select(large, Value(detail::ln2), Value(0.0f));
  return select(x < 1.0f, detail::not_a_number<Value>(), result);
}

/// With a = |x|: log1p(2 a / (1 - a)) / 2. Error: 2.25 ulp.
template <f32_lane Value>
SINTER_INLINE Value atanh(Value x) {
  const Value magnitude = abs(x);
  return copysign(0.5f * log1p(2.0f * magnitude / (1.0f - magnitude)), x);
}

}  // namespace sinter::lane
