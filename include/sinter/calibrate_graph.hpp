// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From operator to operator: `prepare` adds observers to a traced operator as further results, `convert` makes the operator that
// computes on integer codes with the parameters that calibration found. Which value of the operator gets which parameters is said by
// a quantizer: a constexpr function from a value's facts to a choice, so that two runs, or two machines, can't disagree.
//
//     inline constexpr auto plan = si::quantizer([](si::node_facts value) {
//         if (value.output == 0) return si::choose::own(si::observer::min_max, si::code_kind::u8);
//         return si::choose::nothing();
//     });
//     inline constexpr auto watched = si::prepare(layer, plan);   // layer's results, then minimum and maximum: one kernel
//
// What is observed over many calls, and the files that hold the result, are in calibrate_observe.hpp and calibrate_export.hpp.
#pragma once

#include "ops/nn.hpp"
#include "quantized.hpp"

namespace sinter {

namespace rule {
struct quantizer_names_values {};  struct axis_of_parameters {};  struct observers_fit {};  struct something_is_observed {};
}  // namespace rule
template <class... What>
struct mistake<rule::quantizer_names_values, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-K001] a quantizer shares or derives from a value that isn't there or has no parameters. Hint: names are {\"relu\", 0}, {\"input\", 1}.");
};
template <class... What>
struct mistake<rule::axis_of_parameters, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-K002] this value can't have parameters per axis. Hint: one of its at most four axes, and an observer of minima and maxima.");
};
template <class... What>
struct mistake<rule::observers_fit, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-K004] observers and results are more than 16. Hint: observe some of the values in a run of their own.");
};
template <class... What>
struct mistake<rule::something_is_observed, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-K005] this quantizer observes nothing. Hint: choose::own(observer, storage) for a value.");
};

/// What a quantizer is told of a value. Values have the name of their operation, operands the name "input"; values of one name are
/// counted from 0 in the order in which the operator computes them. Literals, counts and index maps aren't asked about.
struct node_facts {
    const char* name = "";
    int occurrence = 0;
    int input = -1;   ///< number of the operand, -1 if it is none
    int output = -1;  ///< number of the first result that it is, -1 if it is none
    int rank = 0;

    constexpr bool is(const char* wanted, int which = 0) const;
};
/// A value by name.
struct node_name {
    const char* name = "";
    int occurrence = 0;
    constexpr bool operator==(const node_name& other) const {
        int i = 0;
        while (name[i] != 0 && name[i] == other.name[i]) ++i;
        return name[i] == other.name[i] && occurrence == other.occurrence;
    }
};
constexpr bool node_facts::is(const char* wanted, int which) const { return node_name{name, occurrence} == node_name{wanted, which}; }

/// How a range is found. The first three are reductions in the operator's own kernel; the others need the values themselves, and data
/// twice: once for the range, once for what lies in it.
enum class observer : unsigned char {
    min_max,         ///< least and greatest value of all calls
    moving_min_max,  ///< of every call, averaged: range += 0.01 (range of this call - range)
    absmax,          ///< greatest magnitude
    percentile,      ///< the range without the share `tail` of values at each end, by a histogram of 2048 bins
    histogram,       ///< the range of least squared error of a histogram, cut from the ends (PyTorch's search)
    mse,             ///< the range of least squared error of the values themselves, among 64 shrunken ones
};
/// From a range to parameters. The two symmetric formulas differ in the last code.
enum class scheme : unsigned char {
    affine,        ///< scale (max - min) / (high - low), with a zero point
    absmax_127,    ///< absmax / high code, codes -high to high: TensorRT, and the row-dynamic scales here
    absmax_127_5,  ///< absmax / half the number of code steps (127.5 for 8 bits): PyTorch
};

/// What a quantizer says of a value.
struct quantizer_choice {
    enum class way : unsigned char { nothing, own, shared, derived, fixed };
    way how = way::nothing;
    observer watch = observer::min_max;
    scheme formula = scheme::affine;
    code_kind storage = code_kind::i8;
    int axis = -1;          ///< own parameters for each index along this axis, -1: one for all
    float tail = 0.0001f;   ///< percentile
    node_name first{}, second{};
    qparams given{};

    constexpr quantizer_choice per_axis(int along) const {
        quantizer_choice out = *this;
        out.axis = along;
        return out;
    }
    constexpr quantizer_choice without_tails(float share) const {
        quantizer_choice out = *this;
        out.tail = share;
        return out;
    }
};

/// The choices of a quantizer.
namespace choose {
using way = quantizer_choice::way;
constexpr quantizer_choice nothing() { return {}; }
/// Parameters of its own, by an observer.
constexpr quantizer_choice own(observer watch, code_kind storage, scheme formula = scheme::affine) {
    quantizer_choice out;
    out.how = way::own, out.watch = watch, out.storage = storage, out.formula = formula;
    return out;
}
/// The parameters of another value: both sides of a concatenation, an output in the place of its input.
constexpr quantizer_choice shared(node_name with) {
    quantizer_choice out;
    out.how = way::shared, out.first = with;
    return out;
}
/// A bias: 32-bit codes whose scale is the product of two other values' scales, zero point 0.
constexpr quantizer_choice derived(node_name left, node_name right) {
    quantizer_choice out;
    out.how = way::derived, out.first = left, out.second = right, out.storage = code_kind::i32;
    return out;
}
/// Parameters that are known without data.
constexpr quantizer_choice fixed(qparams given) {
    quantizer_choice out;
    out.how = way::fixed, out.given = given, out.storage = given.storage;
    return out;
}
}  // namespace choose

/// Parameters of a range [low, high] (for the symmetric formulas its greatest magnitude counts).
SINTER_INLINE qparams parameters_of(scheme formula, code_kind storage, float low, float high) {
    const i32 least = lowest_code(storage), greatest = highest_code(storage);
    qparams out;
    if (formula == scheme::affine)
        out = affine_qp(low, high, least, greatest);
    else if (formula == scheme::absmax_127_5)
        out = symmetric_qp(low, high, least, greatest);
    else {
        const float below = step::less(low, 0.0f) ? -low : low;
        const float above = step::less(high, 0.0f) ? -high : high;
        out = absmax_qp(step::less(below, above) ? above : below, least < 0 ? -greatest : least, greatest);
    }
    out.storage = storage;
    return out;
}

/// A quantizer: the type of its function, which captures nothing.
template <class Function>
struct quantizer_of {
    static constexpr quantizer_choice choice(const node_facts& value) { return Function{}(value); }
};
template <class Function>
constexpr quantizer_of<Function> quantizer(Function) {
    return {};
}

/// One value of a calibrated operator: its name and parameters, as a generated header holds them. Per axis the scales stand in
/// `scales`, one for each index, and so do the zero points in `zeros` where they differ; the rest of the parameters is common.
struct calibrated_value {
    node_name value{};
    qparams parameters{};
    int axis = -1;
    int count = 0;
    const float* scales = nullptr;
    const i32* zeros = nullptr;
};

/// Scales from their bits: for generated headers.
template <unsigned Count>
constexpr array<float, int(Count)> floats_of_bits(const u32 (&bits)[Count]) {
    array<float, int(Count)> out{};
    for (unsigned i = 0; i < Count; ++i) out.item[i] = __builtin_bit_cast(float, bits[i]);
    return out;
}

namespace detail {

/// An operator's body recorded on a tape of its own, with the facts that a quantizer sees.
struct operator_graph {
    tape record{};
    int parameters = 0;
    int output_count = 0;
    int output[max_outputs]{};
    node_facts facts[max_nodes]{};

    constexpr void take(const traced& result) { output[output_count++] = place(record, result).index; }
    template <int Count>
    constexpr void take(const traced_outputs<Count>& results) {
        for (int i = 0; i < Count; ++i) take(results[i]);
    }
    constexpr void take(const traced_list& results) {
        for (int i = 0; i < results.count; ++i) take(results.value[i]);
    }
    constexpr bool asked(int node) const {
        const node_kind kind = record.node[node].kind;
        return kind == node_kind::leaf || kind == node_kind::map || kind == node_kind::reduce;
    }
    constexpr int find(const node_name& wanted) const {
        for (int i = 0; i < record.size; ++i)
            if (asked(i) && facts[i].is(wanted.name, wanted.occurrence)) return i;
        return -1;
    }
    constexpr node_name name_of(int node) const { return {facts[node].name, facts[node].occurrence}; }
    /// What an operation's name doesn't tell: scales, the axes that it folds (by their places, so that -1 is the last one), whether they
    /// stay, index maps. Nothing where there is nothing of the kind.
    template <class Number>
    constexpr void what_the_name_leaves(const node_value& node, const Number& number) const {
        const op_facts& op = *node.op;
        if (op.parameters != 0) number(op.parameters);
        if (node.kind == node_kind::reduce) {
            bool reduced[max_rank]{};
            int axis = 0;
            reduced_axes(op, facts[node.argument[0]].rank, reduced, axis);
            u64 folded = op.keep ? 0 : u64(1) << max_rank;
            for (int a = 0; a < max_rank; ++a) folded |= u64(reduced[a]) << a;
            number(folded);
        } else if (node.kind == node_kind::index_map) {
            number(u64(op.map.kind));
            for (int a = 0; a < op.map.count; ++a) number(static_cast<u64>(op.map.number[a]));
        } else if (node.kind == node_kind::coordinate) {
            number(u64(normal_axis(op.axis, facts[node.argument[0]].rank)));
        }
    }
    /// FNV-1a over the nodes: two operators of the same formula have the same number on every machine.
    constexpr u64 hash() const {
        u64 value = 0xcbf29ce484222325u;
        const auto byte = [&](u64 one) { value = (value ^ (one & 255)) * 0x100000001b3u; };
        const auto number = [&](u64 all) {
            for (int shift = 0; shift < 64; shift += 8) byte(all >> shift);
        };
        for (int i = 0; i < record.size; ++i) {
            const node_value& node = record.node[i];
            byte(u64(node.kind));
            if (node.has_op())
                for (const char* text = node.op->name; *text; ++text) byte(u64(static_cast<unsigned char>(*text)));
            number(node.bits);
            if (node.has_op()) what_the_name_leaves(node, number);
            for (int a = 0; a < node.arity; ++a) byte(u64(node.argument[a])), byte(u64(node.argument[a]) >> 8);
        }
        return value;
    }
};
/// Traces a body once more, apart from any other tape. Ranks are those of the operands.
template <class Body, int... Index>
constexpr operator_graph graph_of(const int* ranks, indices<Index...>) {
    operator_graph out;
    out.parameters = int(sizeof...(Index));
    out.record.parameter_rank = ranks;
    const int place[] = {out.record.emit({node_kind::leaf, {}, nullptr, 0, {}, u64(Index)})..., 0};
    out.take(Body{}(traced{&out.record, place[Index]}...));
    for (int i = 0; i < out.record.size; ++i) {
        const node_value& node = out.record.node[i];
        node_facts& fact = out.facts[i];
        fact.rank = rank_of(traced{&out.record, i});
        if (node.kind == node_kind::leaf) {
            fact.name = "input";
            fact.occurrence = fact.input = int(node.bits);
        } else if (out.asked(i)) {
            fact.name = node.op->name;
            for (int before = 0; before < i; ++before)
                if (out.asked(before) && node_name{out.facts[before].name, 0} == node_name{fact.name, 0}) ++fact.occurrence;
        }
        for (int o = out.output_count - 1; o >= 0; --o)
            if (out.output[o] == i) fact.output = o;
    }
    out.record.parameter_rank = nullptr;  // the caller's, which may be gone
    return out;
}
/// The tape's node once more on another tape, its arguments replaced.
constexpr traced emit_again(tape& on, const node_value& node, const int (&place)[max_nodes]) {
    node_value wanted = node;
    for (int a = 0; a < node.arity; ++a) wanted.argument[a] = place[node.argument[a]];
    return {&on, on.emit(wanted)};
}

/// A value that is observed, and where its results stand behind those of the operator.
struct watch_point {
    int node = -1;
    quantizer_choice choice{};
    int first = 0;
    int count = 0;  ///< 2: minimum and maximum; 1: greatest magnitude, or the values themselves
    bool keeps_values = false;
};
/// All choices of a quantizer for an operator.
struct watch_list {
    enum class fault : unsigned char { none, unknown_name, axis, too_many };
    fault why = fault::none;
    int size = 0;
    watch_point at[max_outputs]{};
    quantizer_choice choice[max_nodes]{};
    int results = 0;
};
constexpr bool needs_values(observer watch) { return watch == observer::percentile || watch == observer::histogram || watch == observer::mse; }

/// Does what a value shares or derives from end at parameters? (A value without any wish is fine itself.)
constexpr bool has_parameters(const watch_list& list, const operator_graph& graph, int node, int depth) {
    using way = quantizer_choice::way;
    const quantizer_choice& choice = list.choice[node];
    if (choice.how == way::nothing) return depth == 0;
    if (choice.how != way::shared && choice.how != way::derived) return true;
    if (depth > 8) return false;  // a circle
    return has_parameters(list, graph, graph.find(choice.first), depth + 1) &&
           (choice.how == way::shared || has_parameters(list, graph, graph.find(choice.second), depth + 1));
}

template <class Quantizer>
constexpr watch_list watches_of(const operator_graph& graph) {
    watch_list out;
    out.results = graph.output_count;
    for (int i = 0; i < graph.record.size; ++i) {
        if (!graph.asked(i)) continue;
        const quantizer_choice choice = Quantizer::choice(graph.facts[i]);
        out.choice[i] = choice;
        using way = quantizer_choice::way;
        if ((choice.how == way::shared || choice.how == way::derived) && graph.find(choice.first) < 0) out.why = watch_list::fault::unknown_name;
        if (choice.how == way::derived && graph.find(choice.second) < 0) out.why = watch_list::fault::unknown_name;
        if (choice.how != way::own) continue;
        if (choice.axis >= 0 && (choice.axis >= graph.facts[i].rank || graph.facts[i].rank > 4 || needs_values(choice.watch))) out.why = watch_list::fault::axis;
        watch_point& point = out.at[out.size];
        const int count = needs_values(choice.watch) || choice.watch == observer::absmax ? 1 : 2;
        if (out.results + count > max_outputs) {
            out.why = watch_list::fault::too_many;
            return out;
        }
        point = {i, choice, out.results, count, needs_values(choice.watch)};
        out.results += count;
        ++out.size;
    }
    for (int i = 0; i < graph.record.size; ++i)
        if (out.why == watch_list::fault::none && !has_parameters(out, graph, i, 0)) out.why = watch_list::fault::unknown_name;
    return out;
}

/// Folds every axis, or every one but `axis`; the result has rank 0 or 1 and is an f32.
template <class Monoid>
constexpr traced fold_but(traced x, int rank, int axis) {
    const auto as_f32 = [](traced folded) { return emit_op<cast_op<dtype::f32>>(folded); };
    if (axis < 0) return as_f32(emit_op<reduction<Monoid, every_axis_t, false>>(x));
    switch (rank * 4 + axis) {
        case 8: return as_f32(emit_op<reduction<Monoid, axes_t<1>, false>>(x));
        case 9: return as_f32(emit_op<reduction<Monoid, axes_t<0>, false>>(x));
        case 12: return as_f32(emit_op<reduction<Monoid, axes_t<1, 2>, false>>(x));
        case 13: return as_f32(emit_op<reduction<Monoid, axes_t<0, 2>, false>>(x));
        case 14: return as_f32(emit_op<reduction<Monoid, axes_t<0, 1>, false>>(x));
        case 16: return as_f32(emit_op<reduction<Monoid, axes_t<1, 2, 3>, false>>(x));
        case 17: return as_f32(emit_op<reduction<Monoid, axes_t<0, 2, 3>, false>>(x));
        case 18: return as_f32(emit_op<reduction<Monoid, axes_t<0, 1, 3>, false>>(x));
        case 19: return as_f32(emit_op<reduction<Monoid, axes_t<0, 1, 2>, false>>(x));
        default: return as_f32(x);  // one axis: each element is its own range
    }
}

template <class Operator>
struct body_of;
template <class Lambda>
struct body_of<fused_operator<Lambda>> {
    using type = Lambda;
};

/// The operator's results, then those of its observers.
template <class Body, class Quantizer>
struct prepared_body {
    template <class... Values>
        requires(is_same<Values, traced> && ...)
    constexpr traced_list operator()(Values... x) const {
        tape& on = *common_tape(x...);
        const int ranks[] = {rank_of(x)..., 0};
        const int given[] = {x.index..., 0};
        const operator_graph graph = graph_of<Body>(ranks, make_indices<int(sizeof...(Values))>{});
        const watch_list watches = watches_of<Quantizer>(graph);
        if (graph.record.is_wrong) on.note(graph.record.wrong);
        int place[max_nodes]{};
        for (int i = 0; i < graph.record.size; ++i) {
            const node_value& node = graph.record.node[i];
            place[i] = node.kind == node_kind::leaf ? given[node.bits] : emit_again(on, node, place).index;
        }
        traced_list out;
        for (int o = 0; o < graph.output_count; ++o) out.value[out.count++] = {&on, place[graph.output[o]]};
        for (int w = 0; w < watches.size; ++w) {
            const watch_point& point = watches.at[w];
            const traced value{&on, place[point.node]};
            const int rank = graph.facts[point.node].rank, axis = point.choice.axis;
            if (point.keeps_values)
                out.value[out.count++] = emit_op<cast_op<dtype::f32>>(value);
            else if (point.count == 1)
                out.value[out.count++] = fold_but<monoids::max_of>(emit_op<abs_op>(emit_op<cast_op<dtype::f32>>(value)), rank, axis);  // abs of the least integer wraps
            else {
                out.value[out.count++] = fold_but<monoids::min_of>(value, rank, axis);
                out.value[out.count++] = fold_but<monoids::max_of>(value, rank, axis);
            }
        }
        return out;
    }
};

/// An operator's graph and a quantizer's choices for it, once for each operator, quantizer and ranks of its operands.
template <class Body, class Ranks>
struct graph_constant;
template <class Body, int... Rank>
struct graph_constant<Body, indices<Rank...>> {
    static constexpr int ranks[] = {Rank..., 0};
    static constexpr operator_graph value = graph_of<Body>(ranks, make_indices<int(sizeof...(Rank))>{});
};
template <class Body, class Quantizer, class Ranks>
struct watch_constant {
    static constexpr watch_list value = watches_of<Quantizer>(graph_constant<Body, Ranks>::value);
};
/// What is wrong with a quantizer for an operator: a mistake, or `nothing_wrong`.
template <class Body, class Quantizer, class Ranks>
constexpr auto quantizer_verdict() {
    constexpr auto& watches = watch_constant<Body, Quantizer, Ranks>::value;
    using fault = watch_list::fault;
    if constexpr (watches.why == fault::unknown_name)
        return refused<mistake<rule::quantizer_names_values, Quantizer>>{};
    else if constexpr (watches.why == fault::axis)
        return refused<mistake<rule::axis_of_parameters, Quantizer>>{};
    else if constexpr (watches.why == fault::too_many)
        return refused<mistake<rule::observers_fit, Quantizer>>{};
    else if constexpr (watches.size == 0)
        return refused<mistake<rule::something_is_observed, Quantizer>>{};
    else
        return nothing_wrong{};
}
template <class Operand>
inline constexpr bool has_static_rank = operand_kind_of<Operand> == operand_kind::view || operand_kind_of<Operand> == operand_kind::owner;
SINTER_HOST_CALLS
template <class Body, class Quantizer, class... Arguments>
SINTER_HOST_DEVICE constexpr auto call_prepared(Arguments&&... arguments) {
    if constexpr ((has_static_rank<Arguments> && ...)) {
        using verdict_type = decltype(quantizer_verdict<Body, Quantizer, indices<remove_cvref<Arguments>::extents_type::rank...>>());
        if constexpr (is_same<verdict_type, nothing_wrong>)
            return call_fused<prepared_body<Body, Quantizer>>(static_cast<Arguments&&>(arguments)...);
        else
            return verdict_type{};
    } else {
        return call_fused<prepared_body<Body, Quantizer>>(static_cast<Arguments&&>(arguments)...);
    }
}
template <bool Valid, class Body, class Quantizer, class... Arguments>
struct prepared_call {};
template <class Body, class Quantizer, class... Arguments>
struct prepared_call<true, Body, Quantizer, Arguments...> {
    using type = outcome<decltype(call_prepared<Body, Quantizer>(some<Arguments>()...))>;
};
template <class Body, class Quantizer>
struct prepared_operator {
    template <class... Arguments>
        requires(operand<Arguments> && ...)
    SINTER_HOST_DEVICE constexpr typename prepared_call<(operand<Arguments> && ...), Body, Quantizer, Arguments...>::type operator()(Arguments&&... arguments) const {
        return call_prepared<Body, Quantizer>(static_cast<Arguments&&>(arguments)...);
    }
};
}  // namespace detail

/// The number by which a calibration knows its operator, for operands of these ranks: of the formula alone, the same on every machine.
template <int... Rank, class Lambda>
constexpr u64 operator_hash(const detail::fused_operator<Lambda>&) {
    constexpr auto& graph = detail::graph_constant<Lambda, indices<Rank...>>::value;
    return graph.hash();
}

/// The operator with observers: its own results, then, for every value that the quantizer gives parameters of its own, in the order of
/// the values: minimum and maximum, or the greatest magnitude, or (percentile, histogram, mse) the values themselves; f32, rank 0 or,
/// per axis, rank 1. NaN goes through minimum and maximum, so none is overlooked.
template <class Lambda, class Quantizer>
constexpr detail::prepared_operator<Lambda, Quantizer> prepare(const detail::fused_operator<Lambda>&, const Quantizer&) {
    return {};
}

}  // namespace sinter
