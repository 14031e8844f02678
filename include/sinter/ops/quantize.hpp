// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantized numbers in formulas. A view of `q8<parameters>` needs nothing of this: it is its real value, and rounds when stored to. Here
// are the conversions by name, views whose parameters are known only when run (per tensor, per axis, per block), exact sums of products
// of codes, and scales that a kernel finds itself. The two formulas are in quantized.hpp; other systems' conventions in
// ../quantized_conventions.hpp and requantize.hpp.
#pragma once

#include "../expression.hpp"
#include "../quantized.hpp"
#include "cast.hpp"
#include "pointwise.hpp"
#include "reduce.hpp"
#include "type_rules.hpp"

namespace sinter {

namespace rules {
inline namespace SINTER_ISA {
/// Real arguments compute in f32, or in f64 where the first one is; zero points, which are integers, as i32. The result is a code.
template <dtype Code>
SINTER_INLINE typing quantize(const value_type* arguments, int count) {
    if (count == 3 && is_float(arguments[2].type)) return refused(type_violation::fractional_zero);
    typing out;
    out.result = {Code, false};
    out.argument[0] = out.argument[1] = arguments[0].type == dtype::f64 && !arguments[0].weak ? dtype::f64 : dtype::f32;
    out.argument[2] = dtype::i32;
    return out;
}
/// The same, but the result is the real value of the code.
SINTER_INLINE typing quantize_to_real(const value_type* arguments, int count) {
    typing out = quantize<dtype::i8>(arguments, count);
    if (out.why != type_violation::none) return out;
    out.result = {dtype::f32, false};
    return out;
}
/// Codes (integers as i32, small floats as f32), a scale, a zero point. (A quantized operand comes as the real numbers that it is.)
SINTER_INLINE bool is_of_codes(value_type type) { return !is_float(type.type) || is_small_float(type.type); }
SINTER_INLINE typing dequantize(const value_type* arguments, int count) {
    typing out;
    if (!is_of_codes(arguments[0])) return refused(type_violation::needs_codes);
    out.result = {dtype::f32, false};
    out.argument[0] = is_float(arguments[0].type) ? dtype::f32 : dtype::i32;
    out.argument[1] = dtype::f32;
    out.argument[2] = dtype::i32;
    if (count == 3 && is_float(arguments[2].type)) out.why = type_violation::fractional_zero;
    if (arguments[0].type == dtype::i64 || arguments[0].type == dtype::u64 || arguments[0].type == dtype::u32) out.why = type_violation::no_common_type;
    return out;
}
SINTER_INLINE typing dequantize_static(const value_type* arguments, int count) {
    return is_of_codes(arguments[0]) ? cast<dtype::f32>(arguments, count) : refused(type_violation::needs_codes);
}
/// All in i32, and so is the result.
SINTER_INLINE typing exact_i32(const value_type* arguments, int count) {
    for (int i = 0; i < count; ++i)
        if (is_float(arguments[i].type)) return refused(type_violation::needs_integer);
    return uniform({dtype::i32, false}, dtype::i32, count);
}
SINTER_INLINE typing keeps_real(const value_type* arguments, int) {
    typing out;
    if (is_integer(arguments[0].type) && !arguments[0].weak) return refused(type_violation::codes_with_integers);  // codes, whose scale isn't said, or numbers
    out.result = {arguments[0].type, false};
    out.argument[0] = lane_type(arguments[0]);
    return out;
}
}  // namespace SINTER_ISA
}  // namespace rules

namespace lane {
/// Codes as i32 from x / scale.
template <i32 Low, i32 High, lane_value Real, lane_value Whole>
SINTER_INLINE auto codes_of_quotient(Real quotient, Whole zero) {
    if constexpr (counts_in_f32({i64(Low) - High, i64(High) - Low})) {
        using element = typename Real::element;
        const Real low = convert<element>(sub(Whole(Low), zero)), high = convert<element>(sub(Whole(High), zero));
        return add(clamp_round(quotient, low, high), zero);
    } else {
        using wide = typename Real::template rebind<double>;
        const wide offset = convert<double>(zero);
        const wide step = within(round_even(convert<double>(quotient)), sub(wide(double(Low)), offset), sub(wide(double(High)), offset));
        return convert<i32>(add(step, offset));
    }
}
/// What quantize does with parameters that are lanes: Q1 with bounds of any code type.
template <i32 Low, i32 High, class Precision, lane_value Real, lane_value Whole>
SINTER_INLINE auto quantize_lanes(Real x, Real scale, Whole zero) {
    using element = typename Real::element;
    if constexpr (Real::width > 1 && is_same<element, float>) x = add(x, code_lift(scale));
    Real quotient = div(x, scale);
    if constexpr (!is_same<Precision, void>) quotient = convert<element>(round_to_storage<Precision>(quotient));
    return codes_of_quotient<Low, High>(quotient, zero);
}
}  // namespace lane

/// A range of codes as one number, for hashes.
template <i32 Low, i32 High>
inline constexpr u64 code_bounds = u64(u32(Low)) << 32 | u32(High);

/// quantize with run-time parameters. `Precision` rounds the quotient to a shorter type first, as ONNX does for f16 scales.
template <class Code, i32 Low, i32 High, class Precision = void>
struct quantize_op {
    static constexpr int scale_argument = 1, zero_argument = 2;
    static constexpr i32 lowest_zero = detail::integer_min<Code>, highest_zero = detail::integer_max<Code>;
    static SINTER_INLINE u64 find_parameters() {
        if constexpr (is_same<Precision, void>)
            return code_bounds<Low, High>;
        else
            return code_bounds<Low, High> ^ (u64(dtype_of<Precision>) + 1) << 56;
    }
    static constexpr op_facts facts{.name = "quantize", .kind = node_kind::map, .arity = 3, .rule = &rules::quantize<dtype_of<Code>>, .cost = 12, .takes_integers = true,
                                     .parameters = find_parameters()};
    template <class Real, class Whole>
    static SINTER_INLINE auto apply(Real x, Real scale, Whole zero) {
        using namespace lane_names;
        return convert_in_range<Code>(lane::quantize_lanes<Low, High, Precision>(x, scale, zero));
    }
    /// Codes of a quotient that is known.
    template <class Real, class Whole>
    static SINTER_INLINE auto of_quotient(Real quotient, Whole zero) {
        using namespace lane_names;
        return convert_in_range<Code>(lane::codes_of_quotient<Low, High>(quotient, zero));
    }
};
/// quantize with static parameters: to codes.
template <qparams Parameters>
struct quantize_static_op {
    using code = typename detail::code_type<Parameters.storage>::type;
    using value = conditional<Parameters.storage == code_kind::i4, i8, code>;
    static constexpr op_facts facts{.name = "quantize", .kind = node_kind::map, .arity = 1, .rule = &rules::quantize<dtype_of<value>>, .cost = 8, .parameters = fingerprint(Parameters)};
    template <class Real>
    static SINTER_INLINE auto apply(Real x) {
        using namespace lane_names;
        return convert_in_range<value>(lane::quantize_to_i32<Parameters>(x));
    }
};
/// The real value of the nearest code: quantize, then dequantize.
template <qparams Parameters>
struct nearest_code_op {
    static constexpr op_facts facts{.name = "fake_quantize", .kind = node_kind::map, .arity = 1, .rule = &rules::quantize_to_real, .cost = 12, .parameters = fingerprint(Parameters)};
    template <class Real>
    static SINTER_INLINE auto apply(Real x) {
        return lane::dequantize_codes<Parameters>(lane::quantize_to_i32<Parameters>(x));
    }
};
template <i32 Low, i32 High>
struct nearest_code_of_op {
    static constexpr int scale_argument = 1, zero_argument = 2;
    static constexpr i32 lowest_zero = Low, highest_zero = High;
    static constexpr op_facts facts{.name = "fake_quantize", .kind = node_kind::map, .arity = 3, .rule = &rules::quantize_to_real, .cost = 16, .takes_integers = true,
                                     .parameters = code_bounds<Low, High>};
    template <class Real, class Whole>
    static SINTER_INLINE auto apply(Real x, Real scale, Whole zero) {
        using namespace lane_names;
        const Whole code = lane::quantize_lanes<Low, High, void>(x, scale, zero);
        if constexpr (counts_in_f32({i64(Low) - High, i64(High) - Low}))
            return mul(convert<float>(sub(code, zero)), convert<float>(scale));
        else
            return mul(convert<float>(sub(convert<double>(code), convert<double>(zero))), convert<float>(scale));
    }
};
/// (codes - zero) * scale, the subtraction in i32.
struct dequantize_op {
    static constexpr int scale_argument = 1, zero_argument = 2;
    static constexpr i32 lowest_zero = -2147483647 - 1, highest_zero = 2147483647;
    static constexpr op_facts facts{.name = "dequantize", .kind = node_kind::map, .arity = 3, .rule = &rules::dequantize, .cost = 3, .takes_integers = true};
    template <class Codes, class Real, class Whole>
    static SINTER_INLINE auto apply(Codes codes, Real scale, Whole zero) {
        using namespace lane_names;
        if constexpr (is_same<typename Codes::element, float>)
            return mul(sub(codes, convert<float>(zero)), scale);
        else
            return mul(convert<float>(sub(codes, zero)), scale);
    }
};
template <qparams Parameters>
struct dequantize_static_op {
    static constexpr op_facts facts{.name = "dequantize", .kind = node_kind::map, .arity = 1, .rule = &rules::dequantize_static, .cost = 3, .parameters = fingerprint(Parameters)};
    template <class Codes>
    static SINTER_INLINE auto apply(Codes codes) {
        return lane::dequantize_codes<Parameters>(codes);
    }
};
/// The real value of a quantized operand as a plain number: codes no more, so that any output may take it.
struct dequantized_op {
    static constexpr op_facts facts{.name = "dequantize", .kind = node_kind::map, .arity = 1, .rule = &rules::keeps_real, .cost = 0};
    template <class Value>
    static SINTER_INLINE Value apply(Value x) {
        return x;
    }
};

// ---- conversions by name ------------------------------------------------------------------------------------------------------

namespace detail {
template <class Code>
inline constexpr bool is_code_type = is_same<Code, i8> || is_same<Code, u8> || is_same<Code, i16> || is_same<Code, u16>;
/// Parameters with the storage that they have, or i8.
SINTER_INLINE qparams with_storage(qparams from) { return stored_as(from, from.storage == code_kind::unset ? code_kind::i8 : from.storage); }
template <u32 ScaleBits, i32 Zero, i32 Low, i32 High>
struct printed_parameters {};
/// What is wrong with parameters, a mistake; of right ones nothing.
template <qparams Given>
struct wrong_parameters {
    static constexpr auto find() {
        constexpr qparams_violation why = violation_of(Given);
        using printed = printed_parameters<Given.scale_bits, Given.zero, Given.low, Given.high>;
        if constexpr (why == qparams_violation::scale)
            return refused<mistake<rule::scale_is_positive, printed>>{};
        else if constexpr (why == qparams_violation::zero_point)
            return refused<mistake<rule::zero_in_storage, printed>>{};
        else if constexpr (why == qparams_violation::asymmetric)
            return refused<mistake<rule::symmetric_zero, printed>>{};
        else if constexpr (why == qparams_violation::range)
            return refused<mistake<rule::range_in_storage, printed>>{};
        else
            return nothing_wrong{};
    }
    using type = decltype(find());
};
template <qparams Parameters>
concept right_parameters = violation_of(with_storage(Parameters)) == qparams_violation::none;
/// What a call with other ones answers.
template <qparams Parameters, class... Operands>
using refused_parameters = outcome_of_call<typename wrong_parameters<with_storage(Parameters)>::type, Operands...>;
template <i32 Low, i32 High>
struct from_to {};
template <class Code, i32 Low, i32 High>
concept right_range = Low < High && Low >= integer_min<Code> && High <= integer_max<Code>;
}  // namespace detail

/// Codes (i8, u8, i16, u16) of x with a scale and a zero point, numbers or tensors that broadcast: zero + round(clamp(x / scale)),
/// half to even; a NaN gives the lowest code. The quotient is an f32, of f64 x an f64. A scale that isn't finite and positive is a
/// status when it is an operand itself. The range can be narrower: quantize<i8, -127, 127>(x, scale).
template <class Code, i32 Low = detail::integer_min<Code>, i32 High = detail::integer_max<Code>, class Operand, class Scale, class Zero>
    requires(detail::is_code_type<Code> && operands<Operand, Scale, Zero> && detail::right_range<Code, Low, High>)
SINTER_INLINE detail::applied<quantize_op<Code, Low, High>, Operand, Scale, Zero> quantize(Operand&& x, Scale&& scale, Zero&& zero) {
    return detail::apply<quantize_op<Code, Low, High>>(static_cast<Operand&&>(x), static_cast<Scale&&>(scale), static_cast<Zero&&>(zero));
}
template <class Code, i32 Low = detail::integer_min<Code>, i32 High = detail::integer_max<Code>, class Operand, class Scale>
    requires(detail::is_code_type<Code> && operands<Operand, Scale> && detail::right_range<Code, Low, High>)
SINTER_INLINE detail::applied<quantize_op<Code, Low, High>, Operand, Scale, i32> quantize(Operand&& x, Scale&& scale) {
    return detail::apply<quantize_op<Code, Low, High>>(static_cast<Operand&&>(x), static_cast<Scale&&>(scale), i32(0));
}
template <class Code, i32 Low, i32 High, tensor_operand Operand, class... Parameters>
    requires(detail::is_code_type<Code> && !detail::right_range<Code, Low, High>)
SINTER_INLINE detail::outcome_of_call<refused<mistake<rule::range_in_storage, Code, detail::from_to<Low, High>>>, Operand, Parameters...> quantize(Operand&&, Parameters&&...) {
    return {};
}
template <class Code, tensor_operand Operand, class... Parameters>
    requires(!detail::is_code_type<Code>)
SINTER_INLINE detail::outcome_of_call<refused<mistake<rule::codes_are_small, Code>>, Operand, Parameters...> quantize(Operand&&, Parameters&&...) {
    return {};
}
/// quantize(x, 0.1f)
template <tensor_operand Operand, class Scale, class... Zero>
SINTER_INLINE detail::outcome_of_call<refused<mistake<rule::codes_are_small, given<int(2 + sizeof...(Zero))>>>, Operand> quantize(Operand&&, const Scale&, const Zero&...) {
    return {};
}
/// The same with the quotient rounded to a shorter type, by name: ONNX's quotient of an f16 by an f16.
template <class Code, class Precision, class Operand, class Scale, class Zero>
    requires(detail::is_code_type<Code> && operands<Operand, Scale, Zero>)
SINTER_INLINE detail::applied<quantize_op<Code, detail::integer_min<Code>, detail::integer_max<Code>, Precision>, Operand, Scale, Zero> quantize_rounding_quotient(
    Operand&& x, Scale&& scale, Zero&& zero) {
    return detail::apply<quantize_op<Code, detail::integer_min<Code>, detail::integer_max<Code>, Precision>>(
        static_cast<Operand&&>(x), static_cast<Scale&&>(scale), static_cast<Zero&&>(zero));
}
/// Codes of x with static parameters: of their storage, i8 where they name none. 4-bit codes are i8 or u8, one in a byte.
template <qparams Parameters, tensor_operand Operand>
    requires(!detail::right_parameters<Parameters>)
SINTER_INLINE detail::refused_parameters<Parameters, Operand> quantize(Operand&&) {
    return {};
}
template <qparams Parameters, tensor_operand Operand>
    requires detail::right_parameters<Parameters>
SINTER_INLINE detail::applied<quantize_static_op<detail::with_storage(Parameters)>, Operand> quantize(Operand&& x) {
    return detail::apply<quantize_static_op<detail::with_storage(Parameters)>>(static_cast<Operand&&>(x));
}
/// Real values of integer codes: (codes - zero) * scale, the subtraction in i32, one rounding in f32. Scale and zero broadcast.
template <class Codes, class Scale, class Zero>
    requires operands<Codes, Scale, Zero>
SINTER_INLINE detail::applied<dequantize_op, Codes, Scale, Zero> dequantize(Codes&& codes, Scale&& scale, Zero&& zero) {
    return detail::apply<dequantize_op>(static_cast<Codes&&>(codes), static_cast<Scale&&>(scale), static_cast<Zero&&>(zero));
}
template <class Codes, class Scale>
    requires operands<Codes, Scale>
SINTER_INLINE detail::applied<dequantize_op, Codes, Scale, i32> dequantize(Codes&& codes, Scale&& scale) {
    return detail::apply<dequantize_op>(static_cast<Codes&&>(codes), static_cast<Scale&&>(scale), i32(0));
}
/// Real values of integer codes with static parameters.
template <qparams Parameters, tensor_operand Codes>
    requires(violation_of(Parameters) == qparams_violation::scale)
SINTER_INLINE detail::refused_parameters<Parameters, Codes> dequantize(Codes&&) {
    return {};
}
template <qparams Parameters, tensor_operand Codes>
    requires(violation_of(Parameters) != qparams_violation::scale)
SINTER_INLINE detail::applied<dequantize_static_op<detail::with_storage(Parameters)>, Codes> dequantize(Codes&& codes) {
    return detail::apply<dequantize_static_op<detail::with_storage(Parameters)>>(static_cast<Codes&&>(codes));
}
/// A quantized operand as plain f32, so that an output of any scale takes it; floats as they are. (Plain integers don't compile: [SINTER-Q005].)
template <tensor_operand Operand>
SINTER_INLINE detail::applied<dequantized_op, Operand> dequantize(Operand&& x) {
    return detail::apply<dequantized_op>(static_cast<Operand&&>(x));
}
/// The same, said where a value goes from one scale to another: `y = requantize(x)`.
template <tensor_operand Operand>
SINTER_INLINE detail::applied<dequantized_op, Operand> requantize(Operand&& x) {
    return detail::apply<dequantized_op>(static_cast<Operand&&>(x));
}
/// x rounded to what the parameters' codes can hold; f32.
template <qparams Parameters, tensor_operand Operand>
    requires(!detail::right_parameters<Parameters>)
SINTER_INLINE detail::refused_parameters<Parameters, Operand> fake_quantize(Operand&&) {
    return {};
}
template <qparams Parameters, tensor_operand Operand>
    requires detail::right_parameters<Parameters>
SINTER_INLINE detail::applied<nearest_code_op<detail::with_storage(Parameters)>, Operand> fake_quantize(Operand&& x) {
    return detail::apply<nearest_code_op<detail::with_storage(Parameters)>>(static_cast<Operand&&>(x));
}
/// The same with run-time parameters, numbers or tensors, for codes from `Low` to `High`.
template <i32 Low = -128, i32 High = 127, class Operand, class Scale, class Zero>
    requires operands<Operand, Scale, Zero>
SINTER_INLINE detail::applied<nearest_code_of_op<Low, High>, Operand, Scale, Zero> fake_quantize(Operand&& x, Scale&& scale, Zero&& zero) {
    return detail::apply<nearest_code_of_op<Low, High>>(static_cast<Operand&&>(x), static_cast<Scale&&>(scale), static_cast<Zero&&>(zero));
}
/// `cast` to a quantized type is fake_quantize.
template <class To, tensor_operand Operand>
    requires is_quantized<To>
SINTER_INLINE detail::applied<nearest_code_op<To::parameters>, Operand> cast(Operand&& x) {
    return detail::apply<nearest_code_op<To::parameters>>(static_cast<Operand&&>(x));
}
/// The codes of a quantized view as a view of integers; the same memory.
template <class Type, class Extents, class Layout, class Space, int Alignment>
    requires is_quantized<remove_cvref<Type>>
SINTER_INLINE auto codes(const tensor_view<Type, Extents, Layout, Space, Alignment>& from) {
    using code = typename remove_cvref<Type>::code_type;
    using element = conditional<is_const<Type>, const code, code>;
    element* const memory = reinterpret_cast<element*>(from.data());
    if constexpr (tensor_view<Type, Extents, Layout, Space, Alignment>::contiguous) {
        return tensor_view<element, Extents, Layout, Space, Alignment>(memory, from.get_extents());
    } else {
        array<i64, Extents::rank> strides{};
        for (int i = 0; i < Extents::rank; ++i) strides[i] = from.stride[i];
        return tensor_view<element, Extents, Layout, Space, Alignment>(memory, from.get_extents(), strides);
    }
}

// ---- scales that the kernel finds ---------------------------------------------------------------------------------------------

namespace bodies {
/// Q8: the largest magnitude over 127, f32; 1 where that rounds to 0.
template <class... Where>
struct symmetric_scale {
    template <class Traced>
    constexpr Traced operator()(Traced x) const {
        const Traced quotient = (max)(abs(cast<float>(x)), Where{}...) / 127.0f;
        return where(quotient == 0.0f, quotient * 0.0f + 1.0f, quotient);
    }
};
template <class... Where>
struct dynamic_quantize {
    template <class Traced>
    constexpr auto operator()(Traced x) const {
        const Traced scale = symmetric_scale<Where...>{}(x);
        return outputs(quantize<i8>(cast<float>(x), scale), scale);
    }
};
/// ONNX DynamicQuantizeLinear: the range stretched to hold 0, over 255.
template <class... Where>
struct dynamic_quantize_asymmetric {
    template <class Traced>
    constexpr auto operator()(Traced given) const {
        const Traced x = cast<float>(given);
        const Traced low = minimum((min)(x, Where{}...), 0.0f), high = maximum((max)(x, Where{}...), 0.0f);
        const Traced quotient = (high - low) / 255.0f;
        const Traced scale = where(quotient == 0.0f, quotient * 0.0f + 1.0f, quotient);
        const Traced zero = cast<u8>(round(clamp(0.0f - low / scale, 0.0f, 255.0f)));
        return outputs(quantize<u8>(x, scale, zero), scale, zero);
    }
};
}  // namespace bodies

/// The symmetric scale of each row, f32, its folded axes kept as 1: max |x| / 127, and 1 where that is 0; a NaN in the row gives NaN,
/// an infinity infinity. Over the last axis, or those named.
template <tensor_operand Operand>
SINTER_INLINE detail::fused_result<bodies::symmetric_scale<axes_t<-1>>, Operand> symmetric_scale(Operand&& x) {
    return detail::call_fused<bodies::symmetric_scale<axes_t<-1>>>(static_cast<Operand&&>(x));
}
template <tensor_operand Operand, i64... Axis>
SINTER_INLINE detail::fused_result<bodies::symmetric_scale<axes_t<Axis...>>, Operand> symmetric_scale(Operand&& x, axes_t<Axis...>) {
    return detail::call_fused<bodies::symmetric_scale<axes_t<Axis...>>>(static_cast<Operand&&>(x));
}
/// Two values, for `tie(codes, scale) = dynamic_quantize(x)`: i8 codes and the symmetric_scale that they have. One kernel with what
/// computes x, which is read once.
template <tensor_operand Operand>
SINTER_INLINE detail::fused_result<bodies::dynamic_quantize<axes_t<-1>>, Operand> dynamic_quantize(Operand&& x) {
    return detail::call_fused<bodies::dynamic_quantize<axes_t<-1>>>(static_cast<Operand&&>(x));
}
template <tensor_operand Operand, i64... Axis>
SINTER_INLINE detail::fused_result<bodies::dynamic_quantize<axes_t<Axis...>>, Operand> dynamic_quantize(Operand&& x, axes_t<Axis...>) {
    return detail::call_fused<bodies::dynamic_quantize<axes_t<Axis...>>>(static_cast<Operand&&>(x));
}
/// Three values, u8 codes, scale and zero point (u8), as ONNX DynamicQuantizeLinear has them; an all-zero row gives scale 1, zero 0.
template <tensor_operand Operand>
SINTER_INLINE detail::fused_result<bodies::dynamic_quantize_asymmetric<axes_t<-1>>, Operand> dynamic_quantize_asymmetric(Operand&& x) {
    return detail::call_fused<bodies::dynamic_quantize_asymmetric<axes_t<-1>>>(static_cast<Operand&&>(x));
}
template <tensor_operand Operand, i64... Axis>
SINTER_INLINE detail::fused_result<bodies::dynamic_quantize_asymmetric<axes_t<Axis...>>, Operand> dynamic_quantize_asymmetric(Operand&& x, axes_t<Axis...>) {
    return detail::call_fused<bodies::dynamic_quantize_asymmetric<axes_t<Axis...>>>(static_cast<Operand&&>(x));
}

}  // namespace sinter
