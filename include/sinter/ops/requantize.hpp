// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Requantizing by other systems' rules as operations of a formula, by name and never a default: TensorFlow Lite's fixed-point multipliers in
// both roundings, XNNPACK's, and ggml's blocks. The rules themselves are in quantized_conventions.hpp.
#pragma once

#include "../quantized_conventions.hpp"
#include "quantize.hpp"

namespace sinter {

using compat::fixed_multiplier;
using compat::quantize_multiplier;

struct divide_by_power_of_two_op {
    static constexpr op_facts facts{.name = "divide_by_power_of_two", .kind = node_kind::map, .arity = 2, .rule = &rules::exact_i32, .cost = 6};
    template <class Whole>
    static SINTER_INLINE Whole apply(Whole x, Whole exponent) {
        return lane::divide_by_power_of_two(x, exponent);
    }
};
template <requantization Mode>
struct fixed_product_op {
    static constexpr op_facts facts{.name = "rescale", .kind = node_kind::map, .arity = 3, .rule = &rules::exact_i32, .cost = 12,
                                     .parameters = u64(Mode) + 1};
    template <class Whole>
    static SINTER_INLINE Whole apply(Whole x, Whole mantissa, Whole shift) {
        return lane::fixed_product<Mode>(x, mantissa, shift);
    }
};
/// Clamps i32 to codes after the zero point is added: as integers, without rounding.
template <qparams Parameters>
struct clamp_to_codes_op {
    using code = typename quantize_static_op<Parameters>::value;
    static SINTER_INLINE typing rule(const value_type*, int count) { return rules::uniform({dtype_of<code>, false}, dtype::i32, count); }
    static constexpr op_facts facts{.name = "clamp_to_codes", .kind = node_kind::map, .arity = 1, .rule = &rule, .cost = 4, .parameters = fingerprint(Parameters)};
    template <class Whole>
    static SINTER_INLINE auto apply(Whole x) {
        using namespace lane_names;
        // Clamped first, so that adding the zero point can't wrap. A bound beyond i32 holds nothing back: x can't reach it.
        constexpr code_range steps = range_of(Parameters);
        constexpr i64 lowest = detail::integer_min<i32>, highest = detail::integer_max<i32>;
        const Whole low(i32(steps.low < lowest ? lowest : steps.low)), high(i32(steps.high > highest ? highest : steps.high));
        return convert<code>(add(min_raw(max_raw(x, low), high), Whole(Parameters.zero)));
    }
};
/// An i32 accumulator times an f32, rounded half to even, as a code.
template <qparams Parameters>
struct multiply_to_codes_op {
    using code = typename quantize_static_op<Parameters>::value;
    static SINTER_INLINE typing rule(const value_type*, int count) { return rules::uniform({dtype_of<code>, false}, dtype::f32, count); }
    static constexpr op_facts facts{.name = "requantize", .kind = node_kind::map, .arity = 2, .rule = &rule, .cost = 8, .parameters = fingerprint(Parameters)};
    template <class Real>
    static SINTER_INLINE auto apply(Real x, Real multiplier) {
        using namespace lane_names;
        return convert<code>(lane::code_of_quotient<Parameters>(mul(x, multiplier)));
    }
};
template <bool Away>
struct round_away_op {
    static constexpr op_facts facts{.name = "round_away", .kind = node_kind::map, .arity = 1, .rule = &rules::floating, .cost = 5};
    template <class Real>
    static SINTER_INLINE Real apply(Real x) {
        return lane::round_away(x);
    }
};

/// gemmlowp's RoundingDivideByPOT: x (i32) divided by 2^exponent (0 to 31), halves away from zero.
template <class Sum, class Exponent>
    requires operands<Sum, Exponent>
SINTER_INLINE detail::applied<divide_by_power_of_two_op, Sum, Exponent> divide_by_power_of_two(Sum&& x, Exponent&& exponent) {
    return detail::apply<divide_by_power_of_two_op>(static_cast<Sum&&>(x), static_cast<Exponent&&>(exponent));
}
/// x (i32) times mantissa * 2^(shift - 31), i32, rounded as the mode says; mantissas and shifts are i32 numbers or tensors that broadcast
/// (per channel). Not for `f32`.
template <requantization Mode, class Sum, class Mantissa, class Shift>
    requires(Mode != requantization::f32 && operands<Sum, Mantissa, Shift>)
SINTER_INLINE detail::applied<fixed_product_op<Mode>, Sum, Mantissa, Shift> rescale(Sum&& x, Mantissa&& mantissa, Shift&& shift) {
    return detail::apply<fixed_product_op<Mode>>(static_cast<Sum&&>(x), static_cast<Mantissa&&>(mantissa), static_cast<Shift&&>(shift));
}
/// An i32 accumulator as codes of static parameters (zero point and range; their scale isn't used): zero + round(sum * multiplier), f32,
/// half to even. The multiplier is a number or a tensor (scale of x * scale of w / scale of the output, per channel).
template <qparams Parameters, class Sum, class Multiplier>
    requires(operands<Sum, Multiplier> && detail::right_parameters<Parameters>)
SINTER_INLINE detail::applied<multiply_to_codes_op<detail::with_storage(Parameters)>, Sum, Multiplier> requantize(Sum&& x, Multiplier&& multiplier) {
    return detail::apply<multiply_to_codes_op<detail::with_storage(Parameters)>>(static_cast<Sum&&>(x), static_cast<Multiplier&&>(multiplier));
}
/// The same in fixed point: zero + rescale<Mode>(sum, mantissa, shift), saturated.
template <qparams Parameters, requantization Mode, class Sum, class Mantissa, class Shift>
    requires(Mode != requantization::f32 && operands<Sum, Mantissa, Shift> && detail::right_parameters<Parameters>)
SINTER_INLINE auto requantize(Sum&& x, Mantissa&& mantissa, Shift&& shift)
    -> detail::applied<clamp_to_codes_op<detail::with_storage(Parameters)>, detail::applied<fixed_product_op<Mode>, Sum, Mantissa, Shift>> {
    return detail::apply<clamp_to_codes_op<detail::with_storage(Parameters)>>(
        rescale<Mode>(static_cast<Sum&&>(x), static_cast<Mantissa&&>(mantissa), static_cast<Shift&&>(shift)));
}
template <qparams Parameters, class Sum, class... Given>
    requires(operands<Sum, Given...> && !detail::right_parameters<Parameters>)
SINTER_INLINE detail::refused_parameters<Parameters, Sum, Given...> requantize(Sum&&, Given&&...) {
    return {};
}
template <qparams Parameters, requantization Mode, class Sum, class... Given>
    requires(operands<Sum, Given...> && !detail::right_parameters<Parameters>)
SINTER_INLINE detail::refused_parameters<Parameters, Sum, Given...> requantize(Sum&&, Given&&...) {
    return {};
}
/// The integer and shift that XNNPACK's rndnu makes of an f32 multiplier below 256: its 24 bits.
SINTER_INLINE fixed_multiplier rndnu_multiplier(float multiplier) {
    const u32 bits = __builtin_bit_cast(u32, multiplier);
    return {i32((bits & 0x7fffffu) | 0x800000u), int(bits >> 23) - 127 - 23 + 31};
}
/// Nearest integer, halves away from zero; floats.
template <tensor_operand Operand>
SINTER_INLINE detail::applied<round_away_op<true>, Operand> round_away(Operand&& x) {
    return detail::apply<round_away_op<true>>(static_cast<Operand&&>(x));
}

namespace bodies {
/// quantize_row_q8_0_ref: d = absmax / 127, codes = round(x * (1 / d)), halves away; the codes belong to d before it is stored as f16.
struct ggml_q8_0 {
    template <class Traced>
    constexpr auto operator()(Traced x) const {
        const Traced scale = (max)(abs(cast<float>(x)), axes_t<-1>{}) / 127.0f;
        const Traced inverse = where(scale == 0.0f, 0.0f, 1.0f / scale);
        return outputs(cast<i8>(round_away(cast<float>(x) * inverse)), cast<f16>(scale));
    }
};
/// quantize_row_q8_1_ref: as q8_0, and the f16 of d times the sum of the codes.
struct ggml_q8_1 {
    template <class Traced>
    constexpr auto operator()(Traced x) const {
        const Traced scale = (max)(abs(cast<float>(x)), axes_t<-1>{}) / 127.0f;
        const Traced inverse = where(scale == 0.0f, 0.0f, 1.0f / scale);
        const Traced code = cast<i8>(round_away(cast<float>(x) * inverse));
        return outputs(code, cast<f16>(scale), cast<f16>(cast<float>(sum(code, axes_t<-1>{})) * scale));
    }
};
/// quantize_row_q4_0_ref: d = m / -8 with m the element of largest magnitude (the first of equals); codes = min(15, trunc(x / d + 8.5)).
struct ggml_q4_0 {
    template <class Traced>
    constexpr auto operator()(Traced given) const {
        const Traced x = cast<float>(given);
        const Traced place = argmax(abs(x), axes_t<-1>{});
        const Traced extreme = sum(where(iota<-1>(x) == place, x, 0.0f), axes_t<-1>{});
        const Traced scale = extreme / -8.0f;
        const Traced inverse = where(scale == 0.0f, 0.0f, 1.0f / scale);
        return outputs(cast<u8>(minimum(trunc(x * inverse + 8.5f), 15.0f)), cast<f16>(scale));
    }
};
}  // namespace bodies

/// ggml's q8_0 of rows (its blocks are rows of 32): i8 codes and the f16 scale, for `tie(codes, scale) = ggml_q8_0(x)`.
template <tensor_operand Operand>
SINTER_INLINE detail::fused_result<bodies::ggml_q8_0, Operand> ggml_q8_0(Operand&& x) {
    return detail::call_fused<bodies::ggml_q8_0>(static_cast<Operand&&>(x));
}
/// ggml's q8_1: codes, f16 scale, and the f16 of the scale times the sum of the codes.
template <tensor_operand Operand>
SINTER_INLINE detail::fused_result<bodies::ggml_q8_1, Operand> ggml_q8_1(Operand&& x) {
    return detail::call_fused<bodies::ggml_q8_1>(static_cast<Operand&&>(x));
}
/// ggml's q4_0: codes 0 to 15, one in a byte (u8), and the f16 scale; a value is (code - 8) * scale. In a block's
/// bytes element i is the low half and element i + 16 the high one.
template <tensor_operand Operand>
SINTER_INLINE detail::fused_result<bodies::ggml_q4_0, Operand> ggml_q4_0(Operand&& x) {
    return detail::call_fused<bodies::ggml_q4_0>(static_cast<Operand&&>(x));
}

}  // namespace sinter
