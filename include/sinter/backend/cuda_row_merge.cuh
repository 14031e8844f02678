// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How what a row's threads and segments found becomes one value (cuda_rows.cuh): steps between a thread and its partner, and the canonical
// tree over the segments (order.hpp), which nothing else than its result binds where the order doesn't show.
#pragma once

#include "cuda_row_facts.cuh"
#include "cuda_shuffle.cuh"

namespace sinter::detail::device {

template <class Kernel>
struct row_merge {
    using work = row_facts<Kernel>;
    using rows = typename work::rows;
    static constexpr int pack = work::pack, group = work::group;
    template <int Pass>
    using summaries = typename rows::template summaries<Pass>;

    template <class Step, class Pick, int... Instance>
    static __device__ __forceinline__ void combine_with_partner(typename Step::states& mine, const typename Step::states& give, int distance,
                                                                const choose& upper, indices<Instance...>) {
        (combine_member<Step, Pick, Instance>(mine, give, distance, upper), ...);
    }
    /// Lower lanes are the left operand. The library's folds of one value don't care; a user's may, in its last bits.
    template <class Step, class Pick, int Instance>
    static __device__ __forceinline__ void combine_member(typename Step::states& mine, const typename Step::states& give, int distance, const choose& upper) {
        auto& own = rows::template member<Pick, Instance>(mine);
        const auto other = lane::transform(from_partner{distance}, rows::template member<Pick, Instance>(give));
        using monoid = typename fold_types<Kernel, family, Instance>::monoid;
        if constexpr (__is_base_of(monoids::one_value, monoid) && monoids::has_shortcuts<monoid>)
            own = Step::template combine_one<Instance>(own, other);
        else
            own = Step::template combine_one<Instance>(lane::transform(upper, other, own), lane::transform(upper, own, other));
    }
    template <class Pick, class States, int... Instance>
    static __device__ __forceinline__ States chosen(const choose& yes, const States& one, const States& other, indices<Instance...>) {
        States out = one;
        ((rows::template member<Pick, Instance>(out) =
              lane::transform(yes, rows::template member<Pick, Instance>(one), rows::template member<Pick, Instance>(other))),
         ...);
        return out;
    }
    /// Maxima and minima of one type are the same in any order.
    template <int Instance>
    static constexpr bool is_extreme = choice_of<typename fold_types<Kernel, family, Instance>::monoid>::known && !choice_of<typename fold_types<Kernel, family, Instance>::monoid>::places;
    template <class List>
    struct any_order;
    template <int... Instance>
    struct any_order<indices<Instance...>> {
        static constexpr bool does = (is_extreme<Instance> && ...);
    };
    /// The lane tree, strides 64, 32 ... 1, lower lane first; every thread of the group, of which this is number `member`, gets the total. While a thread has several
    /// lanes, partners exchange halves: 8 to 11 exchanges in all and not 20 to 32.
    template <class Step, int Distance, int Count>
    static __device__ __forceinline__ void tree_of_threads(int member, typename Step::states (&all)[pack]) {
        if constexpr (Distance > 0) {
            const typename Step::list list{};
            const choose upper((member & Distance) != 0);
            if constexpr (Count > 1) {
#pragma unroll
                for (int j = 0; j < Count / 2; ++j) {
                    const typename Step::states give = chosen<typename Step::pick>(upper, all[j], all[j + Count / 2], list);
                    all[j] = chosen<typename Step::pick>(upper, all[j + Count / 2], all[j], list);
                    combine_with_partner<Step, typename Step::pick>(all[j], give, Distance, upper, list);
                }
                tree_of_threads<Step, Distance / 2, Count / 2>(member, all);
            } else {
                combine_with_partner<Step, typename Step::pick>(all[0], all[0], Distance, upper, list);
                tree_of_threads<Step, Distance / 2, 1>(member, all);
            }
        }
    }
    /// The strides within a pack: those that were exchanged lie in other threads now.
    template <class Step, int Stride, int Distance, int Count>
    static __device__ __forceinline__ void tree_of_pack(int member, typename Step::states (&all)[pack]) {
        if constexpr (Stride > 0) {
            const typename Step::list list{};
            if constexpr (Distance > 0) {
#pragma unroll
                for (int j = 0; j < Count; ++j)
                    combine_with_partner<Step, typename Step::pick>(all[j], all[j], Distance, choose((member & Distance) != 0), list);
            } else {
#pragma unroll
                for (int j = 0; j < Stride; ++j) Step::combine(all[j], all[j + Stride], list);
            }
            tree_of_pack<Step, Stride / 2, Distance / 2, Count>(member, all);
        }
    }
    static constexpr int left_in_thread = pack > group ? pack / group : 1;
    template <class Step>
    static __device__ __forceinline__ void combine_lanes(int member, typename Step::states (&all)[pack]) {
        if constexpr (any_order<typename Step::list>::does) {
            // A thread's lanes first: fewer exchanges, and nothing to choose for them.
            tree_of_pack<Step, pack / 2, 0, pack>(member, all);
            tree_of_threads<Step, group / 2, 1>(member, all);
        } else {
            tree_of_threads<Step, group / 2, pack>(member, all);
            tree_of_pack<Step, pack / 2, group / 2, left_in_thread>(member, all);
        }
    }
    /// Of as many neighbouring threads; sums in any order.
    template <int Threads>
    static __device__ __forceinline__ lane::scalar<float> largest_of(lane::scalar<float> value) {
#pragma unroll
        for (int distance = Threads / 2; distance > 0; distance /= 2) value = maximum(value, from_partner{distance}(value));
        return value;
    }
    template <int Threads>
    static __device__ __forceinline__ lane::scalar<float> sum_of(lane::scalar<float> value) {
#pragma unroll
        for (int distance = Threads / 2; distance > 0; distance /= 2) value.value += from_partner{distance}(value).value;
        return value;
    }
    /// Adjacent pairs level by level among a warp's threads, of which the first `count` have one each; an odd last one goes up as it is.
    template <int Pass>
    static __device__ __forceinline__ void merge_warp(summaries<Pass>& value, int count) {
        const int thread = int(threadIdx.x) & 31;
        const typename rows::template folds<Pass> folds{};
        if constexpr (work::terms_at >= 0 && work::template chooses<Pass>) {
            // The maxima first: what stands beside them is scaled once.
            auto& terms = rows::template member<pick_summary, work::terms_at>(value);
            if (thread >= count) {
                clear_picks<Pass>(value, folds);
                terms = exponentials_below_top::identity<lane::scalar<float>>();
            }
            lane::scalar<float>&top = sinter::get<0>(terms.item), &sum = sinter::get<1>(terms.item);
            const lane::scalar<float> own = top;
            top = largest_of<32>(own);
            sum.value *= approximate::exponential(own.value - top.value);
#pragma unroll
            for (int stride = 16; stride > 0; stride /= 2)
                if (stride < count) {
                    sum.value += from_partner{stride}(sum).value;
                    merge_all_but_terms<Pass>(value, stride, folds);
                }
        } else if constexpr (any_order_of_segments<typename rows::template folds<Pass>>::does) {
            // No thread asks who it is, but where there is nothing: extremes may count twice, picks may not.
            if (thread >= count) clear_picks<Pass>(value, folds);
#pragma unroll
            for (int stride = 16; stride > 0; stride /= 2)
                if (stride < count) rows::template one_lane<Pass>::merge(value, value, moved<Pass>(value, from_partner{stride}, folds), folds);
        } else {
#pragma unroll
            for (int stride = 1; stride < 32; stride *= 2) {
                if (stride >= count) break;
                const summaries<Pass> other = moved<Pass>(value, from_below{stride}, folds);
                if ((thread & (2 * stride - 1)) == 0 && thread + stride < count) rows::template one_lane<Pass>::merge(value, value, other, folds);
            }
        }
    }
    template <int Pass, int... Instance>
    static __device__ __forceinline__ void merge_all_but_terms(summaries<Pass>& value, int stride, indices<Instance...>) {
        (merge_if_not_terms<Pass, Instance>(value, stride), ...);
    }
    template <int Pass, int Instance>
    static __device__ __forceinline__ void merge_if_not_terms(summaries<Pass>& value, int stride) {
        if constexpr (Instance != work::terms_at) {
            auto& own = rows::template member<pick_summary, Instance>(value);
            own = fold_types<Kernel, scalar_family, Instance>::monoid::combine(own, lane::transform(from_partner{stride}, own));
        }
    }
    /// Maxima and minima; sums of which all segments but one have +0.
    template <class List>
    struct any_order_of_segments;
    template <int... Instance>
    struct any_order_of_segments<indices<Instance...>> {
        static constexpr bool does = ((is_extreme<Instance> || work::is_pick[Instance]) && ...);
    };
    template <int Pass, int... Instance>
    static __device__ __forceinline__ void clear_picks([[maybe_unused]] summaries<Pass>& value, indices<Instance...>) {
        (clear_pick<Pass, Instance>(value), ...);
    }
    template <int Pass, int Instance>
    static __device__ __forceinline__ void clear_pick(summaries<Pass>& value) {
        if constexpr (work::is_pick[Instance]) {
            using summary = typename fold_types<Kernel, scalar_family, Instance>::summary;
            using zero = typename fold_types<Kernel, scalar_family, Instance>::value;
            rows::template member<pick_summary, Instance>(value) = summary(zero(typename zero::element(0)));
        }
    }
    template <int Pass, class Move, int... Instance>
    static __device__ __forceinline__ summaries<Pass> moved(const summaries<Pass>& from, const Move& move, indices<Instance...>) {
        summaries<Pass> out = from;
        ((rows::template member<pick_summary, Instance>(out) = lane::transform(move, rows::template member<pick_summary, Instance>(from))), ...);
        return out;
    }
    /// The canonical tree over `count` neighbours, at least one and at most `Most`, a power of two.
    template <int Pass, int Most, class Slot>
    static __device__ __forceinline__ summaries<Pass> merge_run(const Slot* from, int count) {
        if constexpr (Most == 1) {
            return from->value;
        } else {
            summaries<Pass> out = merge_run<Pass, Most / 2>(from, count);
            if (count > Most / 2)
                rows::template one_lane<Pass>::merge(out, out, merge_run<Pass, Most / 2>(from + Most / 2, count - Most / 2), typename rows::template folds<Pass>{});
            return out;
        }
    }
};

}  // namespace sinter::detail::device
