// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trigonometry for f32: sin cos tan with full range reduction, asin acos atan atan2. Errors in ulp over all inputs
// (atan2: samples).
#pragma once

#include "math_core.hpp"

namespace sinter::lane {
namespace detail {

/// |x| = quadrant * pi/2 + rest, |rest| <= pi/4 (1 + 2^-20). Of the quadrant the two lowest bits count.
template <class Value>
struct quarter_turns {
  Value rest;
  unsigned_lane<Value> quadrant;
};

/// High 32 bits of a 24-bit by a 32-bit number, from products of 12 by 16 bits.
template <class Word>
SINTER_INLINE Word multiply_high(Word small_factor, Word factor) {
  const Word upper = shift_right<12>(small_factor), lower = small_factor & 0xfffu;
  const Word high = shift_right<16>(factor), low = factor & 0xffffu;
  const Word at_12 = upper * low + shift_right<12>(lower * low);
  const Word at_16 = lower * high + shift_right<4>(at_12);
  return shift_right<4>(upper * high + shift_right<12>(at_16));
}

/// Payne and Hanek's reduction in 32-bit integers, for finite |x| >= 2^7. x = M 2^(e - 150) with 24-bit M; the bits
/// of 2/pi whose product with M is a multiple of 4 quarter turns are dropped, the next 96 kept.
template <class Value>
SINTER_INLINE quarter_turns<Value> reduce_quarter_turns_far(Value magnitude) {
  using Word = unsigned_lane<Value>;
  const Word pattern = bits(magnitude);
  const Word mantissa = (pattern & 0x7fffffu) | 0x800000u;
  const Word start = shift_right<23>(pattern) - 120u;  // the first bit kept, in the words below
  const Word shift = start & 31u;
  Word words[8] = {// 2/pi after 32 zero bits
                   Word(0u),          Word(0xa2f9836eu), Word(0x4e441529u), Word(0xfc2757d1u),
                   Word(0xf534ddc0u), Word(0xdb629599u), Word(0x3c439041u), Word(0xfe5163abu)};
  const auto by_1 = (start & 32u) != 0u, by_2 = (start & 64u) != 0u, by_4 = (start & 128u) != 0u;
  for (int i = 0; i < 7; ++i) { words[i] = select(by_1, words[i + 1], words[i]); }
  for (int i = 0; i < 6; ++i) { words[i] = select(by_2, words[i + 2], words[i]); }
  for (int i = 0; i < 4; ++i) { words[i] = select(by_4, words[i + 4], words[i]); }
  for (int i = 0; i < 3; ++i) { words[i] = shift_left(words[i], shift) | shift_right(words[i + 1], 32u - shift); }
  const Word middle_part = mantissa * words[1];
  const Word middle = middle_part + multiply_high(mantissa, words[2]);
  const Word carry = select(middle < middle_part, Word(1u), Word(0u));
  const Word top = mantissa * words[0] + multiply_high(mantissa, words[1]) + carry;  // in 2^-30 quarter turns
  const Word quadrant = shift_right<30>(top + 0x20000000u);
  const auto turn = from_bits<i32>(top - shift_left<30>(quadrant));
  // the 64-bit fraction as an unevaluated sum of two floats
  const Value head = convert<float>(turn);
  const Value tail = convert<float>(turn - convert<i32>(head)) +
                     fma(convert<float>(from_bits<i32>(middle & 0xffffu)), Value(0x1p-32f),
                         convert<float>(from_bits<i32>(shift_right<16>(middle))) * 0x1p-16f);
  const Value sum = head + tail;
  const Value rest = (head - sum) + tail;
  return {fma(sum, Value(half_pi * 0x1p-30f), fma(rest, Value(half_pi * 0x1p-30f), sum * -0x1.777a5cp-55f)), quadrant};
}

/// Cody and Waite's reduction up to 2^16, pi/2 in three parts that sum to 2^-73 of it; the first product is exact and
/// cancels. Beyond, Payne and Hanek's. Of infinity and NaN the rest is NaN.
template <class Value>
SINTER_INLINE quarter_turns<Value> reduce_quarter_turns(Value magnitude) {
  constexpr float magic = 0x1.8p23f;
  const Value sum = fma(magnitude, Value(0x1.45f306p-1f), Value(magic));
  const Value n = sum - magic;
  Value rest = fma(n, Value(-0x1.921fb4p+0f), magnitude);
  rest = fma(n, Value(-0x1.4442dp-24f), rest);
  rest = fma(n, Value(-0x1.84698ap-48f), rest);
  auto quadrant = bits(sum);
  const auto beyond = (magnitude > 0x1p16f) & (magnitude < infinity);
  if (any(beyond)) {
    const auto reduced = reduce_quarter_turns_far(magnitude);
    rest = select(beyond, reduced.rest, rest);
    quadrant = select(beyond, reduced.quadrant, quadrant);
  }
  return {rest, quadrant};
}

/// sin(quadrant * pi/2 + rest), negated where the highest bit of `sign` is set.
template <class Value>
SINTER_INLINE Value sine_of(quarter_turns<Value> angle, unsigned_lane<Value> sign) {
  const Value r = angle.rest, square = r * r;
  const Value sine =
      fma(r * square, polynomial(square, 0x1.7c2c4ep-19f, -0x1.a05954p-13f, 0x1.111174p-7f, -0x1.555556p-3f), r);
  const Value cosine = fma(square * square, polynomial(square, 0x1.99e80cp-16f, -0x1.6c0c28p-10f, 0x1.55554ap-5f),
                           fma(square, Value(-0.5f), Value(1.0f)));
  const Value result = select((angle.quadrant & 1u) == 0u, sine, cosine);
  return flip_sign(result, shift_left<30>(angle.quadrant) ^ sign);
}

/// atan(z) for 0 <= z <= 1, odd of degree 17.
template <class Value>
SINTER_INLINE Value atan_of_ratio(Value z) {
  const Value square = z * z;
  return fma(z * square,
             polynomial(square, 0x1.7ec566p-9f, -0x1.0c26b2p-6f, 0x1.61f8ep-5f, -0x1.3553e4p-4f, 0x1.b4df72p-4f,
                        -0x1.230a9cp-3f, 0x1.9978ecp-3f, -0x1.5554dcp-2f),
             z);
}

/// asin(a) for a <= 1/2; beyond, asin(sqrt((1 - a) / 2)), which is (pi/2 - asin(a)) / 2. Above 1 NaN.
template <class Value>
SINTER_INLINE Value asin_or_half_complement(Value magnitude, typename Value::mask beyond) {
  const Value square = select(beyond, (1.0f - magnitude) * 0.5f, magnitude * magnitude);
  const Value z = select(beyond, sqrt(square), magnitude);
  return z + z * square *
                 polynomial(square, 0x1.595c8cp-5f, 0x1.8c3e2ap-6f, 0x1.747bbap-5f, 0x1.330204p-4f, 0x1.5555c8p-3f);
}

}  // namespace detail

/// Error: 1.58 ulp.
template <f32_lane Value>
SINTER_INLINE Value sin(Value x) {
  return detail::sine_of(detail::reduce_quarter_turns(abs(x)), bits(x));
}

/// Error: 1.58 ulp.
template <f32_lane Value>
SINTER_INLINE Value cos(Value x) {
  auto angle = detail::reduce_quarter_turns(abs(x));
  angle.quadrant = angle.quadrant + 1u;
  return detail::sine_of(angle, detail::unsigned_lane<Value>(0u));
}

/// t = tan(rest) by a polynomial of degree 15, or -1 / t. Error: 3.05 ulp.
template <f32_lane Value>
SINTER_INLINE Value tan(Value x) {
  const auto [r, quadrant] = detail::reduce_quarter_turns(abs(x));
  const Value square = r * r;
  const Value t = fma(r * square,
                      detail::polynomial(square, 0x1.1f1264p-8f, 0x1.5fbb32p-14f, 0x1.63214p-7f, 0x1.5cb268p-6f,
                                         0x1.badaep-5f, 0x1.110d9ap-3f, 0x1.55556p-2f),
                      r);
  const auto even = (quadrant & 1u) == 0u;
  return detail::flip_sign(select(even, t, Value(-1.0f)) / select(even, Value(1.0f), t), bits(x));
}

/// With a = |x|: atan(a), or pi/2 - atan(1 / a) above 1. Error: 2.00 ulp.
template <f32_lane Value>
SINTER_INLINE Value atan(Value x) {
  const Value magnitude = abs(x), one(1.0f);
  const auto steep = magnitude > 1.0f;
  const Value angle = detail::atan_of_ratio(select(steep, one, magnitude) / select(steep, magnitude, one));
  return copysign(select(steep, detail::half_pi - angle, angle), x);
}

/// The angle of the point (x, y): atan of the smaller over the larger magnitude, mirrored at the diagonal and at the
/// y axis. Zeros keep their signs as coordinates, two infinities are a diagonal. Error: 2.4 ulp on samples.
template <f32_lane Value>
SINTER_INLINE Value atan2(Value y, Value x) {
  const Value rise = abs(y), run = abs(x);
  const auto steep = rise > run;
  const Value low = select(steep, run, rise), high = select(steep, rise, run);
  Value ratio = select(high == 0.0f, low, low / high);  // a NaN beside a zero is the lower one, and stays
  ratio = select(low == detail::infinity, Value(1.0f), ratio);
  Value angle = detail::atan_of_ratio(ratio);
  angle = select(steep, detail::half_pi - angle, angle);
  angle = select(sign_bit(x), detail::pi - angle, angle);
  return copysign(select(is_nan(x), x, angle), y);
}

/// |x| <= 1/2: x + x^3 P(x^2), of degree 11; else pi/2 - 2 asin(sqrt((1 - |x|) / 2)). Error: 2.37 ulp.
template <f32_lane Value>
SINTER_INLINE Value asin(Value x) {
  const Value magnitude = abs(x);
  const auto beyond = magnitude > 0.5f;
  const Value angle = detail::asin_or_half_complement(magnitude, beyond);
  return copysign(select(beyond, fma(angle, Value(-2.0f), Value(detail::half_pi)), angle), x);
}

/// pi/2 - asin(x) for |x| <= 1/2; else 2 asin(sqrt((1 - |x|) / 2)), from pi if x is negative. Error: 1.26 ulp.
template <f32_lane Value>
SINTER_INLINE Value acos(Value x) {
  const Value magnitude = abs(x);
  const auto beyond = magnitude > 0.5f;
  const Value angle = copysign(detail::asin_or_half_complement(magnitude, beyond), x);
  const Value doubled = 2.0f * angle;
  return select(beyond, select(x < 0.0f, detail::pi + doubled, doubled), detail::half_pi - angle);
}

}  // namespace sinter::lane
