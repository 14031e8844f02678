// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tracing: the captureless lambda of `fused` runs once, in constant evaluation, over small values that record operations on
// a hash-consed tape. Loops and helper functions in the lambda just run; a value used twice is one node. The tape then
// becomes a flat program type. No tensor is known here: shapes and types are inferred where the operator is called.
#pragma once

#include "program.hpp"

namespace sinter {

inline constexpr int max_outputs = 16;

/// What a traced lambda asked of a value, and a value can't tell while the formula is written.
enum class question : u8 { none, truth, element, number, constant };

/// The record of a lambda's operations. Equal nodes are found through a small hash table, so that tracing n nodes costs n steps.
struct tape {
    node_value node[max_nodes]{};
    int next_in_bucket[max_nodes]{};
    int bucket[64]{};  ///< 1 + index of the newest node, 0 when empty
    int size = 0;
    bool overflow = false;
    question asked = question::none;  ///< the first question that has no answer
    bool last_truth = true;
    bool is_wrong = false;  ///< there was a mistake that no value carries out of the lambda: `wrong` stands for it
    const op_facts* wrong = nullptr;
    const int* parameter_rank = nullptr;  ///< ranks of the parameters, for bodies whose operations depend on them
    const dtype* parameter_type = nullptr;  ///< and f32, i32 or bool for their kinds; null: floats

    constexpr int emit(const node_value& wanted) {
        u64 hash = wanted.bits * 0x9E3779B97F4A7C15u + u64(wanted.kind);
        for (int i = 0; i < wanted.arity; ++i) hash = (hash ^ u64(wanted.argument[i])) * 0x9E3779B97F4A7C15u;
        const int slot_index = int(hash >> 58);
        for (int i = bucket[slot_index]; i != 0; i = next_in_bucket[i - 1])
            if (node[i - 1] == wanted) return i - 1;
        if (size == max_nodes) {
            overflow = true;
            return 0;
        }
        node[size] = wanted;
        next_in_bucket[size] = bucket[slot_index];
        bucket[slot_index] = ++size;
        return size - 1;
    }
    constexpr void ask(question about) {
        if (asked == question::none) asked = about;
    }
    constexpr void note(const op_facts* mistake) {
        if (!is_wrong) wrong = mistake;
        is_wrong = true;
    }
    /// An answer that ends loops, whether they go on while it is true or until it is.
    constexpr bool ask_truth() {
        ask(question::truth);
        last_truth = !last_truth;
        return last_truth;
    }
};

/// What the parameters of a traced lambda are: a place on the tape. Questions that it can't answer are noted there and refused where the
/// lambda is called: a static_assert here would bring the way into the lambda along, 20 to 90 lines of it.
struct traced {
    tape* on = nullptr;  ///< null: a number, which lies on no tape before it meets a value
    int index = -1;
    literal_kind kind = literal_kind::integer;  ///< of the number,
    u64 bits = 0;                               ///< its bits,
    const op_facts* wrong = nullptr;            ///< and the mistake that it stands for

    /// `decltype(v) total{}`: 0, as of a lane or of a C++ number.
    constexpr traced() = default;
    constexpr traced(tape* tape_of_value, int place) : on(tape_of_value), index(place) {}
    /// `decltype(v)(1.5f)`: what a function template for numbers and values begins with.
    template <class Number>
        requires is_scalar_v<Number>
    constexpr explicit traced(Number value);
    /// Stands for a mistake until it meets a value, whose record takes it.
    static constexpr traced mistaken(const op_facts* mistake) {
        traced out;
        out.wrong = mistake;
        return out;
    }

    /// `if (x > 0)` in the lambda: there is no number to ask yet.
    template <class Condition>
        requires is_same<Condition, bool>
    constexpr explicit operator Condition() const {
        return on ? on->ask_truth() : number() != 0;
    }
    /// `float f = x;`, `x > 0 ? x : 0.0f`, `std::exp(x)`
    constexpr operator float() const {
        if (!on) return static_cast<float>(number());
        on->ask(question::number);
        return 0;
    }
    /// `v[i]`, `for (auto element : v)`: the lambda sees the whole tensor as one value.
    template <class Index>
    constexpr traced operator[](const Index&) const;
    constexpr const traced* begin() const {
        on->ask(question::element);
        return this;
    }
    constexpr const traced* end() const { return this; }
    constexpr traced size() const {
        if (on) on->ask(question::element);
        return *this;
    }
    /// `total = 0.0f`: a name for a number from here on.
    template <class Number>
        requires is_scalar_v<Number>
    constexpr traced& operator=(Number value);
    /// `++v`, `v--`: the name of v + 1, or of v - 1, from here on. (Templates: what they call is defined later.)
    template <class Value = traced>
    constexpr Value& operator++() {
        return static_cast<Value&>(*this) += 1;
    }
    template <class Value = traced>
    constexpr Value& operator--() {
        return static_cast<Value&>(*this) -= 1;
    }
    template <class Value = traced>
    constexpr Value operator++(int) {
        const Value before = *this;
        ++static_cast<Value&>(*this);
        return before;
    }
    template <class Value = traced>
    constexpr Value operator--(int) {
        const Value before = *this;
        --static_cast<Value&>(*this);
        return before;
    }
    /// `v = max(v, 0.0f)`: the name would go on as what it was, and nobody say what is wrong.
    template <class Rule, class... What>
    constexpr traced& operator=(const silent<Rule, What...>&);

private:
    constexpr double number() const {
        if (wrong) on->ask(question::number);  // no tape to note it on: an error, not a number
        return kind == literal_kind::floating ? __builtin_bit_cast(double, bits)
               : kind == literal_kind::large  ? static_cast<double>(bits)
                                              : static_cast<double>(static_cast<i64>(bits));
    }
};
/// Several results of a traced lambda; made by `outputs` and by what has several itself.
template <int Count>
struct traced_outputs {
    traced value[unsigned(Count)];
    constexpr traced& operator[](int i) { return value[i]; }
    constexpr const traced& operator[](int i) const { return value[i]; }
};
/// Two or three have a member each, so that they can be named: `auto [codes, scale] = dynamic_quantize(n);`.
template <>
struct traced_outputs<2> {
    traced first, second;
    constexpr traced& operator[](int i) { return i == 0 ? first : second; }
    constexpr const traced& operator[](int i) const { return i == 0 ? first : second; }
};
template <>
struct traced_outputs<3> {
    traced first, second, third;
    constexpr traced& operator[](int i) { return i == 0 ? first : i == 1 ? second : third; }
    constexpr const traced& operator[](int i) const { return i == 0 ? first : i == 1 ? second : third; }
};

/// The same, their number known only when the body has run: for bodies that are made of another body.
struct traced_list {
    int count = 0;
    traced value[max_outputs]{};
};

namespace detail {
template <class Number>
constexpr literal_kind kind_of_number(Number value) {
    if constexpr (is_same<Number, bool>)
        return literal_kind::boolean;
    else if constexpr (is_float(dtype_of<Number>))
        return literal_kind::floating;
    else
        return value > Number(0) && static_cast<i64>(value) < 0 ? literal_kind::large : literal_kind::integer;
}
template <class Number>
constexpr u64 bits_of_number(Number value) {
    if constexpr (is_same<Number, bool>)
        return u64(value);
    else if constexpr (is_float(dtype_of<Number>))
        return literal_bits(static_cast<double>(value));
    else
        return literal_bits(static_cast<i64>(value));
}
}  // namespace detail
template <class Number>
    requires is_scalar_v<Number>
constexpr traced::traced(Number value) : kind(detail::kind_of_number(value)), bits(detail::bits_of_number(value)) {}

namespace detail {
/// The value on this tape.
constexpr traced place(tape& on, const traced& value) {
    if (value.on) return value;
    if (value.wrong) on.note(value.wrong);
    return {&on, on.emit({node_kind::literal, value.kind, nullptr, 0, {}, value.bits})};
}
template <class Number>
    requires is_scalar_v<Number>
constexpr traced place(tape& on, Number value) {
    return place(on, traced(value));
}
}  // namespace detail
template <class Number>
    requires is_scalar_v<Number>
constexpr traced& traced::operator=(Number value) {
    return *this = on ? detail::place(*on, value) : traced(value);
}
namespace detail {
/// Stands on a tape for a mistake.
template <class Silent>
struct mistake_on_tape {
    static constexpr op_facts facts{.name = "mistake", .rule = [](const value_type*, int) { return typing{}; }};
    template <class Lambda>
    using said_in = typename out_of_lambda<Lambda, Silent>::type;
};
template <class Silent>
inline constexpr const op_facts* noted = op_registration<mistake_on_tape<Silent>>::facts;
/// An operation on numbers alone: no tape records it.
template <class Op>
constexpr traced lone_numbers() {
    return traced::mistaken(noted<refused<mistake<rule::numbers_meet_a_value, Op>>>);
}
}  // namespace detail
template <class Rule, class... What>
constexpr traced& traced::operator=(const silent<Rule, What...>&) {
    constexpr const op_facts* mistake = detail::noted<silent<Rule, What...>>;
    if (!on) return *this = mistaken(mistake);
    on->note(mistake);
    return *this;
}
template <class Index>
constexpr traced traced::operator[](const Index&) const {
    if (!on) return detail::lone_numbers<Index>();
    on->ask(question::element);
    return *this;
}
namespace detail {
template <class Type>
constexpr tape* tape_of(Type value) {
    if constexpr (is_same<Type, traced>)
        return value.on;
    else
        return nullptr;
}
template <class... Arguments>
constexpr tape* common_tape(Arguments... arguments) {
    tape* on = nullptr;
    tape* const candidates[] = {tape_of(arguments)...};
    for (tape* candidate : candidates)
        if (candidate) on = candidate;
    return on;
}
}  // namespace detail
namespace detail {
/// How many results a value of a traced lambda stands for; 0: it is none.
template <class Value>
inline constexpr int results_in = is_same<Value, traced> || is_scalar_v<Value> ? 1 : 0;
template <int Count>
inline constexpr int results_in<traced_outputs<Count>> = Count;
template <int Count, class Value>
constexpr void append_results(traced_outputs<Count>& to, int& count, Value value) {
    to[count++] = traced(value);
}
template <int Count, int More>
constexpr void append_results(traced_outputs<Count>& to, int& count, traced_outputs<More> values) {
    for (int i = 0; i < More; ++i) to[count++] = values[i];
}
}  // namespace detail
/// Returns several values from the lambda of `fused`: `return outputs(h, y);`, numbers among them, and what stands for several itself:
/// `outputs(h, dynamic_quantize(n))` has three. They become one kernel through `tie`.
template <class... Values>
    requires((detail::results_in<Values> > 0) && ...) && (!is_scalar_v<Values> || ...)
constexpr traced_outputs<(detail::results_in<Values> + ...)> outputs(Values... values) {
    traced_outputs<(detail::results_in<Values> + ...)> all{};
    int count = 0;
    (detail::append_results(all, count, values), ...);
    return all;
}
/// Among them a mistake.
template <class... Values>
    requires((detail::results_in<Values> > 0 || detail::is_silent<Values>) && ...) && ((detail::results_in<Values> == 0) || ...)
constexpr typename detail::follow_up<Values...>::type outputs(Values...) {
    return {};
}
/// Among them what is no value: outputs(v, "name").
template <class... Values>
    requires((detail::results_in<Values> == 0 && !detail::is_silent<Values>) || ...) && ((detail::results_in<Values> > 0 && !is_scalar_v<Values>) || ...)
constexpr refused<mistake<rule::outputs_of_a_lambda, given<int(sizeof...(Values))>, Values...>> outputs(Values...) {
    return {};
}
namespace detail {
template <class Op, class... Arguments>
constexpr traced emit_op(Arguments... arguments) {
    tape* const on = common_tape(arguments...);
    if (!on) return lone_numbers<Op>();
    node_value wanted{Op::facts.kind, {}, op_registration<Op>::facts, int(sizeof...(Arguments)), {}, 0};
    const int places[] = {place(*on, arguments).index...};
    for (int i = 0; i < wanted.arity; ++i) wanted.argument[i] = places[i];
    return {on, on->emit(wanted)};
}
constexpr traced emit_count(traced reduction) {
    if (!reduction.on) return reduction;  // a mistake
    return {reduction.on, reduction.on->emit({node_kind::count, {}, nullptr, 1, {reduction.index}, 0})};
}

/// The number of axes that a value has, whatever its sizes. Where an operation doesn't fit its operand the answer is of no use: the
/// inference of shapes refuses the operation.
constexpr int rank_of(const traced& value) {
    if (!value.on) return 0;
    int rank[max_nodes]{};
    for (int i = 0; i <= value.index; ++i) {
        const node_value& node = value.on->node[i];
        for (int a = 0; a < node.arity; ++a)
            if (rank[node.argument[a]] > rank[i]) rank[i] = rank[node.argument[a]];
        if (node.kind == node_kind::leaf)
            rank[i] = value.on->parameter_rank[node.bits];
        else if (node.kind == node_kind::count)
            rank[i] = 0;
        else if (node.kind == node_kind::reduce && !node.op->keep)
            rank[i] = node.op->all_axes || node.op->axes.count > rank[i] ? 0 : rank[i] - node.op->axes.count;
        else if (node.kind == node_kind::index_map) {
            const index_map_spec& map = node.op->map;
            const i64 first = map.number[0], last = map.number[1];
            switch (map.kind) {
                case map_kind::reshape:
                case map_kind::expand: rank[i] = map.count; break;
                case map_kind::squeeze: rank[i] -= rank[i] > 0; break;
                case map_kind::unsqueeze:
                case map_kind::unflatten: ++rank[i]; break;
                case map_kind::flatten: {
                    const int from = normal_axis(first, rank[i]), to = normal_axis(last, rank[i]);
                    if (from >= 0 && to > from) rank[i] -= to - from;
                    break;
                }
                default: break;
            }
        }
    }
    return rank[value.index];
}

/// Is a value made of floats, whatever their size? For bodies that are defined on floats and take integers as f32. Where an operation
/// doesn't fit its operand the answer is of no use, as above.
constexpr bool is_real(const traced& value) {
    if (!value.on) return true;
    value_type type[max_nodes]{};
    for (int i = 0; i <= value.index; ++i) {
        const node_value& node = value.on->node[i];
        value_type given[max_arguments]{};
        for (int a = 0; a < node.arity; ++a) given[a] = type[node.argument[a]];
        if (node.kind == node_kind::leaf)
            type[i].type = is_object(value.on->parameter_type) ? value.on->parameter_type[node.bits] : dtype::f32;
        else if (node.kind == node_kind::literal)
            type[i] = {node.literal == literal_kind::floating ? dtype::f32 : dtype::i64, true};
        else if (node.kind == node_kind::coordinate || node.kind == node_kind::count)
            type[i].type = dtype::i64;
        else if (node.kind == node_kind::index_map)
            type[i] = given[0];
        else
            type[i] = node.op->rule(given, node.arity).result;
    }
    return is_float(type[value.index].type);
}
/// f32 for floats, i32 for integers, bool for itself: all that `is_real` asks of a parameter's type.
SINTER_INLINE dtype kind_of_type(dtype type) { return is_float(type) ? dtype::f32 : type == dtype::boolean ? type : dtype::i32; }

struct trace_result {
    tape record{};
    int output_count = 0;
    int output[max_outputs]{};
};

/// What a traced lambda may return: `count` values; 0 where a mistake was reported inside; none for anything else.
template <class Type>
struct results_of {
    static constexpr int count = -1;
};
template <>
struct results_of<traced> {
    static constexpr int count = 1;
};
template <int Count>
struct results_of<traced_outputs<Count>> {
    static constexpr int count = Count;
};
template <>
struct results_of<traced_list> {
    static constexpr int count = 1;  // at least; the record knows
};
template <>
struct results_of<poison> {
    static constexpr int count = 0;
};
template <class Rule, class... What>
struct results_of<mistake<Rule, What...>> {
    static constexpr int count = 0;
};
template <class Rule, class... What>
struct results_of<silent<Rule, What...>> {
    static constexpr int count = 0;
};

/// One trace of a lambda whose parameters have these ranks. The first nodes of the tape are the parameters.
template <class Lambda, class Ranks, dtype... Kind>
struct trace;
template <class Lambda, int... Rank, dtype... Kind>
struct trace<Lambda, indices<Rank...>, Kind...> {
    using parameters = make_indices<int(sizeof...(Rank))>;
    static constexpr int rank[] = {Rank..., 0};
    static constexpr dtype type[sizeof...(Kind) + 1] = {Kind..., dtype::f32};
    template <int... Index>
    static constexpr auto call(tape& on, indices<Index...>) {
        // Each emit happens before the call, left to right: parameter i is node i.
        const int place_of[] = {on.emit({node_kind::leaf, {}, nullptr, 0, {}, u64(Index)})..., 0};
        return Lambda{}(traced{&on, place_of[Index]}...);
    }
    template <int... Index>
    static constexpr auto without_tape(indices<Index...>) {
        return Lambda{}(traced(nullptr, Index)...);
    }
    static constexpr void collect(trace_result& out, const traced& result) {
        out.output[0] = place(out.record, result).index;
        out.output_count = 1;
    }
    template <int Count>
    static constexpr void collect(trace_result& out, const traced_outputs<Count>& results) {
        for (int i = 0; i < Count; ++i) out.output[i] = place(out.record, results[i]).index;
        out.output_count = Count;
    }
    static constexpr void collect(trace_result& out, const traced_list& results) {
        for (int i = 0; i < results.count; ++i) out.output[i] = place(out.record, results.value[i]).index;
        out.output_count = results.count;
    }
    /// A number, where the lambda asked a value for one; refused afterwards.
    static constexpr void collect(trace_result&, double) {}
    static constexpr trace_result run() {
        trace_result out;
        out.record.parameter_rank = rank;
        out.record.parameter_type = type;
        collect(out, call(out.record, parameters{}));
        return out;
    }
    static constexpr trace_result value = run();
    static constexpr int size = value.record.size;
};

// How a trace ended. Asked in this order, each where the one before says so: an error in the lambda's body then stays the only
// message, since nothing is concluded from the record that it leaves.
template <class Lambda, class Sequence>
inline constexpr bool takes_values = false;
template <class Lambda, int... Index>
inline constexpr bool takes_values<Lambda, indices<Index...>> = requires { Lambda{}(traced{nullptr, Index}...); };
/// Is it callable, but with another number of values? (A body with an error isn't callable at all.)
template <class Lambda, int Parameters>
constexpr bool takes_another_number() {
    if constexpr (takes_values<Lambda, make_indices<Parameters>>)
        return false;
    else
        return takes_values<Lambda, make_indices<0>> || takes_values<Lambda, make_indices<1>> || takes_values<Lambda, make_indices<2>> ||
               takes_values<Lambda, make_indices<3>> || takes_values<Lambda, make_indices<4>> || takes_values<Lambda, make_indices<5>> ||
               takes_values<Lambda, make_indices<6>> || takes_values<Lambda, make_indices<7>> || takes_values<Lambda, make_indices<8>>;
}
template <class Trace>
using result_of_trace = decltype(Trace::call(some<tape&>(), typename Trace::parameters{}));
/// The body compiles: its return type is known.
template <class Trace>
concept has_result = requires { results_of<result_of_trace<Trace>>::count; };
/// It ran.
template <class Trace>
concept is_recorded = requires { typename number<Trace::value.output_count>; };

/// Is the lambda's body a constant expression? Asked without a tape first, which is a fraction of a trace.
template <class Trace>
concept is_constant = requires { typename number<(static_cast<void>(Trace::without_tape(typename Trace::parameters{})), 1)>; } ||
                      requires { typename number<Trace::run().output_count>; };
/// The first question of the lambda that had no answer. One that returns a number has asked for it, perhaps by a function that no
/// constant calls (`std::exp(x)`); then there is no record, and asking for that must not be an error of its own.
template <class Trace>
constexpr question find_asked() {
    if constexpr (is_scalar_v<result_of_trace<Trace>>) {
        if constexpr (requires { typename number<Trace::run().output_count>; })
            return Trace::run().record.asked;
        else
            return question::number;
    } else if constexpr (results_of<result_of_trace<Trace>>::count > 0) {
        if constexpr (!is_constant<Trace>)
            return question::constant;
        else if constexpr (is_recorded<Trace>)
            return Trace::value.record.asked;
    }
    return question::none;
}
template <class Trace>
inline constexpr question asked = find_asked<Trace>();  // a constant: nvcc warns of the call in device code

/// From a tape node to its type, its operands renumbered. (A form for each kind, chosen once a node: a function with a branch for each took
/// clang three times as long. The forms' parameters are constants, not expressions of the tape: nvcc writes the types that it finds into
/// the file for the host's compiler, and an expression that names a lambda's type before its definition doesn't compile there.)
template <node_kind Kind, const op_facts* Op, int... Argument>
struct node_form;
template <const op_facts* Op, int... Argument>
struct node_form<node_kind::map, Op, Argument...> {
    using type = map<op_of<Op>, Argument...>;
};
template <const op_facts* Op, int Argument>
struct node_form<node_kind::reduce, Op, Argument> {
    using type = reduce<op_of<Op>, Argument>;
};
template <const op_facts* Op, int Argument>
struct node_form<node_kind::index_map, Op, Argument> {
    using type = index_map<op_of<Op>, Argument>;
};
template <const op_facts* Op, int Argument>
struct node_form<node_kind::coordinate, Op, Argument> {
    using type = coordinate<op_of<Op>, Argument>;
};
template <const op_facts* Op, int Argument>
struct node_form<node_kind::count, Op, Argument> {
    using type = count<Argument>;
};
template <class Trace, class Renumber, int Index, class Arguments>
struct node_on_tape;
template <class Trace, class Renumber, int Index, int... Argument>
struct node_on_tape<Trace, Renumber, Index, indices<Argument...>> {
    static constexpr node_value node = Trace::value.record.node[Index];
    using type = typename node_form<node.kind, node.op, Renumber::value[node.argument[Argument]]...>::type;
};
template <class Trace, class Renumber, int Index>
struct node_on_tape<Trace, Renumber, Index, indices<>> {
    static constexpr node_value node = Trace::value.record.node[Index];
    using type = literal<node.literal, node.bits>;
};
/// The node type of tape node `Index`, its operands renumbered by `Renumber::value`.
template <class Trace, class Renumber, int Index>
using node_type_of = typename node_on_tape<Trace, Renumber, Index, make_indices<Trace::value.record.node[Index].arity>>::type;
}  // namespace detail

}  // namespace sinter
