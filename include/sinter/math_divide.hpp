// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Division that rounds down and exact remainders: fmod remainder floor_divide, of integers (A2) and of floats (A3).
#pragma once

#include "math_core.hpp"

namespace sinter::lane {
namespace detail {

/// magnitude - divisor * trunc(magnitude / divisor), exact, for finite magnitude >= 0 and divisor > 0. Each turn
/// subtracts q * step, step = divisor * 2^k, with q below 2^23 (2^52): the fma is exact and drops 22 (51) bits of the
/// quotient, so there are at most 13 (42) turns, and one or two for quotients below 2^44.
template <class Value>
SINTER_INLINE Value truncated_remainder(Value magnitude, Value divisor) {
  using Type = typename Value::element;
  using Integer = signed_lane<Value>;
  constexpr int place = exponent_place<Value>;
  constexpr Type least_normal = is_f32<Value> ? Type(0x1p-126) : Type(0x1p-1022);
  const auto subnormal = divisor < least_normal;
  const auto field = shift_right<place>(bits(select(subnormal, divisor * Type(0x1p54), divisor)));
  const Integer exponent =
      from_bits<signed_like<Type>>(field - select(subnormal, splat_bits<Value>(54), splat_bits<Value>(0)));
  while (any(magnitude >= divisor)) {
    const Integer excess =
        from_bits<signed_like<Type>>(shift_right<place>(bits(magnitude))) - exponent - Integer(place - 1);
    const auto k = bits(max_raw(excess, Integer(0)));
    const auto half = shift_right<1>(k);
    const Value step = divisor * power_of_two<Value>(half) * power_of_two<Value>(k - half);
    const Value rest = fma(-trunc(magnitude / step), step, magnitude);
    magnitude = select(rest < Type(0), rest + step, rest);  // the quotient was rounded up
  }
  return magnitude;
}

template <class Value>
SINTER_INLINE typename Value::mask signs_differ(Value x, Value y) {
  const Value zero(typename Value::element{0});
  return (x < zero) ^ (y < zero);
}

}  // namespace detail

/// x - y trunc(x / y), exact; it has the sign of x. Infinite x or y = 0 give NaN, infinite y gives x. Integers: %, 0
/// for y = 0.
template <lane_value Value>
SINTER_INLINE Value fmod(Value x, Value y) {
  if constexpr (detail::is_float_lane<Value>) {
    using Type = typename Value::element;
    const Type infinity = detail::infinity;
    const Value magnitude = abs(x), divisor = abs(y);
    const auto plain = (magnitude < infinity) & (divisor > Type(0)) & (divisor < infinity);
    const Value rest =
        detail::truncated_remainder(select(plain, magnitude, Value(Type(0))), select(plain, divisor, Value(Type(1))));
    const auto whole = (magnitude < infinity) & (divisor == infinity);
    return select(plain, copysign(rest, x), select(whole, x, detail::not_a_number<Value>()));
  } else {
    return x % y;
  }
}

/// x - y floor(x / y), rounded once; it has the sign of y. Integers: 0 for y = 0.
template <lane_value Value>
SINTER_INLINE Value remainder(Value x, Value y) {
  const Value zero(typename Value::element{0});
  const Value rest = fmod(x, y);
  const Value moved = select((rest != zero) & detail::signs_differ(rest, y), rest + y, rest);
  if constexpr (detail::is_float_lane<Value>) {
    return select(rest == zero, copysign(rest, y), moved);
  } else {
    return moved;
  }
}

/// The floor of the exact quotient, rounded once. Infinite x gives NaN (NumPy), y = 0 gives x / 0. Integers: 0 for y
/// = 0, MIN for MIN / -1.
template <lane_value Value>
SINTER_INLINE Value floor_divide(Value x, Value y) {
  using Type = typename Value::element;
  const Value zero(Type{0}), one(Type{1});
  const Value quotient = x / y;
  if constexpr (detail::is_float_lane<Value>) {
    // x - whole * y is exact and tells whether the rounded quotient passed an integer, and by how many, if they
    // are closer than floats
    const Value whole = floor(quotient);
    const Value rest = fma(-whole, y, x);
    const auto passed = (rest != zero) & detail::signs_differ(rest, y);
    const Value exact = select(passed, whole + min_raw(floor(rest / y), zero - one), whole);
    const Type infinity = detail::infinity;
    const Value magnitude = abs(x), divisor = abs(y);
    const Value result = select(abs(quotient) < infinity, exact, quotient);
    const Value beside_infinity = select((x != zero) & detail::signs_differ(x, y), zero - one, quotient);
    const Value finite = select((divisor == infinity) & (magnitude < infinity), beside_infinity, result);
    return select(magnitude == infinity, detail::not_a_number<Value>(), finite);
  } else {
    return select((x % y != zero) & detail::signs_differ(x, y), quotient - one, quotient);
  }
}

}  // namespace sinter::lane
