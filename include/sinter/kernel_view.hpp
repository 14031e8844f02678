// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's tables as one plain value, whatever the kernel's type and size: where each value is computed, what each pass over a row
// needs, what its loops look like. Functions of such a value are compiled once for all kernels, where members of a kernel's own
// templates would be compiled for each (a third of what clang's front end took for a further kernel).
#pragma once

#include "lowered.hpp"

namespace sinter {

/// How often a value is computed: once per call, once per row (or column), for every element, or after all rows.
enum class site : u8 { once, row, element, after };

/// What a loop axis is for in a kernel's nest.
enum class axis_role : u8 { outer, column, lane };

/// The tables of a lowered program. They must outlive the view: a kernel's are static.
struct kernel_view {
    const node_value* node = nullptr;
    const dtype (*argument_type)[max_arguments] = nullptr;  ///< by node: what its operation computes in
    const value_type* leaf_type = nullptr;
    int leaves = 0;
    const table_facts* leaf_table = nullptr;
    u64 tables = 0;                                    ///< leaves that instances look elements up in

    const instance* at = nullptr;
    int instances = 0;

    int outputs = 0;
    const int* output = nullptr;                       ///< instance of each, -1 if it is an immediate
    const dtype* output_type = nullptr;
    const shape* output_shape = nullptr;
    const int (*output_axis)[max_rank] = nullptr;
    const bool (*output_varies)[max_rank] = nullptr;
    const u32* output_free = nullptr;                  ///< loop axes along which it has elements

    int axes = 0;
    const i64* axis_size = nullptr;
    const int* order = nullptr;                        ///< axes from outer to inner
    nest_kind nest = nest_kind::pointwise;
    u32 inner = 0, inner_lane = 0, outer = 0;
    int levels = 0;

    // What follows from these, when a kernel is made of them (evaluate.hpp).
    int vector_axis = -1;                              ///< along which a lane's elements lie; -1: everything is a single element
    u32 element_axes = 0;                              ///< a value is an element's when it varies over these axes, else a row's
    const site* where = nullptr;

    constexpr const node_value& node_of(int i) const { return node[at[i].node]; }
    constexpr u32 vector_bit() const { return vector_axis < 0 ? 0 : u32(1) << vector_axis; }
    constexpr bool is_operand(int i) const { return at[i].kind == node_kind::leaf || at[i].kind == node_kind::coordinate; }
    constexpr int operands_before(int instance) const {
        int found = 0;
        for (int i = 0; i < instance; ++i) found += is_operand(i);
        return found;
    }
    /// The leaf that an instance looks up in, its argument in that place; -1: something else.
    constexpr int table_of(int i, int argument) const {
        if (at[i].kind != node_kind::map || at[i].argument[argument] >= 0) return -1;
        const node_value& from = node[at[i].immediate[argument]];
        return from.kind == node_kind::leaf && leaf_table[from.bits].element_size != 0 ? int(from.bits) : -1;
    }
    constexpr int table_count() const { return __builtin_popcountll(tables); }
    constexpr int tables_before(int leaf) const { return __builtin_popcountll(tables & ((u64(1) << leaf) - 1)); }
    constexpr bool is_fold(int i) const { return at[i].kind == node_kind::reduce && at[i].folded != 0; }
    constexpr bool folds_in_pass(int i, int pass) const { return is_fold(i) && at[i].fold_group == 0 && at[i].level == pass; }
    /// What an operand's elements are in memory.
    constexpr dtype memory_type(int leaf) const { return leaf_type[node_of(leaf).bits].type; }
    /// Outputs that have an element per element of the row: stored in the last pass.
    constexpr bool stores_elements(int o) const { return (output_free[o] & element_axes) != 0; }
    constexpr bool any_element_output() const {
        for (int o = 0; o < outputs; ++o)
            if (stores_elements(o)) return true;
        return false;
    }
    constexpr u32 all_output_axes() const {
        u32 all = 0;
        for (int o = 0; o < outputs; ++o) all |= output_free[o];
        return all;
    }
    constexpr int cost_of(int i) const { return at[i].kind == node_kind::map ? node_of(i).op->cost : 0; }
    constexpr axis_role role_of(int axis) const {
        const u32 bit = u32(1) << axis;
        if (nest == nest_kind::rows) return (inner_lane & bit) ? axis_role::lane : (inner & bit) ? axis_role::column : axis_role::outer;
        if (axis == vector_axis) return axis_role::lane;
        return nest == nest_kind::columns && (inner & bit) ? axis_role::column : axis_role::outer;
    }
    /// Lane axes that may have more than one element.
    constexpr int lane_axis_count() const {
        int count = 0;
        for (int a = 0; a < axes; ++a) count += role_of(a) == axis_role::lane && axis_size[a] != 1;
        return count;
    }
};

namespace detail {

template <int Nodes, int Outputs>
constexpr kernel_view view_of(const lowered<Nodes, Outputs>& table, const inferred<Nodes>& facts, const node_value* node, int leaves,
                              const value_type* leaf_type, const table_facts* leaf_table, const dtype* output_type, const shape* output_shape) {
    kernel_view out;
    out.node = node;
    out.argument_type = facts.argument_type;
    out.leaf_type = leaf_type;
    out.leaves = leaves;
    out.leaf_table = leaf_table;
    out.at = table.at;
    out.instances = table.size;
    out.outputs = Outputs;
    out.output = table.output;
    out.output_type = output_type;
    out.output_shape = output_shape;
    out.output_axis = table.output_axis;
    out.output_varies = table.output_varies;
    out.output_free = table.output_free;
    out.axes = table.axis_count;
    out.axis_size = table.axis_size;
    out.order = table.order;
    out.nest = table.kind;
    out.inner = table.inner;
    out.inner_lane = table.inner_lane;
    out.outer = table.outer;
    out.levels = table.levels;
    bool any = false;
    for (int i = 0; i < leaves; ++i) any = any || leaf_table[i].element_size != 0;
    for (int i = 0; any && i < out.instances; ++i)
        for (int a = 0; a < out.at[i].arity; ++a)
            if (const int leaf = out.table_of(i, a); leaf >= 0) out.tables |= u64(1) << leaf;
    return out;
}
constexpr int find_vector_axis(const kernel_view& of) {
    int found = -1;
    for (int i = 0; i < of.axes; ++i) {
        const int axis = of.order[i];
        const u32 bit = u32(1) << axis;
        if (of.nest == nest_kind::rows && !(of.inner_lane & bit)) continue;
        if (of.nest == nest_kind::columns && (of.inner & bit)) continue;
        if (of.nest == nest_kind::pointwise && of.axis_size[axis] == 1 && found >= 0) continue;
        found = axis;
    }
    return found;
}
/// The view with what follows from its loop axes.
constexpr kernel_view with_lanes(kernel_view of) {
    of.vector_axis = find_vector_axis(of);
    of.element_axes = of.nest == nest_kind::pointwise ? of.vector_bit() : of.inner;
    return of;
}
constexpr kernel_view with_places(kernel_view of, const site* where) {
    of.where = where;
    return of;
}
constexpr void mark_places(const kernel_view& of, site* where) {
    for (int i = 0; i < of.instances; ++i) {
        const instance& it = of.at[i];
        bool after = it.folded != 0 && it.fold_group == 1;
        for (int a = 0; a < it.arity; ++a)
            if (it.argument[a] >= 0 && where[it.argument[a]] == site::after) after = true;
        where[i] = after                           ? site::after
                   : (it.free & of.element_axes)   ? site::element
                   : it.free == 0 && it.level == 0 ? site::once
                                                   : site::row;
    }
}

template <int Instances>
constexpr array<site, Instances> find_places(const kernel_view& of) {
    array<site, Instances> where{};
    mark_places(of, where.item);
    return where;
}

// Passes: 1 to `levels` fold, pass `levels + 1` stores, pass `levels + 2` stores, too, with the stash read back instead of computed.

/// Element instances that a pass asks for by itself: arguments of its folds, or values of outputs.
constexpr void mark_roots(const kernel_view& of, int pass, bool* need) {
    for (int i = 0; i < of.instances; ++i)
        if (of.folds_in_pass(i, pass) && of.where[of.at[i].argument[0]] == site::element) need[of.at[i].argument[0]] = true;
    if (pass == of.levels + 1)
        for (int o = 0; o < of.outputs; ++o)
            if (of.stores_elements(o) && of.output[o] >= 0 && of.where[of.output[o]] == site::element) need[of.output[o]] = true;
}
/// And what these need, as far as `stop`.
constexpr void mark_needed(const kernel_view& of, bool* need, int stop) {
    for (int i = of.instances - 1; i >= 0; --i)
        if (need[i] && i != stop)
            for (int a = 0; a < of.at[i].arity; ++a) {
                const int argument = of.at[i].argument[a];
                if (argument >= 0 && of.where[argument] == site::element) need[argument] = true;
            }
}
/// Does an instance read elements of so many bytes?
constexpr bool reads_size(const kernel_view& of, int i, i64 size) {
    if (of.at[i].kind == node_kind::leaf) return dtype_size(of.memory_type(i)) == size;
    for (int a = 0; of.tables != 0 && a < of.at[i].arity; ++a)
        if (const int leaf = of.table_of(i, a); leaf >= 0 && of.leaf_table[leaf].element_size == size) return true;
    return false;
}
/// A costly value that the last fold and an output pass both need is stored to that output's row by the fold and read back
/// (measured: softmax in cache 0.54 -> 0.9 of a hand-written loop). Only where no operand of the same element size is read in
/// the output pass, since it may be the output itself, element for element. A fold of two phases reads its operands again in the second,
/// when the stash is written: with one, none that the last pass reads may be of that size.
struct stash_facts {
    int instance = -1, output = -1;
};
/// `Capacity`: at least the number of instances; the next multiple of 64, so that kernels share the function.
template <int Capacity>
constexpr stash_facts find_stash(const kernel_view& of) {
    stash_facts best;
    if (of.nest != nest_kind::rows || of.levels == 0 || !of.any_element_output()) return best;
    bool folding[unsigned(Capacity)]{}, storing[unsigned(Capacity)]{};
    mark_roots(of, of.levels, folding);
    mark_roots(of, of.levels + 1, storing);
    mark_needed(of, folding, -1);
    mark_needed(of, storing, -1);
    bool folds_twice = false;
    for (int i = 0; i < of.instances; ++i) folds_twice = folds_twice || (of.folds_in_pass(i, of.levels) && of.node_of(i).op->two_phase);
    int best_cost = 7;
    for (int i = 0; i < of.instances; ++i) {
        if (!folding[i] || !storing[i] || of.at[i].kind != node_kind::map || of.at[i].free != of.all_output_axes()) continue;
        // What computing it costs: itself and what only leads to it, roughly all it needs.
        bool below[unsigned(Capacity)]{};
        below[i] = true;
        mark_needed(of, below, -1);
        int cost = 0;
        for (int j = 0; j < of.instances; ++j)
            if (below[j]) cost += of.cost_of(j);
        if (cost <= best_cost) continue;
        bool rest[unsigned(Capacity)]{};
        mark_roots(of, of.levels + 1, rest);
        mark_needed(of, rest, i);
        for (int o = 0; o < of.outputs; ++o) {
            if (!of.stores_elements(o) || of.output_free[o] != of.at[i].free || of.output_type[o] != of.at[i].type) continue;
            bool clean = true;
            for (int j = 0; j < of.instances; ++j)
                if (((rest[j] && j != i) || (folds_twice && folding[j])) && reads_size(of, j, dtype_size(of.output_type[o]))) clean = false;
            if (!clean) continue;
            best.instance = i;
            best.output = o;
            best_cost = cost;
        }
    }
    return best;
}
/// Element instances that a pass computes.
template <int Instances>
constexpr array<bool, Instances> find_needed(const kernel_view& of, const stash_facts& stash, int pass) {
    array<bool, Instances> need{};
    const bool reads_stash = pass == of.levels + 2;
    mark_roots(of, reads_stash ? of.levels + 1 : pass, need.item);
    mark_needed(of, need.item, reads_stash ? stash.instance : -1);
    if (reads_stash && stash.instance >= 0) need[stash.instance] = false;
    return need;
}

}  // namespace detail
}  // namespace sinter
