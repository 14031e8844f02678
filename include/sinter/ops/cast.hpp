// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversion between element types, by name. A chain computes in its compute type; `cast` is where it rounds (T1, T4).
#pragma once

#include "../expression.hpp"
#include "../lane.hpp"
#include "../small_float.hpp"
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
/// Integer lanes as f64 lanes that every shorter format rounds to the same value, as `detail::to_double_for_rounding` does: exact up to
/// 53 bits; above, the lowest 12 bits become their middle unless they are all 0. f64 holds 53 bits from the sign bit's place down, so the
/// middle is a bit that it keeps, and the shorter format's rounding is the only one.
template <class Value>
SINTER_INLINE auto to_double_for_rounding(Value x) {
    using element = typename Value::element;
    if constexpr (sizeof(element) < 8) {
        return convert<double>(x);
    } else {
        const Value floor = bit_and(x, Value(element(~element(0xfff))));
        const Value folded = select(equal(floor, x), x, bit_or(floor, Value(element(0x800))));
        auto is_held = less(x, Value(element(u64(1) << 53)));
        if constexpr (element(-1) < element(0)) is_held = bit_and(is_held, less(Value(element(-(i64(1) << 53))), x));
        return convert<double>(select(is_held, x, folded));
    }
}
/// f64 lanes as f32 lanes whose last bit holds whether anything lay below it: what is rounded to fewer bits next is rounded as the f64
/// itself would be.
template <class Value>
SINTER_INLINE auto narrow_to_odd(Value x) {
    using real = typename Value::template rebind<float>;
    using word = typename Value::template rebind<u32>;
    const real nearest = convert<float>(x);
    const Value back = convert<double>(nearest);
    const word all = bits(nearest);
    // Towards zero first (an infinity that was a number, too), then the sticky bit.
    const auto larger = less(from_bits<double>(bit_and(bits(x), typename Value::template rebind<u64>(~u64(0) >> 1))),
                             from_bits<double>(bit_and(bits(back), typename Value::template rebind<u64>(~u64(0) >> 1))));
    const word chopped = select(larger, sub(all, word(1u)), all);
    const word sticky = select(bit_or(equal(x, back), is_nan(x)), word(0u), word(1u));
    return from_bits<float>(select(is_nan(nearest), all, bit_or(chopped, sticky)));
}
/// Lanes of any number rounded to the values of a small float, as f32 lanes.
template <class Small, class Value>
SINTER_INLINE auto round_to_small(Value x) {
    using element = typename Value::element;
    if constexpr (__is_same(element, float))
        return small_to_float<Small>(detail::small_codes<Small, saturation::on>(x));
    else if constexpr (__is_same(element, double))
        return round_to_small<Small>(narrow_to_odd(x));
    else if constexpr (sizeof(element) <= 2)
        return round_to_small<Small>(convert<float>(x));
    else
        return round_to_small<Small>(to_double_for_rounding(x));
}
/// To the values of f16. (Two instructions where a backend has them.)
template <lane_value Value>
SINTER_INLINE auto round_to_f16(Value x) {
    return detail::round_to_format<10, -14>(x);
}
template <class Storage, class Value>
SINTER_INLINE auto round_to_storage(Value x) {
    using element = typename Value::element;
    if constexpr (is_small_float_v<Storage>) {
        return round_to_small<Storage>(x);
    } else if constexpr (__is_same(element, float) || __is_same(element, double)) {
#if SINTER_DEVICE_PASS
        if constexpr (__is_same(Value, scalar<float>))
            if (!SINTER_CONSTANT_EVALUATED) return Value(decode(encode<Storage>(x.value)));  // there are instructions for it
#endif
        if constexpr (__is_same(Storage, f16))
            return round_to_f16(x);
        else
            return detail::round_to_format<7, -126>(x);
    } else if constexpr (sizeof(element) >= 4) {
        return round_to_storage<Storage>(to_double_for_rounding(x));
    } else {
        return round_to_storage<Storage>(convert<float>(x));
    }
}
}  // namespace lane

/// cast to a type: T4. To f16 or bf16 the value is rounded there and computed on in f32.
template <dtype To>
struct cast_op {
    static constexpr op_facts facts{.name = "cast", .kind = node_kind::map, .arity = 1, .rule = &rules::cast<To>, .cost = 1, .rounds = true};
    template <class Value>
    static SINTER_INLINE auto apply(Value x) {
        if constexpr (To == dtype::f16 || To == dtype::bf16 || is_small_float(To))
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
        if constexpr (To == dtype::f16 || To == dtype::bf16 || is_small_float(To))
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

namespace detail {
/// A value in f32 where it is made of integers, as composites of floats take them: their products and differences would wrap.
/// Floats are no further node.
constexpr traced as_real(const traced& value) { return is_real(value) ? value : emit_op<to_float_op>(value); }
}  // namespace detail

/// As `cast` to a small float, but what is too large becomes the infinity of e5m2 or the NaN of the other formats.
template <dtype To>
struct cast_no_saturate_op {
    static constexpr op_facts facts{.name = "cast_no_saturate", .kind = node_kind::map, .arity = 1, .rule = &rules::cast<To>, .cost = 10, .rounds = true};
    template <class Value>
    static SINTER_INLINE auto apply(Value x) {
        using small_type = type_of<To>;
        if constexpr (__is_same(typename Value::element, float))
            return lane::small_to_float<small_type>(lane::small_from_float<small_type, saturation::off>(x));
        else if constexpr (__is_same(typename Value::element, double))
            return apply(lane::narrow_to_odd(x));
        else
            return apply(lane::to_double_for_rounding(x));
    }
};
/// The power of two that a rounding mode names: a block's scale.
template <scale_rounding Mode>
struct power_of_two_op {
    static constexpr op_facts facts{.name = "power_of_two", .kind = node_kind::map, .arity = 1, .rule = &rules::cast<dtype::f8_e8m0>, .cost = 6, .rounds = true};
    template <class Value>
    static SINTER_INLINE auto apply(Value x) {
        if constexpr (__is_same(typename Value::element, float))
            return lane::small_to_float<f8_e8m0>(lane::e8m0_from_float<Mode>(x));
        else if constexpr (__is_same(typename Value::element, double))
            return apply(lane::narrow_to_odd(x));
        else
            return apply(lane::to_double_for_rounding(x));
    }
};
namespace detail {
/// Does a store leave a node's value as it is? A small float that is one already, infinities too.
template <class Lowering, class Storage, int Node>
constexpr bool find_kept() {
    if constexpr (is_small_float_v<Storage> && Lowering::facts.type[Node].type == dtype_of<Storage>)
        return is_rounded(Lowering::facts, Lowering::node, Node);
    else
        return false;
}
template <class Lowering, class Storage, int Node>
inline constexpr bool keeps_value = find_kept<Lowering, Storage, Node>();  // a constant: nvcc warns of the call in device code
/// What a store does to a node's value: the rounding of its cast.
template <class Lowering, class Storage, int Node, class Value>
SINTER_INLINE auto cast_to_store(Value x) {
    if constexpr (keeps_value<Lowering, Storage, Node>)
        return x;
    else
        return cast_op<dtype_of<Storage>>::apply(x);
}
}  // namespace detail

/// Elements converted to `To`: each exact value is rounded once, half to even. Float to integer truncates and saturates, NaN
/// gives 0. Integer to narrower integer wraps. Float to bool is x != 0. Shape unchanged.
template <class To, operand Operand>
    requires(is_scalar_v<To> && !is_quantized_type(dtype_of<To>))
SINTER_INLINE detail::applied<cast_op<dtype_of<To>>, Operand> cast(Operand&& x) {
    return detail::apply<cast_op<dtype_of<To>>>(static_cast<Operand&&>(x));
}
/// cast<std::string>(x), cast(x)
template <class To, operand Operand>
    requires(!is_scalar_v<To>)
SINTER_INLINE detail::outcome_of_call<refused<mistake<rule::is_an_element_type, To>>, Operand> cast(Operand&&) {
    return {};
}
template <tensor_operand Operand>
SINTER_INLINE detail::outcome_of_call<refused<mistake<rule::is_an_element_type, given<operand_kind_of<Operand> * 0>>>, Operand> cast(Operand&&) {
    return {};
}
/// As `cast`, but float to integer wraps modulo 2^n after truncation; NaN and infinities give 0.
template <class To, operand Operand>
    requires(is_scalar_v<To> && !is_quantized_type(dtype_of<To>))
SINTER_INLINE detail::applied<cast_wrap_op<dtype_of<To>>, Operand> cast_wrap(Operand&& x) {
    return detail::apply<cast_wrap_op<dtype_of<To>>>(static_cast<Operand&&>(x));
}

/// As `cast<f8_e4m3fn>(x)` and its kin, but what is too large becomes the infinity of e5m2, the NaN of the others. A value of f4_e2m1
/// saturates anyway.
template <class To, operand Operand>
    requires(is_small_float_v<To> && !is_same<To, f8_e8m0>)
SINTER_INLINE detail::applied<cast_no_saturate_op<dtype_of<To>>, Operand> cast_no_saturate(Operand&& x) {
    return detail::apply<cast_no_saturate_op<dtype_of<To>>>(static_cast<Operand&&>(x));
}
/// A positive number as a power of two (type f8_e8m0), rounded as `Mode` says; 0 gives 2^-127, a NaN, an infinity or a negative number NaN.
template <scale_rounding Mode, operand Operand>
SINTER_INLINE detail::applied<power_of_two_op<Mode>, Operand> power_of_two(Operand&& x) {
    return detail::apply<power_of_two_op<Mode>>(static_cast<Operand&&>(x));
}

}  // namespace sinter
