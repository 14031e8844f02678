// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over any set of axes: monoids, and the functions that fold with them. The order of combination is fixed by
// shape and axes alone (docs/numerics: the canonical order); drivers own the order, monoids own the meaning.
//
//     sum(x)                     every axis, rank 0            sum(x, axes<1, 2>)          kept as 1
//     sum(x, axes<1>, drop)      the axis is gone              sum(x, last_axis)           axes<-1>
//
// A monoid is a struct of static functions over lane values:
//     name; template <class Value> identity() -> fields<...>; lift(x) or, with `uses_index`, lift(x, index);
//     combine(a, b), associative and commutative (neighbours meet in different lanes); finalize(state) -> Value;  `rule`: what is folded and what comes out.
// What a driver may do instead of `lift` and `combine` stands in further members (`identity_is_exact`, `take`, `take_second`, `keeps_codes`).
// They are promises about one `combine`, so they count only in the monoid that says `using shortcuts_of = itself`: one that is derived from
// sum_of or max_of, for their identity, and has a `combine` of its own doesn't inherit them.
// A two-phase monoid also says how a segment is summarised: `settle` after the first phase, `lift_second` / `combine_second`
// in the second one, `close`, and `merge` of summaries. It sees the first element of the row.
#pragma once

#include "../expression.hpp"
#include "../state.hpp"
#include "pointwise.hpp"
#include "type_rules.hpp"

namespace sinter {

template <i64... Axis>
struct axes_t {};
/// Axes of a reduction; negative ones count from the right.
template <i64... Axis>
inline constexpr axes_t<Axis...> axes{};
inline constexpr axes_t<-1> last_axis{};
struct every_axis_t {};
inline constexpr every_axis_t every_axis{};
struct drop_t {};
/// Asks a reduction to drop its axes instead of keeping them as 1.
inline constexpr drop_t drop{};
enum class pick : u8 { first, last };

namespace monoids {
using namespace lane_names;
using lane::fields;
using lane::get;

namespace detail {
template <class Type>
SINTER_INLINE Type lowest() {
    if constexpr (lane::is_float_element<Type>)
        return -Type(__builtin_huge_val());
    else if constexpr (is_same<Type, bool>)
        return false;
    else if constexpr (Type(-1) < Type(0))
        return Type(Type(1) << (sizeof(Type) * 8 - 1));
    else
        return Type(0);
}
template <class Type>
SINTER_INLINE Type highest() {
    if constexpr (lane::is_float_element<Type>)
        return Type(__builtin_huge_val());
    else if constexpr (is_same<Type, bool>)
        return true;
    else
        return Type(~lowest<Type>());
}
}  // namespace detail

/// What monoids over one value share.
struct one_value {
    static constexpr type_rule rule = &rules::fold_sum;
    /// Combining with the identity changes no bit of a state that began with it: a driver may leave it out.
    static constexpr bool identity_is_exact = true;
    template <class Value>
    static SINTER_INLINE fields<Value> identity() {
        return fields<Value>(Value(typename Value::element(0)));
    }
    template <class Value>
    static SINTER_INLINE fields<Value> lift(Value x) {
        return fields<Value>(x);
    }
    template <class Value>
    static SINTER_INLINE Value finalize(const fields<Value>& a) {
        return get<0>(a);
    }
};
/// Identity +0, so a sum is never -0 (C2). Over nothing 0.
struct sum_of : one_value {
    using shortcuts_of = sum_of;
    static constexpr const char* name = "sum";
    template <class Value>
    static SINTER_INLINE fields<Value> combine(const fields<Value>& a, const fields<Value>& b) {
        return fields<Value>(add(get<0>(a), get<0>(b)));
    }
    /// combine(into, lift(x)) in place; drivers use it where a monoid has it.
    template <class Value>
    static SINTER_INLINE void take(fields<Value>& into, Value x) {
        accumulate(sinter::get<0>(into.item), x);
    }
};
/// Over nothing 1.
struct prod_of : one_value {
    using shortcuts_of = prod_of;
    static constexpr const char* name = "prod";
    template <class Value>
    static SINTER_INLINE fields<Value> identity() {
        return fields<Value>(Value(typename Value::element(1)));
    }
    template <class Value>
    static SINTER_INLINE fields<Value> combine(const fields<Value>& a, const fields<Value>& b) {
        return fields<Value>(mul(get<0>(a), get<0>(b)));
    }
};
/// NaN if any element is NaN, +0 over -0 (B1). Over nothing -inf; integers have no value then.
struct max_of : one_value {
    using shortcuts_of = max_of;
    static constexpr const char* name = "max";
    static constexpr type_rule rule = &rules::fold_same;
    static constexpr bool needs_elements = true;
    static constexpr bool keeps_codes = true;  ///< it chooses one of the values
    template <class Value>
    static SINTER_INLINE fields<Value> identity() {
        return fields<Value>(Value(detail::lowest<typename Value::element>()));
    }
    template <class Value>
    static SINTER_INLINE fields<Value> combine(const fields<Value>& a, const fields<Value>& b) {
        return fields<Value>(maximum(get<0>(a), get<0>(b)));
    }
    /// A maximum has no order to keep: a driver may fold with this instead, in any order, and watch for NaN. It takes zeros for equal:
    /// where it gives `unsure`, the zeros must be folded again by `combine`.
    template <class Value>
    static SINTER_INLINE Value combine_raw(Value x, Value largest) {
        return max_raw(x, largest);
    }
    template <class Type>
    static SINTER_INLINE Type unsure() {
        return Type(-0.0f);
    }
};
struct min_of : one_value {
    using shortcuts_of = min_of;
    static constexpr const char* name = "min";
    static constexpr type_rule rule = &rules::fold_same;
    static constexpr bool needs_elements = true;
    static constexpr bool keeps_codes = true;  ///< it chooses one of the values
    template <class Value>
    static SINTER_INLINE fields<Value> identity() {
        return fields<Value>(Value(detail::highest<typename Value::element>()));
    }
    template <class Value>
    static SINTER_INLINE fields<Value> combine(const fields<Value>& a, const fields<Value>& b) {
        return fields<Value>(minimum(get<0>(a), get<0>(b)));
    }
};
struct any_of : one_value {
    using shortcuts_of = any_of;
    static constexpr const char* name = "any";
    static constexpr type_rule rule = &rules::fold_bool;
    template <class Value>
    static SINTER_INLINE fields<Value> combine(const fields<Value>& a, const fields<Value>& b) {
        return fields<Value>(bit_or(get<0>(a), get<0>(b)));
    }
};
struct all_of : prod_of {
    using shortcuts_of = all_of;
    static constexpr const char* name = "all";
    static constexpr type_rule rule = &rules::fold_bool;
    template <class Value>
    static SINTER_INLINE fields<Value> combine(const fields<Value>& a, const fields<Value>& b) {
        return fields<Value>(bit_and(get<0>(a), get<0>(b)));
    }
};

/// The index of the extreme element: the first (or last) of equals, and the first (or last) NaN if there is one (B3).
/// Indices are i64 outside; `Place` is what a state holds (a backend that knows a row's length may take 32 bits).
template <bool Largest, pick Which, class Place = i64>
struct arg_of {
    using shortcuts_of = arg_of;
    static constexpr const char* name = Which == pick::first ? (Largest ? "argmax" : "argmin") : (Largest ? "argmax_last" : "argmin_last");
    static constexpr type_rule rule = &rules::fold_index;
    static constexpr bool needs_elements = true;
    static constexpr bool always_needs_elements = true;
    static constexpr bool uses_index = true;
    static constexpr bool identity_is_exact = true;
    template <class Value>
    using state = fields<Value, typename Value::template rebind<Place>>;
    template <class Value>
    static SINTER_INLINE state<Value> identity() {
        using index = typename Value::template rebind<Place>;
        using element = typename Value::element;
        return state<Value>(Value(Largest ? detail::lowest<element>() : detail::highest<element>()),
                            index(Which == pick::first ? detail::highest<Place>() : Place(-1)));
    }
    template <class Value, class Index>
    static SINTER_INLINE state<Value> lift(Value x, Index index) {
        return state<Value>(x, placed(index));
    }
    template <class Value, class Index>
    static SINTER_INLINE fields<Value, Index> combine(const fields<Value, Index>& a, const fields<Value, Index>& b) {
        const Value x = get<0>(a), y = get<0>(b);
        const Index i = get<1>(a), j = get<1>(b);
        auto better = Largest ? less(x, y) : less(y, x);
        auto same = equal(x, y);
        if constexpr (lane::is_float_element<typename Value::element>) {
            const auto x_nan = is_nan(x), y_nan = is_nan(y);
            better = bit_or(better, bit_and(y_nan, bit_not(x_nan)));
            same = bit_or(same, bit_and(x_nan, y_nan));
        }
        const auto earlier = Which == pick::first ? less(j, i) : less(i, j);
        const auto take = bit_or(better, bit_and(same, earlier));
        return fields<Value, Index>(select(take, y, x), select(take, j, i));
    }
    /// combine(into, lift(x, index)) for an index above all that `into` has seen, in a third of the steps. A lane that starts from the
    /// identity takes no element that equals it (-inf): see finalize.
    template <class Value, class Index>
    static SINTER_INLINE void take(state<Value>& into, Value x, Index index) {
        Value& held = sinter::get<0>(into.item);
        auto& place = sinter::get<1>(into.item);
        const auto worse = Which == pick::first ? (Largest ? less_equal(x, held) : less_equal(held, x)) : (Largest ? less(x, held) : less(held, x));
        auto better = bit_not(worse);  // a NaN is
        if constexpr (lane::is_float_element<typename Value::element>)
            better = bit_and(better, Which == pick::first ? lane::is_number(held) : bit_or(lane::is_number(held), lane::is_nan(x)));
        held = select(better, x, held);
        place = select(better, placed(index), place);
    }
    /// Where nothing was better than the identity, all elements equal it: the first is meant.
    template <class Value, class Index>
    static SINTER_INLINE auto finalize(const fields<Value, Index>& a) {
        const Index place = Which == pick::first ? select(equal(get<1>(a), Index(detail::highest<Place>())), Index(Place(0)), get<1>(a)) : get<1>(a);
        if constexpr (is_same<Place, i64>)
            return place;
        else
            return convert<i64>(place);
    }
    template <class Index>
    static SINTER_INLINE auto placed(Index index) {
        if constexpr (is_same<typename Index::element, Place>)
            return index;
        else
            return convert<Place>(index);
    }
};

/// Sum of squared deviations from the mean (C5). With d = x - x[first of the row]: a segment's mean of d, then the corrected
/// two-pass sum of squares around it (Chan, Golub, LeVeque 1983); segments merge by (count, mean, M2).
struct squared_deviations_of {
    using shortcuts_of = squared_deviations_of;
    static constexpr const char* name = "squared_deviations";
    static constexpr type_rule rule = &rules::fold_float;
    static constexpr bool two_phase = true;
    static constexpr bool identity_is_exact = true;
    template <class Value>
    using summary = fields<Value, Value, Value>;  // count, mean of d, M2

    template <class Value>
    static SINTER_INLINE fields<Value> identity() {
        return fields<Value>(Value(typename Value::element(0)));
    }
    template <class Value>
    static SINTER_INLINE fields<Value> lift(Value x, Value first_element) {
        return fields<Value>(sub(x, first_element));
    }
    /// combine(into, lift(x, first_element)) in place, and the second phase's, as `take` of a sum.
    template <class Value>
    static SINTER_INLINE void take(fields<Value>& into, Value x, Value first_element) {
        accumulate(sinter::get<0>(into.item), sub(x, first_element));
    }
    template <class Value>
    static SINTER_INLINE void take_second(fields<Value, Value>& into, Value x, Value first_element, const fields<Value>& context) {
        const Value e = sub(sub(x, first_element), get<0>(context));
        accumulate(sinter::get<0>(into.item), mul(e, e));
        accumulate(sinter::get<1>(into.item), e);
    }
    template <class Value>
    static SINTER_INLINE fields<Value> combine(const fields<Value>& a, const fields<Value>& b) {
        return fields<Value>(add(get<0>(a), get<0>(b)));
    }
    /// After the first phase: the mean of d over the segment's `count` elements.
    template <class Value>
    static SINTER_INLINE fields<Value> settle(const fields<Value>& total, Value count) {
        return fields<Value>(div(get<0>(total), count));
    }
    template <class Value>
    static SINTER_INLINE fields<Value, Value> identity_second() {
        const Value zero(typename Value::element(0));
        return fields<Value, Value>(zero, zero);
    }
    template <class Value>
    static SINTER_INLINE fields<Value, Value> lift_second(Value x, Value first_element, const fields<Value>& context) {
        const Value e = sub(sub(x, first_element), get<0>(context));
        return fields<Value, Value>(mul(e, e), e);
    }
    template <class Value>
    static SINTER_INLINE fields<Value, Value> combine_second(const fields<Value, Value>& a, const fields<Value, Value>& b) {
        return fields<Value, Value>(add(get<0>(a), get<0>(b)), add(get<1>(a), get<1>(b)));
    }
    template <class Value>
    static SINTER_INLINE summary<Value> close(const fields<Value>& context, const fields<Value, Value>& total, Value count) {
        const Value correction = div(mul(get<1>(total), get<1>(total)), count);
        return summary<Value>(count, get<0>(context), sub(get<0>(total), correction));
    }
    template <class Value>
    static SINTER_INLINE summary<Value> nothing() {
        const Value zero(typename Value::element(0));
        return summary<Value>(zero, zero, zero);
    }
    template <class Value>
    static SINTER_INLINE summary<Value> merge(const summary<Value>& a, const summary<Value>& b) {
        const Value count = add(get<0>(a), get<0>(b));
        const Value delta = sub(get<1>(b), get<1>(a));
        const Value share = div(get<0>(b), count);
        const Value mean = add(get<1>(a), mul(delta, share));
        const Value between = mul(mul(delta, delta), mul(get<0>(a), share));
        return summary<Value>(count, mean, add(add(get<2>(a), get<2>(b)), between));
    }
    template <class Value>
    static SINTER_INLINE Value finalize(const summary<Value>& a) {
        // NaN over nothing (numerics): divided by 0 - correction, a 0 would be one.
        using element = typename Value::element;
        return select(equal(get<0>(a), Value(element(0))), Value(element(__builtin_nan(""))), get<2>(a));
    }
};

template <class Monoid>
inline constexpr bool is_two_phase = [] {
    if constexpr (requires { Monoid::two_phase; })
        return Monoid::two_phase;
    else
        return false;
}();
template <class Monoid>
inline constexpr bool takes_index = [] {
    if constexpr (requires { Monoid::uses_index; })
        return Monoid::uses_index;
    else
        return false;
}();

/// Are a monoid's shortcuts its own?
template <class Monoid>
concept has_shortcuts = is_same<typename Monoid::shortcuts_of, Monoid>;
/// Does merging with the identity change no bit?
template <class Monoid>
concept has_exact_identity = has_shortcuts<Monoid> && requires { Monoid::identity_is_exact; };

/// Not one of the library's, which need no check.
template <class Monoid>
inline constexpr bool is_own = true;
// clang-format off
template <> inline constexpr bool is_own<sum_of> = false;
template <> inline constexpr bool is_own<prod_of> = false;
template <> inline constexpr bool is_own<max_of> = false;
template <> inline constexpr bool is_own<min_of> = false;
template <> inline constexpr bool is_own<any_of> = false;
template <> inline constexpr bool is_own<all_of> = false;
template <> inline constexpr bool is_own<squared_deviations_of> = false;
template <bool Largest, pick Which> inline constexpr bool is_own<arg_of<Largest, Which>> = false;
// clang-format on

/// The members of a monoid, as a mistake names them.
struct name_member {};
struct identity_member {};
struct lift_member {};
struct combine_member {};
struct finalize_member {};
namespace detail {
struct every_member {
    void name(), identity(), lift(), combine(), finalize();
};
/// What both bases have is ambiguous here: so a member is found whatever it is, and nothing of it instantiated.
template <class Monoid>
struct member_probe : Monoid, every_member {};
template <class Monoid>
constexpr auto find_missing() {
    if constexpr (!__is_class(Monoid))
        return name_member{};
    else if constexpr (!requires { op_facts{.name = Monoid::name}; })
        return name_member{};
    else if constexpr (__is_final(Monoid))
        return sinter::detail::nothing_wrong{};
    else if constexpr (requires { &member_probe<Monoid>::identity; })
        return identity_member{};
    else if constexpr (requires { &member_probe<Monoid>::lift; })
        return lift_member{};
    else if constexpr (requires { &member_probe<Monoid>::combine; })
        return combine_member{};
    else if constexpr (requires { &member_probe<Monoid>::finalize; })
        return finalize_member{};
    else
        return sinter::detail::nothing_wrong{};
}
template <class Monoid>
using missing = decltype(find_missing<Monoid>());

template <class Type>
inline constexpr bool is_state = false;
template <class... Values>
inline constexpr bool is_state<fields<Values...>> = true;

/// The first member that doesn't take or give what it must for lanes of type `Value` and a result in lanes of type `Result`.
template <class Monoid, class Value, class Result>
constexpr auto find_unfit() {
    using sinter::detail::some;
    if constexpr (!requires { requires is_state<remove_cvref<decltype(Monoid::template identity<Value>())>>; })
        return identity_member{};
    else {
        using state = remove_cvref<decltype(Monoid::template identity<Value>())>;
        constexpr bool lifts = [] {
            if constexpr (is_two_phase<Monoid>)
                return requires { requires is_state<remove_cvref<decltype(Monoid::lift(some<Value>(), some<Value>()))>>; };
            else if constexpr (takes_index<Monoid>)
                return requires { requires is_same<remove_cvref<decltype(Monoid::lift(some<Value>(), some<typename Value::template rebind<i64>>()))>, state>; };
            else
                return requires { requires is_same<remove_cvref<decltype(Monoid::lift(some<Value>()))>, state>; };
        }();
        if constexpr (!lifts)
            return lift_member{};
        else if constexpr (!requires { requires is_same<remove_cvref<decltype(Monoid::combine(some<const state&>(), some<const state&>()))>, state>; })
            return combine_member{};
        else if constexpr (is_two_phase<Monoid>)
            return sinter::detail::nothing_wrong{};
        else if constexpr (!requires { Result(Monoid::finalize(some<const state&>())); })
            return finalize_member{};
        else
            return sinter::detail::nothing_wrong{};
    }
}
}  // namespace detail

}  // namespace monoids

namespace detail {
/// Whether lanes go through a monoid's members: a mistake, or `nothing_wrong`.
template <class Monoid, class Inference, int Node>
constexpr auto monoid_verdict() {
    using unfit = decltype(monoids::detail::find_unfit<Monoid, lane::scalar<lane_argument<Inference, Node>>, lane::scalar<lane_result<Inference, Node>>>());
    if constexpr (is_same<unfit, nothing_wrong>)
        return nothing_wrong{};
    else
        return refused<mistake<rule::lanes_go_through, Monoid, unfit>>{};
}
}  // namespace detail

/// A reduction: a monoid over axes.
template <class Monoid, class Axes, bool Keep>
struct reduction;
template <class Monoid, i64... Axis, bool Keep>
struct reduction<Monoid, axes_t<Axis...>, Keep> {
    using monoid = Monoid;
    static constexpr bool needs = [] {
        if constexpr (requires { Monoid::needs_elements; })
            return Monoid::needs_elements;
        else
            return false;
    }();
    static constexpr bool always_needs = [] {
        if constexpr (requires { Monoid::always_needs_elements; })
            return Monoid::always_needs_elements;
        else
            return false;
    }();
    static constexpr bool keeps = [] {
        if constexpr (monoids::has_shortcuts<Monoid> && requires { Monoid::keeps_codes; })
            return Monoid::keeps_codes;
        else
            return false;
    }();
    static constexpr type_rule rule = [] {
        if constexpr (requires { Monoid::rule; })
            return Monoid::rule;
        else
            return &rules::fold_same;
    }();
    static_assert(sizeof...(Axis) <= max_rank, "[SINTER-S022] more axes than a tensor can have.");
    static constexpr op_facts facts{.name = Monoid::name,
                                    .kind = node_kind::reduce,
                                    .arity = 1,
                                    .rule = rule,
                                    .cost = 2,
                                    .keeps_codes = keeps,
                                    .axes = {int(sizeof...(Axis)), {Axis...}},
                                    .all_axes = false,
                                    .keep = Keep,
                                    .needs_elements = needs,
                                    .always_needs_elements = always_needs,
                                    .two_phase = monoids::is_two_phase<Monoid>,
                                    .identity_is_exact = monoids::has_exact_identity<Monoid>,
                                    .own = monoids::is_own<Monoid>};
    template <class Inference, int Node>
    static constexpr auto verdict() {
        return detail::monoid_verdict<Monoid, Inference, Node>();
    }
};
template <class Monoid, bool Keep>
struct reduction<Monoid, every_axis_t, Keep> {
    using monoid = Monoid;
    static constexpr op_facts facts{.name = Monoid::name,
                                    .kind = node_kind::reduce,
                                    .arity = 1,
                                    .rule = reduction<Monoid, axes_t<>, Keep>::rule,
                                    .cost = 2,
                                    .keeps_codes = reduction<Monoid, axes_t<>, Keep>::keeps,
                                    .axes = {},
                                    .all_axes = true,
                                    .keep = Keep,
                                    .needs_elements = reduction<Monoid, axes_t<>, Keep>::needs,
                                    .always_needs_elements = reduction<Monoid, axes_t<>, Keep>::always_needs,
                                    .two_phase = monoids::is_two_phase<Monoid>,
                                    .identity_is_exact = monoids::has_exact_identity<Monoid>,
                                    .own = monoids::is_own<Monoid>};
    template <class Inference, int Node>
    static constexpr auto verdict() {
        return detail::monoid_verdict<Monoid, Inference, Node>();
    }
};

namespace detail {
/// What may follow a reduction's operand: nothing, axes, or axes and drop.
template <class Where>
inline constexpr bool says_where = false;
template <>
inline constexpr bool says_where<list<>> = true;
template <i64... Axis>
inline constexpr bool says_where<list<axes_t<Axis...>>> = true;
template <i64... Axis>
inline constexpr bool says_where<list<axes_t<Axis...>, drop_t>> = true;
/// Anything else, a number above all: axes are part of the program, so they are types.
template <class Operand, class... Where>
struct wrong_place {
    using type = conditional<is_refused_operand<Operand>, typename follow_up<remove_cvref<Operand>>::type,
                             outcome_of_call<refused<mistake<rule::axes_are_types, Where...>>, Operand>>;
};
/// The return type of a reduction over `Where...`.
template <class Monoid, class Operand, class... Where>
struct fold_application : wrong_place<Operand, Monoid, Where...> {};
template <class Monoid, class Operand>
struct fold_application<Monoid, Operand> : application<reduction<Monoid, every_axis_t, false>, Operand> {
    using op = reduction<Monoid, every_axis_t, false>;
};
template <class Monoid, class Operand, i64... Axis>
struct fold_application<Monoid, Operand, axes_t<Axis...>> : application<reduction<Monoid, axes_t<Axis...>, true>, Operand> {
    using op = reduction<Monoid, axes_t<Axis...>, true>;
};
template <class Monoid, class Operand, i64... Axis>
struct fold_application<Monoid, Operand, axes_t<Axis...>, drop_t> : application<reduction<Monoid, axes_t<Axis...>, false>, Operand> {
    using op = reduction<Monoid, axes_t<Axis...>, false>;
};
template <class Monoid, class Operand, class... Where>
using folded = typename fold_application<Monoid, Operand, Where...>::type;
template <class Monoid, class Operand, class... Where>
SINTER_INLINE folded<Monoid, Operand, Where...> fold_where(Operand&& x, Where...) {
    if constexpr (says_where<list<Where...>>)
        return apply<typename fold_application<Monoid, Operand, Where...>::op>(static_cast<Operand&&>(x));
    else
        return {};
}
/// The return type of `fold`, whose monoid may be anything.
template <class Monoid, class Missing, class Operand, class... Where>
struct own_fold {
    using type = conditional<is_refused_operand<Operand>, typename follow_up<remove_cvref<Operand>>::type,
                             outcome_of_call<refused<mistake<rule::is_a_monoid, Monoid, Missing>>, Operand>>;
};
template <class Monoid, class Operand, class... Where>
struct own_fold<Monoid, nothing_wrong, Operand, Where...> : fold_application<Monoid, Operand, Where...> {};
/// The same for a traced body.
template <class Body, class Where, class Operand>
struct body_application;
template <class Body, class... Where, class Operand>
struct body_application<Body, list<Where...>, Operand>
    : conditional<says_where<list<Where...>>, fused_call<Body, Operand>, wrong_place<Operand, Body, Where...>> {};
template <class Body, class Where, class Operand>
using folded_body = typename body_application<Body, Where, Operand>::type;
template <class Body, class Where, class Operand>
SINTER_INLINE folded_body<Body, Where, Operand> fold_body(Operand&& x) {
    if constexpr (says_where<Where>)
        return call_fused<Body>(static_cast<Operand&&>(x));
    else
        return {};
}
}  // namespace detail
/// Folds with a monoid, a user's own included: `fold<my_monoid>(x)`, `fold<my_monoid>(x, last_axis)`, `fold<my_monoid>(x, axes<1>, drop)`.
template <class Monoid, tensor_operand Operand, class... Where>
SINTER_INLINE typename detail::own_fold<Monoid, monoids::detail::missing<Monoid>, Operand, Where...>::type fold(Operand&& x, Where... where) {
    if constexpr (is_same<monoids::detail::missing<Monoid>, detail::nothing_wrong>)
        return detail::fold_where<Monoid>(static_cast<Operand&&>(x), where...);
    else
        return {};
}
#define SINTER_REDUCTION(function, ...)                            \
    template <class... Nothing>                                    \
        requires(sizeof...(Nothing) == 0)                          \
    SINTER_INLINE mistake<rule::takes_so_many, reduction<__VA_ARGS__, every_axis_t, false>, takes<1>, given<0>, Nothing...> (function)(Nothing...) { \
        return {};                                                 \
    }                                                              \
    template <tensor_or_memory Operand, class... Where>              \
    SINTER_INLINE detail::folded<__VA_ARGS__, Operand, Where...> (function)(Operand&& x, Where... where) { \
        return detail::fold_where<__VA_ARGS__>(static_cast<Operand&&>(x), where...); \
    }
// Each takes (x), (x, axes<...>) or (x, axes<...>, drop). Sums and products of integers are i64 or u64 (C3).
SINTER_REDUCTION(sum, monoids::sum_of)
SINTER_REDUCTION(prod, monoids::prod_of)
SINTER_REDUCTION(max, monoids::max_of)
SINTER_REDUCTION(min, monoids::min_of)
SINTER_REDUCTION(any, monoids::any_of)
SINTER_REDUCTION(all, monoids::all_of)
#undef SINTER_REDUCTION
/// Index (i64) of the largest element in the linearised reduced axes; argmax<pick::last>(x, ...) takes the last of equals.
template <pick Which = pick::first, tensor_or_memory Operand, class... Where>
SINTER_INLINE detail::folded<monoids::arg_of<true, Which>, Operand, Where...> argmax(Operand&& x, Where... where) {
    return detail::fold_where<monoids::arg_of<true, Which>>(static_cast<Operand&&>(x), where...);
}
template <pick Which = pick::first, tensor_or_memory Operand, class... Where>
SINTER_INLINE detail::folded<monoids::arg_of<false, Which>, Operand, Where...> argmin(Operand&& x, Where... where) {
    return detail::fold_where<monoids::arg_of<false, Which>>(static_cast<Operand&&>(x), where...);
}

// ------------------------------------------------------------------------------- reductions written from the others (C7)
// Each is a traced body, so that its argument is one node however often the body mentions it.
namespace bodies {
template <class... Where>
struct mean {
    template <class Traced>
    constexpr Traced operator()(Traced x) const {
        const Traced total = sum(x, Where{}...);
        return detail::emit_op<to_float_op>(total) / detail::emit_count(total);
    }
};
template <class... Where>
struct variance {
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced correction) const {
        const Traced total = detail::fold_where<monoids::squared_deviations_of>(x, Where{}...);
        return total / (detail::emit_op<to_float_op>(detail::emit_count(total)) - correction);
    }
};
template <class... Where>
struct sum_square {
    template <class Traced>
    constexpr Traced operator()(Traced x) const { return sum(x * x, Where{}...); }
};
template <class... Where>
struct norm_l1 {
    template <class Traced>
    constexpr Traced operator()(Traced x) const { return sum(abs(x), Where{}...); }
};
template <class... Where>
struct norm_l2 {
    template <class Traced>
    constexpr Traced operator()(Traced x) const {
        const Traced real = detail::as_real(x);
        return sqrt(sum(real * real, Where{}...));
    }
};
/// The maximum is kept as 1 so that it broadcasts back; the result's axes are as asked for. An infinite maximum is the result; so nothing
/// that counts is above it. The sum over exp_below of the maximum itself, one of its terms, is the sum of e^(x - maximum), at least 1: a
/// single element's logarithm is that element.
template <class... Where>
struct logsumexp {
    template <class Traced>
    constexpr Traced operator()(Traced x) const {
        const Traced top = (max)(x, Where{}...);
        const Traced shift = where(is_finite(top), top, 0.0f);
        return where(is_inf(top), top, log(over_exp_below(sum(exp_below(x, shift), Where{}...), shift)) + shift);
    }
};
template <i64... Axis>
struct logsumexp<axes_t<Axis...>, drop_t> {
    template <class Traced>
    constexpr Traced operator()(Traced x) const {
        const Traced top = (max)(x, axes<Axis...>);
        const Traced shift = where(is_finite(top), top, 0.0f);
        // A maximum over the single kept element drops the axis.
        const Traced dropped = (max)(top, axes<Axis...>, drop), dropped_shift = (max)(shift, axes<Axis...>, drop);
        const Traced terms = sum(exp_below(x, shift), axes<Axis...>, drop);
        return where(is_inf(dropped), dropped, log(over_exp_below(terms, dropped_shift)) + dropped_shift);
    }
};
}  // namespace bodies

/// sum / n, in f32 for integers (C5). NaN over nothing.
template <tensor_or_memory Operand, class... Where>
SINTER_INLINE detail::folded_body<bodies::mean<Where...>, list<Where...>, Operand> mean(Operand&& x, Where...) {
    return detail::fold_body<bodies::mean<Where...>, list<Where...>>(static_cast<Operand&&>(x));
}
template <tensor_or_memory Operand, class... Where>
SINTER_INLINE detail::folded_body<bodies::sum_square<Where...>, list<Where...>, Operand> sum_square(Operand&& x, Where...) {
    return detail::fold_body<bodies::sum_square<Where...>, list<Where...>>(static_cast<Operand&&>(x));
}
template <tensor_or_memory Operand, class... Where>
SINTER_INLINE detail::folded_body<bodies::norm_l1<Where...>, list<Where...>, Operand> norm_l1(Operand&& x, Where...) {
    return detail::fold_body<bodies::norm_l1<Where...>, list<Where...>>(static_cast<Operand&&>(x));
}
template <tensor_or_memory Operand, class... Where>
SINTER_INLINE detail::folded_body<bodies::norm_l2<Where...>, list<Where...>, Operand> norm_l2(Operand&& x, Where...) {
    return detail::fold_body<bodies::norm_l2<Where...>, list<Where...>>(static_cast<Operand&&>(x));
}
/// log of the sum of exponentials (C6): -inf over nothing or over -inf only, +inf with a +inf, NaN with a NaN.
template <tensor_or_memory Operand, class... Where>
SINTER_INLINE detail::folded_body<bodies::logsumexp<Where...>, list<Where...>, Operand> logsumexp(Operand&& x, Where...) {
    return detail::fold_body<bodies::logsumexp<Where...>, list<Where...>>(static_cast<Operand&&>(x));
}

/// Sum of squared deviations / (n - correction); correction 0, when left out, is the population's, 1 the sample's. NaN over
/// nothing. A number that follows x directly is the correction: variance(x, 1) is the sample's variance of all elements.
template <tensor_or_memory Operand>
SINTER_INLINE detail::fused_result<bodies::variance<>, Operand, float> variance(Operand&& x) {
    return detail::call_fused<bodies::variance<>>(static_cast<Operand&&>(x), 0.0f);
}
template <tensor_operand Operand, operand Correction>
SINTER_INLINE detail::fused_result<bodies::variance<>, Operand, Correction> variance(Operand&& x, Correction&& correction) {
    return detail::call_fused<bodies::variance<>>(static_cast<Operand&&>(x), static_cast<Correction&&>(correction));
}
template <tensor_or_memory Operand, i64... Axis>
SINTER_INLINE detail::fused_result<bodies::variance<axes_t<Axis...>>, Operand, float> variance(Operand&& x, axes_t<Axis...>) {
    return detail::call_fused<bodies::variance<axes_t<Axis...>>>(static_cast<Operand&&>(x), 0.0f);
}
template <tensor_or_memory Operand, i64... Axis>
SINTER_INLINE detail::fused_result<bodies::variance<axes_t<Axis...>, drop_t>, Operand, float> variance(Operand&& x, axes_t<Axis...>, drop_t) {
    return detail::call_fused<bodies::variance<axes_t<Axis...>, drop_t>>(static_cast<Operand&&>(x), 0.0f);
}
template <tensor_operand Operand, i64... Axis, operand Correction>
SINTER_INLINE detail::fused_result<bodies::variance<axes_t<Axis...>>, Operand, Correction> variance(Operand&& x, axes_t<Axis...>, Correction&& correction) {
    return detail::call_fused<bodies::variance<axes_t<Axis...>>>(static_cast<Operand&&>(x), static_cast<Correction&&>(correction));
}
template <tensor_operand Operand, i64... Axis, operand Correction>
SINTER_INLINE detail::fused_result<bodies::variance<axes_t<Axis...>, drop_t>, Operand, Correction> variance(Operand&& x, axes_t<Axis...>, Correction&& correction, drop_t) {
    return detail::call_fused<bodies::variance<axes_t<Axis...>, drop_t>>(static_cast<Operand&&>(x), static_cast<Correction&&>(correction));
}
template <tensor_operand Operand, i64... Axis, operand Correction>
SINTER_INLINE detail::fused_result<bodies::variance<axes_t<Axis...>, drop_t>, Operand, Correction> variance(Operand&& x, axes_t<Axis...>, drop_t, Correction&& correction) {
    return detail::call_fused<bodies::variance<axes_t<Axis...>, drop_t>>(static_cast<Operand&&>(x), static_cast<Correction&&>(correction));
}
template <tensor_operand Operand, class Number>
    requires is_scalar_v<Number>
SINTER_INLINE typename detail::wrong_place<Operand, Number, drop_t>::type variance(Operand&&, Number, drop_t) {
    return {};
}

namespace bodies {
struct all_close {
    template <class Traced>
    constexpr Traced operator()(Traced x, Traced y, Traced relative, Traced absolute) const {
        if (!detail::is_real(x) && !detail::is_real(y)) return of_integers(x, y, relative, absolute);
        const Traced magnitude = abs(detail::as_real(y));
        const Traced near_by = abs(x - y) <= absolute + relative * magnitude;
        return all(x == y || (near_by && magnitude < __builtin_huge_valf()));
    }
    /// The distance is exact in 64 bits without a sign, and so is its comparison with the whole part of what is allowed, an f64 as numpy's.
    /// (A NaN there, or less than 0, allows none.)
    template <class Traced>
    static constexpr Traced of_integers(Traced x, Traced y, Traced relative, Traced absolute) {
        const Traced distance = cast<u64>(maximum(x, y)) - cast<u64>(minimum(x, y));
        const Traced allowed = cast<double>(absolute) + cast<double>(relative) * abs(cast<double>(y));
        return all(x == y || distance <= cast<u64>(allowed));
    }
};
}  // namespace bodies
/// Are all elements of x near those of y, as numpy.allclose asks: equal, or |x - y| <= absolute + relative |y| with y finite? A bool
/// of rank 0; the operands broadcast. A NaN is near nothing; true over nothing.
template <tensor_operand Operand, operand Expected, operand Relative = float, operand Absolute = float>
SINTER_INLINE detail::fused_result<bodies::all_close, Operand, Expected, Relative, Absolute> all_close(Operand&& x, Expected&& y,
                                                                                                    Relative&& relative = 1e-5f,
                                                                                                    Absolute&& absolute = 1e-8f) {
    return detail::call_fused<bodies::all_close>(static_cast<Operand&&>(x), static_cast<Expected&&>(y), static_cast<Relative&&>(relative),
                                                 static_cast<Absolute&&>(absolute));
}

}  // namespace sinter
