// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folds of drivers whose lanes hold neighbours, columns or short rows, so that all lanes fold elements of the same index.
#pragma once

#include "drive.hpp"

namespace sinter::detail {

template <class Kernel, class Family>
struct neighbour_folds {
    using rows = row_driver<Kernel, Family>;
    using eval = evaluator<Kernel, Family>;
    template <class Type>
    using lane_of = typename Family::template value<Type>;
    using row_values = typename rows::row_values;
    template <int Pass, class Pick>
    using two_phase_bundle = typename rows::template two_phase_bundle<Pass, Pick>;

    /// The element that the frame stands for, of index `index`, into the state of one fold.
    template <int Pass, int Phase, int Instance, class Frame, class State>
    static SINTER_INLINE void fold_one(const Frame& frame, State& state, const two_phase_bundle<Pass, pick_state>& context,
                                       const two_phase_bundle<Pass, pick_value>& firsts, i64 index) {
        using types = fold_types<Kernel, Family, Instance>;
        using monoid = typename types::monoid;
        if constexpr (Phase == 2 && !types::two_phase)
            return;
        else {
            const auto x = eval::template argument<Instance, 0>(frame);
            if constexpr (Phase == 1 && types::quick && requires { monoid::take(state, x); })
                monoid::take(state, x);
            else if constexpr (Phase == 2)
                state = monoid::combine_second(state, monoid::lift_second(x, rows::template member<pick_value, Instance>(firsts),
                                                                          rows::template member<pick_state, Instance>(context)));
            else if constexpr (types::two_phase)
                state = monoid::combine(state, monoid::lift(x, rows::template member<pick_value, Instance>(firsts)));
            else if constexpr (monoids::takes_index<monoid>)
                state = monoid::combine(state, monoid::lift(x, lane_of<i64>(index)));
            else
                state = monoid::combine(state, monoid::lift(x));
        }
    }
    template <int Pass, int Phase, class Frame, class States, int... Instance>
    static SINTER_INLINE void fold_all(const Frame& frame, States& states, const two_phase_bundle<Pass, pick_state>& context,
                                       const two_phase_bundle<Pass, pick_value>& firsts, i64 index, indices<Instance...>) {
        using pick = typename rows::template phase<Pass, Phase>::pick;
        const int done[] = {0, (fold_one<Pass, Phase, Instance>(frame, rows::template member<pick, Instance>(states), context, firsts, index), 0)...};
        (void)done;
    }
    /// The value of the first element, for the folds that shift by it.
    template <int Pass, class Frame, int... Instance>
    static SINTER_INLINE void keep_first(const Frame& frame, two_phase_bundle<Pass, pick_value>& firsts, indices<Instance...>) {
        const int done[] = {0, (rows::template member<pick_value, Instance>(firsts) = eval::template argument<Instance, 0>(frame), 0)...};
        (void)done;
    }
    /// From summaries, or from the states of a fold with one phase (the same members).
    template <int Pass, class Bundle, int... Instance>
    static SINTER_INLINE void finalize(const Bundle& from, row_values& to, indices<Instance...>) {
        const int done[] = {0, (static_cast<slot<Instance, instance_value<Kernel, Family, Instance>>&>(to).value =
                                    fold_types<Kernel, Family, Instance>::monoid::finalize(
                                        static_cast<const bundle_slot<Kernel, Family, pick_summary, Instance>&>(from).value),
                                0)...};
        (void)done;
    }
};

}  // namespace sinter::detail
