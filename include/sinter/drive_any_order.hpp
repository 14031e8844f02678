// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host driver for kernels whose policy keeps no order of reductions (`policy::any_order`): sums of f32 rows, and variances in one pass,
// fold as many vectors at once as hide the latency of an addition, over the whole row. Everything else of such a kernel, other folds, rows
// that are shorter or packed, and what is left of a row beyond whole turns, is as drive.hpp does it.
//
// A variance is q - s^2 / n, s and q the sums of d = x - x[first of the row] and of its square, over at most `stretch` elements: the
// rounding of q counts as often as the first element's squared distance from the mean exceeds the variance.
#pragma once

#include "drive.hpp"

namespace sinter::detail {

template <class Kernel, class Family>
struct any_order_driver : row_driver<Kernel, Family> {
    using rows = row_driver<Kernel, Family>;
    using eval = typename rows::eval;
    using row_position = typename rows::row_position;
    using row_context = typename rows::row_context;
    using row_call = typename rows::row_call;
    using ahead_of = typename rows::ahead_of;
    template <int Pass>
    using folds = typename rows::template folds<Pass>;
    template <int Pass>
    using summaries = typename rows::template summaries<Pass>;
    template <int Pass>
    using firsts_of = typename rows::template two_phase_bundle<Pass, pick_value>;
    using value = typename Family::template value<float>;
    using one = lane::scalar<float>;
    static constexpr int width = Family::width;
    static constexpr i64 stretch = 8192;  ///< elements that one set of accumulators takes at most: each addition may round the same way

    // ------------------------------------------------------------------------------------------------------- which folds

    template <int Instance>
    using monoid_of = typename eval::template op_of_instance<Instance>::monoid;
    template <int Instance>
    static constexpr bool is_deviations = is_same<monoid_of<Instance>, monoids::squared_deviations_of>;
    template <int Instance>
    static constexpr bool is_free = (is_same<monoid_of<Instance>, monoids::sum_of> || is_deviations<Instance>) &&
                                    is_same<typename fold_types<Kernel, Family, Instance>::element, float>;
    template <int... Instance>
    static constexpr bool all_free(indices<Instance...>) {
        return sizeof...(Instance) > 0 && (is_free<Instance> && ...);
    }
    template <int Pass>
    static constexpr bool free_order = all_free(folds<Pass>{});

    /// The deviations beside a sum of the same values, which needs no accumulator then; -1: none.
    template <int Instance, int... Other>
    static constexpr int deviations_beside(indices<Other...>) {
        int found = -1;
        if (!is_deviations<Instance> && Kernel::table.at[Instance].argument[0] >= 0)
            ((found = is_deviations<Other> && Kernel::table.at[Other].argument[0] == Kernel::table.at[Instance].argument[0] ? Other : found), ...);
        return found;
    }
    template <int Instance, int... Other>
    static constexpr int accumulators_of(indices<Other...> list) {
        return is_deviations<Instance> ? 2 : deviations_beside<Instance>(list) >= 0 ? 0 : 1;
    }
    template <int... Instance>
    static constexpr int count_accumulators(indices<Instance...> list) {
        return (accumulators_of<Instance>(list) + ... + 0);
    }
    /// Vectors of a turn: eight additions in flight, in half of the registers; of what takes long itself half as many.
    template <int Pass>
    static constexpr int find_groups() {
        constexpr int each = count_accumulators(folds<Pass>{});
        int count = is_costly(work_of_pass<Kernel, Pass>()) && each == 1 ? 4 : each == 1 ? 8 : 4;
        while (count > 2 && count * each * int(sizeof(value)) > Family::register_bytes / 2) count /= 2;
        return count;
    }
    template <int Pass>
    static constexpr int groups = find_groups<Pass>();
    template <int Pass>
    static constexpr i64 turn = groups<Pass> * width;  ///< elements
    template <int Pass>
    static constexpr i64 longest_turn() {
        if constexpr (Pass > Kernel::levels) {
            return 0;
        } else {
            constexpr i64 here = free_order<Pass> ? turn<Pass> : 0, others = longest_turn<Pass + 1>();
            return here > others ? here : others;
        }
    }

    // ------------------------------------------------------------------------------------------------------------ a turn

    template <class Value>
    using sums = lane::fields<Value, Value>;  ///< of values, or of deviations and their squares
    template <int Pass, class Value, class List>
    struct all_sums;
    template <int Pass, class Value, int... Instance>
    struct all_sums<Pass, Value, indices<Instance...>> : slot<Instance, sums<Value>>... {};
    template <int Pass, class Value>
    using sums_of = all_sums<Pass, Value, folds<Pass>>;
    template <int Instance, class All>
    static SINTER_INLINE auto& part(All& all) {
        return static_cast<slot<Instance, sums<value>>&>(all).value;
    }
    template <class All, int... Instance>
    static SINTER_INLINE void clear(All& all, indices<Instance...>) {
        const value zero(0.0f);
        const int done[] = {(part<Instance>(all) = sums<value>(zero, zero), 0)...};
        (void)done;
    }
    template <class Value>
    static SINTER_INLINE sums<Value> combine(const sums<Value>& a, const sums<Value>& b) {
        return sums<Value>(add(lane::get<0>(a), lane::get<0>(b)), add(lane::get<1>(a), lane::get<1>(b)));
    }
    struct combine_sums {
        template <class Value>
        SINTER_INLINE sums<Value> operator()(const sums<Value>& a, const sums<Value>& b) const {
            return combine(a, b);
        }
    };
    template <class All, int... Instance>
    static SINTER_INLINE void combine_all(All& into, All& other, indices<Instance...>) {
        const int done[] = {(part<Instance>(into) = combine(part<Instance>(into), part<Instance>(other)), 0)...};
        (void)done;
    }
    template <int Pass>
    struct combine_groups {
        SINTER_INLINE void operator()(sums_of<Pass, value>& into, sums_of<Pass, value>& other) const { combine_all(into, other, folds<Pass>{}); }
    };
    template <int Pass, int Instance, class Frame>
    static SINTER_INLINE void fold_one(const Frame& frame, sums<value>& into, const firsts_of<Pass>& firsts) {
        if constexpr (is_deviations<Instance>) {
            const value d = sub(eval::template argument<Instance, 0>(frame), rows::template member<pick_value, Instance>(firsts));
            accumulate(sinter::get<0>(into.item), d);
            Kernel::policy::accumulate_product(sinter::get<1>(into.item), d, d);
        } else if constexpr (deviations_beside<Instance>(folds<Pass>{}) < 0) {
            Kernel::policy::accumulate(sinter::get<0>(into.item), eval::template argument<Instance, 0>(frame));
        }
    }
    template <int Pass, int... Instance>
    static SINTER_INLINE void step(const typename rows::row_inputs& in, const row_position& at, sums_of<Pass, value>& into, const firsts_of<Pass>& firsts,
                                   i64 position, indices<Instance...>) {
        using values_type = typename rows::template pass_values<Pass>;
        values_type values;
        rows::template fill_elements<Pass>(in, at, values, position, position);
        const typename rows::template element_frame<values_type> frame{{in.assigned, in.bound, in.along}, in.once, in.row, at, values, position, position};
        if constexpr (rows::stashes && Pass == Kernel::levels) rows::write_stash(frame);
        const int done[] = {(fold_one<Pass, Instance>(frame, part<Instance>(into), firsts), 0)...};
        (void)done;
    }
    // --------------------------------------------------------------------------------------------------------- a stretch

    /// What a stretch of `count` elements comes to.
    template <int Pass, int Instance, class All>
    static SINTER_INLINE void close_one(summaries<Pass>& out, All& all, const firsts_of<Pass>& firsts, i64 elements) {
        auto& to = member_of<Kernel, scalar_family, pick_summary, Instance>(out);
        constexpr int beside = deviations_beside<Instance>(folds<Pass>{});
        const one count(sinter::convert<float>(elements));
        if constexpr (is_deviations<Instance>) {
            const auto total = combine_lanes<width>(combine_sums{}, part<Instance>(all));
            const one mean = div(lane::get<0>(total), count);
            // Not below 0 by rounding; a NaN goes through.
            to = remove_cvref<decltype(to)>(count, mean, max_raw(one(0.0f), sub(lane::get<1>(total), mul(lane::get<0>(total), mean))));
        } else if constexpr (beside >= 0) {
            const auto total = combine_lanes<width>(combine_sums{}, part<beside>(all));
            to = remove_cvref<decltype(to)>(add(lane::get<0>(total), mul(count, one(first(rows::template member<pick_value, beside>(firsts))))));
        } else {
            to = remove_cvref<decltype(to)>(combine_lanes<width>(take_sum{}, lane::fields<value>(lane::get<0>(part<Instance>(all)))));
        }
    }
    struct take_sum {
        template <class Value>
        SINTER_INLINE lane::fields<Value> operator()(const lane::fields<Value>& a, const lane::fields<Value>& b) const {
            return lane::fields<Value>(add(lane::get<0>(a), lane::get<0>(b)));
        }
    };
    template <int Pass, int... Instance, int... Group>
    static SINTER_FORCE_INLINE void fold_stretch(const row_context& original, const row_position& position, summaries<Pass>& result,
                                                 const firsts_of<Pass>& first_elements, i64 begin, i64 stop, indices<Instance...> list,
                                                 indices<Group...>) {
        const auto assigned = original.assigned;
        const auto once = original.once;
        const auto row = original.row;
        const row_position at = position;
        const typename rows::row_inputs in{assigned, original.bound, original.along, once, row};
        const firsts_of<Pass> firsts = first_elements;
        [[maybe_unused]] const row_position ahead = ahead_of::template from<Pass>(original, position);
        [[maybe_unused]] int fetches = ahead_of::template wanted<Pass>(original);
        group_states<sums_of<Pass, value>, indices<Group...>> all;
        const int cleared[] = {(clear(group_of<Group>(all), list), 0)...};
        (void)cleared;
        SINTER_NO_UNROLL
        for (i64 place = begin; place < stop; place += turn<Pass>) {
            if constexpr (ahead_of::template share<Pass> != 0)
                if (ahead_of::asks(fetches)) ahead_of::template lines<Pass, int(sizeof...(Group))>(ahead, place + ahead_of::distance);
            const int stepped[] = {(step<Pass>(in, at, group_of<Group>(all), firsts, place + Group * width, list), 0)...};
            (void)stepped;
        }
        group_tree<int(sizeof...(Group)) / 2>(combine_groups<Pass>{}, all);
        const int closed[] = {(close_one<Pass, Instance>(result, group_of<0>(all), firsts, stop - begin), 0)...};
        (void)closed;
    }
    template <int Pass>
    static SINTER_SMALL void rest_of_row(const row_context& in, const row_position& at, summaries<Pass>& result, const firsts_of<Pass>& firsts, i64 begin,
                                         i64 stop) {
        rows::template segments<Pass>(in, at, result, firsts, 0, begin, stop);
    }
    template <int Pass>
    static SINTER_FORCE_INLINE void fold_pass(row_context& in, const row_position& at) {
        if constexpr (!free_order<Pass>) {
            rows::template fold_pass<Pass>(in, at);
        } else {
            using merging = typename rows::template one_lane<Pass>;
            firsts_of<Pass> firsts;
            if constexpr (rows::template pass_has_second<Pass>)
                rows::template first_elements<Pass>(in, at, firsts, typename rows::template two_phase_folds<Pass>{});
            const i64 length = in.along.length, whole = length / turn<Pass> * turn<Pass>;
            summaries<Pass> result;
            fold_stretch<Pass>(in, at, result, firsts, 0, whole < stretch ? whole : stretch, folds<Pass>{}, make_indices<groups<Pass>>{});
            for (i64 begin = stretch; begin < length; begin += stretch) {
                summaries<Pass> more;
                const i64 stop = begin + stretch < whole ? begin + stretch : whole;
                if (begin < stop) {
                    fold_stretch<Pass>(in, at, more, firsts, begin, stop, folds<Pass>{}, make_indices<groups<Pass>>{});
                    merging::merge(result, result, more, folds<Pass>{});
                }
            }
            if (whole < length) {
                summaries<Pass> rest;
                rest_of_row<Pass>(in, at, rest, firsts, whole, length);
                merging::merge(result, result, rest, folds<Pass>{});
            }
            rows::template finalize<Pass>(result, in.row, folds<Pass>{});
        }
    }

    // ------------------------------------------------------------------------------------------------------------- entry

    template <int Pass>
    static SINTER_FORCE_INLINE void passes(row_context& in, const row_position& at) {
        rows::template rows_of_level<Pass - 1>(in, at);
        if constexpr (Pass <= Kernel::levels) {
            fold_pass<Pass>(in, at);
            passes<Pass + 1>(in, at);
        }
    }
    static SINTER_NOINLINE void begin_row(row_call& call, const row_position& at) {
        if (call.bound.packs || call.along.length < longest_turn<1>()) {
            rows::begin_row(call, at);
            return;
        }
        passes<1>(static_cast<row_context&>(call), at);
        if constexpr (!Kernel::any_element_output()) rows::finish_row(static_cast<row_context&>(call), at);
    }
    static constexpr row_body<rows::slot_count> make_body() {
        auto out = rows::body;
        out.begin_row = begin_row;
        return out;
    }
    static constexpr row_body<rows::slot_count> body = make_body();
    static SINTER_NOINLINE void run(const void* assigned, const typename rows::call_binding& bound, const typename rows::all_loops& along, i64 first_row,
                                    i64 stop_row, i64 begin, i64 stop) {
        rows::run_body(body, assigned, bound, along, first_row, stop_row, begin, stop);
    }
};

template <class Kernel, class Family>
    requires(Kernel::nest == nest_kind::rows && Kernel::table.inner == Kernel::table.inner_lane && requires { Kernel::policy::any_order; })
struct row_driver_of<Kernel, Family> {
    using type = conditional<(any_order_driver<Kernel, Family>::template longest_turn<1>() > 0), any_order_driver<Kernel, Family>, row_driver<Kernel, Family>>;
};

}  // namespace sinter::detail
