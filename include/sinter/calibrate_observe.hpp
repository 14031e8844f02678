// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calibration over data: runs a prepared operator call after call, keeps what its observers saw, and makes parameters of it. For
// programs of the host (it uses std::vector and std::string). What is seen doesn't depend on the executor, the number of threads or,
// moving averages aside, on the order of the calls: minima, maxima and counts are exact, sums of squares are in canonical order.
//
//     auto seen = si::calibrate(layer, plan, x, w, b);           // operands: for their ranks
//     for (each batch) said = seen.observe(si::cpu, y, x, w, b);  // runs y = layer(x, w, b) and observes
//     if (seen.needs_second_pass()) { seen.second_pass(); for (each batch) said = seen.observe(...); }
//     si::calibration_results found = seen.results();             // parameters by name, or what is missing
#pragma once

#include "calibrate_graph.hpp"
#include "calibrate_convert.hpp"
#include "split.hpp"

#include <cstdio>
#include <new>
#include <string>
#include <vector>

// (An inline namespace for each instruction set: the linker keeps one copy of a function, which may hold another file's instructions.)
namespace sinter {
namespace detail {
inline namespace SINTER_ISA {
/// Memory of `own_vector`. The standard containers' functions are named by their allocator, and so by the instruction set.
template <class Type>
struct own_allocator {
    using value_type = Type;
    own_allocator() = default;
    template <class Other>
    own_allocator(const own_allocator<Other>&) {}
    Type* allocate(std::size_t count) { return static_cast<Type*>(::operator new(count * sizeof(Type))); }
    void deallocate(Type* memory, std::size_t) { ::operator delete(memory); }
    bool operator==(const own_allocator&) const { return true; }
};
template <class Type>
using own_vector = std::vector<Type, own_allocator<Type>>;

// Texts grow at their end alone: `operator+` of strings is a function that files share. (And g++ 12 warns of overlaps that aren't there.)
template <class... Parts>
void append(std::string& to, const Parts&... parts) {
    ((to += parts), ...);
}
inline void append_number(std::string& to, i64 value) {
    char text[24];
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(value));
    to += text;
}
}  // namespace SINTER_ISA
}  // namespace detail

inline namespace SINTER_ISA {

enum class calibration_code : int {
    ok = 0,
    never_observed,  ///< [SINTER-K011] no call was observed
    nan_observed,    ///< [SINTER-K012] a value is NaN
    not_finite,      ///< [SINTER-K013] a value is infinite, or a scale
    second_pass,     ///< [SINTER-K014] a percentile, histogram or mse needs the data twice, the same both times
    run_failed,      ///< the kernel's own status: [SINTER-R...]
    cannot_write,    ///< [SINTER-K015] a file of parameters can't be written
    other_size,      ///< [SINTER-K016] the axis of parameters per axis has another size than before
};
/// What went wrong, with the name of the value.
struct [[nodiscard]] calibration_status {
    calibration_code code_value = calibration_code::ok;
    std::string text;
    bool ok() const { return code_value == calibration_code::ok; }
    calibration_code code() const { return code_value; }
    const std::string& message() const { return text; }
};
/// Its text, as of a call's status; empty if nothing is wrong.
inline const std::string& describe(const calibration_status& said) { return said.message(); }

/// Parameters of one value: one, or one for each index along `axis`.
struct calibrated_result {
    node_name value{};
    int axis = -1;
    detail::own_vector<qparams> parameters;
    float low = 0, high = 0;  ///< the range that was seen, of all indices together; zeros for derived and fixed ones
};
struct calibration_results {
    calibration_status status;
    u64 operator_hash = 0;
    detail::own_vector<calibrated_result> values;

    bool ok() const { return status.ok(); }
    /// The result of a name, or null.
    const calibrated_result* find(node_name wanted) const {
        for (const calibrated_result& one : values)
            if (one.value == wanted) return &one;
        return nullptr;
    }
};

}  // namespace SINTER_ISA
namespace detail {
inline namespace SINTER_ISA {

/// Counts of values up to each edge, and squared errors of candidates: reductions of broadcast formulas.
inline constexpr auto count_up_to = fused([](auto values, auto edges) {
    return sum(unsqueeze<0>(values) <= unsqueeze<1>(edges), axes<1>, drop);
});
struct squared_errors_body {
    template <class Traced>
    constexpr Traced operator()(Traced values, Traced scale, Traced low, Traced high) const {
        const Traced x = unsqueeze<0>(values), by = unsqueeze<1>(scale);
        const Traced error = x - emit_op<quantize_steps_op>(x, by, unsqueeze<1>(low), unsqueeze<1>(high)) * by;
        return sum(error * error, axes<1>, drop);
    }
};
inline constexpr fused_operator<squared_errors_body> squared_errors{};
inline constexpr auto range_of_all = fused([](auto values) { return outputs((sinter::min)(values), (sinter::max)(values)); });

SINTER_INLINE bool is_finite(float x) { return (__builtin_bit_cast(u32, x) & 0x7f800000u) != 0x7f800000u; }

/// What was seen of one value.
struct observed_value {
    static constexpr int bins = 2048, candidates = 64;
    own_vector<float> low, high;
    own_vector<i64> up_to;      ///< of each bin: values up to its upper edge
    own_vector<double> errors;  ///< of each candidate
    i64 calls = 0, elements = 0;
    i64 counted = 0, counted_calls = 0;      ///< of the second pass,
    float low_again = 0, high_again = 0;     ///< and its range

    /// The lower edge of bin `j`; the last edge is the greatest value itself.
    float edge(int j) const {
        if (j == bins) return high[0];
        const float share = step::div(float(j), float(bins)), span = step::sub(high[0], low[0]);
        if (!is_finite(span)) return step::add(step::mul(low[0], step::sub(1.0f, share)), step::mul(high[0], share));
        return step::add(low[0], step::mul(span, share));
    }
    void merge(own_vector<float>& into, const own_vector<float>& batch, bool least, bool moving) const {
        if (calls == 0) {
            into = batch;
            return;
        }
        for (std::size_t i = 0; i < into.size(); ++i)
            if (moving) {
                const float change = step::sub(batch[i], into[i]);
                into[i] = is_finite(change) ? step::add(into[i], step::mul(change, 0.01f)) : step::add(step::mul(into[i], 0.99f), step::mul(batch[i], 0.01f));
            } else if (least ? step::less(batch[i], into[i]) : step::less(into[i], batch[i]))
                into[i] = batch[i];
    }
    /// The share of a range that candidate c keeps: 1 down to 0.2125.
    static float kept(int c) { return step::sub(1.0f, step::mul(float(c), 0.0125f)); }
    qparams candidate(const quantizer_choice& choice, int c) const {
        return parameters_of(choice.formula, choice.storage, step::mul(low[0], kept(c)), step::mul(high[0], kept(c)));
    }
    qparams best_candidate(const quantizer_choice& choice) const {
        int best = 0;
        for (int c = 1; c < candidates; ++c)
            if (step::less(errors[std::size_t(c)], errors[std::size_t(best)])) best = c;
        return candidate(choice, best);
    }
    qparams without_tails(const quantizer_choice& choice) const {
        const i64 cut = i64(step::mul(double(counted), double(choice.tail)));
        int first = 0, last = bins;
        while (first < bins && up_to[std::size_t(first)] <= cut) ++first;                      // at most `cut` values below edge(first)
        while (last > first + 1 && up_to[std::size_t(last - 2)] >= counted - cut) --last;       // at most `cut` above edge(last)
        return parameters_of(choice.formula, choice.storage, edge(first), edge(last));
    }
    i64 in_bin(int j) const { return up_to[std::size_t(j)] - (j > 0 ? up_to[std::size_t(j - 1)] : 0); }
    double histogram_error(const qparams& with) const {
        double sum = 0;
        for (int j = 0; j < bins; ++j) {
            if (in_bin(j) == 0) continue;
            const float left = edge(j), right = edge(j + 1), both = step::add(left, right);
            const float middle = is_finite(both) ? step::mul(both, 0.5f) : step::add(step::mul(left, 0.5f), step::mul(right, 0.5f));
            const double error = step::widen(step::sub(middle, dequantize_code(quantize_code(middle, with), with)));
            sum = step::add(sum, step::mul(step::mul(error, error), double(in_bin(j))));
        }
        return sum;
    }
    /// PyTorch's search: takes 1e-5 of the values from the end where that frees more bins, as long as the error falls.
    qparams least_squares(const quantizer_choice& choice) const {
        int first = 0, last = bins - 1;
        double cut_low = 0, cut_high = 1, least = 0;
        bool any = false;
        while (step::less(cut_low, cut_high)) {
            const double next_low = step::add(cut_low, 1e-5), next_high = step::sub(cut_high, 1e-5);
            const double wanted_low = step::mul(next_low, double(counted)), wanted_high = step::mul(next_high, double(counted));
            int left = first, right = last;
            while (left < last && step::less(double(up_to[std::size_t(left)]), wanted_low)) ++left;
            while (right > first && step::less(wanted_high, double(up_to[std::size_t(right)]))) --right;
            const bool from_left = left - first > last - right;
            const int new_first = from_left ? left : first, new_last = from_left ? last : right;
            (from_left ? cut_low : cut_high) = from_left ? next_low : next_high;
            if (new_first == first && new_last == last) continue;
            const double error = histogram_error(parameters_of(choice.formula, choice.storage, edge(new_first), edge(new_last + 1)));
            if (any && step::less(least, error)) break;
            any = true, least = error, first = new_first, last = new_last;
        }
        const qparams whole = parameters_of(choice.formula, choice.storage, low[0], high[0]);
        const qparams found = parameters_of(choice.formula, choice.storage, edge(first), edge(last + 1));
        return step::less(histogram_error(found), histogram_error(whole)) ? found : whole;
    }
};

template <class Multi>
struct results_of_multi;
template <class Program, int... Roots, class... Types, class... Leaves>
struct results_of_multi<multi_expression<Program, indices<Roots...>, list<Types...>, Leaves...>> {
    template <int Index>
    using extents_type = typename nth_type<Index, Types...>::extents_type;
    static constexpr int root[sizeof...(Roots)] = {Roots...};
};
}  // namespace SINTER_ISA
}  // namespace detail
inline namespace SINTER_ISA {

/// What the observers of an operator saw. Made by `calibrate`.
template <class Body, class Quantizer, class Ranks>
class calibration;
template <class Body, class Quantizer, int... Rank>
class calibration<Body, Quantizer, indices<Rank...>> {
    static constexpr auto& graph = detail::graph_constant<Body, indices<Rank...>>::value;
    static constexpr auto& watches = detail::watch_constant<Body, Quantizer, indices<Rank...>>::value;
    using prepared = detail::prepared_operator<Body, Quantizer>;

public:
    static constexpr u64 operator_hash = graph.hash();

    /// Runs `y = operator(operands...)`, or `tie(y, z) = ...`, and observes. Host memory; an executor as for `run`. Where observers fold
    /// other axes than the operator, the run is split into several kernels.
    template <class Executor, class... Outputs, class... Operands>
    calibration_status observe(const Executor& executor, const tied<Outputs...>& targets, const Operands&... operands) {
        static_assert(sizeof...(Outputs) == std::size_t(graph.output_count), "[SINTER-E007] tie takes one view for every value of the operator.");
        return run(executor, targets.targets, make_indices<watches.results - graph.output_count>{}, operands...);
    }
    template <class Executor, class Type, class Extents, class Layout, class Space, int Alignment, class... Operands>
    calibration_status observe(const Executor& executor, const tensor_view<Type, Extents, Layout, Space, Alignment>& target, const Operands&... operands) {
        return observe(executor, tie(target), operands...);
    }

    /// Is there an observer that keeps values, and was the second pass not begun yet?
    bool needs_second_pass() const {
        if (second_) return false;
        for (int w = 0; w < watches.size; ++w)
            if (watches.at[w].keeps_values) return true;
        return false;
    }
    /// From here on the ranges are known, and `observe` counts what lies in them: give it the same data again.
    void second_pass() { second_ = true; }

    calibration_results results() const {
        calibration_results out;
        out.operator_hash = operator_hash;
        for (int w = 0; w < watches.size && out.ok(); ++w) out.status = complete(w);
        if (!out.ok()) return out;
        for (int i = 0; i < graph.record.size && out.ok(); ++i) {
            if (watches.choice[i].how == quantizer_choice::way::nothing) continue;
            out.values.push_back(result(i, 0));
            out.status = out.values.back().parameters.empty() ? fail(calibration_code::other_size, two_sizes, i) : scales_are_right(i, out.values.back());
        }
        return out;
    }

private:
    detail::observed_value seen_[unsigned(watches.size)];
    bool second_ = false;

    static constexpr const char* two_sizes = "[SINTER-K016] derived from two values with parameters per axis, whose axes have different sizes.";
    static constexpr const char* other_data = "[SINTER-K014] the second pass saw other data than the first one.";
    static calibration_status fail(calibration_code code, const char* text, int node) {
        const node_name value = graph.name_of(node);
        calibration_status out;
        out.code_value = code;
        detail::append(out.text, text, " (value '", value.name, "' ");
        detail::append_number(out.text, value.occurrence);
        out.text += ")";
        return out;
    }
    calibration_status complete(int w) const {
        const auto& one = seen_[w];
        const int node = watches.at[w].node;
        if (one.calls == 0) return fail(calibration_code::never_observed, "[SINTER-K011] no call was observed: there is no range yet.", node);
        if (watches.at[w].keeps_values && one.counted_calls != one.calls)
            return fail(calibration_code::second_pass, "[SINTER-K014] this observer needs the same data twice: call second_pass() and observe again.", node);
        const bool same_range = !step::less(one.low[0], one.low_again) && !step::less(one.high_again, one.high[0]);  // it lies inside
        if (watches.at[w].keeps_values && (one.counted != one.elements || !same_range)) return fail(calibration_code::second_pass, other_data, node);
        return {};
    }
    /// (Scales of 0 are at_run_time's.)
    static calibration_status scales_are_right(int node, const calibrated_result& found) {
        for (const qparams& one : found.parameters)
            if (!detail::is_finite(one.scale())) return fail(calibration_code::not_finite, "[SINTER-K013] the scale is infinite.", node);
        return {};
    }
    static int watch_of(int node) {
        for (int w = 0; w < watches.size; ++w)
            if (watches.at[w].node == node) return w;
        return -1;
    }
    calibrated_result result(int node, int depth) const {
        calibrated_result out;
        const quantizer_choice& choice = watches.choice[node];
        using way = quantizer_choice::way;
        if (depth > 8) return out;  // a circle of shared parameters
        if (choice.how == way::shared) {
            out = result(graph.find(choice.first), depth + 1);
        } else if (choice.how == way::fixed) {
            out.parameters.push_back(choice.given);
        } else if (choice.how == way::derived) {
            const calibrated_result left = result(graph.find(choice.first), depth + 1), right = result(graph.find(choice.second), depth + 1);
            const std::size_t count = left.parameters.size() > right.parameters.size() ? left.parameters.size() : right.parameters.size();
            const bool fit = left.parameters.size() == right.parameters.size() || left.parameters.size() == 1 || right.parameters.size() == 1;
            out.axis = count > 1 ? 0 : -1;
            for (std::size_t i = 0; fit && i < count; ++i) {
                const float first = left.parameters[left.parameters.size() > 1 ? i : 0].scale(), second = right.parameters[right.parameters.size() > 1 ? i : 0].scale();
                out.parameters.push_back(stored_as(qp(step::mul(first, second)), code_kind::i32));
            }
        } else if (choice.how == way::own) {
            const detail::observed_value& one = seen_[watch_of(node)];
            out.axis = choice.axis;
            out.low = one.low[0], out.high = one.high[0];
            for (std::size_t i = 0; i < one.low.size(); ++i) {
                if (step::less(one.low[i], out.low)) out.low = one.low[i];
                if (step::less(out.high, one.high[i])) out.high = one.high[i];
                out.parameters.push_back(choice.watch == observer::percentile  ? one.without_tails(choice)
                                         : choice.watch == observer::histogram ? one.least_squares(choice)
                                         : choice.watch == observer::mse       ? one.best_candidate(choice)
                                                                               : parameters_of(choice.formula, choice.storage, one.low[i], one.high[i]));
            }
        }
        out.value = graph.name_of(node);
        return out;
    }

    template <class Executor, class Assignment>
    static status run_any(const Executor& executor, const Assignment& assigned) {
        // (Observers of several operands, whose run-time sizes nothing relates: see split_executor.)
        if constexpr (detail::is_surely_one_kernel<lowering_of<Assignment>>())
            return try_run(executor, assigned);
        else
            return try_run(split(executor), assigned);
    }
    /// A view of memory for one observer's result, of the shape that the operands give it.
    template <class Multi, int Result, class Whole>
    static auto place(detail::own_vector<float>& memory, const Whole& whole) {
        using facts = detail::results_of_multi<Multi>;
        using extents_type = typename facts::template extents_type<Result>;
        using lowering = lowering_of<typename detail::as_assignment<Multi>::type>;
        const shape sizes = detail::run_time_shape<lowering, facts::root[Result]>(whole.operands);
        // Of operands that can't be, or that no memory holds: no memory here either, and the call says what is wrong.
        constexpr i64 most = i64(1) << 40;
        bool possible = true;
        i64 count = 1;
        for (int i = 0; i < sizes.rank; ++i) {
            possible = possible && sizes.size[i] >= 0 && (sizes.size[i] == 0 || count <= most / sizes.size[i]);
            count = possible ? count * sizes.size[i] : 0;
        }
        memory.resize(std::size_t(count));
        return tensor_view<float, extents_type>(memory.data(), extents_with<extents_type>(sizes));
    }
    template <class Executor, class... Outputs, int... Extra, class... Operands>
    calibration_status run(const Executor& executor, const pack<Outputs...>& targets, indices<Extra...>, const Operands&... operands) {
        const auto whole = prepared{}(operands...);
        using multi = remove_cvref<decltype(whole)>;
        detail::own_vector<float> memory[unsigned(sizeof...(Extra))];
        const auto extra = tie(place<multi, Extra + graph.output_count>(memory[Extra], whole)...);
        const auto all = tied_with(join(targets, extra.targets));
        const status said = run_any(executor, all = whole);
        if (!said.ok()) return {calibration_code::run_failed, said.message()};
        return take(executor, memory);
    }
    template <class... Views>
    static tied<Views...> tied_with(const pack<Views...>& targets) {
        return {targets};
    }

    /// What one call shows of one value: its range and, in the second pass, what lies in it.
    struct one_call {
        detail::own_vector<float> low, high;
        detail::own_vector<i64> up_to;
        detail::own_vector<double> errors;
        i64 elements = 0;
        bool is_empty = true;
    };
    /// All of a call is looked at before any of it is kept.
    template <class Executor>
    calibration_status take(const Executor& executor, const detail::own_vector<float>* memory) {
        one_call call[unsigned(watches.size)];
        for (int w = 0; w < watches.size; ++w) {
            const calibration_status said = look(executor, w, memory, call[w]);
            if (!said.ok()) return said;
        }
        for (int w = 0; w < watches.size; ++w)
            if (!call[w].is_empty) keep(watches.at[w], seen_[w], call[w]);
        return {};
    }
    template <class Executor>
    calibration_status look(const Executor& executor, int w, const detail::own_vector<float>* memory, one_call& call) const {
        const detail::watch_point& point = watches.at[w];
        const detail::observed_value& one = seen_[w];
        const detail::own_vector<float>& first = memory[point.first - graph.output_count];
        if (first.empty()) return {};
        call.low = call.high = first;
        if (point.keeps_values) {
            call.low.resize(1), call.high.resize(1);
            const tensor_view<const float, extents<dyn>> values(first.data(), i64(first.size()));
            const status said = try_run(executor, tie(tensor_view<float, extents<>>(call.low.data()), tensor_view<float, extents<>>(call.high.data())) = detail::range_of_all(values));
            if (!said.ok()) return {calibration_code::run_failed, said.message()};
        } else if (point.count == 2) {
            call.high = memory[point.first + 1 - graph.output_count];
        } else {
            for (float& each : call.low) each = -each;
        }
        if (step::less(call.high[0], call.low[0])) return {};  // without elements: the identities of min and max
        for (std::size_t i = 0; i < call.low.size(); ++i) {
            if (step::is_nan(call.low[i]) || step::is_nan(call.high[i]))
                return fail(calibration_code::nan_observed, "[SINTER-K012] a value is NaN: a range with it means nothing. Nothing of this call was kept.", point.node);
            if (!detail::is_finite(call.low[i]) || !detail::is_finite(call.high[i]))
                return fail(calibration_code::not_finite, "[SINTER-K013] a value is infinite: there is no scale for it. Nothing of this call was kept.", point.node);
        }
        if (one.calls > 0 && call.low.size() != one.low.size())
            return fail(calibration_code::other_size,
                        "[SINTER-K016] parameters per axis: the axis has another size than in the calls before. Nothing of this call was kept.", point.node);
        call.is_empty = false;
        call.elements = i64(first.size());
        if (!second_) return {};
        if (one.calls == 0) return complete(w);
        bool inside = !point.keeps_values || one.counted_calls < one.calls;
        if (point.choice.watch != observer::moving_min_max)
            for (std::size_t i = 0; i < call.low.size(); ++i) inside = inside && !step::less(call.low[i], one.low[i]) && !step::less(one.high[i], call.high[i]);
        if (!inside) return fail(calibration_code::second_pass, other_data, point.node);
        return point.keeps_values ? count(executor, point, one, first, call) : calibration_status{};
    }
    void keep(const detail::watch_point& point, detail::observed_value& one, const one_call& call) const {
        if (!second_) {
            const bool moving = point.choice.watch == observer::moving_min_max;
            one.merge(one.low, call.low, true, moving);
            one.merge(one.high, call.high, false, moving);
            ++one.calls;
            one.elements += call.elements;
        } else if (point.keeps_values) {
            one.up_to.resize(call.up_to.size());
            one.errors.resize(call.errors.size());
            for (std::size_t i = 0; i < call.up_to.size(); ++i) one.up_to[i] += call.up_to[i];
            for (std::size_t i = 0; i < call.errors.size(); ++i) one.errors[i] = step::add(one.errors[i], call.errors[i]);
            if (one.counted_calls == 0 || step::less(call.low[0], one.low_again)) one.low_again = call.low[0];
            if (one.counted_calls == 0 || step::less(one.high_again, call.high[0])) one.high_again = call.high[0];
            one.counted += call.elements;
            ++one.counted_calls;
        }
    }
    template <class Executor>
    calibration_status count(const Executor& executor, const detail::watch_point& point, const detail::observed_value& one, const detail::own_vector<float>& from,
                             one_call& call) const {
        status said;
        if (point.choice.watch == observer::mse) {
            constexpr int size = detail::observed_value::candidates;
            float scale[unsigned(size)], low[unsigned(size)], high[unsigned(size)], sums[unsigned(size)];
            // Squares of huge numbers overflow; a power of two takes nothing from them, and leaves the order of the candidates.
            const bool is_huge = step::less(one.low[0], -0x1p60f) || step::less(0x1p60f, one.high[0]);
            const float unit = is_huge ? 0x1p-80f : 1.0f;
            detail::own_vector<float> in_units = from;
            if (is_huge)
                for (float& each : in_units) each = step::mul(each, unit);
            for (int c = 0; c < size; ++c) {
                const qparams with = one.candidate(point.choice, c);
                scale[c] = step::mul(with.scale(), unit), low[c] = float(range_of(with).low), high[c] = float(range_of(with).high);
            }
            const tensor_view<const float, extents<dyn>> values(in_units.data(), i64(in_units.size()));
            using row = extents<size>;
            said = try_run(executor, tensor_view<float, row>(sums) = detail::squared_errors(values, tensor_view<const float, row>(scale), tensor_view<const float, row>(low),
                                                                                         tensor_view<const float, row>(high)));
            for (int c = 0; c < size; ++c) call.errors.push_back(step::widen(sums[c]));
        } else {
            constexpr int size = detail::observed_value::bins;
            const tensor_view<const float, extents<dyn>> values(from.data(), i64(from.size()));
            detail::own_vector<float> edges(std::size_t(size), 0.0f);
            call.up_to.resize(std::size_t(size));
            for (int j = 0; j < size; ++j) edges[std::size_t(j)] = one.edge(j + 1);
            using row = extents<size>;
            said = try_run(executor, tensor_view<i64, row>(call.up_to.data()) = detail::count_up_to(values, tensor_view<const float, row>(edges.data())));
        }
        if (!said.ok()) return {calibration_code::run_failed, said.message()};
        return {};
    }
};

/// A calibration of an operator for operands of these ranks (their data isn't looked at).
template <class Lambda, class Quantizer, class... Operands>
auto calibrate(const detail::fused_operator<Lambda>&, const Quantizer&, const Operands&...)
    -> calibration<Lambda, Quantizer, indices<Operands::extents_type::rank...>> {
    return {};
}

}  // namespace SINTER_ISA
}  // namespace sinter
