// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `convert`: from an operator and a calibration to the operator on integer codes. Calibrated operands and results are tensors of codes
// (i8, u8, ...), the others are real as before. A sum of products of two values with codes is exact: (qa - za) (qb - zb) summed as
// integers, then one multiplication by the product of the scales; a bias whose scale is that product joins the integers. All else
// computes on real values (numerics Q2), and calibrated results round by numerics Q1.
//
//     inline constexpr auto layer8 = si::convert<calibrated::layer>(layer);
//     si::run(si::cpu, codes_out = layer8(codes_in, weight_codes, bias_codes));   // one kernel, as before
//
// Scales per axis (of weights, as a rule) are operands: f32 vectors behind the operator's own, in the order of `values`, a derived bias
// apart; `calibrated_scales<Calibration, Index>()` is a view of them. Zero points that differ along the axis are an i32 vector behind each:
// `calibrated_zeros<Calibration, Index>()`.
//
// Parameters that are known only when the program runs are `at_run_time(storage)` there, and operands in the same place: the scale, a
// number, and the zero point, an integer, unless they are symmetric. The same numbers give the same bits. A scale must be finite and
// greater than 0 and a zero point a code; what calibration gives is.
//
// A calibration is a struct with `static constexpr u64 operator_hash` and `static constexpr calibrated_value values[]`, as
// calibrate_export.hpp writes it.
#pragma once

#include "calibrate_graph.hpp"
#include "lower.hpp"

namespace sinter {

namespace rule {
struct axes_are_of_operands {};  struct calibration_of_this_operator {};  struct bias_meets_its_sum {};
}  // namespace rule
template <class... What>
struct mistake<rule::axes_are_of_operands, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-K006] only operands are converted per axis. Hint: one scale for values inside the operator and its results.");
};
template <class... What>
struct mistake<rule::calibration_of_this_operator, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-K003] this calibration was made for another operator. Hint: calibrate again after the formula has changed.");
};

template <class... What>
struct mistake<rule::bias_meets_its_sum, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-K007] a bias whose scales aren't its own has to be added to the sum of products that they belong to. Hint: sum(x * w) + bias.");
};

/// Parameters that are operands of the converted operator: scale, and zero point unless symmetric. Of 32-bit codes, a bias: those of the
/// sum that it is added to, no operands.
constexpr qparams at_run_time(code_kind storage, bool is_symmetric = false) {
    qparams out = stored_as(qparams{}, storage);
    out.scale_bits = 0;
    out.symmetric = is_symmetric || storage == code_kind::i32;
    return out;
}

namespace detail {

/// (clamp(x / scale, low, high)) rounded half to even, a NaN giving low: a code less its zero point, still a float.
struct quantize_steps_op {
    static constexpr op_facts facts{.name = "quantize_steps", .kind = node_kind::map, .arity = 4, .rule = &rules::floating, .cost = 8};
    template <class Value>
    static SINTER_INLINE Value apply(Value x, Value scale, Value low, Value high) {
        return round_even(min_raw(max_raw(div(x, scale), low), high));  // the raw maximum has its second operand for a NaN
    }
};

/// A sum that stays in i32, for products of 8-bit steps: exact for up to 33025 of them (numerics Q6, zero points inside the product).
struct sum_i32_of : monoids::sum_of {
    using shortcuts_of = sum_i32_of;
    static constexpr const char* name = "sum_i32";
    static constexpr type_rule rule = &rules::fold_same;
};
inline constexpr i64 longest_i32_sum = 33025;
/// The product of 8-bit codes less their zero points. `LeftCounts`: the left one is never below 0.
template <bool LeftCounts>
struct short_product_op {
    static SINTER_INLINE typing rule(const value_type*, int count) { return rules::uniform({dtype::i32, false}, dtype::i32, count); }
    static constexpr op_facts facts{.name = "mul", .kind = node_kind::map, .arity = 2, .rule = &rule, .cost = 1};
    template <class Value>
    static SINTER_INLINE Value apply(Value left, Value right) {
        using lane::mul_short;  // a template of that name in sight; the lane's own comes by its argument
        return mul_short<LeftCounts>(left, right);
    }
};

/// A value of the operator while it is converted. Indices are places on the tape, -1: none.
struct converted_value {
    int real = -1;                ///< its real value; -1: not computed yet
    int codes = -1;               ///< its integers
    int fold = -1;                ///< the reduction that it is: counts refer to it
    qparams with{};               ///< of the codes; no storage: an accumulator
    int scale = -1;               ///< per axis: the scales, right-aligned to the value
    const float* each = nullptr;  ///< and as constants
    int count = 0;
    int scale_at = -1, zero_at = -1;  ///< parameters that are operands
    int common_at = -1;           ///< accumulators: the factor that all scales have in common, where it is an operand,
    u32 common = 0x3f800000u;     ///< or its bits
    bool is_short = false;        ///< an accumulator in i32, or in f64 with a bias
    bool borrows = false;         ///< a bias whose scales are those of a sum
    int factor[2]{-1, -1};        ///< a product of two values with codes, not computed yet

    constexpr bool is_accumulator() const { return codes >= 0 && with.storage == code_kind::unset; }
    constexpr bool has_codes() const { return codes >= 0 && with.storage != code_kind::unset; }
};

struct converter {
    bool short_sums = false;  ///< sums of products fit i32
    bool lonely_bias = false;  ///< a bias that borrows its scales was used elsewhere than in its sum
    tape* on = nullptr;
    const operator_graph* graph = nullptr;
    converted_value value[max_nodes]{};

    constexpr traced at(int index) const { return {on, index}; }
    constexpr traced constant(float number) const { return place(*on, step::widen(number)); }
    /// The value's integers less the zero point; i64 where products of 16-bit codes need it.
    constexpr traced steps(const converted_value& from, bool wide) const {
        traced out = wide ? emit_op<cast_op<dtype::i64>>(at(from.codes)) : emit_op<cast_op<dtype::i32>>(at(from.codes));
        if (from.zero_at >= 0) return emit_op<sub_op>(out, at(from.zero_at));
        if (from.with.zero != 0) out = emit_op<sub_op>(out, i64(from.with.zero));
        return out;
    }
    /// What the value's steps are multiplied with.
    constexpr traced scale_of(const converted_value& from) const {
        if (from.is_accumulator() && (from.scale >= 0 || from.common_at >= 0)) {
            const traced common = from.common_at >= 0 ? at(from.common_at) : constant(__builtin_bit_cast(float, from.common));
            if (from.scale >= 0) return emit_op<mul_op>(at(from.scale), common);
            return from.scale_at >= 0 ? emit_op<mul_op>(at(from.scale_at), common) : emit_op<mul_op>(constant(from.with.scale()), common);
        }
        return from.scale >= 0 ? at(from.scale) : from.scale_at >= 0 ? at(from.scale_at) : constant(from.with.scale());
    }
    constexpr traced real(int node) {
        converted_value& from = value[node];
        if (from.real < 0) {
            if (from.codes >= 0) {
                lonely_bias = lonely_bias || from.borrows;
                const bool whole = from.is_accumulator() || (from.with.storage == code_kind::i32 && from.with.zero == 0);
                const traced number = emit_op<cast_op<dtype::f32>>(whole ? at(from.codes) : steps(from, from.with.storage == code_kind::i32));
                from.real = emit_op<mul_op>(number, scale_of(from)).index;
            } else {
                const traced left = real(from.factor[0]), right = real(from.factor[1]);
                from.real = emit_op<mul_op>(left, right).index;
            }
        }
        return at(from.real);
    }
    /// Codes of a real value.
    constexpr int quantize(traced x, const converted_value& to) const {
        const qparams& with = to.with;
        traced out = x;
        if (to.zero_at >= 0) {
            const traced low = emit_op<sub_op>(place(*on, i64(with.low)), at(to.zero_at)), high = emit_op<sub_op>(place(*on, i64(with.high)), at(to.zero_at));
            out = emit_op<cast_op<dtype::i32>>(emit_op<quantize_steps_op>(x, scale_of(to), low, high));
            out = emit_op<add_op>(out, at(to.zero_at));
        } else {
            out = emit_op<cast_op<dtype::i32>>(emit_op<quantize_steps_op>(x, scale_of(to), float(range_of(with).low), float(range_of(with).high)));
            if (with.zero != 0) out = emit_op<add_op>(out, i64(with.zero));
        }
        switch (with.storage) {
            case code_kind::i8: return emit_op<cast_op<dtype::i8>>(out).index;
            case code_kind::u8: return emit_op<cast_op<dtype::u8>>(out).index;
            case code_kind::i16: return emit_op<cast_op<dtype::i16>>(out).index;
            case code_kind::u16: return emit_op<cast_op<dtype::u16>>(out).index;
            default: return out.index;
        }
    }
    constexpr bool has_codes(int node) const { return value[node].has_codes(); }
    static constexpr bool is_op(const node_value& node, const op_facts* wanted) { return node.has_op() && same_facts(node.op, wanted); }
    /// Is it a sum (of any axes)? By name: each set of axes is an operation of its own.
    static constexpr bool is_sum(const node_value& node) {
        return node.kind == node_kind::reduce && node_name{node.op->name, 0} == node_name{"sum", 0};
    }

    constexpr void node(int index) {
        const node_value& from = graph->record.node[index];
        converted_value& out = value[index];
        if (from.kind == node_kind::literal) {
            out.real = on->emit(from);
            return;
        }
        if (from.kind == node_kind::count) {
            out.real = moved(from, value[from.argument[0]].fold);
            return;
        }
        convert_node(from, out);
        if (from.kind == node_kind::reduce) out.fold = out.codes >= 0 ? out.codes : out.real;
    }
    constexpr void convert_node(const node_value& from, converted_value& out) {
        if (from.kind == node_kind::index_map && has_codes(from.argument[0]) && moves_scales(from, value[from.argument[0]])) {
            out = value[from.argument[0]];
            out.real = -1;
            out.codes = moved(from, out.codes);
            if (out.scale >= 0 && out.zero_at >= 0) out.zero_at = moved(from, out.zero_at);
            if (out.scale >= 0) out.scale = moved(from, out.scale);
            return;
        }
        if (is_op(from, op_registration<mul_op>::facts) && has_codes(from.argument[0]) && has_codes(from.argument[1])) {
            out.factor[0] = from.argument[0], out.factor[1] = from.argument[1];
            return;
        }
        if (is_sum(from) && value[from.argument[0]].factor[0] >= 0) {
            const converted_value &left = value[value[from.argument[0]].factor[0]], &right = value[value[from.argument[0]].factor[1]];
            const bool wide = is_wide(left.with) || is_wide(right.with);
            const converted_value& own = left.scale >= 0 || (right.scale < 0 && left.scale_at >= 0) ? left : right;
            const converted_value& other = &own == &left ? right : left;
            int scale = own.scale;
            if (other.scale < 0 && (scale < 0 || without_folded(from, scale))) {
                const traced product = wide ? emit_op<mul_op>(steps(left, wide), steps(right, wide)) : short_product(left, right);
                out.codes = wide || !short_sums ? moved(from, product.index) : emit_short_sum(from, product, out.is_short);
                const bool constant_scale = own.scale < 0 && own.scale_at < 0 && other.scale_at < 0;
                out.with = qp(constant_scale ? step::mul(left.with.scale(), right.with.scale()) : own.with.scale());  // no storage: an accumulator
                out.scale = scale, out.each = own.each, out.count = own.count, out.scale_at = own.scale_at;
                out.common = other.with.scale_bits, out.common_at = other.scale_at;
                if (own.scale_at >= 0 && other.scale_at < 0) out.common_at = constant(other.with.scale()).index;
                return;
            }
        }
        if (is_op(from, op_registration<add_op>::facts))
            for (int a = 0; a < 2; ++a) {
                const converted_value &sum = value[from.argument[a]], &bias = value[from.argument[1 - a]];
                if (!sum.is_accumulator() || bias.codes < 0 || !same_scales(sum, bias)) continue;
                out = sum;
                out.real = -1;
                // A short sum and a bias add up in f64, exactly: 32-bit integers convert faster than 64-bit ones.
                out.codes = sum.is_short ? emit_op<add_op>(emit_op<cast_op<dtype::f64>>(at(sum.codes)), emit_op<cast_op<dtype::f64>>(at(bias.codes))).index
                                         : emit_op<add_op>(at(sum.codes), at(bias.codes)).index;
                return;
            }
        node_value wanted = from;
        for (int a = 0; a < from.arity; ++a) wanted.argument[a] = real(from.argument[a]).index;
        out.real = on->emit(wanted);
    }

    /// Scales per axis as a value that broadcasts to a tensor of that rank with the axis there.
    constexpr int place_scales(traced vector, int rank, int axis) const {
        for (int i = axis + 1; i < rank; ++i) vector = emit_op<map_op<map_kind::unsqueeze, -1>>(vector);
        for (int i = 0; i < axis; ++i) vector = emit_op<map_op<map_kind::unsqueeze, 0>>(vector);
        return vector.index;
    }

private:
    static constexpr bool counts(const converted_value& one) { return one.with.storage == code_kind::u8 && one.zero_at < 0 && one.with.zero <= 0; }
    constexpr traced short_product(const converted_value& left, const converted_value& right) const {
        if (counts(left)) return emit_op<short_product_op<true>>(steps(left, false), steps(right, false));
        if (counts(right)) return emit_op<short_product_op<true>>(steps(right, false), steps(left, false));
        return emit_op<short_product_op<false>>(steps(left, false), steps(right, false));
    }
    /// The sum in i32, over the same axis.
    constexpr int emit_short_sum(const node_value& sum, traced product, bool& is_short) const {
        const op_facts& op = *sum.op;
        if (op.axes.count != 1 || op.all_axes) return moved(sum, product.index);
        const int rank = graph->facts[sum.argument[0]].rank, axis = normal_axis(op.axes.axis[0], rank);
        const auto over = [&](auto axes) {
            using where = decltype(axes);
            is_short = true;
            return op.keep ? emit_op<reduction<sum_i32_of, where, true>>(product).index : emit_op<reduction<sum_i32_of, where, false>>(product).index;
        };
        switch (axis) {
            case 0: return over(axes_t<0>{});
            case 1: return over(axes_t<1>{});
            case 2: return over(axes_t<2>{});
            case 3: return over(axes_t<3>{});
            default: return moved(sum, product.index);
        }
    }
    static constexpr bool moves_scales(const node_value& map, const converted_value& from) {
        const map_kind kind = map.op->map.kind;
        return from.scale < 0 || kind == map_kind::permute || kind == map_kind::unsqueeze || kind == map_kind::squeeze;
    }
    /// Takes the axes that a sum drops out of the scales, which have size 1 there; false where the scales vary along a folded axis.
    constexpr bool without_folded(const node_value& sum, int& scale) const {
        const int rank = rank_of(at(scale)), whole = graph->facts[sum.argument[0]].rank;
        bool folded[max_rank]{};
        int ignored = 0;
        if (reduced_axes(*sum.op, whole, folded, ignored) != violation::none) return false;
        const int varies = varying_axis(scale, rank);
        for (int i = rank - 1; i >= 0; --i) {
            if (!folded[i + whole - rank]) continue;
            if (i == varies) return false;
            if (sum.op->keep) continue;
            switch (i) {
                case 0: scale = emit_op<map_op<map_kind::squeeze, 0>>(at(scale)).index; break;
                case 1: scale = emit_op<map_op<map_kind::squeeze, 1>>(at(scale)).index; break;
                case 2: scale = emit_op<map_op<map_kind::squeeze, 2>>(at(scale)).index; break;
                case 3: scale = emit_op<map_op<map_kind::squeeze, 3>>(at(scale)).index; break;
                case 4: scale = emit_op<map_op<map_kind::squeeze, 4>>(at(scale)).index; break;
                default: return false;
            }
        }
        return true;
    }
    /// Where the vector of scales has gone through its index maps.
    constexpr int varying_axis(int scale, int rank) const {
        const node_value& node = on->node[scale];
        if (node.kind != node_kind::index_map) return 0;
        const int argument_rank = rank_of(at(node.argument[0]));
        const int before = varying_axis(node.argument[0], argument_rank);
        const index_map_spec& map = node.op->map;
        if (map.kind == map_kind::permute) {
            for (int i = 0; i < rank; ++i)
                if (normal_axis(map.number[i], rank) == before) return i;
            return 0;
        }
        if (map.kind == map_kind::unsqueeze) return normal_axis(map.number[0], rank) <= before ? before + 1 : before;
        return normal_axis(map.number[0], argument_rank) < before ? before - 1 : before;
    }
    static constexpr bool same_scales(const converted_value& sum, const converted_value& bias) {
        if (bias.borrows && bias.count == 0) return sum.scale >= 0 || sum.scale_at >= 0;
        if (bias.with.zero != 0 || bias.count != sum.count || sum.common_at >= 0) return false;
        if (sum.count == 0) return bias.with.scale_bits == sum.with.scale_bits;
        for (int i = 0; i < sum.count; ++i)
            if (__builtin_bit_cast(u32, bias.each[i]) != __builtin_bit_cast(u32, step::mul(__builtin_bit_cast(float, sum.common), sum.each[i]))) return false;
        return true;
    }
    static constexpr bool is_wide(const qparams& one) { return one.storage != code_kind::i8 && one.storage != code_kind::u8; }
    constexpr int moved(const node_value& from, int argument) const {
        node_value wanted = from;
        wanted.argument[0] = argument;
        return on->emit(wanted);
    }
};

/// Place among the calibrated values; -1: not there. (A number: with -fsanitize=undefined g++ takes no pointer's comparison with null as
/// a constant.)
template <class Calibration>
constexpr int place_of_calibrated(const node_name& wanted) {
    int place = 0;
    for (const calibrated_value& one : Calibration::values) {
        if (one.value == wanted) return place;
        ++place;
    }
    return -1;
}

/// Operands that a value's parameters are. Biases of 32-bit codes join an accumulator, whose scales are those of the weights.
constexpr int parameter_operands(const calibrated_value& one) {
    if (one.parameters.storage == code_kind::i32) return 0;
    if (one.axis >= 0) return is_object(one.zeros) ? 2 : 1;
    return one.parameters.scale_bits != 0 ? 0 : one.parameters.symmetric ? 1 : 2;
}
template <class Calibration>
inline constexpr int scale_operands = [] {
    int count = 0;
    for (const calibrated_value& one : Calibration::values) count += parameter_operands(one);
    return count;
}();
template <class Calibration>
constexpr int scale_operand(const calibrated_value& wanted, int first) {
    for (const calibrated_value& one : Calibration::values) {
        if (one.value == wanted.value) return first;
        first += parameter_operands(one);
    }
    return first;
}

/// The operator on codes, on a tape; `lonely_bias` says whether a bias with borrowed scales was needed elsewhere than in its sum.
template <class Body, class Calibration, int Own>
constexpr traced_list convert_on(tape& on, const int* given, const int* ranks, bool short_sums, bool& lonely_bias) {
    const operator_graph graph = graph_of<Body>(ranks, make_indices<Own>{});
    if (graph.record.is_wrong) on.note(graph.record.wrong);
    converter work;
    work.on = &on;
    work.short_sums = short_sums;
    work.graph = &graph;
    for (int i = 0; i < graph.record.size; ++i) {
        const node_value& node = graph.record.node[i];
        const int place = graph.asked(i) ? place_of_calibrated<Calibration>(graph.name_of(i)) : -1;
        const bool found = place >= 0;
        converted_value parameters;
        if (found) {
            const calibrated_value& value = Calibration::values[place];
            parameters.with = value.parameters;
            parameters.each = value.scales, parameters.count = value.count;
            parameters.borrows = value.parameters.storage == code_kind::i32 && (value.axis >= 0 || value.parameters.scale_bits == 0);
            const int operands = parameter_operands(value), first = scale_operand<Calibration>(value, Own);
            if (value.axis >= 0 && operands > 0) {
                parameters.scale = work.place_scales({&on, given[first]}, graph.facts[i].rank, value.axis);
                if (operands == 2) parameters.zero_at = work.place_scales({&on, given[first + 1]}, graph.facts[i].rank, value.axis);
            } else if (operands > 0)
                parameters.scale_at = given[first], parameters.zero_at = operands == 2 ? given[first + 1] : -1;
        }
        converted_value& made = work.value[i];
        if (node.kind == node_kind::leaf) {
            made = parameters;
            (found ? made.codes : made.real) = given[node.bits];
            continue;
        }
        work.node(i);
        if (found) {
            parameters.codes = work.quantize(work.real(i), parameters);
            parameters.fold = made.fold;
            made = parameters;
        }
    }
    traced_list out;
    for (int o = 0; o < graph.output_count; ++o) {
        const int node = graph.output[o];
        out.value[out.count++] = work.has_codes(node) ? traced{&on, work.value[node].codes} : work.real(node);
    }
    lonely_bias = work.lonely_bias;
    return out;
}
template <class Body, class Calibration, bool ShortSums>
struct converted_body {
    template <class... Values>
        requires(is_same<Values, traced> && ...)
    constexpr traced_list operator()(Values... x) const {
        const int ranks[] = {rank_of(x)..., 0};
        const int given[] = {x.index..., 0};
        bool ignored = false;
        return convert_on<Body, Calibration, int(sizeof...(Values)) - scale_operands<Calibration>>(*common_tape(x...), given, ranks, ShortSums, ignored);
    }
};

/// Does a calibration belong to an operator of these ranks, and is every name in it a value of the operator's? A mistake, or
/// `nothing_wrong`.
template <class Calibration>
constexpr bool axes_of_operands() {
    for (const calibrated_value& one : Calibration::values)
        if (one.axis >= 0 && !(node_name{one.value.name, 0} == node_name{"input", 0})) return false;
    return true;
}
template <class Body, class Calibration, class Ranks>
struct calibration_check;
template <class Body, class Calibration, int... Rank>
struct calibration_check<Body, Calibration, indices<Rank...>> {
    static constexpr int ranks[] = {Rank..., 0};
    static constexpr bool fits = [] {
        const operator_graph graph = graph_of<Body>(ranks, make_indices<int(sizeof...(Rank)) - scale_operands<Calibration>>{});
        if (graph.hash() != Calibration::operator_hash) return false;
        for (const calibrated_value& one : Calibration::values)
            if (graph.find(one.value) < 0) return false;
        return true;
    }();
    static constexpr bool lonely_bias = [] {
        if (!fits) return false;
        tape on;
        on.parameter_rank = ranks;
        int given[sizeof...(Rank) + 1] = {};
        for (int i = 0; i < int(sizeof...(Rank)); ++i) given[i] = on.emit({node_kind::leaf, {}, nullptr, 0, {}, u64(i)});
        bool out = false;
        (void)convert_on<Body, Calibration, int(sizeof...(Rank)) - scale_operands<Calibration>>(on, given, ranks, false, out);
        return out;
    }();
};
template <class Body, class Calibration, class Ranks>
constexpr auto calibration_verdict() {
    if constexpr (!axes_of_operands<Calibration>())
        return refused<mistake<rule::axes_are_of_operands, Calibration>>{};
    else if constexpr (!calibration_check<Body, Calibration, Ranks>::fits)
        return refused<mistake<rule::calibration_of_this_operator, Calibration>>{};
    else if constexpr (calibration_check<Body, Calibration, Ranks>::lonely_bias)
        return refused<mistake<rule::bias_meets_its_sum, Calibration>>{};
    else
        return nothing_wrong{};
}

/// Could a zero point among these operands have a fraction?
template <class Calibration, class... Operands>
constexpr bool has_fractional_zero() {
    const dtype type[] = {remove_cvref<decltype(as_expression(some<const remove_cvref<Operands>&>()))>::type.type..., dtype::f32};
    int next = int(sizeof...(Operands)) - scale_operands<Calibration>;
    for (const calibrated_value& one : Calibration::values) {
        const int count = parameter_operands(one);
        if (count == 2 && (is_float(type[next + 1]) || is_quantized_type(type[next + 1]))) return true;
        next += count;
    }
    return false;
}
template <class Operand>
inline constexpr int rank_of_operand = 0;
template <class Operand>
    requires has_static_rank<Operand>
inline constexpr int rank_of_operand<Operand> = remove_cvref<Operand>::extents_type::rank;

/// Do all short sums of an expression fold few enough products? The sizes must be known.
template <class Expression>
struct short_sums_fit {
    using lowering = lowering_of<typename as_assignment<Expression>::type>;
    static constexpr bool value = [] {
        for (int i = 0; i < lowering::node_count; ++i) {
            const node_value& node = lowering::node[i];
            if (node.kind != node_kind::reduce || !(node_name{node.op->name, 0} == node_name{sum_i32_of::name, 0})) continue;
            const shape& from = lowering::facts.sizes[node.argument[0]];
            const int axis = normal_axis(node.op->axes.axis[0], from.rank);
            if (from.size[axis] < 0 || from.size[axis] > longest_i32_sum) return false;
        }
        return true;
    }();
};
template <class Rule, class... What>
struct short_sums_fit<silent<Rule, What...>> {
    static constexpr bool value = false;
};
template <>
struct short_sums_fit<poison> {
    static constexpr bool value = false;
};
SINTER_HOST_CALLS
template <class Body, class Calibration, class... Arguments>
SINTER_HOST_DEVICE constexpr auto call_converted(Arguments&&... arguments) {
    using short_body = converted_body<Body, Calibration, true>;
    using long_body = converted_body<Body, Calibration, false>;
    if constexpr (((has_static_rank<Arguments> || operand_kind_of<Arguments> == operand_kind::scalar) && ...)) {
        using verdict_type = decltype(calibration_verdict<Body, Calibration, indices<rank_of_operand<Arguments>...>>());
        if constexpr (!is_same<verdict_type, nothing_wrong>)
            return verdict_type{};
        else if constexpr (has_fractional_zero<Calibration, Arguments...>())
            return refused<mistake<rule::zero_is_a_code, Calibration>>{};
        else if constexpr (short_sums_fit<remove_cvref<decltype(call_fused<short_body>(some<Arguments>()...))>>::value)
            return call_fused<short_body>(static_cast<Arguments&&>(arguments)...);
        else
            return call_fused<long_body>(static_cast<Arguments&&>(arguments)...);
    } else {
        return call_fused<long_body>(static_cast<Arguments&&>(arguments)...);
    }
}
template <bool Valid, class Body, class Calibration, class... Arguments>
struct converted_call {};
template <class Body, class Calibration, class... Arguments>
struct converted_call<true, Body, Calibration, Arguments...> {
    using type = outcome<decltype(call_converted<Body, Calibration>(some<Arguments>()...))>;
};

template <class Body, class Calibration>
struct converted_operator {
    template <class... Arguments>
        requires(operand<Arguments> && ...)
    SINTER_HOST_DEVICE constexpr typename converted_call<(operand<Arguments> && ...), Body, Calibration, Arguments...>::type operator()(Arguments&&... arguments) const {
        return call_converted<Body, Calibration>(static_cast<Arguments&&>(arguments)...);
    }
};
}  // namespace detail

/// The scales of the calibration's value number `Index`, which has them per axis, as a view for the host.
template <class Calibration, int Index>
constexpr auto calibrated_scales() {
    constexpr const calibrated_value* all = Calibration::values;
    static_assert(all[Index].axis >= 0, "[SINTER-K002] this value has one scale, in its parameters. Hint: the index of a value with an axis.");
    return tensor_view<const float, extents<all[Index].count>>(all[Index].scales);
}

/// The zero points of a value that has them per axis, likewise.
template <class Calibration, int Index>
constexpr auto calibrated_zeros() {
    constexpr const calibrated_value* all = Calibration::values;
    static_assert(all[Index].axis >= 0 && is_object(all[Index].zeros),
                  "[SINTER-K002] this value has one zero point, in its parameters. Hint: the index of a value whose header has zeros_of_it.");
    return tensor_view<const i32, extents<all[Index].count>>(all[Index].zeros);
}

/// The operator on codes: see above. Operands that the calibration names are tensors of their codes, results that it names are codes;
/// values between that it names are rounded to their codes. Sums of products of 8-bit codes over one axis of at most 33025 elements, a
/// size in the type, are i32; others are i64: none overflows.
template <class Calibration, class Lambda>
constexpr detail::converted_operator<Lambda, Calibration> convert(const detail::fused_operator<Lambda>&) {
    return {};
}

}  // namespace sinter
