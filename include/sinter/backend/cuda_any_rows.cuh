// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over the lane axes on CUDA, for every layout: runs of several loop axes, any strides, a column rule around them, any
// number of dependent passes, any length. A group of 128 / pack threads folds a segment; a block takes a row, as many segments
// at a time as its shared memory holds summaries, and merges them in canonical order. Rows of one segment: a group per row.
// Few long rows are cut into units, aligned parts of the canonical tree: a block folds each, the last block of a row merges them.
// Row values that are folded in turn go to scratch, and the last block of all folds them (cuda_outer).
#pragma once

#include "cuda_fold.cuh"
#include "cuda_long_rows.cuh"  // what it leaves
#include "cuda_outer.cuh"
#include "cuda_rows.cuh"  // what it leaves

namespace sinter::detail::device {

template <class Kernel>
struct any_rows_facts : facts<Kernel, fold_facts_of<Kernel>::pack_of(4)> {
    using work = facts<Kernel, fold_facts_of<Kernel>::pack_of(4)>;
    static constexpr int pack = work::pack;
    static constexpr int group = order::lanes / pack;  ///< threads of a segment
    static constexpr int rounds = order::segment / order::lanes;
    /// Packs in flight. Where aligned rows go elsewhere, short ones (cuda_rows) and long ones (cuda_long_rows) or those aren't split, half a
    /// segment: the code is half as long.
    static constexpr bool is_fallback = row_facts_of<Kernel>::possible && (may_have_long_rows<Kernel>() || !fold_facts_of<Kernel>::splittable) &&
                                        !fold_facts_of<Kernel>::any_two_phase();
    static constexpr int batch = fold_facts_of<Kernel>::batch_of(pack, is_fallback ? rounds / 2 : rounds);
    static constexpr int threads = tuning_of<Kernel>::any_rows::threads, groups = threads / group;
    static constexpr bool has_columns = Kernel::table.inner != Kernel::table.inner_lane;
    static constexpr bool many_axes = lane_axis_count<Kernel>() > 1;
    /// Summaries in shared memory at a time: a power of two.
    static constexpr int most_tasks() {
        int tasks = 1024;
        while (tasks > 1 && tasks * fold_facts_of<Kernel>::summary_bytes() > tuning_of<Kernel>::any_rows::shared_bytes) tasks /= 2;
        return tasks;
    }
    static_assert(group <= 32, "a lane group is within a warp");
};

template <class Kernel>
struct any_rows_worker {
    using facts_type = any_rows_facts<Kernel>;
    using work = typename facts_type::work;
    using rows = typename work::rows;
    using eval = typename work::eval;
    template <int Pass, int Phase = 1>
    using phase = typename rows::template phase<Pass, Phase>;
    static constexpr int pack = facts_type::pack, group = facts_type::group, rounds = facts_type::rounds, batch = facts_type::batch,
                         count = work::count, last = work::last;
    using offsets = i64[count];

    const fold_parameters<Kernel>& in;
    unsigned char* shared;
    i64 (&offset)[count];  ///< of the row
    typename rows::once_values& once;
    typename rows::row_values& row;
    int member, own;       ///< the thread's place in its group, the group's in the block
    bool exists;           ///< false for a group without a row

    // ------------------------------------------------------------------------------------------------------- elements

    template <class Environment>
    struct frame : work::template element_frame<Environment> {
        const fold_parameters<Kernel>& all;
        template <int Instance>
        SINTER_INLINE auto coordinate() const {
            constexpr int slot = slots<Kernel>::template place<Instance>;
            const i64 place = this->position + this->lane;
            i64 step = 0;
            if constexpr (facts_type::many_axes) {
                i64 along[count] = {};
                advance<Kernel>(all, all.column_axes, all.lane_axes, place, along);
                step = along[slot];
            } else {
                step = place * all.lane_step[slot];
            }
            return family::value<i64>(all.base[slot] + this->offset[slot] + step);
        }
    };
    __device__ __forceinline__ typename work::common around(const offsets& at) const { return {in, once, row, at}; }

    template <int Instance>
    __device__ __forceinline__ void gather_one(typename work::operand_packs& to, const offsets& at, const offsets& along, int j, bool there) const {
        using storage = typename rows::template storage_of<Instance>;
        constexpr int slot = slots<Kernel>::template place<Instance>;
        auto& value = static_cast<typename work::template pack_slot<Instance>&>(to).value;
        value.at[j] = there ? static_cast<const storage*>(in.pointer[slot])[at[slot] + along[slot]] : storage{};
    }
    template <int... Instance>
    __device__ __forceinline__ void gather(typename work::operand_packs& to, const offsets& at, i64 position, i64 left, indices<Instance...>) const {
#pragma unroll
        for (int j = 0; j < pack; ++j) {
            i64 along[count] = {};
            if (j < left) advance<Kernel>(in, in.column_axes, in.lane_axes, position + j, along);
            (gather_one<Instance>(to, at, along, j, j < left), ...);
        }
    }
    /// Elements [position, position + pack) of a run whose slots begin at `at`; `left`: how many there are.
    __device__ __forceinline__ void load(typename work::operand_packs& to, const offsets& at, i64 position, i64 left) const {
        const selected<typename work::element_leaves> leaves{};
        if constexpr (facts_type::many_axes)
            if (in.lane_axes > 1) {
                gather(to, at, position, left, leaves);
                return;
            }
        load_run(to, at, position, left, leaves);
    }
    template <int... Instance>
    __device__ __forceinline__ void load_run(typename work::operand_packs& to, const offsets& at, i64 position, i64 left, indices<Instance...>) const {
        (load_run_of<Instance>(to, at, position, left), ...);
    }
    /// One by one where packs aren't whole and aligned, as most often here; behind the last element it again, so that no load has a branch of its
    /// own (odd rows of bf16: 1.8 times as fast).
    template <int Instance>
    __device__ __forceinline__ void load_run_of(typename work::operand_packs& to, const offsets& at, i64 position, i64 left) const {
        using storage = typename rows::template storage_of<Instance>;
        constexpr int slot = slots<Kernel>::template place<Instance>;
        auto& value = static_cast<typename work::template pack_slot<Instance>&>(to).value;
        const i64 step = in.lane_step[slot];
        const storage* from = static_cast<const storage*>(in.pointer[slot]) + at[slot] + position * step;
        if (in.is_wide(slot) && left >= pack) {
            load_whole(value, from);
        } else if (const int there = left < pack ? int(left) : pack; there > 0) {
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                value.at[j] = *from;
                from += j + 1 < there ? step : 0;
            }
        } else {
            value = {};
        }
    }
    template <int Output>
    __device__ __forceinline__ void scatter_one(const typename work::output_packs& from, const offsets& at, const offsets& along, int j) const {
        using storage = typename rows::template output_storage<Output>;
        constexpr int slot = slots<Kernel>::operands + Output;
        static_cast<storage*>(const_cast<void*>(in.pointer[slot]))[at[slot] + along[slot]] =
            static_cast<const sinter::slot<Output, typename work::template output_pack<Output>>&>(from).value.at[j];
    }
    template <int... Output>
    __device__ __forceinline__ void store(const typename work::output_packs& from, const offsets& at, i64 position, i64 left, indices<Output...> all) const {
        if constexpr (facts_type::many_axes)
            if (in.lane_axes > 1) {
#pragma unroll
                for (int j = 0; j < pack; ++j) {
                    if (j >= left) break;
                    i64 along[count] = {};
                    advance<Kernel>(in, in.column_axes, in.lane_axes, position + j, along);
                    (scatter_one<Output>(from, at, along, j), ...);
                }
                return;
            }
        work::store_packs(in, from, at, position, left, all);
    }

    // ------------------------------------------------------------------------------------------------------ lane rule

    template <int Pass, int Phase, class Context, class Firsts>
    __device__ __forceinline__ void walk(const offsets& at, i64 begin, i64 stop, i64 index_base, const Context& context, const Firsts& firsts,
                                         typename work::operand_packs (&held)[batch], typename phase<Pass, Phase>::states (&all)[pack]) const {
        using step = phase<Pass, Phase>;
        const typename step::list list{};
#pragma unroll
        for (int j = 0; j < pack; ++j) step::start(all[j], list);
#pragma unroll 1
        for (int q = 0; q < rounds; q += batch) {
            const i64 first = begin + q * order::lanes + member * pack;
            if (!(batch == rounds && Phase == 2)) {  // else they are held since the first phase
#pragma unroll
                for (int b = 0; b < batch; ++b)
                    if (first + b * order::lanes < stop) load(held[b], at, first + b * order::lanes, stop - first - b * order::lanes);
            }
#pragma unroll
            for (int b = 0; b < batch; ++b) {
                const i64 position = first + b * order::lanes;
#pragma unroll
                for (int j = 0; j < pack; ++j) {
                    if (position + j >= stop) continue;
                    typename rows::template pass_values<Pass> values;
                    const frame<typename rows::template pass_values<Pass>> here{{around(at), held[b], values, position, j}, in};
                    eval::fill(values, here, selected<needed_in_pass<Kernel, Pass>>{});
                    step::fold_in(here, all[j], context, firsts, position + j + index_base, list);
                }
            }
        }
#pragma unroll
        for (int distance = group / 2; distance > 0; distance /= 2)
#pragma unroll
            for (int j = 0; j < pack; ++j) step::combine(all[j], moved<rows, typename step::pick>(all[j], distance, group, list), list);
        combine_lanes<step, pack / 2>(all);
    }
    /// The strides within a pack. (A loop that halves isn't unrolled for 16 elements, whose states would lie in memory then.)
    template <class Step, int Stride>
    static __device__ __forceinline__ void combine_lanes(typename Step::states (&all)[pack]) {
        if constexpr (Stride > 0) {
#pragma unroll
            for (int j = 0; j < Stride; ++j) Step::combine(all[j], all[j + Stride], typename Step::list{});
            combine_lanes<Step, Stride / 2>(all);
        }
    }
    /// One segment; afterwards the group's first thread has the summary. All threads of a warp come here.
    template <int Pass, class Firsts>
    __device__ __forceinline__ void fold_segment(const offsets& at, i64 begin, i64 stop, i64 index_base, const Firsts& firsts,
                                                 typename rows::template summaries<Pass>& out) const {
        const typename rows::template folds<Pass> folds{};
        const typename rows::template two_phase_folds<Pass> two_phase{};
        typename work::operand_packs held[batch];
        typename phase<Pass>::states all[pack];
        typename phase<Pass>::contexts context;
        walk<Pass, 1>(at, begin, stop, index_base, context, firsts, held, all);
        typename rows::template two_phase_bundle<Pass, pick_second> second;
        if constexpr (rows::template pass_has_second<Pass>) {
            all[0] = moved<rows, pick_state>(all[0], -1, group, folds);
            rows::template one_lane<Pass>::settle(context, all[0], stop - begin, two_phase);
            typename phase<Pass, 2>::states seconds[pack];
            walk<Pass, 2>(at, begin, stop, index_base, context, firsts, held, seconds);
            second = seconds[0];
        }
        rows::template one_lane<Pass>::close(out, all[0], context, second, stop - begin, folds);
    }
    template <int Pass, int... Instance>
    __device__ __forceinline__ void first_elements(typename phase<Pass>::firsts& out, indices<Instance...>) const {
        typename work::operand_packs first;
        load(first, offset, 0, in.length);
        typename rows::template pass_values<Pass> values;
        const frame<typename rows::template pass_values<Pass>> here{{around(offset), first, values, 0, 0}, in};
        eval::fill(values, here, selected<needed_in_pass<Kernel, Pass>>{});
        ((rows::template member<pick_value, Instance>(out) = eval::template argument<Instance, 0>(here)), ...);
    }

    // -------------------------------------------------------------------------------------------------- a block's part

    /// Columns [first_column, stop_column), of each the segments [first_segment, stop_segment): an aligned part of the canonical tree.
    /// The result is valid in all threads. Parts of a column are never cut together with columns. With a row of one segment to each
    /// group there is nothing to merge. (All ways through one call of fold_segment: it is most of the kernel's code.)
    template <int Pass, class Firsts>
    __device__ __forceinline__ void fold_part(bool group_per_row, i64 first_column, i64 stop_column, i64 first_segment, i64 stop_segment, const Firsts& firsts,
                                              typename rows::template summaries<Pass>& result) const {
        using merge = pass_merge<Kernel, Pass>;
        using summary = typename merge::summary;
        using stack = pair_stack<summary, merge>;
        constexpr int groups = facts_type::groups;
        summary* const tasks = reinterpret_cast<summary*>(shared);
        stack segments_on_stack{tasks + in.capacity}, columns_on_stack{tasks + in.capacity + in.depth};
        summary& running = tasks[in.capacity + 2 * in.depth];
        const i64 segments = stop_segment - first_segment;
        const int wide = segments < in.capacity ? int(segments) : in.capacity;
        int tall = 1;
        if constexpr (facts_type::has_columns) {
            tall = in.capacity / wide;
            if (tall > order::column_segment) tall = tall / order::column_segment * order::column_segment;
        }
#pragma unroll 1
        for (i64 c = first_column; c < stop_column; c += tall) {
            const int columns = stop_column - c < tall ? int(stop_column - c) : tall;
#pragma unroll 1
            for (i64 s = first_segment; s < stop_segment; s += wide) {
                const int here = stop_segment - s < wide ? int(stop_segment - s) : wide;
                const int total = columns * here;
#pragma unroll 1
                for (int base = 0; base < total; base += groups) {
                    const int task = group_per_row ? 0 : base + own, column = facts_type::has_columns ? task / here : 0, segment = task - column * here;
                    const bool real = group_per_row ? exists : task < total;
                    i64 at[count];
#pragma unroll
                    for (int i = 0; i < count; ++i) at[i] = offset[i];
                    if constexpr (facts_type::has_columns)
                        if (real) advance<Kernel>(in, 0, in.column_axes, c + column, at);
                    const i64 begin = (s + segment) * order::segment;
                    i64 stop = begin + order::segment < in.length ? begin + order::segment : in.length;
                    if (!real) stop = begin;
                    summary now;
                    fold_segment<Pass>(at, begin, stop, (c + column) * in.length, firsts, now);
                    if (group_per_row) {
                        result = moved<rows, pick_summary>(now, -1, group, typename rows::template folds<Pass>{});
                        return;
                    }
                    if (real && member == 0) tasks[column * wide + segment] = now;
                }
                __syncthreads();
                merge_pairs<merge>(tasks, columns, here, wide);
                const bool whole = segments <= wide;  // each column is done with this chunk
                if constexpr (facts_type::has_columns) {
                    if (tall % order::column_segment == 0 && whole) {
                        for (int i = int(threadIdx.x) * order::column_segment; i < columns; i += int(blockDim.x) * order::column_segment) {
                            const int stop = i + order::column_segment < columns ? i + order::column_segment : columns;
                            summary all = tasks[i * wide];
#pragma unroll 1
                            for (int k = i + 1; k < stop; ++k) all = merge::merged(all, tasks[k * wide]);
                            tasks[i * wide] = all;
                        }
                        __syncthreads();
                    }
                }
                if (threadIdx.x == 0) {
                    if (!whole) segments_on_stack.push(tasks[0], (s - first_segment) / wide);
                    if constexpr (facts_type::has_columns) {
                        if (tall % order::column_segment == 0 && whole) {
#pragma unroll 1
                            for (int k = 0; k < columns; k += order::column_segment)
                                columns_on_stack.push(tasks[k * wide], (c - first_column + k) / order::column_segment);
                        } else if (whole || s + wide >= stop_segment) {
#pragma unroll 1
                            for (int k = 0; k < columns; ++k) {
                                const summary now = whole ? tasks[k * wide] : segments_on_stack.collapse();
                                const i64 number = c - first_column + k;
                                if (number % order::column_segment == 0)
                                    running = now;
                                else
                                    running = merge::merged(running, now);
                                if (number % order::column_segment == order::column_segment - 1 || c + k + 1 == stop_column)
                                    columns_on_stack.push(running, number / order::column_segment);
                            }
                        }
                    }
                }
                if (!whole || facts_type::has_columns) __syncthreads();
            }
        }
        if (threadIdx.x == 0) {
            if constexpr (facts_type::has_columns)
                tasks[0] = columns_on_stack.collapse();
            else if (segments > wide)
                tasks[0] = segments_on_stack.collapse();
        }
        __syncthreads();
        result = tasks[0];
        __syncthreads();
    }
    /// The merge of a row's units, which lie side by side in scratch.
    template <int Pass>
    __device__ __forceinline__ void merge_units(const typename rows::template summaries<Pass>* from, typename rows::template summaries<Pass>& result) const {
        using merge = pass_merge<Kernel, Pass>;
        using summary = typename merge::summary;
        summary* const tasks = reinterpret_cast<summary*>(shared);
        pair_stack<summary, merge> waiting{tasks + in.capacity};
#pragma unroll 1
        for (i64 first = 0; first < in.units; first += in.capacity) {
            const int here = in.units - first < in.capacity ? int(in.units - first) : in.capacity;
#pragma unroll 1
            for (int i = int(threadIdx.x); i < here; i += int(blockDim.x)) tasks[i] = from[first + i];
            __syncthreads();
            merge_pairs<merge>(tasks, 1, here, here);
            if (threadIdx.x == 0) waiting.push(tasks[0], first / in.capacity);
            __syncthreads();
        }
        if (threadIdx.x == 0) tasks[0] = waiting.collapse();
        __syncthreads();
        result = tasks[0];
        __syncthreads();
    }

    // --------------------------------------------------------------------------------------------------------- passes

    /// False for a block that isn't the last of its row.
    template <int Pass>
    __device__ __forceinline__ bool fold(bool group_per_row, i64 number_of_row, i64 number_of_unit) {
        const typename rows::template folds<Pass> folds{};
        typename rows::template summaries<Pass> result;
        rows::template one_lane<Pass>::nothing(result, folds);
        const bool something = in.length > 0 && in.columns > 0;
        typename phase<Pass>::firsts firsts;
        if constexpr (rows::template pass_has_second<Pass>)
            if (something) first_elements<Pass>(firsts, typename rows::template two_phase_folds<Pass>{});
        if (something) {
            constexpr bool splittable = fold_facts_of<Kernel>::splittable;
            const i64 segments = (in.length + order::segment - 1) / order::segment;
            // The part that this block takes: a unit of the row, or all of it.
            i64 part[2][2] = {{0, in.columns}, {0, segments}};
            if constexpr (splittable)
                if (in.units > 1) {
                    i64(&cut)[2] = part[facts_type::has_columns ? 0 : 1];
                    if (number_of_unit == 0) in.tickets.begin(number_of_row);
                    cut[0] = number_of_unit * in.unit;
                    if (cut[0] + in.unit < cut[1]) cut[1] = cut[0] + in.unit;
                }
            fold_part<Pass>(group_per_row, part[0][0], part[0][1], part[1][0], part[1][1], firsts, result);
            if constexpr (splittable)
                if (in.units > 1) {
                    using summary = typename rows::template summaries<Pass>;
                    summary* const partial = reinterpret_cast<summary*>(in.scratch) + number_of_row * in.units;
                    if (threadIdx.x == 0) partial[number_of_unit] = result;
                    if (!in.tickets.is_last_block(number_of_row, in.units, reinterpret_cast<u32*>(shared))) return false;
                    merge_units<Pass>(partial, result);
                }
        }
        rows::template finalize<Pass>(result, row, folds);
        return true;
    }
    template <int Pass>
    __device__ __forceinline__ bool passes(bool group_per_row, i64 number_of_row, i64 number_of_unit) {
        const typename work::row_frame here{around(offset)};
        eval::fill(row, here, selected<rows_after<Kernel, Pass - 1>>{});
        if constexpr (Pass < last) {
            if (!fold<Pass>(group_per_row, number_of_row, number_of_unit)) return false;
            return passes<Pass + 1>(group_per_row, number_of_row, number_of_unit);
        } else {
            return true;
        }
    }
    /// The last pass: elements of the row, by `threads` threads of which this is number `first`.
    __device__ __forceinline__ void store_elements(int first, int threads) const {
        if constexpr (work::stores_elements) {
            const i64 packs = (in.length + pack - 1) / pack, total = in.columns * packs;
            for (i64 i = first; i < total; i += threads) {
                i64 at[count];
#pragma unroll
                for (int s = 0; s < count; ++s) at[s] = offset[s];
                i64 place = i;
                if constexpr (facts_type::has_columns) {
                    i64 column;
                    place = divide(i, packs, column);
                    advance<Kernel>(in, 0, in.column_axes, column, at);
                }
                const i64 position = place * pack, left = in.length - position;
                typename work::operand_packs loaded;
                load(loaded, at, position, left);
                typename work::output_packs results;
                results_of(loaded, results, at, position, selected<element_outputs<Kernel>>{});
                store(results, at, position, left, selected<element_outputs<Kernel>>{});
            }
        }
    }
    template <int... Output>
    __device__ __forceinline__ void results_of(const typename work::operand_packs& loaded, typename work::output_packs& to, const offsets& at, i64 position,
                                               indices<Output...>) const {
        typename work::results_of_packs computed;
#pragma unroll
        for (int j = 0; j < pack; ++j) {
            typename rows::template pass_values<last> values;
            const frame<typename rows::template pass_values<last>> here{{around(at), loaded, values, position, j}, in};
            eval::fill(values, here, selected<needed_in_pass<Kernel, last>>{});
            (work::template result_one<Output>(here, computed), ...);
        }
        (work::template encode_one<Output>(computed, to), ...);
    }
};

template <class Kernel>
__global__ void __launch_bounds__(tuning_of<Kernel>::any_rows::threads, 1) run_any_rows(const __grid_constant__ fold_parameters<Kernel> in) {
    await_stream();
    using worker = any_rows_worker<Kernel>;
    using work = typename worker::work;
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const int own = int(threadIdx.x) / worker::group, member = int(threadIdx.x) % worker::group;
    const bool group_per_row = in.columns <= 1 && in.length <= order::segment;
    const i64 at_once = group_per_row ? worker::facts_type::groups : 1, parts = in.rows * in.units;
    typename worker::rows::once_values once;
    if constexpr (Kernel::table.outer != 0)
        if (blockIdx.x == 0) in.tickets.begin(0);
    for (i64 first = i64(blockIdx.x) * at_once; first < parts; first += i64(gridDim.x) * at_once) {
        i64 number = group_per_row ? first + own : first, unit = 0;
        const bool exists = number < parts;
        if (!exists) number = 0;
        if (in.units > 1) unit = divide(number, in.units, number);
        i64 offset[work::count];
        work::offsets_of_row(in, number, offset);
        typename worker::rows::row_values row;
        worker thread{in, shared_memory, offset, once, row, member, own, exists};
        const typename work::row_frame frame{thread.around(offset)};
        worker::eval::fill(once, frame, selected<at_place<Kernel, site::once>>{});
        if (!thread.template passes<1>(group_per_row, number, unit)) continue;
        if (exists) thread.store_elements(group_per_row ? member : int(threadIdx.x), group_per_row ? worker::group : int(blockDim.x));
        if (exists && (group_per_row ? member == 0 : threadIdx.x == 0)) {
            work::store_row(frame, selected<row_outputs<Kernel>>{});
            if constexpr (Kernel::table.outer != 0) outer_worker<Kernel>::keep(in, frame, number);
        }
    }
    if constexpr (Kernel::table.outer != 0) outer_worker<Kernel>::finish(in, once, shared_memory);
}

// ------------------------------------------------------------------------------------------------------------- the launch

/// Decides how a call is cut; `given` has its loops. Bytes of workspace that it needs, the tickets first.
template <class Kernel>
i64 plan_any_rows(fold_parameters<Kernel>& given) {
    using worker = any_rows_facts<Kernel>;
    using fold = fold_facts_of<Kernel>;
    const i64 segments = (given.length + order::segment - 1) / order::segment;
    given.units = 1;
    given.unit = 0;
    given.capacity = worker::most_tasks();
    while (given.capacity > 64 && given.capacity / 2 >= given.columns * segments) given.capacity /= 2;
    i64 scratch = 0;
    if constexpr (fold::splittable) {
        const i64 parts = worker::has_columns ? (given.columns + order::column_segment - 1) / order::column_segment : segments;
        // A part has as many tasks as keep the groups of a block busy, and is a power of two of them.
        if (given.rows > 0 && given.rows < tuning_of<Kernel>::any_rows::split_rows && given.columns * segments >= tuning_of<Kernel>::any_rows::split_from && parts > 1) {
            i64 unit = worker::has_columns ? 1 : worker::groups;
            while ((parts + unit - 1) / unit * given.rows > tuning_of<Kernel>::any_rows::blocks) unit *= 2;
            given.units = (parts + unit - 1) / unit;
            given.unit = worker::has_columns ? unit * order::column_segment : unit;
            if (given.units > 1) scratch = ticket_bytes(given.rows) + given.rows * given.units * fold::summary_bytes();
        }
    }
    if constexpr (Kernel::table.outer != 0) scratch = ticket_bytes(1) + outer_worker<Kernel>::scratch_bytes(given.rows);
    // The stacks take chunks of segments, 64-segments of columns, units of a row.
    const i64 chunks = segments / given.capacity + 1;
    const i64 most = given.columns / order::column_segment + 1 > chunks ? given.columns / order::column_segment + 1 : chunks;
    given.depth = bits_of(most > given.units ? most : given.units) + 1;
    return scratch;
}
template <class Kernel>
status launch_any_rows(fold_parameters<Kernel>& given, unsigned char* workspace, cudaStream_t stream) {
    using worker = any_rows_facts<Kernel>;
    const bool group_per_row = given.columns <= 1 && given.length <= order::segment;
    const i64 parts = given.rows * given.units, at_once = group_per_row ? worker::groups : 1;
    i64 blocks = (parts + at_once - 1) / at_once;
    if (blocks > 0x7fffffff) blocks = 0x7fffffff;
    if (blocks == 0) blocks = 1;  // no rows, and a reduction over them
    u64 shared = u64(given.capacity + 2 * given.depth + 1) * u64(fold_facts_of<Kernel>::summary_bytes());
    if constexpr (Kernel::table.outer != 0) {
        if (blocks > tuning_of<Kernel>::any_rows::blocks) blocks = tuning_of<Kernel>::any_rows::blocks;
        const u64 outer = outer_worker<Kernel>::shared_bytes();
        if (outer > shared) shared = outer;
    }
    if (group_per_row && Kernel::table.outer == 0) shared = 0;
    if (given.units > 1 || Kernel::table.outer != 0) given.take(workspace, Kernel::table.outer != 0 ? 1 : given.rows);
    static kernel_handles known;
    return start(known, run_any_rows<Kernel>, dim3(unsigned(blocks)), dim3(worker::threads), shared, stream, given);
}

}  // namespace sinter::detail::device
