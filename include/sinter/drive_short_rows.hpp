// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host driver for rows too short for a vector to be worth its overhead: points, quaternions, pixels, a few classes. Lanes hold
// neighbouring rows, one element of each; the elements are brought together before and taken apart after. A row is still folded by
// the lane rule (order.hpp): each element has a lane of the rule to itself, and the 128 lanes combine in their tree.
// Only for lengths known while compiling: the kernel is compiled for this driver instead of the other, not besides.
#pragma once

#include "drive_neighbours.hpp"

namespace sinter::detail {

/// Longest row that is short, and the longest where there is one row only (then one lane of a vector is of use).
inline constexpr i64 longest_short_row = 32, longest_short_single = 4;

/// The number of elements of a kernel's short rows; 0 where it has none.
constexpr int find_short_row(const kernel_view& of) {
    if (of.nest == nest_kind::columns || of.outer != 0) return 0;
    if (of.nest == nest_kind::rows && of.inner != of.inner_lane) return 0;
    i64 length = 1;
    bool many = false;
    for (int a = 0; a < of.axes; ++a) {
        const i64 size = of.axis_size[a];
        if (of.role_of(a) != axis_role::lane) {
            many = many || size != 1;
        } else {
            if (size < 1 || size > longest_short_row) return 0;
            length *= size;
        }
    }
    if (length > (many ? longest_short_row : longest_short_single)) return 0;
    if (of.nest == nest_kind::pointwise) {
        // Without a value for each row the rows are merged into one long lane.
        bool any = false;
        for (int i = 0; i < of.instances; ++i) any = any || of.where[i] == site::row;
        if (!any || length == 1) return 0;
    }
    return int(length);
}
template <class Kernel>
inline constexpr int short_row = find_short_row(Kernel::view);
template <class Kernel, class Family>
inline constexpr bool takes_short_rows = Family::width > 1 && short_row<Kernel> != 0;

/// Elements of some rows to and from blocks in which those of the same place in their rows lie side by side. One for all kernels; a
/// tag keeps instruction sets apart. Offsets count elements; a place's is every `apart`th number of a table.
template <class Tag>
struct row_transposer {
    template <int Size>
    struct bytes {
        unsigned char at[unsigned(Size)];
    };
    struct plan {
        const i64* row;    ///< offset of each row
        const i64* place;  ///< offset of each place in a row
        int apart, places, rows;
    };
    template <int Size, bool In>
    static SINTER_FORCE_INLINE void move_as(void* block, void* memory, const plan& by) {
        bytes<Size>* beside = static_cast<bytes<Size>*>(block);
        for (int k = 0; k < by.places; ++k, beside += Tag::width) {
            bytes<Size>* const from = static_cast<bytes<Size>*>(memory) + by.place[k * by.apart];
            if (by.rows == Tag::width)
                move_some<In>(beside, from, by.row, make_indices<Tag::width>{});
            else
                for (int i = 0; i < by.rows; ++i) move_some<In>(beside + i, from, by.row + i, indices<0>{});
        }
    }
    /// Written out: a third of the instructions of a loop.
    template <bool In, int Size, int... Row>
    static SINTER_FORCE_INLINE void move_some(bytes<Size>* beside, bytes<Size>* from, const i64* row, indices<Row...>) {
        if constexpr (In) {
            const int moved[] = {(beside[Row] = from[row[Row]], 0)...};
            (void)moved;
        } else {
            const int moved[] = {(from[row[Row]] = beside[Row], 0)...};
            (void)moved;
        }
    }
    template <bool In>
    static SINTER_FORCE_INLINE void move(void* block, void* memory, int element_size, const plan& by) {
        switch (element_size) {
            case 1: move_as<1, In>(block, memory, by); break;
            case 2: move_as<2, In>(block, memory, by); break;
            case 4: move_as<4, In>(block, memory, by); break;
            default: move_as<8, In>(block, memory, by); break;
        }
    }
    static SINTER_NOINLINE void take(void* block, const void* memory, int element_size, const plan& by) {
        move<true>(block, const_cast<void*>(memory), element_size, by);
    }
    static SINTER_NOINLINE void give(void* block, void* memory, int element_size, const plan& by) { move<false>(block, memory, element_size, by); }
};

template <class Kernel, class Family>
struct short_row_driver {
    using rows = row_driver<Kernel, Family>;
    using neighbours = neighbour_folds<Kernel, Family>;
    using eval = evaluator<Kernel, Family>;
    template <class Type>
    using lane_of = typename Family::template value<Type>;
    using assignment_type = typename Kernel::assignment_type;
    using all_loops = typename rows::all_loops;
    using call_binding = typename rows::call_binding;
    using once_values = typename rows::once_values;
    using row_values = typename rows::row_values;
    using row_position = typename rows::row_position;
    static constexpr int slot_count = rows::slot_count;
    static constexpr int width = Family::width;
    static constexpr int length = short_row<Kernel>;
    static constexpr int last = rows::last;
    using offsets = i64[unsigned(length)][unsigned(slot_count)];

    static constexpr u32 axes_of(axis_role role) {
        u32 out = 0;
        for (int a = 0; a < Kernel::axes; ++a)
            if (role_of<Kernel>(a) == role) out |= u32(1) << a;
        return out;
    }
    static constexpr u32 lane_axes = axes_of(axis_role::lane), row_axes = axes_of(axis_role::outer);
    template <int Instance>
    static constexpr bool varies_in_row = (Kernel::table.at[Instance].free & lane_axes) != 0;
    template <int Instance>
    static constexpr bool varies_over_rows = (Kernel::table.at[Instance].free & row_axes) != 0;

    /// Where a slot's block lies among all: slots that vary over rows, and the outputs.
    struct blocks {
        int begin[unsigned(slot_count)]{}, places[unsigned(slot_count)]{}, size[unsigned(slot_count)]{}, bytes = 0;
        bool coordinate[unsigned(slot_count)]{};
        constexpr void add(int slot, int element_size, bool in_row) {
            coordinate[slot] = element_size == 0;
            size[slot] = element_size == 0 ? 8 : element_size;
            places[slot] = in_row && element_size != 0 ? length : 1;
            begin[slot] = bytes;
            bytes += (places[slot] * width * size[slot] + 63) / 64 * 64;
        }
    };
    static constexpr blocks find_blocks() {
        blocks out;
        for (int i = 0, slot = 0; i < Kernel::instances; ++i) {
            if (!slots<Kernel>::is_operand(i)) continue;
            const u32 free = Kernel::table.at[i].free;
            if (free & row_axes) out.add(slot, binding_facts_of<Kernel>::value.slot[slot].element_size, (free & lane_axes) != 0);
            ++slot;
        }
        for (int o = 0; o < Kernel::outputs; ++o) {
            const int slot = slots<Kernel>::operands + o;
            out.add(slot, binding_facts_of<Kernel>::value.slot[slot].element_size, (Kernel::table.output_free[o] & lane_axes) != 0);
        }
        return out;
    }
    static constexpr blocks block = find_blocks();

    /// The elements at one place of `width` rows.
    template <class Environment>
    struct place_frame : rows::common {
        const once_values& once;
        const row_values& row;
        const row_position& at;  ///< points to the blocks, for slots that have one
        const Environment& values;
        const offsets& places;
        int place;
        i64 offset;  ///< of the place in a block
        u32 streaming = 0;
        template <int Instance>
        SINTER_INLINE const auto& value() const {
            return rows::template value_from<Instance>(once, row, values);
        }
        template <int Instance>
        SINTER_INLINE auto operand() const {
            using storage = typename rows::template storage_of<Instance>;
            using element = compute_of<storage>;
            constexpr int index = slots<Kernel>::template place<Instance>;
            const storage* const from = static_cast<const storage*>(at.pointer[index]);
            if constexpr (varies_over_rows<Instance>)
                return lane_of<element>::load(from + (varies_in_row<Instance> ? offset : 0));
            else
                return lane_of<element>(first(lane::scalar<element>::load(from + (varies_in_row<Instance> ? places[place][index] : 0))));
        }
        template <int Instance>
        SINTER_INLINE lane_of<i64> coordinate() const {
            constexpr int index = slots<Kernel>::template place<Instance>;
            const lane_of<i64> in_row(varies_in_row<Instance> ? places[place][index] : 0);
            if constexpr (varies_over_rows<Instance>)
                return add(lane_of<i64>::load(static_cast<const i64*>(at.pointer[index])), in_row);
            else
                return add(lane_of<i64>(at.base[index]), in_row);
        }
        using rows::common::folded_count;
        using rows::common::operands;
    };
    struct context {
        const assignment_type& assigned;
        const call_binding& bound;
        const all_loops& along;
        const once_values& once;
        row_values& row;
        const row_position& at;
        const offsets& places;
        /// (Not a reference to const: of that g++ thinks at -O0 that the values are read before they are filled.)
        template <class Environment>
        SINTER_FORCE_INLINE place_frame<Environment> frame(Environment& values, int place) const {
            return {{assigned, bound, along}, once, row, at, values, places, place, i64(place) * width};
        }
    };

    template <int Pass>
    using folds = typename rows::template folds<Pass>;
    template <int Pass>
    using two_phase_folds = typename rows::template two_phase_folds<Pass>;
    template <int Pass, int Phase>
    using phase_list = typename rows::template phase<Pass, Phase>::list;
    template <int Pass, int Phase>
    using phase_states = typename rows::template phase<Pass, Phase>::states;

    template <int... Instance>
    static constexpr bool all_exact(indices<Instance...>) {
        return (monoids::has_exact_identity<typename fold_types<Kernel, Family, Instance>::monoid> && ...);
    }
    /// The first stride at which two places meet, or, where the identity might change a bit, the rule's first.
    template <int Pass>
    static constexpr int find_first_stride() {
        if (!all_exact(folds<Pass>{})) return order::lanes / 2;
        int stride = 1;
        while (2 * stride < length) stride *= 2;
        return stride;
    }
    /// Place k is alone in lane k of the rule. Lanes without a place keep the identity, combined with itself as often as they are.
    template <int Pass, int Phase>
    static SINTER_FORCE_INLINE void combine(phase_states<Pass, Phase> (&all)[unsigned(length)]) {
        using one = typename rows::template phase<Pass, Phase>;
        phase_states<Pass, Phase> none;
        one::start(none, phase_list<Pass, Phase>{});
        for (int stride = find_first_stride<Pass>(); stride > 0; stride /= 2) {
            for (int k = 0; k < stride && k < length; ++k)
                if (k + stride < length)
                    one::combine(all[k], all[k + stride], phase_list<Pass, Phase>{});
                else if (!all_exact(folds<Pass>{}))
                    one::combine(all[k], none, phase_list<Pass, Phase>{});
            if (all_exact(folds<Pass>{})) continue;
            const phase_states<Pass, Phase> before = none;
            one::combine(none, before, phase_list<Pass, Phase>{});
        }
    }
    template <int Pass, int Phase>
    static SINTER_FORCE_INLINE void fold_phase(const context& in, phase_states<Pass, Phase> (&all)[unsigned(length)],
                                               const typename rows::template two_phase_bundle<Pass, pick_state>& contexts,
                                               const typename rows::template two_phase_bundle<Pass, pick_value>& firsts) {
        SINTER_NO_UNROLL
        for (int k = 0; k < length; ++k) {
            typename rows::template pass_values<Pass> values;
            const auto frame = in.frame(values, k);
            eval::fill(values, frame, selected<needed_in_pass<Kernel, Pass>>{});
            if constexpr (rows::stashes && Pass == Kernel::levels && Phase == 1) rows::write_stash(frame);
            phase_states<Pass, Phase> state;
            rows::template phase<Pass, Phase>::start(state, phase_list<Pass, Phase>{});
            neighbours::template fold_all<Pass, Phase>(frame, state, contexts, firsts, k, phase_list<Pass, Phase>{});
            all[k] = state;
        }
        combine<Pass, Phase>(all);
    }
    template <int Pass>
    static SINTER_FORCE_INLINE void fold_pass(const context& in) {
        using merging = fold_summaries<Kernel, Family, Pass>;
        typename rows::template two_phase_bundle<Pass, pick_value> firsts;
        typename merging::contexts contexts;
        typename merging::summaries result;
        phase_states<Pass, 1> all[unsigned(length)];
        if constexpr (rows::template pass_has_second<Pass>) {
            typename rows::template pass_values<Pass> values;
            const auto frame = in.frame(values, 0);
            eval::fill(values, frame, selected<needed_in_pass<Kernel, Pass>>{});
            neighbours::template keep_first<Pass>(frame, firsts, two_phase_folds<Pass>{});
        }
        fold_phase<Pass, 1>(in, all, contexts, firsts);
        if constexpr (!rows::template pass_has_second<Pass>) {
            merging::close(result, all[0], contexts, {}, length, folds<Pass>{});
        } else {
            merging::settle(contexts, all[0], length, two_phase_folds<Pass>{});
            phase_states<Pass, 2> seconds[unsigned(length)];
            fold_phase<Pass, 2>(in, seconds, contexts, firsts);
            merging::close(result, all[0], contexts, seconds[0], length, folds<Pass>{});
        }
        neighbours::template finalize<Pass>(result, in.row, folds<Pass>{});
    }
    template <int Level>
    static SINTER_INLINE void rows_of_level(const context& in) {
        eval::fill(in.row, in.frame(in.row, 0), selected<rows_after<Kernel, Level>>{});
    }
    template <int Pass>
    static SINTER_FORCE_INLINE void passes(const context& in) {
        rows_of_level<Pass - 1>(in);
        if constexpr (Pass <= Kernel::levels) {
            fold_pass<Pass>(in);
            passes<Pass + 1>(in);
        }
    }
    template <class Frame, int... Output>
    static SINTER_INLINE void store_rows(const Frame& frame, indices<Output...>) {
        const int done[] = {0, (store(rows::template output_at<Output>(frame.at), rows::template stored_value<Output>(frame)), 0)...};
        (void)done;
    }
    /// From the blocks of the operands to those of the outputs.
    static SINTER_NOINLINE void compute(const assignment_type& given, const call_binding& bound, const all_loops& along, const once_values& known,
                                        const row_position& blocks_of_rows, const offsets& places) {
        // Copies: a vector store could alias the originals.
        const assignment_type assigned = given;
        const once_values once = known;
        const row_position at = blocks_of_rows;
        row_values row;
        const context in{assigned, bound, along, once, row, at, places};
        passes<1>(in);
        if constexpr (Kernel::any_element_output()) {
            SINTER_NO_UNROLL
            for (int k = 0; k < length; ++k) {
                typename rows::output_values values;
                const auto frame = in.frame(values, k);
                if constexpr (rows::stashes) rows::read_stash(at.pointer[rows::stash_slot], values, frame.offset);
                eval::fill(values, frame, selected<needed_in_pass<Kernel, last>>{});
                rows::store_all(frame, selected<element_outputs<Kernel>>{});
            }
        }
        store_rows(in.frame(row, 0), selected<row_outputs<Kernel>>{});
    }

    /// Rows [first_row, stop_row), whole ones.
    static SINTER_NOINLINE void run(const void* given, const call_binding& bound, const all_loops& along, i64 first_row, i64 stop_row, i64, i64) {
        const assignment_type& assigned = *static_cast<const assignment_type*>(given);
        const row_position start = rows::work::origin(bound);
        once_values once;
        row_values none;
        eval::fill(once, typename rows::row_frame{{assigned, bound, along}, once, none, start}, selected<at_place<Kernel, site::once>>{});

        offsets places;
        odometer<slot_count> lane;
        lane.set(along.lane, 0);
        for (auto& place : places) {
            for (int s = 0; s < slot_count; ++s) place[s] = lane.offset[s];
            lane.next(along.lane);
        }
        alignas(64) unsigned char memory[block.bytes];
        row_position at = start;
        for (int s = 0; s < slot_count; ++s)
            if (block.places[s] != 0) at.pointer[s] = memory + block.begin[s];

        odometer<slot_count> outer;
        outer.set(along.outer, first_row);
        i64 row_offset[unsigned(slot_count)][unsigned(width)];
        for (i64 r = first_row; r < stop_row; r += width) {
            const int count = stop_row - r < width ? int(stop_row - r) : width;
            for (int i = 0; i < count;) {
                const int run = outer.run(along.outer, count - i);
                if (run >= 8) {
                    for (int s = 0; s < slot_count; ++s)
                        if (block.places[s] != 0) outer.offsets_of_run(along.outer, s, run, row_offset[s] + i);
                    outer.skip(along.outer, run);
                    i += run;
                } else {  // a short run is not worth setting up
                    for (int s = 0; s < slot_count; ++s) row_offset[s][i] = outer.offset[s];
                    outer.next(along.outer);
                    ++i;
                }
            }
            if (count < width) __builtin_memset(memory, 0, sizeof(memory));  // lanes without a row are finite and quiet
            for (int s = 0; s < slots<Kernel>::operands; ++s) {
                if (block.places[s] == 0) continue;
                if (block.coordinate[s]) {
                    i64* const to = reinterpret_cast<i64*>(memory + block.begin[s]);
                    for (int i = 0; i < count; ++i) to[i] = start.base[s] + row_offset[s][i];
                } else {
                    row_transposer<Family>::take(memory + block.begin[s], start.pointer[s], block.size[s],
                                                 {row_offset[s], &places[0][s], slot_count, block.places[s], count});
                }
            }
            compute(assigned, bound, along, once, at, places);
            for (int s = slots<Kernel>::operands; s < slot_count; ++s)
                row_transposer<Family>::give(memory + block.begin[s], const_cast<void*>(start.pointer[s]), block.size[s],
                                             {row_offset[s], &places[0][s], slot_count, block.places[s], count});
        }
    }
};

}  // namespace sinter::detail
