// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver of products of a matrix of codes and some rows of activations (code_product.hpp), on a family that can multiply them:
// `Family::products`. The activations, whatever they are made of, are computed once for up to 16 rows of them, packed, and multiplied
// with 64 rows of weights at a time, so that weights pass from memory once; what follows the sum is computed for as many neighbouring
// rows of weights as a lane has elements. Integers have no order to keep: the bits are those of the row driver, which takes the calls
// whose operands lie otherwise.
#pragma once

#include "code_product.hpp"
#include "drive.hpp"

namespace sinter::detail {

template <class Kernel, class Family>
struct product_driver {
    using rows = row_driver<Kernel, Family>;
    using product = code_product_facts<Kernel>;
    using eval = typename rows::eval;
    using work = typename rows::work;
    using row_position = typename rows::row_position;
    using row_context = typename rows::row_context;
    using row_values = typename rows::row_values;
    using once_values = typename rows::once_values;
    using assignment_type = typename rows::assignment_type;
    using call_binding = typename rows::call_binding;
    using all_loops = typename rows::all_loops;
    using products = typename Family::products;
    using packed = typename products::packed;
    template <class Type>
    using lane_of = typename Family::template value<Type>;
    static constexpr int slot_count = rows::slot_count, width = rows::width;
    using offsets = i64[unsigned(slot_count)];

    static constexpr int rows_at_once = 64;          ///< of weights, between two packings: a multiple of any width
    static constexpr int columns_at_once = 16;       ///< rows of activations that share a read of the weights
    static constexpr int packed_bytes = 1 << 14;     ///< of activations: half a first-level cache
    static constexpr i64 packed_elements = packed_bytes / int(sizeof(packed));
    static constexpr int weights_slot = slots<Kernel>::template place<product::weights>;

    // weights = less + weight_offset, activations = packed + activation_offset: what is multiplied is `less` and `packed`.
    static constexpr i32 activation_offset = products::activation_offset(product::activations_count, product::activations_zero);
    static constexpr i32 beside_weights = products::weight_offset(product::weights_count) - product::weights_zero;
    static constexpr i32 beside_activations = activation_offset - product::activations_zero;
    /// Then the sums of weights are needed: those of products with ones, one column more.
    static constexpr int extra_column = beside_activations != 0 ? 1 : 0;

    /// A call's loops: `rest` around the rows of activations (`columns` of them), around those of weights.
    struct loop_plan {
        axis_loops<slot_count> rest;
        i64 weights, columns;
        offsets weight_step, column_step;
    };
    /// False where the operands step otherwise.
    static SINTER_FORCE_INLINE bool plan(const all_loops& along, loop_plan& out) {
        const int axes = along.outer.count;
        if (axes == 0 || along.lane.count != 1) return false;
        out.weights = along.outer.size[axes - 1];
        bool fits = along.outer.stride[axes - 1][weights_slot] != 0;
        const bool several = axes > 1 && along.outer.stride[axes - 2][weights_slot] == 0;
        out.columns = several ? along.outer.size[axes - 2] : 1;
        for (int s = 0; s < slot_count; ++s) {
            out.weight_step[s] = along.outer.stride[axes - 1][s];
            out.column_step[s] = several ? along.outer.stride[axes - 2][s] : 0;
        }
        check_still(out, fits, selected<still_operands>{});
        out.rest = along.outer;
        out.rest.count = axes - 1 - several;
        return fits;
    }
    /// Operands that the activations are made of: none varies with the weights.
    struct still_operands {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return slots<Kernel>::is_operand(i) && product::prologue[i]; }
    };
    template <int... Instance>
    static SINTER_FORCE_INLINE void check_still(const loop_plan& of, bool& fits, indices<Instance...>) {
        const int done[] = {0, (fits = fits && of.weight_step[slots<Kernel>::template place<Instance>] == 0, 0)...};
        (void)done;
    }

    // --------------------------------------------------------------------------------------------------- activations

    struct added {
        template <class State>
        SINTER_INLINE State operator()(const State& a, const State& b) const {
            return monoids::exact_sum::combine(a, b);
        }
    };
    using prologue_values = environment<Kernel, Family, selected<typename product::prologue_instances>>;
    /// A vector of packed activations as i32 lanes.
    static SINTER_FORCE_INLINE auto activations(const row_context& in, const row_position& at, i64 position, i64 offset) {
        prologue_values values;
        const typename rows::template element_frame<prologue_values> frame{{in.assigned, in.bound, in.along}, in.once, in.row, at, values, position, offset};
        eval::fill(values, frame, selected<typename product::prologue_instances>{});
        const auto x = eval::template argument<product::product, product::activations_at>(frame);
        return sub(x, remove_cvref<decltype(x)>(activation_offset));
    }
    /// Elements [begin, begin + count) of a row, and zeros up to a whole step. Gives their sum.
    static SINTER_NOINLINE i32 pack(const row_context& in, const row_position& at, i64 begin, i64 count, packed* to) {
        lane_of<i32> all(0);
        i64 done = 0;
        for (; done + width <= count; done += width) {
            const auto x = activations(in, at, begin + done, begin + done);
            if constexpr (beside_weights != 0) all = add(all, x);
            store(to + done, convert_in_range<packed>(x));
        }
        u32 sum = 0;
        if constexpr (beside_weights != 0) sum = u32(first(lane::get<0>(combine_lanes<width>(added{}, lane::fields<lane_of<i32>>(all)))));
        if (done < count) {
            typename work::packed_block block;
            work::pack(rows::body, in, block, at, begin + done, int(count - done));
            packed last[unsigned(width)];
            store(last, convert_in_range<packed>(activations(in, block.at, begin + done, 0)));
            for (int i = 0; done < count; ++i, ++done) {
                to[done] = last[i];
                sum += u32(last[i]);
            }
        }
        for (; done % products::step != 0; ++done) to[done] = 0;
        return i32(sum);
    }

    // -------------------------------------------------------------------------------------------------------- results

    /// Values of `lanes` neighbouring rows of weights, a lane for each.
    struct neighbours_frame : rows::common {
        const once_values& once;
        const row_values& row;
        const row_position& at;
        const offsets& step;
        int lanes;
        template <int Instance>
        SINTER_INLINE const auto& value() const {
            if constexpr (Kernel::where[Instance] == site::once)
                return static_cast<const typename rows::template value_slot<Instance>&>(once).value;
            else
                return static_cast<const typename rows::template value_slot<Instance>&>(row).value;
        }
        template <int Instance>
        SINTER_INLINE auto operand() const {
            using storage = typename rows::template storage_of<Instance>;
            using value = lane_of<compute_of<storage>>;
            constexpr int slot = slots<Kernel>::template place<Instance>;
            const storage* const from = static_cast<const storage*>(at.pointer[slot]);
            const i64 stride = step[slot];
            if (stride == 0) return value(first(lane::scalar<compute_of<storage>>::load(from)));
            if (lanes < width) return value::load_first(from, lanes, stride);
            return stride == 1 ? value::load(from) : value::load_strided(from, stride);
        }
        template <int Instance>
        SINTER_INLINE lane_of<i64> coordinate() const {
            constexpr int slot = slots<Kernel>::template place<Instance>;
            return counted<Family>(at.base[slot], step[slot]);
        }
        using rows::common::folded_count;
        using rows::common::operands;
    };
    /// Row values after a level that differ between neighbours.
    template <int Level>
    struct varying_after {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return rows_after<Kernel, Level>::test(i) && (Kernel::table.at[i].free & product::weights_bit) != 0; }
    };
    template <int Level>
    static SINTER_FORCE_INLINE void fill_levels(row_values& row, const neighbours_frame& frame) {
        if constexpr (Level < Kernel::levels) {
            eval::fill(row, frame, selected<varying_after<Level>>{});
            fill_levels<Level + 1>(row, frame);
        }
    }
    static constexpr bool varies(int output) { return (Kernel::table.output_free[output] & product::weights_bit) != 0; }
    template <bool Varying>
    struct outputs_that {
        static constexpr int limit = Kernel::outputs;
        static constexpr bool test(int o) { return row_outputs<Kernel>::test(o) && varies(o) == Varying; }
    };
    template <int Output>
    static SINTER_FORCE_INLINE void store_one(const neighbours_frame& frame) {
        const auto value = rows::template stored_value<Output>(frame);
        auto* const to = rows::template output_at<Output>(frame.at);
        const i64 stride = frame.step[slots<Kernel>::of_output(Output)];
        if (frame.lanes < width)
            store_first(to, value, frame.lanes, stride);
        else if (stride == 1)
            store(to, value);
        else
            store_strided(to, value, stride);
    }
    template <int... Output>
    static SINTER_FORCE_INLINE void store_all(const neighbours_frame& frame, indices<Output...>) {
        const int done[] = {0, (store_one<Output>(frame), 0)...};
        (void)done;
    }
    /// Results of `count` rows of weights from `at` on, with one row of activations: its values are in `row`.
    static SINTER_NOINLINE void finish(const row_context& in, const loop_plan& loop, const row_values& row_of_activations, const row_position& from, const i32* sums,
                                       i64 count) {
        const assignment_type assigned = in.assigned;
        const once_values once = in.once;
        row_position at = from;
        for (i64 done = 0; done < count; done += width) {
            row_values row = row_of_activations;
            const neighbours_frame frame{{assigned, in.bound, in.along}, once, row, at, loop.weight_step, int(count - done < width ? count - done : width)};
            fill_levels<0>(row, frame);
            static_cast<typename rows::template value_slot<product::fold>&>(row).value = lane_of<i32>::load(sums + done);
            eval::fill(row, frame, selected<rows_after<Kernel, Kernel::levels>>{});
            store_all(frame, selected<outputs_that<true>>{});
            advance(at, loop.weight_step, width);
        }
    }
    static SINTER_FORCE_INLINE void advance(row_position& at, const offsets& step, i64 count) {
        offsets by;
        for (int s = 0; s < slot_count; ++s) by[s] = step[s] * count;
        row_position to;
        rows::move_to(to, at, by);
        at = to;
    }

    // ---------------------------------------------------------------------------------------------------------- loops

    /// What a row of activations needs before it is packed: row values and the reductions of the levels before the product's.
    template <int Level>
    static SINTER_FORCE_INLINE void begin(row_context& in, const row_position& at) {
        rows::template rows_of_level<Level>(in, at);
        if constexpr (Level + 1 < Kernel::levels) {
            rows::template fold_pass<Level + 1>(in, at);
            begin<Level + 1>(in, at);
        }
    }
    struct column {
        row_position at;  ///< with the first of the rows of weights
        row_values row;
        i32 packed_sum;
    };
    struct buffers {
        alignas(64) packed activations[unsigned(packed_elements)];
        alignas(64) i32 sums[columns_at_once + 1][rows_at_once];  // the last: products with ones
    };
    /// Products of some packed rows, in as few calls as there are registers for.
    static SINTER_FORCE_INLINE void multiply(const u8* weights, i64 step, int count, const packed* activations, i64 padded, i64 length, i32* sums, int columns, bool ahead) {
        constexpr bool counts = product::weights_count;
        while (columns >= 4) {
            products::template multiply<counts, 4>(weights, step, count, activations, padded, length, sums, rows_at_once, ahead);
            activations += 4 * padded, sums += 4 * rows_at_once, columns -= 4;
        }
        if (columns >= 2) {
            products::template multiply<counts, 2>(weights, step, count, activations, padded, length, sums, rows_at_once, ahead);
            activations += 2 * padded, sums += 2 * rows_at_once, columns -= 2;
        }
        if (columns == 1) products::template multiply<counts, 1>(weights, step, count, activations, padded, length, sums, rows_at_once, ahead);
    }
    template <int... Output>
    static SINTER_FORCE_INLINE void store_still(const row_context& in, const row_position& at, indices<Output...> some) {
        if constexpr (sizeof...(Output) > 0) rows::store_row(typename rows::row_frame{{in.assigned, in.bound, in.along}, in.once, in.row, at}, at, some);
    }
    static constexpr i64 padded(i64 count) { return (count + products::step - 1) / products::step * products::step; }
    /// Rows [first, stop) of weights with up to 16 rows of activations, which begin at `origin`.
    static SINTER_NOINLINE void some_columns(row_context& in, const loop_plan& loop, const row_position& origin, i64 first, i64 stop, int columns) {
        column all[columns_at_once];
        row_position place = origin;
        for (int c = 0; c < columns; ++c) {
            begin<0>(in, place);
            all[c].at = place;
            all[c].row = in.row;
            if (first == 0) store_still(in, place, selected<outputs_that<false>>{});
            advance(place, loop.column_step, 1);
        }
        // Activations are packed four rows at a time, or all when there are fewer, and as much of them as the buffer holds.
        buffers use;
        const i64 length = in.along.length, weight_step = loop.weight_step[weights_slot];
        const int with_ones = columns + extra_column, most = with_ones < 4 ? with_ones : 4;
        const i64 longest = packed_elements / most / products::step * products::step;
        const bool packs_once = with_ones <= most && length <= longest;
        for (i64 n = first; n < stop; n += rows_at_once) {
            const int count = int(stop - n < rows_at_once ? stop - n : rows_at_once);
            __builtin_memset(use.sums, 0, std::size_t(with_ones) * sizeof use.sums[0]);
            for (i64 k = 0; k < length; k += longest) {
                const i64 here = length - k < longest ? length - k : longest;
                const u8* const weights = static_cast<const u8*>(origin.pointer[weights_slot]) + n * weight_step + k;
                for (int c = 0; c < with_ones; c += most) {
                    const int some = with_ones - c < most ? with_ones - c : most;
                    for (int j = 0; j < some && (!packs_once || n == first); ++j) pack_column(in, all, c + j, columns, k, here, use.activations + j * padded(here));
                    multiply(weights, weight_step, count, use.activations, padded(here), here, use.sums[c], some, in.bound.prefetches);
                }
            }
            for (int c = 0; c < columns; ++c) {
                const u32 constant = u32(beside_weights) * u32(all[c].packed_sum) + u32(beside_weights) * u32(beside_activations) * u32(length);
                for (int r = 0; r < count; ++r) {
                    u32 sum = u32(use.sums[c][r]) + constant;
                    if constexpr (extra_column > 0) sum += u32(beside_activations) * u32(use.sums[columns][r]);
                    use.sums[c][r] = i32(sum);
                }
                row_position at = all[c].at;
                advance(at, loop.weight_step, n);
                finish(in, loop, all[c].row, at, use.sums[c], count);
            }
        }
    }
    static SINTER_FORCE_INLINE void pack_column(row_context& in, column (&all)[columns_at_once], int c, int columns, i64 begin, i64 count, packed* to) {
        if (c == columns) {  // ones
            for (i64 i = 0; i < padded(count); ++i) to[i] = i < count;
            return;
        }
        in.row = all[c].row;
        const i32 sum = pack(in, all[c].at, begin, count, to);
        all[c].packed_sum = begin == 0 ? sum : i32(u32(all[c].packed_sum) + u32(sum));
    }

    /// The driver's entry: rows of the nest in the order of the weights, so that threads share these.
    static SINTER_NOINLINE void run(const void* assigned, const call_binding& bound, const all_loops& along, i64 first_row, i64 stop_row, i64 begin_element,
                                    i64 stop_element) {
        loop_plan loop;
        if (bound.packs || !plan(along, loop)) {
            rows::run(assigned, bound, along, first_row, stop_row, begin_element, stop_element);
            return;
        }
        row_context in(*static_cast<const assignment_type*>(assigned), bound, along);
        const row_position start = work::origin(bound);
        rows::fill_once(in, start);
        const i64 first = (first_row + loop.columns - 1) / loop.columns, stop = (stop_row + loop.columns - 1) / loop.columns;
        for (i64 n = first; n < stop;) {
            const i64 number = n / loop.weights, begin = n % loop.weights;
            const i64 end = begin + (stop - n) < loop.weights ? begin + (stop - n) : loop.weights;
            odometer<slot_count> rest;
            rest.set(loop.rest, number);
            row_position at;
            rows::move_to(at, start, rest.offset);
            for (i64 c = 0; c < loop.columns; c += columns_at_once) {
                some_columns(in, loop, at, begin, end, int(loop.columns - c < columns_at_once ? loop.columns - c : columns_at_once));
                advance(at, loop.column_step, columns_at_once);
            }
            n += end - begin;
        }
    }
};

}  // namespace sinter::detail
