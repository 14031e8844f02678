// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversion between element types, by name. A chain computes in its compute type; `cast` is where it rounds (T1, T4).
#pragma once

#include "../expression.hpp"
#include "../lane.hpp"
#include "type_rules.hpp"

namespace sinter {

namespace lane {
/// Rounds an f32 or f64 lane to the values of bf16 or f16, half to even, once; the result is an f32 lane. `Mantissa` is the
/// number of explicit fraction bits kept, `LowestExponent` the exponent of the smallest normal number.
namespace detail {
template <int Mantissa, int LowestExponent, class Value>
SINTER_INLINE auto round_to_format(Value x) {
    using element = typename Value::element;
    using word = unsigned_like<element>;
    using word_lane = typename Value::template rebind<word>;
    constexpr int fraction = sizeof(element) == 8 ? 52 : 23;
    constexpr int drop = fraction - Mantissa;
    constexpr word sign_mask = word(1) << (sizeof(element) * 8 - 1);
    const word_lane all = bits(x);
    const word_lane sign = bit_and(all, word_lane(sign_mask));
    const word_lane magnitude = bit_and(all, word_lane(word(~sign_mask)));
    // Normal results: add half of the last kept bit, less one, plus that bit: ties go to even. Overflow runs into infinity.
    const word_lane last = bit_and(shift_right<drop>(magnitude), word_lane(word(1)));
    word_lane rounded = add(add(magnitude, last), word_lane(word((word(1) << (drop - 1)) - 1)));
    rounded = bit_and(rounded, word_lane(word(~((word(1) << drop) - 1))));
    constexpr int bias = sizeof(element) == 8 ? 1023 : 127;
    if constexpr (LowestExponent > 1 - bias) {
        // Subnormal results: adding the number whose last bit is the format's smallest step rounds there.
        constexpr element anchor = __builtin_bit_cast(element, word(word(LowestExponent - Mantissa + fraction + bias) << fraction));
        const Value small_value = sub(add(from_bits<element>(magnitude), Value(anchor)), Value(anchor));
        constexpr word lowest = word(LowestExponent + bias) << fraction;
        rounded = select(less(magnitude, word_lane(lowest)), bits(small_value), rounded);
    }
    constexpr int top = Mantissa == 10 ? 15 : 127;  // largest exponent of the format
    constexpr word overflow = word(top + 1 + bias) << fraction;
    constexpr word format_infinity = ((word(1) << (sizeof(element) * 8 - 1 - fraction)) - 1) << fraction;
    rounded = select(less(rounded, word_lane(overflow)), rounded, word_lane(format_infinity));
    rounded = select(less(word_lane(format_infinity), magnitude), magnitude, rounded);  // NaN stays NaN
    return convert<float>(from_bits<element>(bit_or(rounded, sign)));
}
}  // namespace detail
template <class Storage, class Value>
SINTER_INLINE auto round_to_storage(Value x) {
    using element = typename Value::element;
    if constexpr (__is_same(element, float) || __is_same(element, double)) {
#if SINTER_DEVICE_PASS
        if constexpr (__is_same(Value, scalar<float>))
            if (!SINTER_CONSTANT_EVALUATED) return Value(decode(encode<Storage>(x.value)));  // there are instructions for it
#endif
        if constexpr (__is_same(Storage, f16))
            return detail::round_to_format<10, -14>(x);
        else
            return detail::round_to_format<7, -126>(x);
    } else if constexpr (sizeof(element) == 8) {
        // 64-bit integers: bits that f64 can't hold become one sticky bit, so that the only rounding is the last one.
        const Value low = bit_and(x, Value(element(0x7ff)));
        const Value high = bit_and(x, Value(element(~element(0x7ff))));
        const Value sticky = select(equal(low, Value(element(0))), Value(element(0)), Value(element(0x400)));
        const auto fits = less(add(x, Value(element(u64(1) << 52))), Value(element(u64(1) << 53)));
        const auto folded = bit_or(high, sticky);
        if constexpr (element(-1) < element(0)) {
            const auto negative_too_large = less(x, Value(element(-(i64(1) << 52))));
            return round_to_storage<Storage>(convert<double>(select(bit_and(fits, bit_not(negative_too_large)), x, folded)));
        } else {
            return round_to_storage<Storage>(convert<double>(select(less(x, Value(element(u64(1) << 53))), x, folded)));
        }
    } else if constexpr (sizeof(element) == 4) {
        return round_to_storage<Storage>(convert<double>(x));
    } else {
        return round_to_storage<Storage>(convert<float>(x));
    }
}
}  // namespace lane

/// cast to a type: T4. To f16 or bf16 the value is rounded there and computed on in f32.
template <dtype To>
struct cast_op {
    static constexpr op_facts facts{.name = "cast", .kind = node_kind::map, .arity = 1, .rule = &rules::cast<To>, .cost = 1};
    template <class Value>
    static SINTER_INLINE auto apply(Value x) {
        if constexpr (To == dtype::f16 || To == dtype::bf16)
            return lane::round_to_storage<type_of<To>>(x);
        else if constexpr (is_same<typename Value::element, type_of<To>>)
            return x;
        else
            return convert<type_of<To>>(x);
    }
};
/// Float to integer by truncation modulo 2^n: the conversion of C-like systems, by name.
template <dtype To>
struct cast_wrap_op {
    static constexpr op_facts facts{.name = "cast_wrap", .kind = node_kind::map, .arity = 1, .rule = &rules::cast<To>, .cost = 4};
    template <class Value>
    static SINTER_INLINE auto apply(Value x) {
        if constexpr (To == dtype::f16 || To == dtype::bf16)
            return lane::round_to_storage<type_of<To>>(x);
        else
            return convert_wrap<type_of<To>>(x);
    }
};
/// Integers to f32, floats unchanged: what the mean of integers needs.
struct to_float_op {
    static constexpr op_facts facts{.name = "to_float", .kind = node_kind::map, .arity = 1, .rule = &rules::floating, .cost = 1};
    template <class Value>
    static SINTER_INLINE Value apply(Value x) {
        return x;
    }
};

/// Elements converted to `To`: each exact value is rounded once, half to even. Float to integer truncates and saturates, NaN
/// gives 0. Integer to narrower integer wraps. Float to bool is x != 0. Shape unchanged.
template <class To, operand Operand>
    requires is_scalar_v<To>
SINTER_INLINE detail::applied<cast_op<dtype_of<To>>, Operand> cast(Operand&& x) {
    return detail::apply<cast_op<dtype_of<To>>>(static_cast<Operand&&>(x));
}
/// As `cast`, but float to integer wraps modulo 2^n after truncation; NaN and infinities give 0.
template <class To, operand Operand>
    requires is_scalar_v<To>
SINTER_INLINE detail::applied<cast_wrap_op<dtype_of<To>>, Operand> cast_wrap(Operand&& x) {
    return detail::apply<cast_wrap_op<dtype_of<To>>>(static_cast<Operand&&>(x));
}

}  // namespace sinter
