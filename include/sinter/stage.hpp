// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages: what one kernel does, as values; and the cut of a program that can't be one kernel into several. A stage reads operands
// and buffers of earlier stages, and writes outputs and buffers. Nothing is allocated or run here (split.hpp does), and no
// target is known.
#pragma once

#include "lower.hpp"

namespace sinter {

/// The loop axes of a kernel, from outer to inner.
struct loop_domain {
    int rank = 0;
    i64 size[max_loop_axes]{};     ///< a number, `dyn` or a name
    bool folded[max_loop_axes]{};  ///< a reduction folds it
};

/// One program over one domain. A stage has one now; pieces side by side in a launch are reserved.
struct plan_piece {
    nest_kind nest = nest_kind::pointwise;
    loop_domain domain{};
    int levels = 0;    ///< dependent reductions of the folded axes
    int passes = 1;    ///< sweeps over the domain: one for each level, and one more if an output varies along folded axes
    int loads = 0;     ///< operands and buffers that are read, each at one place of the nest
    int stores = 0;    ///< outputs and buffers that are written
    i64 bytes = -1;    ///< moved at least: each load and each store once; -1 if a size is known only when run
};
struct plan_stage {
    static constexpr int pieces = 1;
    plan_piece piece{};
};
/// A value that lives in memory between stages.
struct plan_buffer {
    int node = -1;           ///< of the program
    dtype type = dtype::f32; ///< its compute type: a cut doesn't round
    shape sizes{};
    int written = 0;         ///< stage
    int last_read = 0;       ///< stage; the buffer is live from `written` to here
};

namespace detail {

/// Element types of what a kernel reads and writes.
struct memory_types {
    const dtype* leaf = nullptr;    ///< by operand
    const dtype* output = nullptr;  ///< by output of the lowered form
};

inline namespace SINTER_ISA {  // explain calls it: compiled for each instruction set
/// Bytes that a kernel moves at least when its loop axes have these sizes; -1 if one that matters is unknown.
template <int Nodes, int Outputs>
constexpr i64 bytes_moved(const lowered<Nodes, Outputs>& table, int outputs, const node_value* node, const memory_types& types,
                          const i64 (&size)[max_loop_axes]) {
    i64 total = 0;
    bool known = true;
    const auto add = [&](u32 axes_it_has, dtype type) {
        i64 count = 1;
        for (int a = 0; a < table.axis_count; ++a) {
            if (!(axes_it_has >> a & 1)) continue;
            known = known && size[a] >= 0;
            count *= known ? size[a] : 0;
        }
        total += count * i64(dtype_size(type));
    };
    for (int i = 0; i < table.size; ++i)
        if (table.at[i].kind == node_kind::leaf) add(table.at[i].free, types.leaf[node[table.at[i].node].bits]);
    for (int o = 0; o < outputs; ++o) add(table.output_free[o], types.output[o]);
    return known ? total : -1;
}
}  // namespace SINTER_ISA

/// A lowered program in the words of a plan.
template <int Nodes, int Outputs>
constexpr plan_piece describe(const lowered<Nodes, Outputs>& table, int outputs, const node_value* node, const memory_types& types) {
    plan_piece out;
    out.nest = table.kind;
    out.levels = table.levels;
    const u32 folded = table.inner | table.outer;
    for (int i = 0; i < table.axis_count; ++i) {
        const int axis = table.order[i];
        if (table.axis_size[axis] == 1) continue;
        out.domain.size[out.domain.rank] = table.axis_size[axis];
        out.domain.folded[out.domain.rank++] = (folded >> axis & 1) != 0;
    }
    bool sweeps_again = false;
    for (int o = 0; o < outputs; ++o) sweeps_again = sweeps_again || (table.output_free[o] & table.inner) != 0;
    out.passes = table.levels + (sweeps_again ? 1 : 0);
    if (out.passes == 0) out.passes = 1;
    for (int i = 0; i < table.size; ++i) out.loads += table.at[i].kind == node_kind::leaf;
    out.stores = outputs;
    i64 size[max_loop_axes]{};
    for (int a = 0; a < table.axis_count; ++a) size[a] = table.axis_size[a];
    out.bytes = bytes_moved(table, outputs, node, types, size);
    return out;
}

/// Where a program is cut. Buffers are numbered in the order of their nodes.
template <int Nodes, int Outputs>
struct cut_table {
    bool possible = false;
    int stages = 0;
    plan_stage stage[unsigned(Nodes + 1)]{};
    int output_stage[unsigned(Outputs)]{};
    int buffers = 0;
    plan_buffer buffer[unsigned(Nodes)]{};
    int buffer_of[unsigned(Nodes)]{};  ///< by node; -1 if it has none
};

/// Cuts by trying: a stage takes every output, then every reduction that the open outputs need, as long as all that it took
/// is one kernel; what it took goes to memory, and the next stage sees it as operands. Only when that makes no progress is the
/// argument of an index map stored. Each stage takes something, so the cut ends; it is decided by the program alone.
template <class Lowering>
struct cutter : size_identities<Lowering> {
    using size_identities<Lowering>::identity;
    using size_identities<Lowering>::unknown_size;
    static constexpr int nodes = Lowering::node_count;
    static constexpr int leaves = Lowering::leaf_count;
    static constexpr int outputs = Lowering::output_count;
    static constexpr int capacity = nodes + outputs;
    using trial = lowered<nodes, capacity>;

    const int* root = nullptr;
    cut_table<nodes, outputs> out{};
    node_value node[unsigned(nodes)]{};                 // nodes in memory are leaves, their counts scalars
    bool weak[unsigned(leaves + 2 * nodes + 1)]{};
    dtype leaf_type[unsigned(leaves + 2 * nodes + 1)]{};
    bool done[unsigned(outputs)]{};
    // The stage that is being filled: outputs (numbered from `nodes` on) and nodes.
    int taken[unsigned(capacity)]{};
    int taken_count = 0;
    bool goes_on = false;

    constexpr explicit cutter(const int* roots) : root(roots) {
        for (int i = 0; i < nodes; ++i) {
            node[i] = Lowering::node[i];
            out.buffer_of[i] = -1;
        }
        for (int i = 0; i < leaves; ++i) {
            weak[i] = Lowering::weak_leaf[i];
            leaf_type[i] = Lowering::leaf_type[i].type;
        }
    }

    constexpr shape identity_of_target(int target) const {
        if (target < nodes) return identity[target];
        shape sizes = Lowering::output_shape[target - nodes];
        for (int i = 0; i < sizes.rank; ++i) {
            const i64 value = identity[root[target - nodes]].from_right(sizes.rank - 1 - i);
            if (sizes.size[i] < 0) sizes.size[i] = value == 1 ? unknown_size(leaves + target, i) : value;
        }
        return sizes;
    }
    /// Values that one kernel writes share its loop axes, so aligned sizes must be known to be equal.
    constexpr bool agrees_with_taken(int target) const {
        const shape wanted = identity_of_target(target);
        for (int t = 0; t < taken_count; ++t) {
            const shape other = identity_of_target(taken[t]);
            for (int d = 0; d < max_rank; ++d) {
                const i64 left = wanted.from_right(d), right = other.from_right(d);
                if (left != right && left != 1 && right != 1) return false;
            }
        }
        return true;
    }
    constexpr shape shape_of(int target) const {
        return target < nodes ? Lowering::facts.sizes[target] : Lowering::output_shape[target - nodes];
    }
    constexpr trial lower_taken() const {
        lowering<nodes, capacity> work;
        work.node = node;
        work.facts = &Lowering::facts;
        work.weak_leaf = weak;
        for (int t = 0; t < taken_count; ++t)
            if (!work.place_output_axes(shape_of(taken[t]), positions::plain(shape_of(taken[t]).rank))) return work.out;
        for (int t = 0; t < taken_count; ++t)
            if (!work.lower_output(t, taken[t] < nodes ? taken[t] : root[taken[t] - nodes], shape_of(taken[t]),
                                   positions::plain(shape_of(taken[t]).rank)))
                return work.out;
        work.resolve_counts();
        work.choose_nest();
        return work.out;
    }
    /// Along a folded axis there is no broadcasting when run: all that vary along it must be known to have one size.
    constexpr bool folds_agree(const trial& table) const {
        i64 known[max_loop_axes]{};
        bool agree = true;
        const auto note = [&](int axis, i64 size) {
            if (!((table.inner | table.outer) >> axis & 1)) return;
            if (known[axis] != 0 && known[axis] != size) agree = false;
            known[axis] = size;
        };
        for (int t = 0; t < taken_count; ++t) {
            const shape sizes = identity_of_target(taken[t]);
            for (int i = 0; i < sizes.rank; ++i)
                if (table.output_varies[t][i]) note(table.output_axis[t][i], sizes.size[i]);
        }
        note_sizes_of_operands<Lowering>(*this, table, note);
        return agree;
    }
    constexpr bool take(int target) {
        if (!agrees_with_taken(target)) return false;
        taken[taken_count++] = target;
        const trial table = lower_taken();
        if (table.why == nest_violation::none && folds_agree(table)) return true;
        --taken_count;
        return false;
    }
    /// Nodes whose values the open outputs need, and that aren't in memory.
    constexpr void mark_needed(bool (&needed)[unsigned(nodes)]) const {
        for (int o = 0; o < outputs; ++o)
            if (!done[o]) needed[root[o]] = true;
        for (int i = nodes - 1; i >= 0; --i) {
            if (node[i].kind == node_kind::leaf) needed[i] = false;
            if (!needed[i] || node[i].kind == node_kind::coordinate || node[i].kind == node_kind::count) continue;
            for (int a = 0; a < node[i].arity; ++a) needed[node[i].argument[a]] = true;
        }
    }
    constexpr void commit() {
        dtype types[unsigned(capacity)]{};
        for (int t = 0; t < taken_count; ++t)
            types[t] = taken[t] < nodes ? compute_dtype(Lowering::facts.type[taken[t]].type) : Lowering::output_type[taken[t] - nodes];
        const trial table = lower_taken();
        out.stage[out.stages].piece = describe(table, taken_count, node, memory_types{leaf_type, types});
        for (int i = 0; i < table.size; ++i)
            if (const int read = out.buffer_of[table.at[i].node]; read >= 0) out.buffer[read].last_read = out.stages;
        for (int t = 0; t < taken_count; ++t) {
            if (taken[t] >= nodes) {
                done[taken[t] - nodes] = true;
                out.output_stage[taken[t] - nodes] = out.stages;
                continue;
            }
            const int from = taken[t], operand = leaves + out.buffers;
            out.buffer_of[from] = out.buffers;
            out.buffer[out.buffers++] = {from, types[t], Lowering::facts.sizes[from], out.stages, out.stages};
            node[from] = node_value{node_kind::leaf, {}, nullptr, 0, {}, u64(operand)};
            leaf_type[operand] = types[t];
        }
        for (int i = 0; i < nodes; ++i) {
            if (node[i].kind != node_kind::count || out.buffer_of[node[i].argument[0]] < 0) continue;
            node[i] = node_value{node_kind::leaf, {}, nullptr, 0, {}, u64(leaves + nodes + i)};
            weak[leaves + nodes + i] = true;
        }
        ++out.stages;
        taken_count = 0;
    }
    /// Cuts one stage off. False when there is nothing left, or nothing that can be done.
    constexpr bool advance() {
        bool open = false;
        for (int o = 0; o < outputs; ++o)
            if (!done[o]) open = !take(nodes + o) || open;
        if (open) {
            bool needed[unsigned(nodes)]{};
            mark_needed(needed);
            bool blocked[unsigned(nodes)]{};  // needs what this stage could not take
            for (int i = 0; i < nodes; ++i) {
                if (!needed[i] || node[i].kind == node_kind::coordinate || node[i].kind == node_kind::count) continue;
                for (int a = 0; a < node[i].arity; ++a) blocked[i] = blocked[i] || blocked[node[i].argument[a]];
                if (node[i].kind == node_kind::reduce && !blocked[i]) blocked[i] = !take(i);
            }
            for (int i = 0; i < nodes && taken_count == 0; ++i) {
                if (!needed[i] || node[i].kind != node_kind::index_map) continue;
                const int from = node[i].argument[0];
                if (node[from].kind != node_kind::leaf && !Lowering::facts.type[from].weak) take(from);
            }
            if (taken_count == 0) return false;
        }
        commit();
        out.possible = !open;
        return open;
    }
};

/// The state after each stage is a constant of its own: compilers limit the steps of one evaluation.
template <class Lowering, int Stage>
struct cut_after {
    static constexpr cutter<Lowering> before() {
        if constexpr (Stage == 0)
            return cutter<Lowering>(Lowering::root);
        else
            return cut_after<Lowering, Stage - 1>::value;
    }
    static constexpr cutter<Lowering> make() {
        cutter<Lowering> work = before();
        work.goes_on = work.advance();
        return work;
    }
    static constexpr cutter<Lowering> value = make();
};
template <class Lowering, int Stage = 0>
constexpr const auto& whole_cut() {
    if constexpr (cut_after<Lowering, Stage>::value.goes_on)
        return whole_cut<Lowering, Stage + 1>();
    else
        return cut_after<Lowering, Stage>::value.out;
}

/// The stages of a program: one if it is one kernel, else those of its cut.
template <class Lowering>
struct stages_of {
    static constexpr bool single = Lowering::value.why == nest_violation::none;
    static constexpr cut_table<Lowering::node_count, Lowering::output_count> make() {
        if constexpr (single) {
            cut_table<Lowering::node_count, Lowering::output_count> out;
            out.possible = true;
            out.stages = 1;
            dtype leaf[Lowering::leaf_count + 1]{};
            for (int i = 0; i < Lowering::leaf_count; ++i) leaf[i] = Lowering::leaf_type[i].type;
            out.stage[0].piece =
                describe(Lowering::value, Lowering::output_count, Lowering::node, memory_types{leaf, Lowering::output_type});
            for (int& buffer : out.buffer_of) buffer = -1;
            return out;
        } else {
            return whole_cut<Lowering>();
        }
    }
    static constexpr cut_table<Lowering::node_count, Lowering::output_count> value = make();
};

}  // namespace detail
}  // namespace sinter
