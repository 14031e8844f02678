// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assignments to codes whose parameters a view holds: `quantized(...) = x`, `packed(...) = x`, and `+=`, `-=`, `*=`, `/=` and `fill` of both.
// Real values are rounded to the view's codes and saturate; integers, which could be codes or numbers, are refused.
#pragma once

#include "assignment.hpp"
#include "ops/quantized_view.hpp"

namespace sinter {

namespace detail {
/// Integers that an output of codes is given, codes or numbers? A mistake, or `nothing_wrong`. (A number has no doubt.)
template <class Codes, class Right>
constexpr auto integer_verdict() {
    if constexpr (is_scalar_v<remove_cvref<Right>>)
        return nothing_wrong{};
    else {
        constexpr value_type type = remove_cvref<decltype(as_expression(some<Right>()))>::type;
        if constexpr (is_integer(type.type) && !type.weak)
            return refused<mistake<rule::codes_or_numbers, store_to<dtype_of<remove_cvref<typename Codes::element>>>, of_type<type.type>>>{};
        else
            return nothing_wrong{};
    }
}
template <class Codes, class Granularity, class Scale, class Zero>
inline constexpr bool is_coded_output<quantized_view<Codes, Granularity, Scale, Zero>> = true;
/// Found by argument-dependent lookup from `assign_checked` and `compound_assign`.
template <class Codes, class Granularity, class Scale, class Zero, class Right>
SINTER_INLINE auto assign_any(const quantized_view<Codes, Granularity, Scale, Zero>& output, Right&& right) {
    if constexpr (operand_kind_of<Right> == operand_kind::poison) {
        return poison{};
    } else if constexpr (!is_same<decltype(integer_verdict<Codes, Right>()), nothing_wrong>) {
        return integer_verdict<Codes, Right>();
    } else {
        using parameters = held_for<Granularity>;
        using code = remove_cvref<typename Codes::element>;
        using op = quantize_op<code, integer_min<code>, integer_max<code>>;
        auto rounded = apply_direct<op>(as_expression(static_cast<Right&&>(right)), parameters::get(output.codes_view, output.scale), parameters::get(output.codes_view, output.zero));
        if constexpr (operand_kind_of<decltype(rounded)> == operand_kind::poison)
            return rounded;  // what is wrong with it is said here
        else
            return assign_to_view(output.codes_view, rounded);
    }
}
}  // namespace detail
/// What `quantized(...) = expression` does.
template <class Codes, class Granularity, class Scale, class Zero, class Right>
SINTER_INLINE auto assign_quantized(const quantized_view<Codes, Granularity, Scale, Zero>& output, Right&& right)
    -> detail::outcome<decltype(detail::assign_checked(output, static_cast<Right&&>(right)))> {
    return detail::assign_checked(output, static_cast<Right&&>(right));
}

namespace detail {
template <qparams Parameters, class Bytes>
inline constexpr bool is_coded_output<packed_view<Parameters, Bytes>> = true;
/// Do values fit these extents? A mistake, or `nothing_wrong`.
template <class Extents, class Value>
constexpr auto shape_verdict() {
    if constexpr (operand_kind_of<Value> == operand_kind::poison)
        return nothing_wrong{};
    else if constexpr (!stores_to(Value::extents_type::static_shape, Extents::static_shape))
        return refused<mistake<rule::output_has_the_shape, printed<Extents>, printed<typename Value::extents_type>>>{};
    else
        return nothing_wrong{};
}
template <qparams Parameters, class Bytes, class Right>
SINTER_INLINE auto assign_any(const packed_view<Parameters, Bytes>& output, Right&& right) {
    if constexpr (operand_kind_of<Right> == operand_kind::poison) {
        return poison{};
    } else if constexpr (!is_same<decltype(integer_verdict<Bytes, Right>()), nothing_wrong>) {
        return integer_verdict<Bytes, Right>();
    } else {
        using numbers = typename unpacked_extents<typename Bytes::extents_type>::type;
        const auto all = apply<cast_op<dtype::u8>>(apply<quantize_static_op<Parameters>>(static_cast<Right&&>(right)));
        if constexpr (is_scalar_v<remove_cvref<Right>>) {
            return assign_to_view(output.bytes, apply<pack_codes_op>(all, all));
        } else if constexpr (!is_same<decltype(shape_verdict<numbers, remove_cvref<decltype(all)>>()), nothing_wrong>) {
            return shape_verdict<numbers, remove_cvref<decltype(all)>>();  // of the numbers: halves of another shape may fit the bytes
        } else {
            auto pairs = apply_direct<pack_codes_op>(slice<-1, 0, end, 2>(all), slice<-1, 1, end, 2>(all));  // an odd number that is known when run: two sizes that differ, R001
            if constexpr (operand_kind_of<decltype(pairs)> == operand_kind::poison)
                return pairs;
            else
                return assign_to_view(output.bytes, pairs);
        }
    }
}
/// Pairs of the numbers of an expression, which has their shape or is a scalar.
template <class Bytes, class Numbers>
SINTER_INLINE auto pairs_of(const Numbers& raw) {
    if constexpr (Numbers::extents_type::rank == 0)
        return apply_direct<pack_codes_op>(raw, raw);
    else
        return apply_direct<pack_codes_op>(slice<-1, 0, end, 2>(raw), slice<-1, 1, end, 2>(raw));  // an odd number that is known when run: two sizes that differ, R001
}
/// Packed codes whose parameters the view holds: rounded by those, and stored with the pairs' own zero point.
template <qparams Parameters, class Bytes, class Granularity, class Scale, class Zero, class Right>
SINTER_INLINE auto assign_any(const quantized_view<packed_codes<Parameters, Bytes>, Granularity, Scale, Zero>& output, Right&& right) {
    using codes = packed_codes<Parameters, Bytes>;
    using numbers = typename codes::extents_type;
    if constexpr (operand_kind_of<Right> == operand_kind::poison) {
        return poison{};
    } else if constexpr (!is_same<decltype(integer_verdict<Bytes, Right>()), nothing_wrong>) {
        return integer_verdict<Bytes, Right>();
    } else {
        using parameters = held_for<Granularity>;
        using op = quantize_op<i8, Parameters.low - Parameters.zero, Parameters.high - Parameters.zero>;
        const auto rounded = apply_direct<op>(as_expression(static_cast<Right&&>(right)), parameters::get(output.codes_view, output.scale), parameters::get(output.codes_view, output.zero));
        if constexpr (operand_kind_of<decltype(rounded)> == operand_kind::poison) {
            return rounded;
        } else {
            const auto raw = apply<cast_op<dtype::u8>>(apply<add_op>(rounded, i8(Parameters.zero)));
            using raw_type = remove_cvref<decltype(raw)>;
            if constexpr (is_scalar_v<remove_cvref<Right>> && raw_type::extents_type::rank > 0)
                return assign_to_view(output.codes_view.bytes, pairs_of<Bytes>(expand(raw, numbers{})));
            else if constexpr (raw_type::extents_type::rank > 0 && !is_same<decltype(shape_verdict<numbers, raw_type>()), nothing_wrong>)
                return shape_verdict<numbers, raw_type>();
            else
                return assign_to_view(output.codes_view.bytes, pairs_of<Bytes>(raw));
        }
    }
}
}  // namespace detail
template <qparams Parameters, class Bytes, class Right>
SINTER_INLINE auto assign_packed(const packed_view<Parameters, Bytes>& output, Right&& right)
    -> detail::outcome<decltype(detail::assign_checked(output, static_cast<Right&&>(right)))> {
    return detail::assign_checked(output, static_cast<Right&&>(right));
}

/// `fill(output, value)`: the same as `output = value`.
template <class Codes, class Granularity, class Scale, class Zero, class Value>
    requires is_scalar_v<Value>
SINTER_INLINE auto fill(const quantized_view<Codes, Granularity, Scale, Zero>& output, Value value) {
    return assign_quantized(output, value);
}
template <qparams Parameters, class Bytes, class Value>
    requires is_scalar_v<Value>
SINTER_INLINE auto fill(const packed_view<Parameters, Bytes>& output, Value value) {
    return assign_packed(output, value);
}
// `output += x`: the real values and x, rounded to codes again. (Forms of their own, as of views: an operator for all outputs would be asked of every type
// of this namespace, lanes among them, and clang looks at its result before its constraint.)
#define SINTER_COMPOUND(compound, op)                                                                                       \
    template <class Codes, class Granularity, class Scale, class Zero, class Right>                                         \
        requires(detail::compound_right<Right>)                                                                             \
    SINTER_INLINE auto compound(const quantized_view<Codes, Granularity, Scale, Zero>& output, Right&& right)               \
        ->detail::outcome<decltype(detail::compound_assign<op>(output, static_cast<Right&&>(right)))> {                     \
        return detail::compound_assign<op>(output, static_cast<Right&&>(right));                                            \
    }                                                                                                                       \
    template <qparams Parameters, class Bytes, class Right>                                                                 \
        requires(detail::compound_right<Right>)                                                                             \
    SINTER_INLINE auto compound(const packed_view<Parameters, Bytes>& output, Right&& right)                                \
        ->detail::outcome<decltype(detail::compound_assign<op>(output, static_cast<Right&&>(right)))> {                     \
        return detail::compound_assign<op>(output, static_cast<Right&&>(right));                                            \
    }
SINTER_COMPOUND(operator+=, add_op)
SINTER_COMPOUND(operator-=, sub_op)
SINTER_COMPOUND(operator*=, mul_op)
SINTER_COMPOUND(operator/=, div_op)
#undef SINTER_COMPOUND

}  // namespace sinter
