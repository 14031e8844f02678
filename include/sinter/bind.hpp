// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binding: from the operands of one call to numbers that a loop driver needs - the size of every loop axis, and for every
// operand a pointer with one stride per loop axis. All run-time checks happen here, before anything is written: sizes agree,
// views are valid, outputs overlap nothing other than element for element.
//
// What a kernel asks of its operands is a small constant table, and one function per number of operands does the work: a
// kernel adds the copying of its views, not another copy of the checks.
#pragma once

#include "kernel_check.hpp"
#include "kernel_view.hpp"
#include "lookup.hpp"
#include "lower.hpp"
#include "node_sizes.hpp"

namespace sinter {

/// Numbers of a kernel that don't depend on the call.
template <class Assignment>
struct kernel_facts : lowering_of<Assignment> {
    using lowering = lowering_of<Assignment>;
    using assignment_type = Assignment;
    using lowering::table;
    static constexpr int axes = table.axis_count;
    static constexpr int instances = table.size;
    static_assert(one_kernel<table.why>::ok);
    static constexpr kernel_view view = detail::view_of(table, lowering::facts, lowering::node, lowering::leaf_count, lowering::leaf_type,
                                                        lowering::leaf_table, lowering::output_type, lowering::output_shape);
};

namespace detail {

/// Operand instances, tables and outputs under one numbering ("slots"), so that a driver keeps one pointer array. The loops don't step
/// through a table: it is a slot for its memory alone.
template <class Kernel>
struct slots {
    static constexpr bool is_operand(int i) { return Kernel::view.is_operand(i); }
    static constexpr int of_instance(int instance) { return Kernel::view.operands_before(instance); }
    /// The same as a constant, which device code may read.
    template <int Instance>
    static constexpr int place = of_instance(Instance);
    static constexpr int first_table = of_instance(Kernel::instances);
    template <int Leaf>
    static constexpr int of_table = first_table + Kernel::view.tables_before(Leaf);
    static constexpr int operands = first_table + Kernel::view.table_count();
    static constexpr int count = operands + Kernel::output_count;
    static SINTER_INLINE int of_output(int output) { return operands + output; }
};

/// A set of a kernel's slots. A kernel may have 64 operands and its outputs beside them: more than a word has bits.
template <int Count>
struct slot_set {
    static constexpr int words = (Count + 63) / 64;
    u64 word[unsigned(words > 0 ? words : 1)]{};
    SINTER_INLINE void add(int slot) { word[slot / 64] |= u64(1) << slot % 64; }
    SINTER_INLINE bool has(int slot) const { return word[slot / 64] >> slot % 64 & 1; }
    /// Are all of it in the set that these words are?
    SINTER_INLINE bool is_within(const u64* all) const {
        bool yes = true;
        for (int w = 0; w < words; ++w) yes = yes && (all[w] & word[w]) == word[w];
        return yes;
    }
};

/// The indices i < Selection::limit with Selection::test(i), as a type.
template <class Selection>
struct selected_indices {
    static constexpr int count() {
        int found = 0;
        for (int i = 0; i < Selection::limit; ++i) found += Selection::test(i);
        return found;
    }
    static constexpr int size = count();
    static constexpr array<int, size> make() {
        array<int, size> out{};
        int next = 0;
        for (int i = 0; i < Selection::limit; ++i)
            if (Selection::test(i)) out[next++] = i;
        return out;
    }
    static constexpr array<int, size> value = make();
    template <class Sequence>
    struct expand;
    template <int... Index>
    struct expand<indices<Index...>> {
        using type = indices<value[Index]...>;
    };
    using type = typename expand<make_indices<size>>::type;
};
constexpr int count_of_bits(u64 bits) {
    int count = 0;
    for (; bits; bits &= bits - 1) ++count;
    return count;
}
constexpr int place_of_bit(u64 bits, int number) {
    for (; number > 0; --number) bits &= bits - 1;
    int place = 0;
    while (!(bits >> place & 1)) ++place;
    return place;
}
/// The places of the set bits: one type for all selections that choose alike, in all passes and kernels.
template <u64 Bits>
struct places_of_bits {
    static constexpr int size = count_of_bits(Bits);
    template <class Sequence>
    struct expand;
    template <int... Number>
    struct expand<indices<Number...>> {
        using type = indices<place_of_bit(Bits, Number)...>;
    };
    using type = typename expand<make_indices<size>>::type;
};
/// Of few indices, as most often: a kernel asks for a dozen selections and more, and each costs compile time.
template <class Selection>
    requires(Selection::limit <= 64)
struct selected_indices<Selection> {
    static constexpr u64 find() {
        u64 found = 0;
        for (int i = 0; i < Selection::limit; ++i)
            if (Selection::test(i)) found |= u64(1) << i;
        return found;
    }
    static constexpr u64 bits = find();
    static constexpr int size = places_of_bits<bits>::size;
    using type = typename places_of_bits<bits>::type;
};
/// The instances (or outputs) of a kernel that a rule names: `Rule::has(view, i)`, one function for all kernels.
template <class Kernel, class Rule>
struct instances_by {
    static constexpr int limit = Kernel::instances;
    static constexpr bool test(int i) { return Rule::has(Kernel::view, i); }
};
template <class Kernel, class Rule>
struct outputs_by {
    static constexpr int limit = Kernel::output_count;
    static constexpr bool test(int o) { return Rule::has(Kernel::view, o); }
};
template <class Rule>
constexpr u64 bits_by(const kernel_view& of, int limit) {
    u64 found = 0;
    for (int i = 0; i < limit; ++i)
        if (Rule::has(of, i)) found |= u64(1) << i;
    return found;
}
template <class Kernel, class Rule>
    requires(Kernel::instances <= 64)
struct selected_indices<instances_by<Kernel, Rule>> : places_of_bits<bits_by<Rule>(Kernel::view, Kernel::instances)> {};
template <class Kernel, class Rule>
    requires(Kernel::output_count <= 64)
struct selected_indices<outputs_by<Kernel, Rule>> : places_of_bits<bits_by<Rule>(Kernel::view, Kernel::output_count)> {};
template <class Selection>
using selected = typename selected_indices<Selection>::type;

struct are_operands {
    static constexpr bool has(const kernel_view& of, int i) { return of.is_operand(i); }
};
template <class Kernel>
using operand_instances = instances_by<Kernel, are_operands>;
/// The leaves that are looked up in.
template <class Kernel>
using table_leaves = typename places_of_bits<Kernel::view.tables>::type;
/// What a kernel asks of one slot.
struct slot_facts {
    signed char operand = -1;         ///< index for messages: inputs first, then outputs; -1: a coordinate
    signed char output = -1;          ///< which output it is, if it is one
    signed char rank = 0;             ///< after its index maps
    signed char axis[max_rank]{};     ///< loop axis of each of its axes
    u8 varies = 0;                    ///< bit i: it varies along its axis i
    u8 element_size = 0;
    u8 chain = 0, chain_length = 0;
    bool reads_memory = false;
    bool is_table = false;            ///< it is read where coordinates say, not where the loops are
};
/// A reduction that has no value over nothing.
struct fold_facts {
    u32 folded = 0, free = 0;
};
template <int Slots>
struct binding_facts {
    int axes = 0;
    i64 axis_size[max_loop_axes]{};
    u32 output_axes[max_outputs]{};   ///< loop axes along which an output has elements
    u32 repeats[max_outputs]{};       ///< loop axes along which an element of an output is stored anew at each step
    slot_facts slot[unsigned(Slots)]{};
    int operands = 0;
    int fold_count = 0;
    fold_facts fold[4]{};  ///< reductions that need elements
    const lookup_list* lookups = nullptr;  ///< of kernels that look up
    u32 folded = 0;        ///< loop axes that any reduction folds
};

/// Tables, behind the operands that the loops step through.
template <int Slots>
constexpr void add_tables(binding_facts<Slots>& out, const kernel_view& of, int first) {
    for (int t = 0; t < of.table_count(); ++t) {
        const int leaf = place_of_bit(of.tables, t);
        slot_facts& slot = out.slot[first + t];
        slot.operand = static_cast<signed char>(leaf);
        slot.rank = static_cast<signed char>(of.leaf_table[leaf].sizes.rank);
        slot.element_size = of.leaf_table[leaf].element_size;
        slot.reads_memory = slot.is_table = true;
    }
}
template <int Slots>
constexpr binding_facts<Slots> find_binding_facts(const kernel_view& of) {
    binding_facts<Slots> out;
    out.axes = of.axes;
    out.operands = Slots - of.outputs;
    for (int a = 0; a < of.axes; ++a) out.axis_size[a] = of.axis_size[a] >= 0 ? of.axis_size[a] : -1;
    int next = 0;
    for (int i = 0; i < of.instances; ++i) {
        const instance& it = of.at[i];
        if (of.is_operand(i)) {
            slot_facts& slot = out.slot[next++];
            slot.rank = static_cast<signed char>(it.rank);
            for (int k = 0; k < it.rank; ++k) {
                slot.axis[k] = static_cast<signed char>(it.axis[k]);
                if (it.varies[k]) slot.varies = static_cast<u8>(slot.varies | 1 << k);
            }
            slot.chain = static_cast<u8>(it.chain);
            slot.chain_length = static_cast<u8>(it.chain_length);
            if (it.kind == node_kind::leaf) {
                slot.operand = static_cast<signed char>(of.node_of(i).bits);
                slot.element_size = static_cast<u8>(dtype_size(of.memory_type(i)));
                slot.reads_memory = true;
            }
        }
        if (it.kind == node_kind::reduce && it.folded) {
            out.folded |= it.folded;
            const op_facts& op = *of.node_of(i).op;
            const bool integer = !is_float(of.argument_type[it.node][0]);
            if (op.always_needs_elements || (op.needs_elements && integer)) {
                bool known = false;
                for (int f = 0; f < out.fold_count; ++f)
                    known = known || (out.fold[f].folded == it.folded && out.fold[f].free == it.free);
                if (!known && out.fold_count < 4) out.fold[out.fold_count++] = {it.folded, it.free};
            }
        }
    }
    if (of.tables != 0) add_tables(out, of, next);
    next = out.operands;
    for (int o = 0; o < of.outputs; ++o) {
        slot_facts& slot = out.slot[next++];
        slot.operand = static_cast<signed char>(of.leaves + o);
        slot.output = static_cast<signed char>(o);
        slot.rank = static_cast<signed char>(of.output_shape[o].rank);
        for (int k = 0; k < slot.rank; ++k) {
            slot.axis[k] = static_cast<signed char>(of.output_axis[o][k]);
            if (of.output_varies[o][k]) slot.varies = static_cast<u8>(slot.varies | 1 << k);
        }
        slot.element_size = static_cast<u8>(dtype_size(of.output_type[o]));
        out.output_axes[o] = of.output_free[o];
    }
    // Reductions store what doesn't vary over their inner axes after these, once.
    const u32 stored_after = of.nest == nest_kind::pointwise ? 0 : of.inner, all = stored_after | of.all_output_axes();
    for (int o = 0; o < of.outputs; ++o) out.repeats[o] = all & ~of.output_free[o] & ~stored_after;
    return out;
}
template <class Kernel>
struct binding_facts_of {
    static constexpr int count = slots<Kernel>::count;
    static constexpr binding_facts<count> make() {
        binding_facts<count> out = find_binding_facts<count>(Kernel::view);
        if constexpr (Kernel::view.tables != 0) out.lookups = &lookups_of<Kernel>::value;
        return out;
    }
    static constexpr binding_facts<count> value = make();
};

/// A view as it came, before its index maps. Only the first `rank` sizes and strides are set: a call pays for what it has.
struct slot_state {
    const void* pointer;
    int rank;
    i64 size[max_rank];
    i64 stride[max_rank];

    SINTER_INLINE view_state view() const {
        view_state out;
        out.sizes.rank = rank;
        for (int i = 0; i < rank; ++i) {
            out.sizes.size[i] = size[i];
            out.stride[i] = stride[i];
        }
        return out;
    }
    SINTER_INLINE void set(const void* from, const view_state& view) {
        pointer = from;
        rank = view.sizes.rank;
        for (int i = 0; i < rank; ++i) {
            size[i] = view.sizes.size[i];
            stride[i] = view.stride[i];
        }
    }
};

}  // namespace detail

/// A bound call: sizes of the loop axes, and per slot an element offset and strides along each of them (0 where the operand
/// doesn't vary). A coordinate's offset is its value at the origin. Pointers stand apart, so that the rest can be a constant.
template <int Slots>
struct binding {
    i64 size[max_loop_axes];
    i64 base[unsigned(Slots)];
    i64 stride[unsigned(Slots)][max_loop_axes];
    bool empty_output;  ///< no output has an element: there is nothing to do
};

namespace detail {

SINTER_INLINE void pad_rank(view_state& view, int rank) {
    const int grow = rank - view.sizes.rank;
    for (int i = rank - 1; i >= 0; --i) {
        view.sizes.size[i] = i >= grow ? view.sizes.size[i - grow] : 1;
        view.stride[i] = i >= grow ? view.stride[i - grow] : 0;
    }
    view.sizes.rank = rank;
}
SINTER_INLINE bool apply_step(const chain_step& step, view_state& view) {
    if (step.pad_to > view.sizes.rank) pad_rank(view, step.pad_to);
    if (step.map.kind != map_kind::expand) return apply_map(step.map, view, step.stretched);
    index_map_spec map = step.map;  // stretched axes stay 1: the access broadcasts them
    for (int i = 0; i < view.sizes.rank; ++i)
        if (step.stretched[i]) map.number[map.count - view.sizes.rank + i] = 1;
    return apply_map(map, view, step.stretched);
}

/// The index maps of a kernel's slots. One function for all kernels, and long (every kind of map): by its address, so that a file without
/// index maps doesn't compile it (a tenth of what g++ takes for a file with one short formula).
struct slot_maps {
    using function = bool (*)(const slot_facts&, const chain_step*, slot_state&, i64& offset);
    const chain_step* steps = nullptr;
    function apply = nullptr;  ///< false: a view that the maps don't take
};
template <class Tag>
struct slot_mapper {
    static SINTER_SMALL constexpr bool apply(const slot_facts& slot, const chain_step* steps, slot_state& state, i64& offset) {
        view_state view = state.view();
        for (int s = 0; s < slot.chain_length; ++s)
            if (!apply_step(steps[slot.chain + s], view)) return false;
        state.set(state.pointer, view);
        offset = view.offset;
        return true;
    }
};
template <class Kernel, class Tag>
constexpr slot_maps maps_of() {
    if constexpr (Kernel::table.step_count > 0)
        return {Kernel::table.step, slot_mapper<Tag>::apply};
    else
        return {};
}

/// The work of binding, constexpr for layouts that are known while compiling. `Tag` keeps copies that are compiled for different
/// instruction sets apart.
template <class Tag, int Slots>
struct binder {
    using facts_type = binding_facts<Slots>;

    static constexpr status at(error code, const slot_facts& slot, int axis = -1, i64 expected = 0, i64 found = 0) {
        return status{code, slot.operand, axis, expected, found, slot.output};
    }
    static constexpr void start(const facts_type& facts, binding<Slots>& out) {
        for (int a = 0; a < facts.axes; ++a) out.size[a] = facts.axis_size[a];
    }
    /// Bytes that a slot touches, relative to its pointer.
    struct reach {
        i64 begin, stop;
        bool any;
    };
    /// A slice that leaves its axis, with how many elements that has and the bound; a size that the caller gave, twice; else no numbers.
    static SINTER_SMALL constexpr status unformed(const slot_facts& slot, const slot_state& given, int axis) {
        const i64 size = given.size[axis];
        if (size < invalid_size && given.pointer == nullptr)
            return at(error::bad_view, slot, axis, sliced_size(size), given.stride[axis]);
        return size == invalid_size ? at(error::bad_view, slot) : at(error::bad_view, slot, axis, size, size);
    }
    /// Sizes, offset and strides of one slot, and what it touches.
    static SINTER_FORCE_INLINE constexpr status bind_slot(const slot_facts& slot, int axes, const slot_maps& maps, const slot_state& given,
                                                          int index, binding<Slots>& out, reach& touched) {
        for (int i = 0; i < given.rank; ++i)
            if (given.size[i] < 0) [[unlikely]]
                return unformed(slot, given, i);
        out.base[index] = 0;
        if (slot.chain_length > 0) {
            slot_state mapped = given;
            if (!maps.apply(slot, maps.steps, mapped, out.base[index])) return at(error::bad_view, slot);
            return place_slot(slot, axes, mapped, index, out, touched);
        }
        return place_slot(slot, axes, given, index, out, touched);
    }
    static SINTER_FORCE_INLINE constexpr status place_slot(const slot_facts& slot, int axes, const slot_state& from, int index,
                                                           binding<Slots>& out, reach& touched) {
        for (int a = 0; a < axes; ++a) out.stride[index][a] = 0;
        i64 count = 1;
        u64 numbers = 0, low = 0, high = 0;  // what doesn't fit is refused below, before it is used
        for (int i = 0; i < slot.rank; ++i) {
            const i64 size = from.size[i], stride = from.stride[i];
            count = i64(u64(count) * u64(size));
            numbers |= u64(size) | magnitude(stride);
            if (slot.varies >> i & 1) {
                i64& known = out.size[slot.axis[i]];
                if (known < 0) known = size;
                if (known != size) return at(error::size_mismatch, slot, i, known, size);
                if (size <= 1) continue;
                out.stride[index][slot.axis[i]] = stride;
            } else if (!slot.is_table || size <= 1) {
                continue;
            }
            (stride < 0 ? low : high) += u64(size - 1) * u64(stride);
        }
        if (numbers >> (slot.rank <= 2 ? 28 : 7) && !is_addressable(slot, from, count)) return at(error::size_overflow, slot);
        touched = {i64(low) * slot.element_size, i64(high + 1) * slot.element_size, count > 0};
        if (slot.output >= 0) {
            u64 span = 0;
            for (int i = slot.rank - 1; i >= 0; --i) {  // most often the steps are in order
                if (from.size[i] <= 1) continue;
                const u64 step = magnitude(from.stride[i]);
                if (step <= span || step == 0) return count > 0 && meets_itself(slot, from) ? at(error::overlap, slot, i) : status{};
                span += step * u64(from.size[i] - 1);
            }
        }
        return {};
    }
    static SINTER_FORCE_INLINE constexpr u64 magnitude(i64 stride) { return stride < 0 ? 0 - u64(stride) : u64(stride); }
    /// Do the number of elements and every offset in bytes fit 64 bits? `count` becomes the number of elements.
    static SINTER_SMALL constexpr bool is_addressable(const slot_facts& slot, const slot_state& from, i64& count) {
        constexpr u64 most = ~u64(0) >> 1, farthest = most >> 7;  // 8 axes, elements of at most 8 bytes, and room for their sum
        bool fits = true, empty = false;
        u64 product = 1;
        for (int i = 0; i < slot.rank; ++i) {
            const u64 size = u64(from.size[i]);
            if (size == 0) empty = true;
            if (fits && size > 1) fits = (product | size) >> 31 == 0 || product <= most / size;
            if (fits) product *= size;
            const u64 step = magnitude(from.stride[i]);
            if (size > 1 && step > 0) fits = fits && ((size | step) >> 28 == 0 || size - 1 <= farthest / step);
        }
        count = empty ? 0 : i64(product);
        return fits || empty;
    }
    /// May two elements of an output lie in one place? No, if every step, from the shortest one on, is longer than what those before
    /// it span together.
    static SINTER_SMALL constexpr bool meets_itself(const slot_facts& slot, const slot_state& from) {
        u64 span = 0;
        u32 left = 0;
        for (int i = 0; i < slot.rank; ++i) left |= u32(from.size[i] > 1) << i;
        while (left) {
            int shortest = -1;
            for (int i = slot.rank - 1; i >= 0; --i)
                if ((left >> i & 1) && (shortest < 0 || magnitude(from.stride[i]) < magnitude(from.stride[shortest]))) shortest = i;
            const u64 step = magnitude(from.stride[shortest]);
            if (step <= span) return true;
            span += step * u64(from.size[shortest] - 1);
            left &= ~(u32(1) << shortest);
        }
        return false;
    }
    /// After all slots: sizes that nothing gave are 1; reductions that need elements have some; is there anything to do?
    static constexpr status finish(const facts_type& facts, binding<Slots>& out) {
        for (int a = 0; a < facts.axes; ++a)
            if (out.size[a] < 0) out.size[a] = 1;
        for (int f = 0; f < facts.fold_count; ++f) {
            i64 folded = 1, kept = 1;
            for (int a = 0; a < facts.axes; ++a) {
                if (facts.fold[f].folded >> a & 1) folded *= out.size[a];
                if (facts.fold[f].free >> a & 1) kept *= out.size[a];
            }
            if (folded == 0 && kept > 0) return status{error::empty_reduction, -1, -1, 1, 0};
        }
        out.empty_output = true;
        bool some_empty = false;
        for (int o = facts.operands; o < Slots; ++o) {
            bool empty = false;
            for (int a = 0; a < facts.axes; ++a)
                if ((facts.output_axes[o - facts.operands] >> a & 1) && out.size[a] == 0) empty = true;
            if (!empty) out.empty_output = false;
            some_empty = some_empty || empty;
        }
        // One nest runs all outputs: with no step along an axis it would store none, those that don't have the axis neither.
        if (some_empty && !out.empty_output)
            for (int a = 0; a < facts.axes; ++a)
                if (out.size[a] == 0 && !(facts.folded >> a & 1)) return status{error::partly_empty, -1, -1, 0, 0};
        return {};
    }
    static constexpr bool same_steps(const facts_type& facts, const binding<Slots>& bound, int left, int right, const slot_state& right_given) {
        if (facts.slot[left].element_size != facts.slot[right].element_size) return false;
        if (facts.slot[right].is_table)
            return looks_up_in_step(*facts.lookups, facts.slot[right].operand, bound, facts.axes, bound.stride[left], right_given.stride);
        for (int a = 0; a < facts.axes; ++a)
            if (bound.stride[left][a] != bound.stride[right][a]) return false;
        return true;
    }
    /// A step of one operand or of both, in bytes, and how often it may be taken from the one element to the other.
    struct stride_term {
        i64 step, least, most;
    };
    /// Do an element of the one and an element of the other ever share a byte? Columns, halves and channels of one tensor don't, though
    /// their ranges cross. Searches the sums of steps that lead from the one to the other, longest steps first: what the shorter ones
    /// reach leaves a step or two to try at each, unless strides are of no order; then the search gives up and says yes.
    static SINTER_SMALL bool meet(const facts_type& facts, const binding<Slots>& bound, int left, int right, const slot_state& right_given,
                                  u64 left_address, u64 right_address) {
        stride_term term[2 * max_loop_axes]{};
        int count = 0;
        const auto insert = [&](i64 step, i64 least, i64 most) {
            if (step < 0) {
                const i64 turned = -least;
                step = -step, least = -most, most = turned;
            }
            if (step == 0 || least == most) return;
            int at = count++;
            for (; at > 0 && term[at - 1].step < step; --at) term[at] = term[at - 1];
            term[at] = {step, least, most};
        };
        const i64 left_size = facts.slot[left].element_size, right_size = facts.slot[right].element_size;
        for (int a = 0; a < facts.axes; ++a) {
            const i64 last = bound.size[a] - 1, own = bound.stride[left][a] * left_size, theirs = bound.stride[right][a] * right_size;
            if (own == theirs)
                insert(own, -last, last);
            else {
                insert(own, -last, 0);
                insert(theirs, 0, last);
            }
        }
        for (int k = 0; facts.slot[right].is_table && k < right_given.rank; ++k) insert(right_given.stride[k] * right_size, 0, right_given.size[k] - 1);
        // What the terms from each on can add.
        i64 low[2 * max_loop_axes + 1]{}, high[2 * max_loop_axes + 1]{};
        for (int i = count - 1; i >= 0; --i) {
            low[i] = low[i + 1] + term[i].least * term[i].step;
            high[i] = high[i + 1] + term[i].most * term[i].step;
        }
        const auto floor_of = [](i64 number, i64 by) { return number / by - (number % by < 0 ? 1 : 0); };
        // Depth first: `rest[i]` is the distance before term i, `taken[i]` the multiple of it that is tried, `until[i]` the last one.
        i64 rest[2 * max_loop_axes + 1], taken[2 * max_loop_axes + 1], until[2 * max_loop_axes + 1];
        int depth = 0, budget = 4096;
        rest[0] = i64(right_address - left_address);
        const auto enter = [&](int i) {
            const i64 least = floor_of(-(right_size - 1) - high[i + 1] - rest[i] + term[i].step - 1, term[i].step);
            const i64 most = floor_of(left_size - 1 - low[i + 1] - rest[i], term[i].step);
            taken[i] = least > term[i].least ? least : term[i].least;
            until[i] = most < term[i].most ? most : term[i].most;
        };
        if (count == 0) return rest[0] > -right_size && rest[0] < left_size;
        enter(0);
        while (depth >= 0) {
            if (taken[depth] > until[depth]) {
                --depth;
                continue;
            }
            if (--budget < 0 || depth == count - 1) return true;
            rest[depth + 1] = rest[depth] + taken[depth]++ * term[depth].step;
            enter(++depth);
        }
        return false;
    }
    static constexpr bool stored_once(const facts_type& facts, const binding<Slots>& bound, int output) {
        for (int a = 0; a < facts.axes; ++a)
            if ((facts.repeats[output - facts.operands] >> a & 1) && bound.size[a] > 1) return false;
        return true;
    }
    /// An output may be an input element for element, if each element is stored once; any other overlap with an operand or another
    /// output is refused (E3).
    static SINTER_FORCE_INLINE bool apart(const facts_type& facts, const binding<Slots>& bound, int output, int other,
                                                    const slot_state& other_given, const void* output_pointer, const void* other_pointer, const reach& mine,
                                                    const reach& theirs) {
        if (!mine.any || !theirs.any || (other < facts.operands && !facts.slot[other].reads_memory)) return true;
        const u64 p = reinterpret_cast<u64>(output_pointer), q = reinterpret_cast<u64>(other_pointer);
        if (p + u64(mine.stop) <= q + u64(theirs.begin) || q + u64(theirs.stop) <= p + u64(mine.begin)) return true;
        if (other < facts.operands && p == q && same_steps(facts, bound, output, other, other_given)) return stored_once(facts, bound, output);
        return !meet(facts, bound, output, other, other_given, p, q);
    }
    static constexpr bool is_formed(const slot_state& given) {
        for (int i = 0; i < given.rank; ++i)
            if (given.size[i] < 0) return false;
        return true;
    }
    /// Whose size is wrong, an operand's or the output's, from which the loop has its size? The output's, if no other operand agrees with it:
    /// one that is to hold sums of rows and has a size known only when run, `extents<dyn, dyn>(rows, 1)`, say.
    static SINTER_SMALL status blame(const facts_type& facts, const slot_maps& maps, const slot_state* given, int operand, const status& bad) {
        if (bad.code() != error::size_mismatch) return bad;
        const int axis = facts.slot[operand].axis[bad.axis];
        status output = bad;
        for (int i = 0; i < Slots; ++i) {
            const slot_facts& slot = facts.slot[i];
            slot_state one = given[i];
            i64 base = 0;
            if (i == operand || !is_formed(one) || (slot.chain_length > 0 && !maps.apply(slot, maps.steps, one, base))) continue;
            for (int a = 0; a < slot.rank; ++a) {
                if (!(slot.varies >> a & 1) || slot.axis[a] != axis || one.size[a] != bad.expected) continue;
                if (i < facts.operands) return bad;
                output = at(error::size_mismatch, slot, a, bad.found, bad.expected);
            }
        }
        return output;
    }
    static SINTER_NOINLINE status bind(const facts_type& facts, const slot_maps& maps, const slot_state* given, binding<Slots>& out,
                                       const void** pointer) {
        reach reaches[unsigned(Slots)];
        status missing;  // a view without memory: said last, so that a caller who asks for sizes alone has the binding
        start(facts, out);
        // Outputs first: the loop has their sizes.
        for (int pass = 0; pass < 2; ++pass)
            for (int i = pass ? 0 : facts.operands; i < (pass ? facts.operands : Slots); ++i) {
                const slot_facts& slot = facts.slot[i];
                const status bad = bind_slot(slot, facts.axes, maps, given[i], i, out, reaches[i]);
                if (!bad.ok()) return pass ? blame(facts, maps, given, i, bad) : bad;
                if (reaches[i].any && given[i].pointer == nullptr && (slot.reads_memory || slot.output >= 0) && missing.ok()) missing = at(error::null_pointer, slot);
                pointer[i] = static_cast<const char*>(given[i].pointer) + out.base[i] * slot.element_size;
            }
        const status bad = finish(facts, out);
        if (!bad.ok()) return bad;
        if (!missing.ok()) return missing;
        for (int o = facts.operands; o < Slots; ++o)
            for (int i = 0; i < o; ++i)
                if (!apart(facts, out, o, i, given[i], pointer[o], pointer[i], reaches[o], reaches[i]))
                    return at(error::overlap, facts.slot[o]);
        return {};
    }
};

/// How a leaf gives its state.
template <class Leaf>
struct leaf_access {
    template <class Operand>
    static SINTER_INLINE void fill(slot_state& out, const Operand& operand) {
        constexpr int rank = Operand::rank;
        const shape sizes = operand.sizes();
        out.pointer = operand.data();
        out.rank = rank;
        if constexpr (Operand::contiguous) {
            i64 next = 1;
            for (int i = rank - 1; i >= 0; --i) {
                out.size[i] = sizes.size[i];
                out.stride[i] = next;
                next = i64(u64(next) * u64(sizes.size[i]));  // what doesn't fit is refused later
            }
        } else {
            for (int i = 0; i < rank; ++i) {
                out.size[i] = sizes.size[i];
                out.stride[i] = operand.stride[i];
            }
        }
    }
};
template <class Type>
struct leaf_access<scalar_operand<Type>> {
    static SINTER_INLINE void fill(slot_state& out, const scalar_operand<Type>&) {
        out.pointer = nullptr;
        out.rank = 0;
    }
};
template <class View>
struct leaf_access<table_operand<View>> {
    static SINTER_INLINE void fill(slot_state& out, const table_operand<View>& operand) { leaf_access<View>::fill(out, operand.value); }
};
template <class Extents>
struct leaf_access<shape_operand<Extents>> {
    static SINTER_INLINE void fill(slot_state& out, const shape_operand<Extents>& operand) {
        view_state view;
        view.sizes = operand.sizes();
        out.set(nullptr, view);
    }
};
/// The given views in slot order. A coordinate is an operand whose address is its value.
template <class Kernel, int Instance, class Operands>
constexpr SINTER_FORCE_INLINE void give_operand(slot_state& to, const Operands& operands) {
    constexpr int node = Kernel::table.at[Instance].node;
    if constexpr (Kernel::table.at[Instance].kind == node_kind::leaf) {
        constexpr int index = int(Kernel::node[node].bits);
        using leaf = remove_cvref<decltype(get<index>(operands))>;
        leaf_access<leaf>::fill(to, get<index>(operands));
    } else {
        view_state view;
        view.sizes = run_time_shape<Kernel, node>(operands);
        if (view.sizes.rank == Kernel::facts.sizes[node].rank) {
            view.stride[normal_axis(Kernel::node[node].op->axis, view.sizes.rank)] = 1;
        } else {  // the operands don't form such a shape; a size below 0 is refused as the view that it is
            view.sizes.rank = Kernel::facts.sizes[node].rank;
            for (int i = 0; i < view.sizes.rank; ++i) view.sizes.size[i] = -1;
        }
        to.set(nullptr, view);
    }
}
template <class Leaf, class Operand>
constexpr SINTER_FORCE_INLINE void give_leaf(slot_state& to, const Operand& operand) {
    leaf_access<Leaf>::fill(to, operand);
}
template <class Kernel, class Operands, class Targets, int... Instance, int... Table, int... Output>
constexpr SINTER_FORCE_INLINE void give_all(slot_state* given, const Operands& operands, const Targets& targets, indices<Instance...>, indices<Table...>,
                                            indices<Output...>) {
    const int done[] = {0, (give_operand<Kernel, Instance>(given[slots<Kernel>::of_instance(Instance)], operands), 0)...,
                        (give_leaf<remove_cvref<decltype(get<Table>(operands))>>(given[slots<Kernel>::template of_table<Table>], get<Table>(operands)), 0)...,
                        (leaf_access<void>::fill(given[slots<Kernel>::of_output(Output)], get<Output>(targets)), 0)...};
    (void)done;
}
template <class Kernel, class Operands, class Targets>
constexpr SINTER_FORCE_INLINE void give_all(slot_state* given, const Operands& operands, const Targets& targets) {
    give_all<Kernel>(given, operands, targets, selected<operand_instances<Kernel>>{}, table_leaves<Kernel>{}, make_indices<Kernel::output_count>{});
}

template <class Kernel>
using binding_of = binding<slots<Kernel>::count>;

/// Binds a call. `Tag` is a type of the instruction set that the caller is compiled for.
template <class Kernel, class Tag, class Assignment>
SINTER_FORCE_INLINE status bind(const Assignment& assigned, binding_of<Kernel>& out, const void** pointer) {
    slot_state given[slots<Kernel>::count];
    give_all<Kernel>(given, assigned.operands, assigned.targets);
    return binder<Tag, slots<Kernel>::count>::bind(binding_facts_of<Kernel>::value, maps_of<Kernel, Tag>(), given, out, pointer);
}

// ------------------------------------------------------------------------------------------------- layouts known in advance

template <class View>
struct layout_is_known {
    static constexpr bool value = false;
};
template <class Type, class Extents, class Space, int Alignment>
struct layout_is_known<tensor_view<Type, Extents, row_major, Space, Alignment>> {
    static constexpr bool value = Extents::is_static;
};
template <class Type>
struct layout_is_known<scalar_operand<Type>> {
    static constexpr bool value = true;
};
template <class View>
struct layout_is_known<table_operand<View>> : layout_is_known<View> {};

/// When every view is static and row-major, the whole binding is a constant, and a call checks pointers only.
template <class Kernel, class Tag, class Assignment>
struct known_binding {
    static constexpr bool value = false;
};
template <class Kernel, class Tag, class Program, class Roots, class... Leaves, class... Outputs>
    requires((layout_is_known<Leaves>::value && ... && true) && (layout_is_known<Outputs>::value && ...))
struct known_binding<Kernel, Tag, assignment<Program, Roots, list<Leaves...>, list<Outputs...>>> {
    static constexpr bool value = true;
    static constexpr int count = slots<Kernel>::count;
    using work = binder<Tag, count>;
    struct result {
        binding<count> bound{};
        status problem{};
        typename work::reach reaches[unsigned(count)]{};
        bool has_elements[unsigned(count)]{};
    };
    static constexpr view_state row_major_view(const shape& sizes) {
        view_state view;
        view.sizes = sizes;
        set_row_major_strides(view);
        return view;
    }
    static constexpr view_state slot_view(int slot) {
        constexpr auto& facts = binding_facts_of<Kernel>::value;
        if (slot >= facts.operands) return row_major_view(Kernel::output_shape[slot - facts.operands]);
        if (facts.slot[slot].is_table) return row_major_view(Kernel::leaf_table[int(facts.slot[slot].operand)].sizes);
        if (facts.slot[slot].operand >= 0) return row_major_view(Kernel::leaf_shape[int(facts.slot[slot].operand)]);
        // A coordinate: the slot's instance, its shape from inference (static here).
        view_state view;
        for (int i = 0; i < Kernel::instances; ++i)
            if (slots<Kernel>::is_operand(i) && slots<Kernel>::of_instance(i) == slot) {
                const int node = Kernel::table.at[i].node;
                view.sizes = Kernel::facts.sizes[node];
                view.stride[normal_axis(Kernel::node[node].op->axis, view.sizes.rank)] = 1;
            }
        return view;
    }
    static constexpr slot_state state_of(int slot) {
        slot_state state{};
        state.set(nullptr, slot_view(slot));
        return state;
    }
    /// What the checks ask of a slot beside its binding: the steps of a table.
    template <int Slot>
    static constexpr slot_state table_state = binding_facts_of<Kernel>::value.slot[Slot].is_table ? state_of(Slot) : slot_state{};
    static constexpr result make() {
        constexpr auto& facts = binding_facts_of<Kernel>::value;
        result out;
        work::start(facts, out.bound);
        for (int pass = 0; pass < 2; ++pass)
            for (int i = pass ? 0 : facts.operands; i < (pass ? facts.operands : count); ++i) {
                const slot_state state = state_of(i);
                const status bad = work::bind_slot(facts.slot[i], facts.axes, maps_of<Kernel, Tag>(), state, i, out.bound, out.reaches[i]);
                if (!bad.ok() && out.problem.ok()) out.problem = bad;
                out.has_elements[i] = out.reaches[i].any && (facts.slot[i].reads_memory || facts.slot[i].output >= 0);
            }
        const status bad = work::finish(facts, out.bound);
        if (!bad.ok() && out.problem.ok()) out.problem = bad;
        return out;
    }
    static constexpr result known = make();

    template <int Slot>
    static SINTER_FORCE_INLINE void place(const void** pointer, const void* given, status& bad) {
        if constexpr (known.has_elements[Slot])
            if (given == nullptr && bad.ok()) bad = work::at(error::null_pointer, binding_facts_of<Kernel>::value.slot[Slot]);
        pointer[Slot] = static_cast<const char*>(given) + known.bound.base[Slot] * binding_facts_of<Kernel>::value.slot[Slot].element_size;
    }
    template <int Instance, class Operands>
    static SINTER_FORCE_INLINE void place_operand(const void** pointer, const Operands& operands, status& bad) {
        if constexpr (slots<Kernel>::is_operand(Instance)) {
            constexpr int slot = slots<Kernel>::of_instance(Instance);
            if constexpr (Kernel::table.at[Instance].kind == node_kind::leaf)
                place<slot>(pointer, get<int(Kernel::node[Kernel::table.at[Instance].node].bits)>(operands).data(), bad);
            else
                pointer[slot] = nullptr;
        }
    }
    template <int Output, int Slot>
    static SINTER_FORCE_INLINE void pair(const void* const* pointer, status& bad) {
        constexpr auto& facts = binding_facts_of<Kernel>::value;
        constexpr int output = facts.operands + Output;
        if constexpr (Slot < output) {
            if (bad.ok() &&
                !work::apart(facts, known.bound, output, Slot, table_state<Slot>, pointer[output], pointer[Slot], known.reaches[output], known.reaches[Slot]))
                bad = work::at(error::overlap, facts.slot[output]);
        }
    }
    template <int Output, int... Slot>
    static SINTER_FORCE_INLINE void pairs(const void* const* pointer, status& bad, indices<Slot...>) {
        const int done[] = {(pair<Output, Slot>(pointer, bad), 0)...};
        (void)done;
    }
    template <class Operands, int... Table>
    static SINTER_FORCE_INLINE void place_tables(const void** pointer, const Operands& operands, status& bad, indices<Table...>) {
        (place<slots<Kernel>::template of_table<Table>>(pointer, get<Table>(operands).value.data(), bad), ...);
    }
    template <class Assignment, int... Instance, int... Output>
    static SINTER_FORCE_INLINE status check_operands(const Assignment& assigned, const void** pointer, indices<Instance...>, indices<Output...>) {
        status bad = known.problem;
        if constexpr (Kernel::view.tables != 0) place_tables(pointer, assigned.operands, bad, table_leaves<Kernel>{});
        const int done[] = {0, (place_operand<Instance>(pointer, assigned.operands, bad), 0)...,
                            (place<slots<Kernel>::of_output(Output)>(pointer, get<Output>(assigned.targets).data(), bad), 0)...,
                            (pairs<Output>(pointer, bad, make_indices<count>{}), 0)...};
        (void)done;
        return bad;
    }
};

}  // namespace detail
}  // namespace sinter
