// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composites of neural networks, written from the other operators alone (C7): the list of operations below is the contract.
// Each is a traced operator: its arguments are one node each, and inside another formula it is inlined. Reductions run over the
// last axis unless said otherwise; statistics keep it as 1.
#pragma once

#include "reduce.hpp"
#include "view.hpp"

namespace sinter {

namespace bodies {
/// e = exp(x - max); e * (1 / sum e). A row of -inf gives NaN, as does a NaN or +inf in a row (C6).
template <class Axes>
struct softmax {
    template <class Traced>
    constexpr Traced operator()(Traced x) const {
        const Traced e = exp_nonpositive(x - (max)(x, Axes{}));
        return e * reciprocal(sum(e, Axes{}));
    }
};
/// Masked elements (mask false) are left out of maximum and sum and give 0; a row with nothing left is all 0.
template <class Axes>
struct masked_softmax {
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced mask) const {
        const float infinity = __builtin_huge_valf();
        const Traced top = (max)(where(mask, x, -infinity), Axes{});
        const Traced e = where(mask, exp_nonpositive(x - top), 0.0f);
        return where(mask, e * reciprocal(sum(e, Axes{})), 0.0f);
    }
};
template <class Axes>
struct log_softmax;
template <i64... Axis>
struct log_softmax<axes_t<Axis...>> {
    template <class Traced>
    constexpr Traced operator()(Traced x) const { return x - logsumexp<axes_t<Axis...>, true>{}(x); }
};
}  // namespace bodies

/// softmax(x) over the last axis, or softmax(x, axes<...>). Shape and type of x (integers: f32).
template <tensor_operand Operand>
SINTER_INLINE detail::fused_result<bodies::softmax<axes_t<-1>>, Operand> softmax(Operand&& x) {
    return detail::fused_operator<bodies::softmax<axes_t<-1>>>{}(static_cast<Operand&&>(x));
}
template <tensor_operand Operand, i64... Axis>
SINTER_INLINE detail::fused_result<bodies::softmax<axes_t<Axis...>>, Operand> softmax(Operand&& x, axes_t<Axis...>) {
    return detail::fused_operator<bodies::softmax<axes_t<Axis...>>>{}(static_cast<Operand&&>(x));
}
/// softmax(x, mask): mask is bool and broadcasts to x.
template <tensor_operand Operand, tensor_operand Mask>
SINTER_INLINE detail::fused_result<bodies::masked_softmax<axes_t<-1>>, Operand, Mask> softmax(Operand&& x, Mask&& mask) {
    return detail::fused_operator<bodies::masked_softmax<axes_t<-1>>>{}(static_cast<Operand&&>(x), static_cast<Mask&&>(mask));
}
template <tensor_operand Operand, tensor_operand Mask, i64... Axis>
SINTER_INLINE detail::fused_result<bodies::masked_softmax<axes_t<Axis...>>, Operand, Mask> softmax(Operand&& x, Mask&& mask, axes_t<Axis...>) {
    return detail::fused_operator<bodies::masked_softmax<axes_t<Axis...>>>{}(static_cast<Operand&&>(x), static_cast<Mask&&>(mask));
}
/// x - logsumexp(x).
template <tensor_operand Operand>
SINTER_INLINE detail::fused_result<bodies::log_softmax<axes_t<-1>>, Operand> log_softmax(Operand&& x) {
    return detail::fused_operator<bodies::log_softmax<axes_t<-1>>>{}(static_cast<Operand&&>(x));
}
template <tensor_operand Operand, i64... Axis>
SINTER_INLINE detail::fused_result<bodies::log_softmax<axes_t<Axis...>>, Operand> log_softmax(Operand&& x, axes_t<Axis...>) {
    return detail::fused_operator<bodies::log_softmax<axes_t<Axis...>>>{}(static_cast<Operand&&>(x));
}

namespace bodies {
template <class Axes>
struct normalize {
    /// (x - mean) * rsqrt(variance + eps)
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced eps) const {
        return (x - sinter::mean(x, Axes{})) * rsqrt(sinter::variance(x, Axes{}) + eps);
    }
};
struct layer_norm {
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced weight, Traced bias, Traced eps) const {
        return normalize<axes_t<-1>>{}(x, eps) * weight + bias;
    }
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced weight, Traced eps) const { return normalize<axes_t<-1>>{}(x, eps) * weight; }
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced eps) const { return normalize<axes_t<-1>>{}(x, eps); }
};
struct rms_norm {
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced weight, Traced eps) const {
        return x * rsqrt(sinter::mean(x * x, last_axis) + eps) * weight;
    }
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced eps) const { return x * rsqrt(sinter::mean(x * x, last_axis) + eps); }
};
/// The channel axis of x is axis 1; statistics and parameters broadcast as (channels, 1, ..., 1).
struct batch_norm {
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced mean, Traced variance, Traced weight, Traced bias, Traced eps) const {
        return (x - mean) * rsqrt(variance + eps) * weight + bias;
    }
};
/// x already split as (batch, groups, channels / groups, ...).
template <class Axes>
struct group_normalize {
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced weight, Traced bias, Traced eps) const {
        return normalize<Axes>{}(x, eps) * weight + bias;
    }
};
}  // namespace bodies

/// layer_norm(x, weight, bias, eps) over the last axis; weight and bias may be left out (from the right: bias, then weight).
inline constexpr detail::fused_operator<bodies::layer_norm> layer_norm{};
/// rms_norm(x, weight, eps) or rms_norm(x, eps): x * rsqrt(mean(x^2) + eps) * weight over the last axis.
inline constexpr detail::fused_operator<bodies::rms_norm> rms_norm{};
/// (x - mean) * rsqrt(variance + eps) over any axes, without parameters.
template <tensor_operand Operand, i64... Axis, operand Epsilon>
SINTER_INLINE detail::fused_result<bodies::normalize<axes_t<Axis...>>, Operand, Epsilon> normalize(Operand&& x, axes_t<Axis...>, Epsilon&& eps) {
    return detail::fused_operator<bodies::normalize<axes_t<Axis...>>>{}(static_cast<Operand&&>(x), static_cast<Epsilon&&>(eps));
}
/// Inference: batch_norm(x, mean, variance, weight, bias, eps) with x of shape (batch, channels, ...): the parameters have shape
/// (channels, 1, ...) so that they broadcast along axis 1 (reshape them so; a view costs nothing).
inline constexpr detail::fused_operator<bodies::batch_norm> batch_norm{};

namespace detail {
template <i64 Position, i64 Rank, class Operand>
SINTER_INLINE auto trailing_ones(Operand&& x) {
    if constexpr (Position == Rank)
        return as_expression(x);
    else
        return trailing_ones<Position + 1, Rank>(unsqueeze<-1>(static_cast<Operand&&>(x)));
}
template <class Sequence>
struct axes_from_two;
template <int... Index>
struct axes_from_two<indices<Index...>> {
    using type = axes_t<i64(Index + 2)...>;
};
}  // namespace detail
namespace detail {
/// group_norm with its mistakes passed on.
template <i64 Groups, class Operand, class Weight, class Bias, class Epsilon>
SINTER_INLINE auto apply_group_norm(Operand&& x, Weight&& weight, Bias&& bias, Epsilon&& eps) {
    using split_op = map_op<map_kind::unflatten, 1, Groups>;
    using parameter_op = map_op<map_kind::unflatten, 0, Groups>;
    using verdict_type = first_wrong<decltype(map_verdict<split_op, Operand>()), decltype(map_verdict<parameter_op, Weight>()),
                                     decltype(map_verdict<parameter_op, Bias>())>;
    if constexpr (!is_same<verdict_type, nothing_wrong>)
        return verdict_type{};
    else {
        const auto split = as_expression(apply_map_op<split_op>(static_cast<Operand&&>(x)));
        constexpr int rank = remove_cvref<decltype(split)>::extents_type::rank - 1;
        using statistics = typename axes_from_two<make_indices<rank - 1>>::type;
        return call_fused<bodies::group_normalize<statistics>>(
            split, trailing_ones<2, rank>(apply_map_op<parameter_op>(static_cast<Weight&&>(weight))),
            trailing_ones<2, rank>(apply_map_op<parameter_op>(static_cast<Bias&&>(bias))), static_cast<Epsilon&&>(eps));
    }
}
}  // namespace detail
/// group_norm<Groups>(x, weight, bias, eps): x (batch, channels, ...), weight and bias (channels). The result has the shape
/// (batch, Groups, channels / Groups, ...): assign it to `unflatten<1, Groups>(y)`, which costs nothing.
template <i64 Groups, tensor_operand Operand, tensor_operand Weight, tensor_operand Bias, operand Epsilon>
SINTER_INLINE auto group_norm(Operand&& x, Weight&& weight, Bias&& bias, Epsilon&& eps)
    -> detail::outcome<decltype(detail::apply_group_norm<Groups>(static_cast<Operand&&>(x), static_cast<Weight&&>(weight),
                                                                 static_cast<Bias&&>(bias), static_cast<Epsilon&&>(eps)))> {
    return detail::apply_group_norm<Groups>(static_cast<Operand&&>(x), static_cast<Weight&&>(weight), static_cast<Bias&&>(bias),
                                            static_cast<Epsilon&&>(eps));
}

namespace bodies {
/// logsumexp(x) - x[target], per row; the target is found by comparing the coordinate, so that it is one pass over the row.
struct cross_entropy {
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced target) const {
        const Traced hit = iota<-1>(x) == target;
        const Traced picked = sum(where(hit, x, 0.0f), last_axis);
        return logsumexp<axes_t<-1>, true>{}(x) - picked;
    }
};
}  // namespace bodies
/// cross_entropy(x, target): x (..., classes), target an integer tensor (..., 1) of class indices; the loss per row, (..., 1).
inline constexpr detail::fused_operator<bodies::cross_entropy> cross_entropy{};

// ------------------------------------------------------------------------------------------------------------ activations
namespace bodies {
struct leaky_relu {
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced slope) const { return where(x < 0, slope * x, x); }
    template <class Traced>
    constexpr Traced operator()(Traced x) const { return where(x < 0, 0.01f * x, x); }
};
/// clamp(alpha x + beta, 0, 1); ONNX's defaults alpha 0.2, beta 0.5.
struct hard_sigmoid {
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced alpha, Traced beta) const { return clamp(alpha * x + beta, 0.0f, 1.0f); }
    template <class Traced>
    constexpr Traced operator()(Traced x) const { return clamp(0.2f * x + 0.5f, 0.0f, 1.0f); }
};
/// x * clamp(x / 6 + 1 / 2, 0, 1).
struct hard_swish {
    template <class Traced>
    constexpr Traced operator()(Traced x) const { return x * clamp(x * (1.0f / 6.0f) + 0.5f, 0.0f, 1.0f); }
};
}  // namespace bodies
/// x < 0 ? slope x : x; the slope is 0.01 when left out.
inline constexpr detail::fused_operator<bodies::leaky_relu> leaky_relu{};
inline constexpr detail::fused_operator<bodies::hard_sigmoid> hard_sigmoid{};
inline constexpr detail::fused_operator<bodies::hard_swish> hard_swish{};

}  // namespace sinter
