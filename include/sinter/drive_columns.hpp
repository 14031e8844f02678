// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host driver for reductions over outer axes: a lane holds neighbouring columns, so that rows are read in memory order.
// Columns are taken in strips whose accumulators fit the first-level cache; each column follows the column rule (order.hpp).
#pragma once

#include "drive_neighbours.hpp"

namespace sinter::detail {

template <class Kernel, class Family, bool Fast>
struct column_driver {
    using rows = row_driver<Kernel, Family>;
    using neighbours = neighbour_folds<Kernel, Family>;
    using eval = evaluator<Kernel, Family>;
    template <class Type>
    using lane_of = typename Family::template value<Type>;
    using assignment_type = typename Kernel::assignment_type;
    using all_loops = loops<slots<Kernel>::count>;
    using call_binding = bound_call<slots<Kernel>::count>;
    using once_values = typename rows::once_values;
    using row_position = typename rows::row_position;
    using row_values = typename rows::row_values;
    template <int Instance>
    using storage_of = typename rows::template storage_of<Instance>;
    static constexpr int width = Family::width;
    static constexpr int last = Kernel::levels + 1;
    /// Whether the last fold's results go on to the outputs at once, a column at a time: where no output has elements.
    static constexpr bool stores_at_once = Kernel::levels > 0 && !Kernel::any_element_output();
    static constexpr bool any_two_phase() {
        for (int i = 0; i < Kernel::instances; ++i)
            if (Kernel::is_fold(i) && Kernel::node[Kernel::table.at[i].node].op->two_phase) return true;
        return false;
    }
    /// Whether values of a column last from one pass to the next.
    static constexpr bool keeps_columns = !stores_at_once || Kernel::levels > 1 || selected_indices<rows_after<Kernel, 0>>::size > 0;
    /// Columns that one sweep over the rows folds together at most: their accumulators stay in the first-level cache. Wide strips
    /// read whole lines and pages of a row (measured out of cache, 8192 x 4096, of a plain loop: 128 columns 0.24, 512 0.8, 1024
    /// 0.85, 2048 0.93, 4096 1.1).
    static constexpr int strip_columns = any_two_phase() ? 128 : keeps_columns ? 1024 : 4096;
    static constexpr int strip = strip_columns / width > 0 ? strip_columns / width : 1;
    /// Whether a sweep folds four rows at once, in narrow strips, or eight. Eight need the accumulators half as often, but take all ways
    /// of a first-level cache where rows lie a multiple of a page apart. Few rows, and rows from memory, take eight. (Measured in cache,
    /// of a loop by hand that takes four: a Xeon with AVX-512, 32 rows, 4 KiB of accumulators 0.97, eight rows and 16 KiB 0.86; AVX2 there
    /// 0.95 and 0.91; Zen 1, 8 rows, 0.89 and 0.96.)
    static SINTER_INLINE bool takes_four(const call_binding& bound, const all_loops& along) { return !bound.prefetches && along.columns >= 32; }
    /// States of a pass: those of a strip and of its finished segments, 128 KiB, or what the narrowest strip needs.
    template <class States>
    static constexpr int pool_size() {
        constexpr int in_all = int((i64(1) << 17) / i64(sizeof(States)));
        constexpr int least = (order::stack_depth_of_strips + 1) * (width < 128 ? 128 / width : 1);
        return in_all > least ? in_all : least;
    }
    /// Vectors of a strip when so many rows are folded. While segment number n is folded, as many wait as n has ones.
    template <int Pass>
    static SINTER_INLINE int strip_of_pass(i64 folded, int most, bool narrow) {
        if constexpr (Pass > Kernel::levels) {
            return most;
        } else {
            if constexpr (!rows::template pass_has_second<Pass>) {
                using states = typename rows::template phase<Pass, 1>::states;
                int held = 1;
                for (i64 segments = (folded + order::column_segment - 1) / order::column_segment; segments > 1; segments >>= 1) ++held;
                const int fits = pool_size<states>() / (held < order::stack_depth_of_strips + 1 ? held : order::stack_depth_of_strips + 1);
                const int bytes = narrow ? 1 << 13 : 1 << 14;
                const int cached = bytes / int(sizeof(states)) > 0 ? bytes / int(sizeof(states)) : 1;
                if (fits < most) most = fits;
                if (cached < most) most = cached;
            }
            return strip_of_pass<Pass + 1>(folded, most, narrow);
        }
    }

    /// One vector of columns at one row (or, with the row of the origin, what doesn't vary over rows).
    template <bool Partial, class Environment>
    struct column_frame : rows::common {
        const once_values& once;
        const row_values& column;
        const row_position& at;
        const Environment& values;
        i64 position;  ///< first column
        int count;
        template <int Instance>
        SINTER_INLINE const auto& value() const {
            return rows::template value_from<Instance>(once, column, values);
        }
        template <int Instance>
        SINTER_INLINE auto operand() const {
            using storage = storage_of<Instance>;
            using element = compute_of<storage>;
            constexpr int index = slots<Kernel>::template place<Instance>;
            constexpr lane_stride stride = rows::template stride_of<Instance>;
            const storage* const from = static_cast<const storage*>(at.pointer[index]);
            if constexpr (stride == lane_stride::zero)
                return lane_of<element>(first(lane::scalar<element>::load(from)));
            else if constexpr (Fast) {
                if constexpr (Partial)
                    return lane_of<element>::load_first(from + position, count, 1);
                else
                    return lane_of<element>::load(from + position);
            } else {
                const i64 step = this->along.lane.count == 0 ? 0 : this->along.lane.stride[0][index];
                return lane_of<element>::load_first(from + position * step, Partial ? count : width, step);
            }
        }
        template <int Instance>
        SINTER_INLINE lane_of<i64> coordinate() const {
            constexpr int index = slots<Kernel>::template place<Instance>;
            const i64 step = this->along.lane.count == 0 ? 0 : this->along.lane.stride[0][index];
            return counted<Family>(at.base[index] + position * step, step);
        }
        using rows::common::folded_count;
        using rows::common::operands;
    };

    struct strip_context {
        const assignment_type& assigned;
        const call_binding& bound;
        const all_loops& along;
        const once_values& once;
        row_values* columns;
        i64 position;
        int vectors;     ///< full vectors of this strip, the partial one included
        int last_count;  ///< columns of its last vector
        SINTER_INLINE row_values& column(int vector) const { return columns[keeps_columns ? vector : 0]; }
    };

    template <int Pass>
    using folds = typename rows::template folds<Pass>;
    template <int Pass, class Pick>
    using fold_bundle = typename rows::template fold_bundle<Pass, Pick>;
    template <int Pass>
    using two_phase_folds = typename rows::template two_phase_folds<Pass>;
    template <int Pass, class Pick>
    using two_phase_bundle = typename rows::template two_phase_bundle<Pass, Pick>;

    template <int Pass, int Phase, bool Partial, int... Instance>
    static SINTER_INLINE void step(const strip_context& in, const row_position& at, int vector, int count,
                                   typename rows::template phase<Pass, Phase>::states& state, const two_phase_bundle<Pass, pick_state>& context,
                                   const two_phase_bundle<Pass, pick_value>& firsts, i64 row, indices<Instance...>) {
        typename rows::template pass_values<Pass> values;
        const column_frame<Partial, typename rows::template pass_values<Pass>> frame{
            {in.assigned, in.bound, in.along}, in.once, in.column(vector), at, values, in.position + vector * width, count};
        eval::fill(values, frame, selected<needed_in_pass<Kernel, Pass>>{});
        neighbours::template fold_all<Pass, Phase>(frame, state, context, firsts, row, indices<Instance...>{});
    }
    /// Some rows in one sweep over a strip: an accumulator is loaded and stored once for them, and still takes them in order.
    template <class Sequence>
    struct row_positions;
    template <int... Row>
    struct row_positions<indices<Row...>> : slot<Row, row_position>... {};
    template <int Pass, int Phase, int... Row>
    static SINTER_FORCE_INLINE void turn(const strip_context& in, const row_position& origin, odometer<slots<Kernel>::count>& row,
                                         const typename rows::template phase<Pass, Phase>::states* before, i64 apart,
                                         typename rows::template phase<Pass, Phase>::states* const state,
                                         const two_phase_bundle<Pass, pick_state>* const contexts,
                                         const two_phase_bundle<Pass, pick_value>* const first_values, int full, i64 r, indices<Row...>) {
        constexpr int each = rows::template pass_has_second<Pass> ? 1 : 0;
        using list = typename rows::template phase<Pass, Phase>::list;
        row_position moved[sizeof...(Row)];
        for (row_position& at : moved) {
            rows::move_to(at, origin, row.offset);
            row.next(in.along.column);
        }
        row_positions<indices<Row...>> positions;  // copies: g++ keeps an array in memory
        const int copied[] = {(static_cast<slot<Row, row_position>&>(positions).value = moved[Row], 0)...};
        (void)copied;
        for (int v = 0; v < full; ++v, before += apart) {
            auto now = *before;
            const int done[] = {(step<Pass, Phase, false>(in, static_cast<const slot<Row, row_position>&>(positions).value, v, width, now,
                                                          contexts[v * each], first_values[v * each], r + Row, list{}), 0)...};
            (void)done;
            state[v] = now;
        }
        if (full < in.vectors)
            for (int i = 0; i < int(sizeof...(Row)); ++i)
                step<Pass, Phase, true>(in, moved[i], full, in.last_count, state[full], contexts[full * each], first_values[full * each],
                                        r + i, list{});
    }
    /// Rows [begin, stop) folded into the strip's states.
    template <int Pass, int Phase>
    static SINTER_INLINE void sweep(const strip_context& in, const row_position& origin,
                                    typename rows::template phase<Pass, Phase>::states* const state,
                                    const two_phase_bundle<Pass, pick_state>* const contexts,
                                    const two_phase_bundle<Pass, pick_value>* const first_values, i64 begin, i64 stop) {
        using list = typename rows::template phase<Pass, Phase>::list;
        constexpr bool many = rows::template phase<Pass, Phase>::unrolled;
        const bool fours = takes_four(in.bound, in.along);
        odometer<slots<Kernel>::count> row;
        row.set(in.along.column, begin);
        const int full = in.last_count == width ? in.vectors : in.vectors - 1;
        // The first rows take the identity from one place: a strip of them needs neither be written nor read.
        typename rows::template phase<Pass, Phase>::states identity;
        rows::template phase<Pass, Phase>::start(identity, list{});
        if (full < in.vectors) state[full] = identity;
        i64 r = begin;
        if constexpr (many) {
            for (; !fours && r + 8 <= stop; r += 8)
                turn<Pass, Phase>(in, origin, row, r == begin ? &identity : state, r == begin ? 0 : 1, state, contexts, first_values, full, r,
                                  make_indices<8>{});
            for (; r + 4 <= stop; r += 4)
                turn<Pass, Phase>(in, origin, row, r == begin ? &identity : state, r == begin ? 0 : 1, state, contexts, first_values, full, r,
                                  make_indices<4>{});
        }
        for (; r < stop; ++r)
            turn<Pass, Phase>(in, origin, row, r == begin ? &identity : state, r == begin ? 0 : 1, state, contexts, first_values, full, r,
                              make_indices<1>{});
    }
    template <int Pass, int... Instance>
    static SINTER_INLINE void first_rows(const strip_context& in, const row_position& origin, two_phase_bundle<Pass, pick_value> (&firsts)[unsigned(strip)],
                                         indices<Instance...>) {
        for (int v = 0; v < in.vectors; ++v) {
            typename rows::template pass_values<Pass> values;
            const int count = v + 1 == in.vectors ? in.last_count : width;
            const column_frame<true, typename rows::template pass_values<Pass>> frame{
                {in.assigned, in.bound, in.along}, in.once, in.column(v), origin, values, in.position + v * width, count};
            eval::fill(values, frame, selected<needed_in_pass<Kernel, Pass>>{});
            neighbours::template keep_first<Pass>(frame, firsts[v], indices<Instance...>{});
        }
    }
    /// Folds of one phase: each segment is folded where its result stays.
    template <int Pass>
    static SINTER_INLINE void fold_pass(const strip_context& in, const row_position& origin)
        requires(!rows::template pass_has_second<Pass>)
    {
        using one = typename rows::template phase<Pass, 1>;
        using states = typename one::states;
        // Half a page from the first operand's addresses modulo a page: a processor takes a load for one of a store before it when they
        // agree in 12 bits, and rows a multiple of a page apart share the ways of one set. (Measured on Zen 1 in cache, of a loop by
        // hand: 0.95 to 1.05; just below the operand 0.82; wherever the stack happened to be, 0.55 in one process of eight.)
        constexpr int page = 4096 / int(sizeof(states));
        states memory[pool_size<states>() + page];
        const u64 element_size = binding_facts_of<Kernel>::value.slot[0].element_size;
        const u64 aim = reinterpret_cast<u64>(origin.pointer[0]) + u64(in.position) * element_size + 2048;
        states* const pool = memory + (aim - reinterpret_cast<u64>(memory)) % 4096 / sizeof(states);
        const two_phase_bundle<Pass, pick_state> no_context{};
        const two_phase_bundle<Pass, pick_value> no_first{};
        const i64 count = in.along.columns;
        if (count == 0)
            for (int v = 0; v < in.vectors; ++v) one::start(pool[v], folds<Pass>{});
        int held = 0;
        i64 number = 0;
        for (i64 begin = 0; begin < count; begin += order::column_segment, ++number) {
            sweep<Pass, 1>(in, origin, pool + held * in.vectors, &no_context, &no_first, begin,
                           begin + order::column_segment < count ? begin + order::column_segment : count);
            ++held;
            for (i64 level = number; level & 1; level >>= 1) merge_last<Pass>(pool, held, in.vectors);
        }
        while (held > 1) merge_last<Pass>(pool, held, in.vectors);
        finish<Pass>(in, origin, pool);
    }
    /// The last two of `held` strips become one.
    template <int Pass, class States>
    static SINTER_INLINE void merge_last(States* pool, int& held, int vectors) {
        --held;
        States* const into = pool + (held - 1) * vectors;
        for (int v = 0; v < vectors; ++v) rows::template phase<Pass, 1>::combine(into[v], into[vectors + v], folds<Pass>{});
    }
    template <int Pass>
    static SINTER_INLINE void fold_pass(const strip_context& in, const row_position& origin)
        requires(rows::template pass_has_second<Pass>)
    {
        using one = typename rows::template phase<Pass, 1>;
        using merging = fold_summaries<Kernel, Family, Pass>;
        using summaries = typename merging::summaries;
        const i64 count = in.along.columns;
        summaries stack[order::stack_depth_of_strips][unsigned(strip)];
        summaries result[unsigned(strip)];
        if (count == 0)
            for (int v = 0; v < in.vectors; ++v) merging::nothing(result[v], folds<Pass>{});
        two_phase_bundle<Pass, pick_value> firsts[unsigned(strip)];
        if (count > 0) first_rows<Pass>(in, origin, firsts, two_phase_folds<Pass>{});
        int depth = 0;
        i64 number = 0;
        for (i64 begin = 0; begin < count; begin += order::column_segment, ++number) {
            const i64 stop = begin + order::column_segment < count ? begin + order::column_segment : count;
            typename one::states totals[unsigned(strip)];
            two_phase_bundle<Pass, pick_state> contexts[unsigned(strip)];
            sweep<Pass, 1>(in, origin, totals, contexts, firsts, begin, stop);
            two_phase_bundle<Pass, pick_second> seconds[unsigned(strip)];
            for (int v = 0; v < in.vectors; ++v) merging::settle(contexts[v], totals[v], stop - begin, two_phase_folds<Pass>{});
            sweep<Pass, 2>(in, origin, seconds, contexts, firsts, begin, stop);
            for (int v = 0; v < in.vectors; ++v)
                merging::close(result[v], totals[v], contexts[v], seconds[v], stop - begin, folds<Pass>{});
            for (i64 level = number; level & 1; level >>= 1) {
                --depth;
                for (int v = 0; v < in.vectors; ++v) merging::merge(result[v], stack[depth][v], result[v], folds<Pass>{});
            }
            if (count <= order::column_segment) break;  // the only segment is the result
            for (int v = 0; v < in.vectors; ++v) stack[depth][v] = result[v];
            ++depth;
        }
        if (depth > 0) {
            --depth;
            for (int v = 0; v < in.vectors; ++v) result[v] = stack[depth][v];
            while (depth > 0) {
                --depth;
                for (int v = 0; v < in.vectors; ++v) merging::merge(result[v], stack[depth][v], result[v], folds<Pass>{});
            }
        }
        finish<Pass>(in, origin, result);
    }
    template <int Pass, class Bundle>
    static SINTER_INLINE void finish(const strip_context& in, const row_position& origin, const Bundle* from) {
        if constexpr (stores_at_once && Pass == Kernel::levels) {
            const int full = in.last_count == width ? in.vectors : in.vectors - 1;
            for (int v = 0; v < full; ++v) finish_column<Pass, false>(in, origin, from[v], v, width);
            if (full < in.vectors) finish_column<Pass, true>(in, origin, from[full], full, in.last_count);
        } else {
            for (int v = 0; v < in.vectors; ++v) neighbours::template finalize<Pass>(from[v], in.column(v), folds<Pass>{});
        }
    }
    template <int Pass, bool Partial, class Bundle>
    static SINTER_INLINE void finish_column(const strip_context& in, const row_position& origin, const Bundle& from, int vector, int count) {
        row_values values;
        if constexpr (keeps_columns) values = in.column(vector);
        const column_frame<Partial, row_values> frame{{in.assigned, in.bound, in.along}, in.once, values, origin, values,
                                                      in.position + vector * width, count};
        neighbours::template finalize<Pass>(from, values, folds<Pass>{});
        eval::fill(values, frame, selected<rows_after<Kernel, Pass>>{});
        store_all(frame, count, selected<row_outputs<Kernel>>{});
    }
    template <int Level>
    static SINTER_INLINE void columns_of_level(const strip_context& in, const row_position& origin) {
        for (int v = 0; v < in.vectors; ++v) {
            const int count = v + 1 == in.vectors ? in.last_count : width;
            const column_frame<true, row_values> frame{{in.assigned, in.bound, in.along}, in.once, in.column(v), origin, in.column(v),
                                                       in.position + v * width, count};
            eval::fill(in.column(v), frame, selected<rows_after<Kernel, Level>>{});
        }
    }
    template <int Pass>
    static SINTER_INLINE void passes(const strip_context& in, const row_position& origin) {
        if constexpr (Pass <= Kernel::levels || !stores_at_once) columns_of_level<Pass - 1>(in, origin);
        if constexpr (Pass <= Kernel::levels) {
            fold_pass<Pass>(in, origin);
            passes<Pass + 1>(in, origin);
        }
    }
    template <int Output, class Frame>
    static SINTER_INLINE void store_one(const Frame& frame, [[maybe_unused]] int count) {
        using storage = typename rows::template output_storage<Output>;
        constexpr int index = slots<Kernel>::of_output(Output);
        storage* const to = static_cast<storage*>(const_cast<void*>(frame.at.pointer[index]));
        const auto value = rows::template stored_value<Output>(frame);
        if constexpr ((Kernel::table.output_free[Output] & Kernel::vector_bit) == 0)
            store_first(to, value, 1, 1);
        else if constexpr (Fast) {
            if (count == width)
                store(to + frame.position, value);
            else
                store_first(to + frame.position, value, count, 1);
        } else {
            const i64 step = frame.along.lane.count == 0 ? 0 : frame.along.lane.stride[0][index];
            store_first(to + frame.position * step, value, count, step);
        }
    }
    template <class Frame, int... Output>
    static SINTER_INLINE void store_all(const Frame& frame, [[maybe_unused]] int count, indices<Output...>) {
        const int done[] = {0, (store_one<Output>(frame, count), 0)...};
        (void)done;
    }
    template <bool Partial>
    static SINTER_INLINE void output_step(const strip_context& in, const row_position& at, int vector, int count) {
        typename rows::template pass_values<last> values;
        const column_frame<Partial, typename rows::template pass_values<last>> frame{
            {in.assigned, in.bound, in.along}, in.once, in.column(vector), at, values, in.position + vector * width, count};
        eval::fill(values, frame, selected<needed_in_pass<Kernel, last>>{});
        store_all(frame, count, selected<element_outputs<Kernel>>{});
    }
    static SINTER_FORCE_INLINE void output_pass(const strip_context& in, const row_position& origin) {
        if constexpr (Kernel::any_element_output()) {
            odometer<slots<Kernel>::count> row;
            row.set(in.along.column, 0);
            const int full = in.last_count == width ? in.vectors : in.vectors - 1;
            for (i64 r = 0; r < in.along.columns; ++r) {
                row_position at;
                rows::move_to(at, origin, row.offset);
                for (int v = 0; v < full; ++v) output_step<false>(in, at, v, width);
                if (full < in.vectors) output_step<true>(in, at, full, in.last_count);
                row.next(in.along.column);
            }
        }
        if constexpr (stores_at_once) return;
        for (int v = 0; v < in.vectors; ++v) {
            const int count = v + 1 == in.vectors ? in.last_count : width;
            const column_frame<true, row_values> frame{{in.assigned, in.bound, in.along}, in.once, in.column(v), origin, in.column(v),
                                                       in.position + v * width, count};
            store_all(frame, count, selected<row_outputs<Kernel>>{});
        }
    }

    /// Outer rows [first_row, stop_row), of each the columns [begin, stop).
    static SINTER_NOINLINE void run(const void* given, const call_binding& bound, const all_loops& along, i64 first_row, i64 stop_row,
                                    i64 begin, i64 stop) {
        const assignment_type& assigned = *static_cast<const assignment_type*>(given);
        const row_position start = rows::work::origin(bound);
        once_values once;
        row_values none;
        {
            const typename rows::row_frame frame{{assigned, bound, along}, once, none, start};
            eval::fill(once, frame, selected<at_place<Kernel, site::once>>{});
        }
        odometer<slots<Kernel>::count> outer;
        outer.set(along.outer, first_row);
        // Strips of equal width, as wide as they may be.
        const i64 all = (stop - begin + width - 1) / width, most = strip_of_pass<1>(along.columns, strip, takes_four(bound, along));
        const i64 strips = (all + most - 1) / most;
        const i64 columns_at_once = (strips > 0 ? (all + strips - 1) / strips : 1) * width;
        for (i64 r = first_row; r < stop_row; ++r) {
            row_position origin;
            rows::move_to(origin, start, outer.offset);
            for (i64 position = begin; position < stop; position += columns_at_once) {
                const i64 left = stop - position < columns_at_once ? stop - position : columns_at_once;
                row_values column[unsigned(keeps_columns ? strip : 1)];
                const int vectors = int((left + width - 1) / width);
                const strip_context in{assigned, bound, along, once, column, position, vectors, int(left - i64(vectors - 1) * width)};
                passes<1>(in, origin);
                output_pass(in, origin);
            }
            outer.next(along.outer);
        }
    }
};

}  // namespace sinter::detail
