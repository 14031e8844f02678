// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composites of neural networks, written from the other operators alone (C7): the list of operations below is the contract.
// Each is a traced operator: its arguments are one node each, and inside another formula it is inlined. Reductions run over the
// last axis unless said otherwise; statistics keep it as 1.
#pragma once

#include "reduce.hpp"
#include "view.hpp"

namespace sinter {

namespace bodies {
/// e = exp(x - max); e * (1 / sum e). A row of -inf gives NaN, as does a NaN or +inf in a row (C6). The maximum of integers becomes
/// f32, so that the difference doesn't wrap.
template <class Axes>
struct softmax {
    template <class Traced>
    constexpr Traced operator()(Traced x) const {
        const Traced e = exp_below_zero(x - detail::emit_op<to_float_op>((max)(x, Axes{})));
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
        const Traced e = where(mask, exp_below_zero(x - top), 0.0f);
        return where(mask, e * reciprocal(sum(e, Axes{})), 0.0f);
    }
};
template <class Axes>
struct log_softmax;
template <i64... Axis>
struct log_softmax<axes_t<Axis...>> {
    template <class Traced>
    constexpr Traced operator()(Traced x) const { return x - logsumexp<axes_t<Axis...>>{}(x); }
};
}  // namespace bodies

/// softmax(x) over the last axis, or softmax(x, axes<...>). Shape and type of x (integers: f32).
template <tensor_or_memory Operand>
SINTER_INLINE detail::fused_result<bodies::softmax<axes_t<-1>>, Operand> softmax(Operand&& x) {
    return detail::fused_operator<bodies::softmax<axes_t<-1>>>{}(static_cast<Operand&&>(x));
}
template <tensor_or_memory Operand, i64... Axis>
SINTER_INLINE detail::fused_result<bodies::softmax<axes_t<Axis...>>, Operand> softmax(Operand&& x, axes_t<Axis...>) {
    return detail::fused_operator<bodies::softmax<axes_t<Axis...>>>{}(static_cast<Operand&&>(x));
}
template <tensor_operand Operand, class Number>
    requires is_scalar_v<Number>
SINTER_INLINE typename detail::wrong_place<Operand, Number>::type softmax(Operand&&, Number) {
    return {};
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
template <tensor_operand Operand, tensor_operand Mask, i64... Axis>
SINTER_INLINE detail::outcome_of_call<refused<mistake<rule::argument_has_axes, bodies::masked_softmax<axes_t<Axis...>>>>, Operand, Mask> softmax(Operand&&, axes_t<Axis...>, Mask&&) {
    return {};
}
template <class... Arguments>
    requires(sizeof...(Arguments) == 0 || sizeof...(Arguments) > 3)
SINTER_INLINE mistake<rule::takes_so_many, bodies::softmax<axes_t<-1>>, takes<1>, given<int(sizeof...(Arguments))>> softmax(Arguments&&...) {
    return {};
}
/// x - logsumexp(x).
template <tensor_or_memory Operand>
SINTER_INLINE detail::fused_result<bodies::log_softmax<axes_t<-1>>, Operand> log_softmax(Operand&& x) {
    return detail::fused_operator<bodies::log_softmax<axes_t<-1>>>{}(static_cast<Operand&&>(x));
}
template <tensor_or_memory Operand, i64... Axis>
SINTER_INLINE detail::fused_result<bodies::log_softmax<axes_t<Axis...>>, Operand> log_softmax(Operand&& x, axes_t<Axis...>) {
    return detail::fused_operator<bodies::log_softmax<axes_t<Axis...>>>{}(static_cast<Operand&&>(x));
}
template <tensor_operand Operand, class Number>
    requires is_scalar_v<Number>
SINTER_INLINE typename detail::wrong_place<Operand, Number>::type log_softmax(Operand&&, Number) {
    return {};
}
template <class... Arguments>
    requires(sizeof...(Arguments) == 0 || sizeof...(Arguments) > 2)
SINTER_INLINE mistake<rule::takes_so_many, bodies::log_softmax<axes_t<-1>>, takes<1>, given<int(sizeof...(Arguments))>> log_softmax(Arguments&&...) {
    return {};
}

/// The arguments of normalizations by name, for the messages; `parameters` of a body are those between x and eps.
namespace argument {
struct x {};
struct weight {};
struct bias {};
struct mean {};
struct variance {};
struct eps {};
}  // namespace argument

namespace bodies {
template <class Axes>
struct normalize {
    using parameters = list<>;
    /// (x - mean) * rsqrt(variance + eps)
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced eps) const {
        return (x - sinter::mean(x, Axes{})) * rsqrt(sinter::variance(x, Axes{}) + eps);
    }
};
struct layer_norm_formula : detail::library_body {
    using parameters = list<argument::weight, argument::bias>;
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced weight, Traced bias, Traced eps) const {
        return normalize<axes_t<-1>>{}(x, eps) * weight + bias;
    }
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced weight, Traced eps) const { return normalize<axes_t<-1>>{}(x, eps) * weight; }
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced eps) const { return normalize<axes_t<-1>>{}(x, eps); }
};
struct rms_norm_formula : detail::library_body {
    using parameters = list<argument::weight>;
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced weight, Traced eps) const {
        return operator()(x, eps) * weight;
    }
    template <class Traced>
    constexpr Traced operator()(Traced given, Traced eps) const {
        const Traced x = detail::as_real(given);
        return x * rsqrt(sinter::mean(x * x, last_axis) + eps);
    }
};
/// The channel axis of x is axis 1; statistics and parameters broadcast as (channels, 1, ..., 1).
struct batch_norm_formula : detail::library_body {
    using parameters = list<argument::mean, argument::variance, argument::weight, argument::bias>;
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced mean, Traced variance, Traced weight, Traced bias, Traced eps) const {
        return (detail::as_real(x) - mean) * rsqrt(detail::as_real(variance) + eps) * weight + bias;
    }
};
/// x is split as (batch, groups, channels / groups, ...) and normalised over all axes from the third on; the parameters stand at
/// axes 1 and 2 of that, so they get as many axes of size 1 as x has behind its channels.
template <i64 Groups>
struct group_norm {
    using parameters = list<argument::weight, argument::bias>;
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced weight, Traced bias, Traced eps) const {
        const int rank = detail::rank_of(x);
        const Traced split = unflatten<1, Groups>(x);  // first: where it is refused, the message is about x
        Traced scale = unflatten<0, Groups>(weight), shift = unflatten<0, Groups>(bias);
        for (int i = 2; i < rank; ++i) {
            scale = unsqueeze<-1>(scale);
            shift = unsqueeze<-1>(shift);
        }
        return statistics(rank, split, eps) * scale + shift;
    }
    template <class Traced>
    static constexpr Traced statistics(int rank, Traced split, Traced eps) {
        switch (rank) {
            case 3: return normalize<axes_t<2, 3>>{}(split, eps);
            case 4: return normalize<axes_t<2, 3, 4>>{}(split, eps);
            case 5: return normalize<axes_t<2, 3, 4, 5>>{}(split, eps);
            case 6: return normalize<axes_t<2, 3, 4, 5, 6>>{}(split, eps);
            case 7: return normalize<axes_t<2, 3, 4, 5, 6, 7>>{}(split, eps);
            default: return normalize<axes_t<2>>{}(split, eps);  // two axes; with more than seven or less than two the split is refused
        }
    }
};
}  // namespace bodies

namespace detail {
template <int Index, class Parameters>
struct parameter_at;
template <int Index, class... Parameters>
struct parameter_at<Index, list<Parameters...>> {
    using type = nth_type<Index, Parameters...>;
};
template <class Body, int Count, int At>
constexpr auto name_of_argument() {
    if constexpr (At == 0)
        return argument::x{};
    else if constexpr (At == Count - 1)
        return argument::eps{};
    else
        return typename parameter_at<At - 1, typename Body::parameters>::type{};
}
/// Of a normalization the result has the shape of x: parameters have no more axes, and eps is a number. Almost every call with arguments in
/// another order, or one left out, breaks that; without the rule many of them compile and compute something else. -1: nothing breaks it.
template <int Count>
constexpr int find_misplaced(const int (&rank)[unsigned(Count)]) {
    if (rank[0] == 0) return 0;
    for (int i = 1; i < Count - 1; ++i)
        if (rank[i] > rank[0]) return i;
    return rank[Count - 1] > 0 ? Count - 1 : -1;
}
template <class Body, class... Expressions>
    requires requires { typename Body::parameters; }
struct misplaced_argument<Body, Expressions...> {
    static constexpr int count = int(sizeof...(Expressions));
    static constexpr int at = find_misplaced<count>({Expressions::extents_type::rank...});
    static constexpr auto verdict() {
        if constexpr (at < 0)
            return nothing_wrong{};
        else
            return refused<mistake<rule::argument_has_axes, Body, decltype(name_of_argument<Body, count, at>()),
                                   printed<typename nth_type<at, Expressions...>::extents_type>>>{};
    }
    using type = decltype(verdict());
};
template <class Body, int Count>
    requires requires { typename Body::parameters; }
struct misplaced_on_tape<Body, Count> {
    static constexpr bool possible = true;
    static constexpr void note(tape& on, const int (&rank)[unsigned(Count)]) {
        const int at = find_misplaced<Count>(rank);
        if (at >= 0) on.note(facts_at(at, make_indices<Count>{}));
    }
    template <int At>
    using wrong = mistake_on_tape<refused<mistake<rule::argument_has_axes, Body, decltype(name_of_argument<Body, Count, At>())>>>;
    template <int... At>
    static constexpr const op_facts* facts_at(int at, indices<At...>) {
        const op_facts* const all[] = {op_registration<wrong<At>>::facts...};
        return all[at];
    }
};
}  // namespace detail

/// layer_norm(x, weight, bias, eps) over the last axis; weight and bias may be left out (from the right: bias, then weight).
inline constexpr detail::fused_operator<bodies::layer_norm_formula> layer_norm{};
/// rms_norm(x, weight, eps) or rms_norm(x, eps): x * rsqrt(mean(x^2) + eps) * weight over the last axis.
inline constexpr detail::fused_operator<bodies::rms_norm_formula> rms_norm{};
/// (x - mean) * rsqrt(variance + eps) over any axes, without parameters.
template <tensor_operand Operand, i64... Axis, operand Epsilon>
SINTER_INLINE detail::fused_result<bodies::normalize<axes_t<Axis...>>, Operand, Epsilon> normalize(Operand&& x, axes_t<Axis...>, Epsilon&& eps) {
    return detail::fused_operator<bodies::normalize<axes_t<Axis...>>>{}(static_cast<Operand&&>(x), static_cast<Epsilon&&>(eps));
}
template <tensor_operand Operand, class Number, operand Epsilon>
    requires is_scalar_v<Number>
SINTER_INLINE typename detail::wrong_place<Operand, Number>::type normalize(Operand&&, Number, Epsilon&&) {
    return {};
}
template <class... Arguments>
    requires(sizeof...(Arguments) != 3)
SINTER_INLINE mistake<rule::takes_so_many, bodies::normalize<axes_t<-1>>, takes<3>, given<int(sizeof...(Arguments))>> normalize(Arguments&&...) {
    return {};
}
/// Inference: batch_norm(x, mean, variance, weight, bias, eps) with x of shape (batch, channels, ...): the parameters have shape
/// (channels, 1, ...) so that they broadcast along axis 1 (reshape them so; a view costs nothing).
inline constexpr detail::fused_operator<bodies::batch_norm_formula> batch_norm{};

/// group_norm<Groups>(x, weight, bias, eps): x (batch, channels, ...), weight and bias (channels). The result has the shape
/// (batch, Groups, channels / Groups, ...): assign it to `unflatten<1, Groups>(y)`, which costs nothing.
template <i64 Groups, tensor_operand Operand, tensor_operand Weight, tensor_operand Bias, operand Epsilon>
SINTER_INLINE detail::fused_result<bodies::group_norm<Groups>, Operand, Weight, Bias, Epsilon> group_norm(Operand&& x, Weight&& weight, Bias&& bias, Epsilon&& eps) {
    return detail::call_fused<bodies::group_norm<Groups>>(static_cast<Operand&&>(x), static_cast<Weight&&>(weight),
                                                          static_cast<Bias&&>(bias), static_cast<Epsilon&&>(eps));
}

namespace bodies {
/// logsumexp(x) - x[target], per row; the target is found by comparing the coordinate, so that it is one pass over the row.
struct cross_entropy_formula : detail::library_body {
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced target) const {
        // One index a row: the last axis has size 1, else the squeeze says so; `| 0` takes integers alone.
        const Traced index = unsqueeze<-1>(squeeze<-1>(target)) | 0;
        const Traced hit = iota<-1>(x) == index;
        const Traced picked = sum(where(hit, x, 0.0f), last_axis);
        return logsumexp<axes_t<-1>>{}(x) - picked;
    }
};
}  // namespace bodies
/// cross_entropy(x, target): x (..., classes), target an integer tensor (..., 1) of class indices; the loss per row, (..., 1).
inline constexpr detail::fused_operator<bodies::cross_entropy_formula> cross_entropy{};

// ------------------------------------------------------------------------------------------------------------ activations
namespace bodies {
struct leaky_relu_formula : detail::library_body {
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced slope) const { return where(x < 0, slope * x, x); }
    template <class Traced>
    constexpr Traced operator()(Traced x) const { return where(x < 0, 0.01f * x, x); }
};
/// clamp(alpha x + beta, 0, 1); ONNX's defaults alpha 0.2, beta 0.5.
struct hard_sigmoid_formula : detail::library_body {
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced alpha, Traced beta) const { return clamp(alpha * detail::as_real(x) + beta, 0.0f, 1.0f); }
    template <class Traced>
    constexpr Traced operator()(Traced x) const { return clamp(0.2f * x + 0.5f, 0.0f, 1.0f); }
};
/// x * clamp(x / 6 + 1 / 2, 0, 1).
struct hard_swish_formula : detail::library_body {
    template <class Traced>
    constexpr Traced operator()(Traced x) const { return x * clamp(x * (1.0f / 6.0f) + 0.5f, 0.0f, 1.0f); }
};
}  // namespace bodies
/// x < 0 ? slope x : x; the slope is 0.01 when left out.
inline constexpr detail::fused_operator<bodies::leaky_relu_formula> leaky_relu{};
inline constexpr detail::fused_operator<bodies::hard_sigmoid_formula> hard_sigmoid{};
inline constexpr detail::fused_operator<bodies::hard_swish_formula> hard_swish{};

}  // namespace sinter
