// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Under `fast`: the maximum of 16-bit floats and the sum of the exponentials below it, which logsumexp and cross-entropy take, in one walk
// over memory. A thread sums e^(x - its own maximum); where two parts meet, the one with the smaller maximum is scaled (Milakov and
// Gimelshein, Online normalizer calculation for softmax, 2018). A kernel of such a formula is written anew with one level of folds.
#pragma once

#include "cuda_fast.cuh"
#include "cuda_tuning.cuh"

namespace sinter::detail::device {

/// The sum of e^(x - top) beside top, the largest x so far. Of nothing, and of -inf alone, the sum is 0; +inf gives NaN, as NaN does.
struct exponentials_below_top {
    using shortcuts_of = exponentials_below_top;
    static constexpr float lowest = -3.40282347e38f;  ///< in place of -inf, which has no differences
    template <class Value>
    using state = lane::fields<Value, Value>;
    static SINTER_INLINE float above_lowest(float x) { return x > lowest ? x : lowest; }
    template <class Value>
    static SINTER_INLINE state<Value> identity() {
        return state<Value>(Value(lowest), Value(0.0f));
    }
    template <class Value>
    static SINTER_INLINE state<Value> lift(Value x) {
        const float top = above_lowest(x.value);
        return state<Value>(Value(top), Value(approximate::exponential(x.value - top)));
    }
    /// combine(into, lift(x)) with one power.
    template <class Value>
    static SINTER_INLINE void take(state<Value>& into, Value x) {
        float &top = sinter::get<0>(into.item).value, &terms = sinter::get<1>(into.item).value;
        const float further = x.value - top, scale = approximate::exponential(further > 0.0f ? -further : further);
        terms = further > 0.0f ? terms * scale + (1.0f + (x.value - x.value)) : terms + scale;  // (+inf less itself is NaN)
        top = further > 0.0f ? x.value : top;
    }
    template <class Value>
    static SINTER_INLINE state<Value> combine(const state<Value>& a, const state<Value>& b) {
        const float one = sinter::get<0>(a.item).value, other = sinter::get<0>(b.item).value, further = other - one;
        const float terms = sinter::get<1>(a.item).value, more = sinter::get<1>(b.item).value;
        const float scale = approximate::exponential(further > 0.0f ? -further : further);
        return state<Value>(Value(further > 0.0f ? other : one), Value(further > 0.0f ? terms * scale + more : terms + more * scale));
    }
    /// The sum over a thread's rounds of `Pack` elements: `element(q, j)` of those that `has(q)`; behind each round `next(q)` may put others in its place.
    /// e^(x - top) = 2^(x f - top f), f the logarithm: one fma, whose error is of the difference. What the product top f was rounded by is the
    /// same for all and leaves the sum by one factor. From 2^16 on, where f16 has ended and a bf16 is top or so far below it that its exponential
    /// is 0, f is 1, and the products are exact however large.
    template <int Rounds, int Pack, class Has, class Element, class Next>
    static __device__ __forceinline__ float sum_of_rounds(float top, const Has& has, const Element& element, const Next& next) {
        const float factor = top < 0x1p16f && top > -0x1p16f ? approximate::log2_of_e : 1.0f, shift = step::mul(-top, factor), excess = step::fma(top, factor, shift);
        float sum[4] = {};
#pragma unroll
        for (int q = 0; q < Rounds; ++q) {
            if (has(q)) {
#pragma unroll
                for (int j = 0; j < Pack; ++j) sum[j % 4] += approximate::power_of_two(step::fma(element(q, j), factor, shift));
            }
            next(q);
        }
        return ((sum[0] + sum[1]) + (sum[2] + sum[3])) * approximate::power_of_two(-excess);
    }
    template <class Value>
    static SINTER_INLINE Value finalize(const state<Value>& a) {
        return lane::get<1>(a);
    }
};

/// Where a formula has such a pair of folds.
struct walked_once {
    int top = -1, terms = -1;  ///< instances; -1: it has none
};
template <class Kernel>
constexpr walked_once walked_once_in() {
    if constexpr (requires { Kernel::folds_of_one_walk; })
        return Kernel::folds_of_one_walk;
    else
        return {};
}
template <class Assignment>
struct one_walk_facts : kernel_facts<Assignment> {
    using written = kernel_facts<Assignment>;
    static constexpr bool is(int instance, const op_facts& op) {
        return instance >= 0 && written::table.at[instance].kind == node_kind::map && same_facts(written::node[written::table.at[instance].node].op, &op);
    }
    static constexpr bool is_half(int instance) {
        if (is(instance, cast_op<dtype::f32>::facts)) instance = written::table.at[instance].argument[0];
        if (instance < 0 || written::table.at[instance].kind != node_kind::leaf) return false;
        const dtype held = written::view.memory_type(instance);
        return held == dtype::f16 || held == dtype::bf16;
    }
    static constexpr bool is_zero(int instance, int argument) {
        if (written::table.at[instance].argument[argument] >= 0) return false;
        const node_value& number = written::node[written::table.at[instance].immediate[argument]];
        return number.kind == node_kind::literal && number.bits == 0;
    }
    /// sum(exp_below(x, where(is_finite(top), top, 0))), top = max(x): the only fold behind another one, in rows that store no elements.
    static constexpr walked_once find() {
        if constexpr (written::table.levels == 2 && written::table.kind == nest_kind::rows && !kernel<Assignment>::any_element_output())
            return find_pair();
        else
            return {};
    }
    static constexpr walked_once find_pair() {
        const auto& at = written::table.at;
        walked_once found;
        for (int i = 0; i < written::instances; ++i)
            if (written::view.folds_in_pass(i, 2)) {
                if (found.terms >= 0) return {};
                found.terms = i;
            }
        if (found.terms < 0) return {};
        const int power = at[found.terms].argument[0];
        if (!is(power, exp_below_op::facts)) return {};
        const int x = at[power].argument[0], shift = at[power].argument[1];
        if (x < 0 || !is_half(x) || !is(shift, where_op::facts) || !is_zero(shift, 2) || !is(at[shift].argument[0], is_finite_op::facts)) return {};
        found.top = at[shift].argument[1];
        if (found.top < 0 || at[at[shift].argument[0]].argument[0] != found.top || !written::view.folds_in_pass(found.top, 1) || at[found.top].argument[0] != x ||
            at[found.top].folded != at[found.terms].folded || at[found.top].lane_axes != at[found.terms].lane_axes)
            return {};
        return found;
    }
    static constexpr walked_once folds = find();
    template <class Kernel>
    static constexpr bool are_maximum_and_sum() {
        if constexpr (folds.terms >= 0)
            return is_same<typename evaluator<Kernel, scalar_family>::template op_of_instance<folds.top>::monoid, monoids::max_of> &&
                   is_same<typename evaluator<Kernel, scalar_family>::template op_of_instance<folds.terms>::monoid, monoids::sum_of>;
        else
            return false;
    }
    static constexpr bool possible = are_maximum_and_sum<kernel<Assignment>>();

    static constexpr auto rewrite() {
        auto out = written::table;
        if (!possible) return out;
        out.at[folds.terms].argument[0] = out.at[folds.top].argument[0];
        out.levels = 1;
        for (int i = 0; i < out.size; ++i)
            if (out.at[i].level == 2) out.at[i].level = 1;
        return out;
    }
    static constexpr auto table = rewrite();
    static constexpr walked_once folds_of_one_walk = folds;
    static constexpr kernel_view view = view_of(table, written::facts, written::node, written::leaf_count, written::leaf_type, written::leaf_table,
                                                written::output_type, written::output_shape);
};
template <class Assignment>
struct one_walk_kernel : kernel_of<one_walk_facts<Assignment>> {};

template <class Assignment, int Arch>
using fast_kernel_of = fast_kernel<tuned_kernel<conditional<one_walk_facts<Assignment>::possible, one_walk_kernel<Assignment>, kernel<Assignment>>, Arch>>;

}  // namespace sinter::detail::device

namespace sinter::detail {
template <class Kernel, class Family, int Instance>
    requires requires { requires Kernel::folds_of_one_walk.terms == Instance; }
struct monoid_of_fold<Kernel, Family, Instance> {
    using type = device::exponentials_below_top;
};
}  // namespace sinter::detail
