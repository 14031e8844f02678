// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `explain(e)`: what a formula is and what it becomes, for people. The formula in infix form with a name for each value that is
// used twice, its operands and results, the plan, and with an executor the physical plan of its target. For machines there
// is `plan_of`; this text may change from release to release.
//
//     explain(e);  explain(e, sinter::cpu);  explain(e, stderr);       // print
//     auto text = explanation(e);  text.c_str();                      // the same as a value; no allocation
//
// Hosted only: it writes through <cstdio>.
#pragma once

#include "named_sizes.hpp"
#include "plan.hpp"
#include "print.hpp"

#include <cstdio>  // files

// (An inline namespace for each instruction set: the linker keeps one copy of a function, which may hold another file's instructions.)
namespace sinter {
namespace detail {
inline namespace SINTER_ISA {

/// What is known of an operand when its formula is explained.
struct operand_text {
    shape now{};  ///< sizes as numbers
    bool view = false, scalar = false, strides = false;
    double real = 0;
    i64 whole = 0;
};

/// A formula and its plan as plain values, so that the text is written by code that is compiled once.
struct formula_text {
    const node_value* node = nullptr;
    const shape* sizes = nullptr;  ///< static ones, by node
    const value_type* type = nullptr;
    const int* order = nullptr;
    int order_size = 0;
    const int* root = nullptr;
    int outputs = 0;
    const dtype* output_type = nullptr;
    const shape* output_shape = nullptr;
    int operands = 0;
    const shape* operand_shape = nullptr;
    const value_type* operand_type = nullptr;
    const operand_text* operand = nullptr;
    const shape* result_now = nullptr;
    const int* buffer_of = nullptr;
    const instance* at = nullptr;
    int instances = 0;
    const u32* output_free = nullptr;
    u32 inner = 0;
    nest_violation why = nest_violation::none;
};

constexpr bool same_text(const char* left, const char* right) {
    while (*left && *left == *right) ++left, ++right;
    return *left == *right;
}

/// Operators that are written between or before their arguments, and how strongly they bind.
struct sign_of_op {
    const char* op;
    const char* sign;
    int binding;
};
inline constexpr int atom_binding = 20;
inline constexpr sign_of_op signs[] = {
    {"mul", " * ", 10},         {"div", " / ", 10},          {"rem", " % ", 10},          {"add", " + ", 9},
    {"sub", " - ", 9},          {"shift_left", " << ", 8},   {"shift_right", " >> ", 8},  {"less", " < ", 7},
    {"less_equal", " <= ", 7},  {"greater", " > ", 7},       {"greater_equal", " >= ", 7}, {"equal", " == ", 6},
    {"not_equal", " != ", 6},   {"bit_and", " & ", 5},       {"bit_xor", " ^ ", 4},       {"bit_or", " | ", 3},
    {"logical_and", " && ", 2}, {"logical_or", " || ", 1},   {"neg", "-", 11},            {"logical_not", "!", 11},
    {"bit_not", "~", 11},
};

class explainer {
public:
    explainer(const formula_text& formula, text_writer& to) : f_(formula), to_(to) {}

    void formula() {
        to_.add("formula\n");
        for (int i = 0; i < f_.order_size; ++i) {
            const int index = f_.order[i];
            if (!has_name(index)) continue;
            to_.add("  ");
            name(index);
            to_.add(" = ");
            value(index, 0);
            to_.add('\n');
        }
        for (int o = 0; o < f_.outputs; ++o) {
            to_.add("  y").add(o).add(" = ");
            use(f_.root[o], 0);
            to_.add('\n');
        }
    }
    void operands_and_results() {
        if (f_.operands > 0) to_.add("operands\n");
        for (int i = 0; i < f_.operands; ++i) {
            const operand_text& one = f_.operand[i];
            to_.add("  x").add(i).pad_to(6);
            if (one.scalar) {
                to_.add("scalar ");
                if (f_.operand_type[i].type == dtype::f32)
                    real(one.real);
                else
                    to_.add(one.whole);
            } else {
                if (one.view) to_.add(dtype_name(f_.operand_type[i].type)).add(' ');
                sizes(f_.operand_shape[i], one.now);
                if (one.strides) to_.add(" with strides");
                if (!one.view) to_.add(" shape only");
            }
            to_.add('\n');
        }
        to_.add("results\n");
        for (int o = 0; o < f_.outputs; ++o) {
            to_.add("  y").add(o).pad_to(6).add(dtype_name(f_.output_type[o])).add(' ');
            sizes(f_.output_shape[o], f_.result_now[o]);
            to_.add('\n');
        }
    }
    /// One line on a kernel, then what it stores or what its passes do. `number` 0: the only one.
    void kernel(const plan_piece& piece, int number, const i64* now) {
        to_.add("  ");
        if (number > 0) to_.add("kernel ").add(number).add(", ");
        to_.add(piece.nest == nest_kind::pointwise ? "pointwise" : piece.nest == nest_kind::rows ? "rows" : "columns");
        to_.add(" over ");
        if (piece.domain.rank == 0) to_.add("one element");
        for (int i = 0; i < piece.domain.rank; ++i) {
            if (i > 0) to_.add(" x ");
            to_.add_size(now && piece.domain.size[i] < 0 ? now[i] : piece.domain.size[i]);
            if (piece.domain.folded[i]) to_.add(" folded");
        }
        plural(to_.add(", "), piece.passes, "pass", "es");
        plural(to_.add(", "), piece.loads, "load", "s");
        plural(to_.add(", "), piece.stores, "store", "s");
        to_.add('\n');
    }
    void passes(int levels) {
        for (int level = 1; level <= levels; ++level) {
            to_.add("    pass ").add(level).add(" folds ");
            names_of_reductions(0, level);
            to_.add('\n');
        }
        bool written = false;
        for (int o = 0; o < f_.outputs; ++o)
            if (levels > 0 && f_.output_free[o] & f_.inner) {
                to_.add(written ? ", y" : "    pass ");
                if (!written) to_.add(levels + 1).add(" writes y");
                to_.add(o);
                written = true;
            }
        if (written) to_.add('\n');
        bool outer = false;
        for (int i = 0; i < f_.instances; ++i) outer = outer || (f_.at[i].folded && f_.at[i].fold_group == 1);
        if (!outer) return;
        to_.add("    over row results: ");
        names_of_reductions(1, 0);
        to_.add('\n');
    }
    void reason() {
        switch (f_.why) {
            case nest_violation::incompatible_axes: to_.add("reductions fold different axes"); break;
            case nest_violation::different_sizes: to_.add("outputs or folded axes differ in size"); break;
            case nest_violation::map_of_reduction: to_.add("a reduced value is mapped to other places"); break;
            case nest_violation::map_of_broadcast: to_.add("a broadcast value is reshaped"); break;
            default: to_.add("it has too many axes, maps or values");
        }
    }
    static void plural(text_writer& to, i64 count, const char* word, const char* ending) {
        to.add(count).add(' ').add(word);
        if (count != 1) to.add(ending);
    }
    void sizes(const shape& written, const shape& now) {
        to_.add('[');
        for (int i = 0; i < written.rank; ++i) {
            if (i > 0) to_.add(", ");
            to_.add_size(written.size[i]);
            if (written.size[i] < 0 && now.rank == written.rank && now.size[i] >= 0) to_.add(" = ").add(now.size[i]);
        }
        to_.add(']');
    }

private:
    int uses(int index) const {
        int count = 0;
        for (int i = 0; i < f_.order_size; ++i) {
            const node_value& n = f_.node[f_.order[i]];
            if (n.kind == node_kind::count) continue;
            for (int a = 0; a < n.arity; ++a) count += n.argument[a] == index;
        }
        for (int o = 0; o < f_.outputs; ++o) count += f_.root[o] == index;
        return count;
    }
    bool has_name(int index) const {
        const node_kind kind = f_.node[index].kind;
        if (kind == node_kind::leaf || kind == node_kind::literal || kind == node_kind::count) return false;
        return f_.buffer_of[index] >= 0 || uses(index) > 1;
    }
    /// Values that cross a cut are b0, b1, ...; other values with a name t0, t1, ...
    void name(int index) {
        if (f_.buffer_of[index] >= 0) {
            to_.add('b').add(f_.buffer_of[index]);
            return;
        }
        int number = 0;
        for (int i = 0; f_.order[i] != index; ++i) number += has_name(f_.order[i]) && f_.buffer_of[f_.order[i]] < 0;
        to_.add('t').add(number);
    }
    void use(int index, int binding) { has_name(index) ? name(index) : value(index, binding); }

    void value(int index, int binding) {
        const node_value& n = f_.node[index];
        switch (n.kind) {
            case node_kind::leaf: to_.add('x').add(static_cast<i64>(n.bits)); return;
            case node_kind::literal: literal(n); return;
            case node_kind::count: count(n.argument[0]); return;
            default: break;
        }
        for (const sign_of_op& sign : signs)
            if (n.kind == node_kind::map && same_text(sign.op, n.op->name)) {
                if (sign.binding < binding) to_.add('(');
                if (n.arity == 2) use(n.argument[0], sign.binding);
                to_.add(sign.sign);
                use(n.argument[n.arity - 1], sign.binding + (n.arity == 2));
                if (sign.binding < binding) to_.add(')');
                return;
            }
        if (!named(n)) {  // a conversion to float that nobody wrote
            if (is_float(f_.type[n.argument[0]].type) || f_.type[n.argument[0]].weak) return use(n.argument[0], binding);
            to_.add("cast<f32>(");
        } else {
            to_.add(n.op->name);
            if (same_text(n.op->name, "cast") || same_text(n.op->name, "cast_wrap"))
                to_.add('<').add(dtype_name(f_.type[index].type)).add('>');
            if (n.kind == node_kind::index_map)
                numbers(n.op->map.number, n.op->map.count, n.op->map.kind == map_kind::reshape || n.op->map.kind == map_kind::expand);
            if (n.kind == node_kind::coordinate) numbers(&n.op->axis, 1);
            to_.add('(');
        }
        for (int a = 0; a < n.arity; ++a) {
            if (a > 0) to_.add(", ");
            use(n.argument[a], 0);
        }
        if (n.kind == node_kind::reduce && !n.op->all_axes) {
            to_.add(", axes");
            numbers(n.op->axes.axis, n.op->axes.count);
            if (!n.op->keep) to_.add(", drop");
        }
        to_.add(')');
    }
    void numbers(const i64* number, int count, bool are_sizes = false) {
        to_.add('<');
        for (int i = 0; i < count; ++i) {
            if (i > 0) to_.add(", ");
            number[i] == end ? to_.add("end") : are_sizes ? to_.add_size(number[i]) : to_.add(number[i]);
        }
        to_.add('>');
    }
    /// A number that was written as a float has few digits as a float.
    void real(double value) {
        static_cast<double>(static_cast<float>(value)) == value ? add_float(to_, static_cast<float>(value)) : add_float(to_, value);
    }
    void literal(const node_value& n) {
        if (n.literal == literal_kind::floating) {
            real(__builtin_bit_cast(double, n.bits));
        } else if (n.literal == literal_kind::boolean) {
            to_.add(n.bits ? "true" : "false");
        } else if (n.literal == literal_kind::large) {
            to_.add(n.bits);
        } else {
            to_.add(static_cast<i64>(n.bits));
        }
    }
    /// How many elements a reduction folds.
    void count(int reduction) {
        const shape& from = f_.sizes[f_.node[reduction].argument[0]];
        bool reduced[max_rank]{};
        int ignored = 0;
        reduced_axes(*f_.node[reduction].op, from.rank, reduced, ignored);
        i64 product = 1;
        for (int i = 0; i < from.rank; ++i)
            if (reduced[i]) product = product < 0 || from.size[i] < 0 ? dyn : product * from.size[i];
        product < 0 ? to_.add("count") : to_.add(product);
    }
    void names_of_reductions(int group, int level) {
        bool any = false;
        for (int i = 0; i < f_.instances; ++i) {
            const instance& it = f_.at[i];
            if (!it.folded || it.fold_group != group || (level > 0 && it.level != level)) continue;
            to_.add(any ? ", " : "").add(f_.node[it.node].op->name);
            any = true;
        }
    }

    const formula_text& f_;
    text_writer& to_;
};

template <class Operand>
operand_text describe_operand(const Operand& from) {
    operand_text out;
    if constexpr (operand_kind_of<Operand> == operand_kind::view) {
        out.now = from.sizes();
        out.view = true;
        out.strides = !Operand::contiguous;
    } else if constexpr (requires { from.value; from.value + 0; }) {
        out.scalar = true;
        out.real = static_cast<double>(from.value);
        out.whole = convert<i64>(from.value);
    } else {
        out.now = from.sizes();
    }
    return out;
}

/// What `run` would say of an assignment, of the memory that is there: views without a pointer are explained by their sizes.
template <class Program, class Roots, class Leaves, class Outputs>
status status_of(const assignment<Program, Roots, Leaves, Outputs>& assigned) {
    using kernel = kernel_facts<assignment<Program, Roots, Leaves, Outputs>>;
    using names = names_of_call<assignment<Program, Roots, Leaves, Outputs>>;
    if constexpr (names::some_twice) {
        const status bad = names::verdict(assigned);
        if (!bad.ok()) return bad;
    }
    using tag = backend::SINTER_ISA::instruction_set;
    constexpr int count = slots<kernel>::count;
    constexpr auto& facts = binding_facts_of<kernel>::value;
    slot_state given[unsigned(count)];
    give_all<kernel>(given, assigned.operands, assigned.targets);
    bool all_there = true;
    for (int i = 0; i < count; ++i) {
        if (given[i].pointer != nullptr || !binder<tag, count>::is_formed(given[i])) continue;
        given[i].pointer = &given[i];
        all_there = all_there && !facts.slot[i].reads_memory && facts.slot[i].output < 0;
    }
    binding_of<kernel> bound;
    const void* pointer[unsigned(count)];
    const status said = binder<tag, count>::bind(facts, maps_of<kernel, tag>(), given, bound, pointer);
    return said.code() == error::overlap && !all_there ? status{} : said;
}
/// Of a formula alone, whose outputs have the sizes of their values, as `eval` makes them.
template <class Formula, class... Outputs, int... Output>
status status_of_values(const Formula& formula, list<Outputs...>, indices<Output...>) {
    using assignment_type = typename as_assignment<Formula>::type;
    using lowering = lowering_of<assignment_type>;
    const auto sizes = [](shape found) {
        for (i64& size : found.size)
            if (size < 0) size = 0;  // of a view that couldn't be formed: the binding says why
        return found;
    };
    (void)sizes;
    return status_of(assignment_type{formula.operands, {{{Outputs(nullptr, extents_with<typename Outputs::extents_type>(sizes(run_time_shape<lowering, lowering::root[Output]>(formula.operands, true))))}...}}});
}
template <class Formula>
status status_of(const Formula& formula) {
    using outputs = typename as_assignment<Formula>::type::outputs;
    return status_of_values(formula, outputs{}, make_indices<as_assignment<Formula>::type::output_count>{});
}

/// Writes the explanation of a formula with these operands; `Target` is `targets::logical` for none.
template <class Formula, class Target, class Operands, int... Leaf, int... Output>
void write_explanation(text_writer& to, const Operands& operands, const status& said, indices<Leaf...>, indices<Output...>) {
    using planned = plan<Formula>;
    using lowering = typename planned::lowering;
    static constexpr canonical_order<lowering::node_count> order(lowering::node, lowering::root, lowering::output_count);
    const operand_text operand[] = {describe_operand(get<Leaf>(operands))..., operand_text{}};
    const shape result_now[] = {run_time_shape<lowering, lowering::root[Output]>(operands)...};
    const auto& cut = stages_of<lowering>::value;

    formula_text formula;
    formula.node = lowering::node;
    formula.sizes = lowering::facts.sizes;
    formula.type = lowering::facts.type;
    formula.order = order.at;
    formula.order_size = order.size;
    formula.root = lowering::root;
    formula.outputs = lowering::output_count;
    formula.output_type = lowering::output_type;
    formula.output_shape = lowering::output_shape;
    formula.operands = lowering::leaf_count;
    formula.operand_shape = lowering::leaf_shape;
    formula.operand_type = lowering::leaf_type;
    formula.operand = operand;
    formula.result_now = result_now;
    formula.buffer_of = cut.buffer_of;
    formula.at = planned::table.at;
    formula.instances = planned::table.size;
    formula.output_free = planned::table.output_free;
    formula.inner = planned::table.inner;
    formula.why = planned::why;

    explainer write(formula, to);
    write.formula();
    write.operands_and_results();
    if (!said.ok()) {
        to.add("run refuses these operands\n  ").add(describe(said).c_str()).add('\n');
        return;
    }
    to.add("plan ").add(planned::name.c_str()).add(' ');
    for (int shift = 60; shift >= 0; shift -= 4) to.add("0123456789abcdef"[planned::hash >> shift & 15]);
    to.add("\n  ");
    explainer::plural(to, planned::kernels, "kernel", "s");
    i64 bytes = -1;
    if constexpr (planned::one_kernel) {
        i64 size[max_loop_axes]{}, now[max_loop_axes]{};
        loop_sizes<planned>(operands, size);
        for (int i = 0, next = 0; i < planned::table.axis_count; ++i)
            if (planned::table.axis_size[planned::table.order[i]] != 1) now[next++] = size[planned::table.order[i]];
        bytes = planned::bytes_at(size);
        to.add('\n');
        write.kernel(cut.stage[0].piece, 0, now);
        write.passes(planned::levels);
        if (planned::code_product) to.add("    an exact product of codes: each weight read once for 16 vectors\n");
        if (planned::code_sum) to.add("    a sum of codes: two fused steps, proved equal for all pairs of codes\n");
        if (planned::code_table) to.add("    a function of one code: 256 values, looked up where that is faster\n");
    } else {
        to.add(", one isn't possible: ");
        write.reason();
        to.add(planned::kernels > 0 ? "; run it with split(executor)\n" : "; and it can't be split\n");
        for (int s = 0; s < planned::kernels; ++s) {
            write.kernel(cut.stage[s].piece, s + 1, nullptr);
            for (int b = 0; b < cut.buffers; ++b) {
                if (cut.buffer[b].written != s) continue;
                to.add("    stores b").add(b).add(' ').add(dtype_name(cut.buffer[b].type)).add(' ');
                write.sizes(cut.buffer[b].sizes, {});
                to.add(" until kernel ").add(cut.buffer[b].last_read + 1).add('\n');
            }
            for (int o = 0; o < lowering::output_count; ++o)
                if (cut.output_stage[o] == s) to.add("    writes y").add(o).add('\n');
        }
        if constexpr (planned::kernels > 0) bytes = planned::bytes();
    }
    to.add("  ");
    explainer::plural(to, planned::operations, "operation", "s");
    if (planned::one_kernel) to.add(", about ").add(planned::flops).add(" instructions per element");
    if (bytes >= 0) to.add(", at least ").add(bytes).add(" bytes moved");
    to.add('\n');
    if constexpr (!is_same<Target, targets::logical>) {
        using physical = plan<Formula, Target>;
        to.add("on ").add(Target::name).add("\n  ");
        explainer::plural(to, physical::width, "element", "s");
        to.add(" a step, ");
        switch (physical::split) {
            case split_rule::nothing: to.add(planned::one_kernel ? "one thread" : "each kernel on its own"); break;
            case split_rule::elements: to.add("threads share elements"); break;
            case split_rule::rows: to.add("threads share rows"); break;
            case split_rule::columns: to.add("threads share columns"); break;
        }
        to.add(", ").add(physical::scratch).add(" bytes of scratch memory");
        if (Target::streaming_threshold >= 0 && bytes >= Target::streaming_threshold) to.add(", stores pass the caches");
        to.add('\n');
        if (SINTER_EMULATED_FMA && same_text(Target::name, "cpu"))
            to.add("  fma is emulated, slowly: compile with -march=native or -march=x86-64-v3\n");
    }
}

template <class Formula>
struct nodes_of : nodes_of<typename as_assignment<Formula>::type> {};
template <class... Node, class Roots, class Leaves, class Outputs>
struct nodes_of<assignment<program<Node...>, Roots, Leaves, Outputs>> {
    static constexpr int value = int(sizeof...(Node));
};
template <class Formula, class Target, bool Splits = false>
auto explain_for(const Formula& formula) {
    constexpr int capacity = 2048 + 96 * nodes_of<Formula>::value;
    fixed_text<capacity> out;
    text_writer to(out.letters, capacity + 1);
    using lowering = typename plan<Formula>::lowering;
    status said;
    if constexpr (plan<Formula>::one_kernel) {
        said = status_of(formula);
        if (Splits && said.code() == error::size_mismatch && !is_surely_one_kernel<lowering>()) said = {};  // several kernels may run it
    }
    write_explanation<Formula, Target>(to, formula.operands, said, make_indices<lowering::leaf_count>{}, make_indices<lowering::output_count>{});
    return out;
}
}  // namespace SINTER_ISA
}  // namespace detail

inline namespace SINTER_ISA {

/// The explanation as a value: `c_str()` and `length()`. It takes an expression, several, or an assignment; a text that would be longer
/// than its memory is cut.
template <class Formula>
auto explanation(const Formula& formula) {
    if constexpr (operand_kind_of<Formula> == operand_kind::poison)
        return fixed_text<1>{};
    else
        return detail::explain_for<Formula, targets::logical>(formula);
}
/// With the physical plan of the executor's target, if it names one (`using target = ...`).
template <class Formula, class Executor>
    requires requires { typename Executor::memory_space; }
auto explanation(const Formula& formula, const Executor&) {
    if constexpr (operand_kind_of<Formula> == operand_kind::poison)
        return fixed_text<1>{};
    else
        return detail::explain_for<Formula, typename detail::target_of<Executor>::type, requires { Executor::splits; }>(formula);
}
/// Prints it.
template <class Formula>
void explain(const Formula& formula, std::FILE* file = stdout) {
    std::fputs(explanation(formula).c_str(), file);
}
template <class Formula, class Executor>
    requires requires { typename Executor::memory_space; }
void explain(const Formula& formula, const Executor& executor, std::FILE* file = stdout) {
    std::fputs(explanation(formula, executor).c_str(), file);
}

}  // namespace SINTER_ISA
}  // namespace sinter
