// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of reductions while a driver runs them: types of a fold over a lane family, one member per fold of a pass, what
// is done to all lanes of a state, what is done to summaries of segments, and the fold of row values one element at a time. No
// loop over memory here.
#pragma once

#include "evaluate.hpp"
#include "order.hpp"

namespace sinter::detail {

/// The monoid of a fold over elements of a type; kernels with `short_rows`, of less than 2^31 elements, hold indices in 32 bits.
template <class Kernel, class Monoid, class Element>
struct monoid_in_kernel {
    using type = Monoid;
};
template <class Kernel, bool Largest, pick Which, class Element>
    requires requires { Kernel::short_rows; }
struct monoid_in_kernel<Kernel, monoids::arg_of<Largest, Which, i64>, Element> {
    using type = monoids::arg_of<Largest, Which, i32>;
};

/// That of fold `Instance`.
template <class Kernel, class Family, int Instance>
struct monoid_of_fold {
    using type = typename monoid_in_kernel<Kernel, typename evaluator<Kernel, Family>::template op_of_instance<Instance>::monoid,
                                           type_of<Kernel::facts.argument_type[Kernel::table.at[Instance].node][0]>>::type;
};

/// A maximum of magnitudes races as the integers that these are, of which a NaN is the greatest: no order to keep at all.
struct largest_magnitude {
    static constexpr bool keeps_nan = true;
    template <class Value>
    static SINTER_INLINE Value combine_raw(Value x, Value largest) {
        return from_bits<float>(bits(max_raw(from_bits<i32>(bits(x)), from_bits<i32>(bits(largest)))));
    }
};

/// Whether fold `Instance` is the maximum of magnitudes of f32.
template <class Evaluator, class Kernel, int Instance>
constexpr bool is_largest_magnitude() {
    constexpr int from = Kernel::table.at[Instance].argument[0];
    if constexpr (Kernel::is_fold(Instance) && from >= 0) {
        if constexpr (Kernel::table.at[from].kind == node_kind::map && Kernel::table.at[from].type == dtype::f32)
            return is_same<typename Evaluator::template op_of_instance<Instance>::monoid, monoids::max_of> &&
                   is_same<typename Evaluator::template op_of_instance<from>, abs_op>;
    }
    return false;
}

/// Types of reduction `Instance` over a family.
template <class Kernel, class Family, int Instance>
struct fold_types {
    using element = type_of<Kernel::facts.argument_type[Kernel::table.at[Instance].node][0]>;
    using monoid = typename monoid_of_fold<Kernel, Family, Instance>::type;
    using value = typename Family::template value<element>;
    static constexpr bool two_phase = monoids::is_two_phase<monoid>;
    static constexpr bool quick = monoids::has_shortcuts<monoid>;
    using state = decltype(monoid::template identity<value>());
    static SINTER_INLINE auto find_second() {
        if constexpr (two_phase)
            return monoid::template identity_second<value>();
        else
            return monoid::template identity<value>();
    }
    static SINTER_INLINE auto find_summary() {
        if constexpr (two_phase)
            return monoid::template nothing<value>();
        else
            return monoid::template identity<value>();
    }
    using second_state = decltype(find_second());
    using summary = decltype(find_summary());
    /// Whether the reduction has no order to keep but for NaN and zeros.
    static constexpr bool races = quick && lane::is_float_element<element> && requires { monoid::template unsure<element>(); };
    static constexpr bool of_magnitudes = races && is_largest_magnitude<evaluator<Kernel, Family>, Kernel, Instance>();
    using racing = conditional<of_magnitudes, largest_magnitude, monoid>;  ///< what it races by
    using context = state;  // what `settle` gives: fields like the first phase's
};

/// Selects one of a fold's types.
struct pick_state {
    template <class Types>
    using type = typename Types::state;
};
struct pick_second {
    template <class Types>
    using type = typename Types::second_state;
};
struct pick_summary {
    template <class Types>
    using type = typename Types::summary;
};
struct pick_value {
    template <class Types>
    using type = typename Types::value;
};

/// One member per reduction of a list.
template <class Kernel, class Family, class Pick, class List>
struct bundle;
template <class Kernel, class Family, class Pick, int... Instance>
struct bundle<Kernel, Family, Pick, indices<Instance...>>
    : slot<Instance, typename Pick::template type<fold_types<Kernel, Family, Instance>>>... {};
template <class Kernel, class Family, class Pick, int Instance>
using bundle_slot = slot<Instance, typename Pick::template type<fold_types<Kernel, Family, Instance>>>;

/// A fold that has no order to keep but for NaN and zeros, while a driver runs it over vectors in any order that is fast: the best of
/// every fourth one, and where none of them was a NaN.
template <class Value>
struct racers {
    Value best0, best1, best2, best3;
    typename Value::mask ordered0, ordered1;
    template <class Monoid>
    SINTER_FORCE_INLINE void take_four(Value one, Value two, Value three, Value four) {
        best0 = Monoid::combine_raw(one, best0);
        best1 = Monoid::combine_raw(two, best1);
        best2 = Monoid::combine_raw(three, best2);
        best3 = Monoid::combine_raw(four, best3);
        if constexpr (!requires { Monoid::keeps_nan; }) {
            keep_ordered(ordered0, one, two);
            keep_ordered(ordered1, three, four);
        }
    }
};
struct pick_racers {
    template <class Types>
    using type = racers<typename Types::value>;
};

struct spread_lane {
    template <class Value>
    SINTER_INLINE Value operator()(Value value) const {
        if constexpr (Value::width == 1)
            return value;
        else
            return Value(first(value));
    }
};
template <class Mask>
struct select_lanes {
    Mask mask;
    template <class Value>
    SINTER_INLINE Value operator()(Value yes, Value no) const {
        return select(mask, yes, no);
    }
};
template <int Stride>
struct exchange_lanes {
    template <class Value>
    SINTER_INLINE Value operator()(Value value) const {
        return exchange<Stride>(value);
    }
};
struct take_lower_lanes {
    template <class Value>
    SINTER_INLINE auto operator()(Value value) const {
        return lower_lanes(value);
    }
};
struct take_upper_lanes {
    template <class Value>
    SINTER_INLINE auto operator()(Value value) const {
        return upper_lanes(value);
    }
};
/// Lane 0 alone, and one value spread over the lanes of a family.
struct take_first_lane {
    template <class Value>
    SINTER_INLINE auto operator()(Value value) const {
        return lane::scalar<typename Value::element>(first(value));
    }
};
template <class Family>
struct spread_over {
    template <class Value>
    SINTER_INLINE auto operator()(Value value) const {
        return typename Family::template value<typename Value::element>(first(value));
    }
};

/// (Not once lanes have been exchanged: then there are more lanes than are left to combine.)
template <class Value, int Width>
concept has_halves = Value::width == Width && requires(Value value) { lower_lanes(value); };
/// All lanes of a state combined in the canonical tree: lane l with lane l + Width / 2, then + Width / 4, ... + 1. In halves as
/// long as the lanes have any, then by exchanges.
template <int Width, class Combine, class... Values>
SINTER_INLINE auto combine_lanes(const Combine& combine, const lane::fields<Values...>& all) {
    if constexpr (Width == 1)
        return lane::transform(take_first_lane{}, all);
    else if constexpr ((has_halves<Values, Width> && ...))
        return combine_lanes<Width / 2>(combine, combine(lane::transform(take_lower_lanes{}, all), lane::transform(take_upper_lanes{}, all)));
    else
        return combine_lanes<Width / 2>(combine, combine(all, lane::transform(exchange_lanes<Width / 2>{}, all)));
}

/// The states of groups of lanes, each in a variable of its own: an array of them costs copies.
template <class State, class Sequence>
struct group_states;
template <class State, int... Group>
struct group_states<State, indices<Group...>> : slot<Group, State>... {};
template <int Group, class State>
SINTER_INLINE State& group_of(slot<Group, State>& all) {
    return all.value;
}
/// Groups `Stride` apart become one: `combine(into, other)`.
template <int Stride, class Combine, class All, int... Group>
SINTER_INLINE void pair_groups(const Combine& combine, All& all, indices<Group...>) {
    const int done[] = {(combine(group_of<Group>(all), group_of<Group + Stride>(all)), 0)...};
    (void)done;
}
/// All of twice `Stride` groups become the first: with those `Stride` further on, half as far, ... the next.
template <int Stride, class Combine, class All>
SINTER_INLINE void group_tree(const Combine& combine, All& all) {
    if constexpr (Stride > 0) {
        pair_groups<Stride>(combine, all, make_indices<Stride>{});
        group_tree<Stride / 2>(combine, all);
    }
}

template <class Kernel, class Family, class Pick, int Instance, class Bundle>
SINTER_INLINE auto& member_of(Bundle& from) {
    return static_cast<bundle_slot<Kernel, Family, Pick, Instance>&>(from).value;
}
template <class Kernel, class Family, class Pick, int Instance, class Bundle>
SINTER_INLINE const auto& member_of(const Bundle& from) {
    return static_cast<const bundle_slot<Kernel, Family, Pick, Instance>&>(from).value;
}

/// The folds of one pass between their phases and segments, over the lanes of a family: one lane for segments of a row, neighbours
/// for columns.
template <class Kernel, class Family, int Pass>
struct fold_summaries {
    template <int Instance>
    using types = fold_types<Kernel, Family, Instance>;
    template <class Pick, int Instance, class Bundle>
    static SINTER_INLINE auto& member(Bundle& from) {
        return member_of<Kernel, Family, Pick, Instance>(from);
    }
    using all = selected<folds_of_pass<Kernel, Pass>>;
    using two_phase = selected<two_phase_folds_of_pass<Kernel, Pass>>;
    using states = bundle<Kernel, Family, pick_state, all>;
    using contexts = bundle<Kernel, Family, pick_state, two_phase>;
    using seconds = bundle<Kernel, Family, pick_second, two_phase>;
    using summaries = bundle<Kernel, Family, pick_summary, all>;

    template <int... Instance>
    static SINTER_INLINE void nothing(summaries& out, indices<Instance...>) {
        const int done[] = {0, (member<pick_summary, Instance>(out) = types<Instance>::find_summary(), 0)...};
        (void)done;
    }
    template <int... Instance>
    static SINTER_INLINE void merge(summaries& into, const summaries& left, const summaries& right, indices<Instance...>) {
        const int done[] = {0, (member<pick_summary, Instance>(into) = merge_one<Instance>(member<pick_summary, Instance>(left),
                                                                                          member<pick_summary, Instance>(right)),
                                0)...};
        (void)done;
    }
    template <int Instance, class Summary>
    static SINTER_INLINE Summary merge_one(const Summary& a, const Summary& b) {
        if constexpr (types<Instance>::two_phase)
            return types<Instance>::monoid::merge(a, b);
        else
            return types<Instance>::monoid::combine(a, b);
    }
    template <int Instance>
    static SINTER_INLINE auto lanes_of_count(i64 count) {
        return typename types<Instance>::value(sinter::convert<typename types<Instance>::element>(count));
    }
    template <int... Instance>
    static SINTER_INLINE void settle(contexts& out, const states& totals, i64 count, indices<Instance...>) {
        const int done[] = {0, (member<pick_state, Instance>(out) = types<Instance>::monoid::settle(member<pick_state, Instance>(totals),
                                                                                                    lanes_of_count<Instance>(count)), 0)...};
        (void)done;
    }
    template <int Instance>
    static SINTER_INLINE void close_one(summaries& out, const states& totals, const contexts& context, const seconds& second, i64 count) {
        if constexpr (types<Instance>::two_phase)
            member<pick_summary, Instance>(out) = types<Instance>::monoid::close(
                member<pick_state, Instance>(context), member<pick_second, Instance>(second), lanes_of_count<Instance>(count));
        else
            member<pick_summary, Instance>(out) = member<pick_state, Instance>(totals);
    }
    template <int... Instance>
    static SINTER_INLINE void close(summaries& out, const states& totals, const contexts& context, const seconds& second, i64 count,
                                    indices<Instance...>) {
        const int done[] = {0, (close_one<Instance>(out, totals, context, second, count), 0)...};
        (void)done;
    }
};

/// Values of rows folded by the lane rule, one element at a time: at most one value per row arrives.
template <class Kernel, class Family, int Instance>
struct outer_fold {
    using one_family = scalar_family;
    using types = fold_types<Kernel, one_family, Instance>;
    using monoid = typename types::monoid;
    using element = typename types::element;
    using value = typename types::value;
    using summary = typename types::summary;
    element buffer[order::segment];
    summary stack[order::stack_depth];
    int filled = 0, depth = 0;
    i64 number = 0;
    element first_element{};

    SINTER_INLINE void push(element x) {
        if (number == 0 && filled == 0) first_element = x;
        buffer[filled++] = x;
        if (filled == order::segment) flush();
    }
    SINTER_SMALL void flush() {
        summary now = fold_segment();
        for (i64 level = number; level & 1; level >>= 1) now = merged(stack[--depth], now);
        stack[depth++] = now;
        ++number;
        filled = 0;
    }
    summary fold_segment() {
        const value shift(first_element);
        typename types::state lanes[order::lanes];
        for (auto& lane : lanes) lane = monoid::template identity<value>();
        for (int i = 0; i < filled; ++i) {
            const value x(buffer[i]);
            auto& state = lanes[i % order::lanes];
            if constexpr (types::two_phase)
                state = monoid::combine(state, monoid::lift(x, shift));
            else if constexpr (monoids::takes_index<monoid>)
                state = monoid::combine(state, monoid::lift(x, lane::scalar<i64>(number * order::segment + i)));
            else
                state = monoid::combine(state, monoid::lift(x));
        }
        for (int stride = order::lanes / 2; stride > 0; stride /= 2)
            for (int l = 0; l < stride; ++l) lanes[l] = monoid::combine(lanes[l], lanes[l + stride]);
        if constexpr (types::two_phase) {
            const value count(sinter::convert<element>(i64(filled)));
            const auto context = monoid::settle(lanes[0], count);
            typename types::second_state seconds[order::lanes];
            for (auto& second : seconds) second = monoid::template identity_second<value>();
            for (int i = 0; i < filled; ++i)
                seconds[i % order::lanes] = monoid::combine_second(seconds[i % order::lanes], monoid::lift_second(value(buffer[i]), shift, context));
            for (int stride = order::lanes / 2; stride > 0; stride /= 2)
                for (int l = 0; l < stride; ++l) seconds[l] = monoid::combine_second(seconds[l], seconds[l + stride]);
            return monoid::close(context, seconds[0], count);
        } else {
            return lanes[0];
        }
    }
    static summary merged(const summary& a, const summary& b) {
        if constexpr (types::two_phase)
            return monoid::merge(a, b);
        else
            return monoid::combine(a, b);
    }
    auto result() {
        if (filled > 0) flush();
        summary all = depth > 0 ? stack[--depth] : types::find_summary();
        while (depth > 0) all = merged(stack[--depth], all);
        return first(monoid::finalize(all));
    }
};

}  // namespace sinter::detail
