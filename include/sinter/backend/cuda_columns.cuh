// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over outer axes on CUDA: a thread owns a pack of neighbouring columns and walks 64 rows in order, several rows in
// flight; threads of a block are arranged (across columns, down the segments of 64 rows), and the segments of each column merge
// pairwise in shared memory. Where no later pass reads the elements again, rows are split over blocks at powers of two of
// segments, so that each block's result is a node of the canonical tree; the last block of a group of columns merges them.
#pragma once

#include "cuda_fold.cuh"

namespace sinter::detail::device {

template <class Kernel>
struct columns_worker {
    /// Folds of two phases read a segment's rows twice: where a word of each of the 64 rows does for a pack, they stay in registers.
    static constexpr int bytes = fold_facts_of<Kernel>::element_bytes();
    static constexpr bool holds = fold_facts_of<Kernel>::any_two_phase() && fold_facts_of<Kernel>::cost <= tuning_of<Kernel>::columns::held_cost &&
                                  (bytes == 4 || bytes == 2) && facts<Kernel>::pack * bytes == 16;
    /// Smaller blocks where a thread holds much, two of them on a multiprocessor, so that one loads while another computes.
    static constexpr int threads = holds ? tuning_of<Kernel>::columns::held_threads : tuning_of<Kernel>::columns::threads;
    static constexpr int least_blocks = holds ? 2 : 1;
    static constexpr int pack = holds ? 4 / bytes : fold_facts_of<Kernel>::pack_of(1);
    using work = facts<Kernel, pack>;
    using rows = typename work::rows;
    using eval = typename work::eval;
    template <int Pass, int Phase = 1>
    using phase = typename rows::template phase<Pass, Phase>;
    /// Rows in flight: what a block of 512 threads has registers for.
    static constexpr int batch = holds ? 1 : fold_facts_of<Kernel>::batch_of(pack, fold_facts_of<Kernel>::cost > 8 || fold_facts_of<Kernel>::any_two_phase() ? 4 : 8);
    static constexpr int count = work::count, last = work::last;
    /// Whole packs of these go to run_packed_columns.
    static constexpr bool packed_elsewhere = fold_facts_of<Kernel>::splittable && fold_facts_of<Kernel>::element_bytes() > 0;
    using offsets = i64[count];

    const fold_parameters<Kernel>& in;
    unsigned char* shared;
    i64 (&offset)[count];   ///< of the outer row
    typename rows::once_values& once;
    typename rows::row_values (&column)[pack];
    i64 position, left;     ///< the thread's first column, and how many there are from it on; not above 0: none
    int across, down, x, y;

    __device__ __forceinline__ typename work::common around(int j, const offsets& at) const { return {in, once, column[j], at}; }
    /// Place of a column's values.
    __device__ __forceinline__ void place_of_column(int j, offsets& at) const {
#pragma unroll
        for (int s = 0; s < count; ++s) at[s] = offset[s] + (j < left ? position + j : 0) * in.lane_step[s];
    }
    __device__ __forceinline__ void place_of_row(i64 row, offsets& at) const {
#pragma unroll
        for (int s = 0; s < count; ++s) at[s] = offset[s];
        advance<Kernel>(in, 0, in.column_axes, row, at);
    }

    /// The same where the rows are one loop.
    __device__ __forceinline__ void place_of_single(i64 row, offsets& at) const {
#pragma unroll
        for (int s = 0; s < count; ++s) at[s] = offset[s] + row * in.inner_step[0][s];
    }

    // ---------------------------------------------------------------------------------------------------- column rule

    /// Rows [begin, stop) folded into the states of the pack's columns. With `Wide` all loads are whole packs, and rows are one loop.
    template <int Pass, int Phase, bool Wide, class Contexts, class Firsts>
    __device__ __forceinline__ void walk(i64 begin, i64 stop, typename phase<Pass, Phase>::states (&all)[pack], const Contexts& context, const Firsts& firsts) const {
        using step = phase<Pass, Phase>;
        const typename step::list list{};
        constexpr int rows_at_once = Wide ? batch : 1;
#pragma unroll 1
        for (i64 row = begin; row < stop; row += rows_at_once) {
            typename work::operand_packs loaded[rows_at_once];
            i64 at[rows_at_once][count];
#pragma unroll
            for (int b = 0; b < rows_at_once; ++b) {
                if (row + b >= stop) continue;
                if constexpr (Wide) {
                    place_of_single(row + b, at[b]);
                    load_wide(loaded[b], at[b], selected<typename work::element_leaves>{});
                } else {
                    place_of_row(row + b, at[b]);
                    work::load(in, loaded[b], at[b], position, left, selected<typename work::element_leaves>{});
                }
            }
#pragma unroll
            for (int b = 0; b < rows_at_once; ++b) {
                if (row + b >= stop) continue;
#pragma unroll
                for (int j = 0; j < pack; ++j) {
                    typename rows::template pass_values<Pass> values;
                    const typename work::template element_frame<typename rows::template pass_values<Pass>> here{around(j, at[b]), loaded[b], values, position, j};
                    eval::fill(values, here, selected<needed_in_pass<Kernel, Pass>>{});
                    step::fold_in(here, all[j], context[j], firsts[j], row + b, list);
                }
            }
        }
    }
    template <int... Instance>
    __device__ __forceinline__ void load_wide(typename work::operand_packs& to, const offsets& at, indices<Instance...>) const {
        (load_whole(static_cast<typename work::template pack_slot<Instance>&>(to).value,
                    static_cast<const typename rows::template storage_of<Instance>*>(in.pointer[slots<Kernel>::template place<Instance>]) +
                        at[slots<Kernel>::template place<Instance>] + position), ...);
    }
    template <int Pass, int Phase, class Contexts, class Firsts>
    __device__ __forceinline__ void fold_rows(i64 begin, i64 stop, typename phase<Pass, Phase>::states (&all)[pack], const Contexts& context, const Firsts& firsts) const {
#pragma unroll
        for (int j = 0; j < pack; ++j) phase<Pass, Phase>::start(all[j], typename phase<Pass, Phase>::list{});
        if constexpr (batch > 1 && !packed_elsewhere)
            if (in.all_wide && left >= pack && in.column_axes == 1) {
                walk<Pass, Phase, true>(begin, stop, all, context, firsts);
                return;
            }
        walk<Pass, Phase, false>(begin, stop, all, context, firsts);
    }
    template <int Pass, int... Instance>
    __device__ __forceinline__ void first_elements(typename phase<Pass>::firsts (&out)[pack], indices<Instance...>) const {
        typename work::operand_packs first;
        work::load(in, first, offset, position, left, selected<typename work::element_leaves>{});
#pragma unroll
        for (int j = 0; j < pack; ++j) {
            typename rows::template pass_values<Pass> values;
            const typename work::template element_frame<typename rows::template pass_values<Pass>> here{around(j, offset), first, values, position, j};
            eval::fill(values, here, selected<needed_in_pass<Kernel, Pass>>{});
            ((rows::template member<pick_value, Instance>(out[j]) = eval::template argument<Instance, 0>(here)), ...);
        }
    }
    /// Both phases over `there` rows in registers.
    template <int Pass, class Firsts>
    __device__ __forceinline__ void fold_held(i64 begin, int there, const Firsts& firsts, typename rows::template summaries<Pass> (&out)[pack]) const {
        typename work::operand_packs held[order::column_segment];
#pragma unroll
        for (int b = 0; b < order::column_segment; ++b) {
            if (b >= there) continue;
            i64 at[count];
            place_of_single(begin + b, at);
            load_wide(held[b], at, selected<typename work::element_leaves>{});
        }
        typename phase<Pass>::states all[pack];
        typename phase<Pass>::contexts context[pack];
        typename phase<Pass, 2>::states second[pack];
        fold_all_held<Pass, 1>(begin, there, held, all, context, firsts);
#pragma unroll
        for (int j = 0; j < pack; ++j) rows::template one_lane<Pass>::settle(context[j], all[j], there, typename rows::template two_phase_folds<Pass>{});
        fold_all_held<Pass, 2>(begin, there, held, second, context, firsts);
#pragma unroll
        for (int j = 0; j < pack; ++j)
            rows::template one_lane<Pass>::close(out[j], all[j], context[j], second[j], there, typename rows::template folds<Pass>{});
    }
    template <int Pass, int Phase, class Contexts, class Firsts>
    __device__ __forceinline__ void fold_all_held(i64 begin, int there, const typename work::operand_packs (&held)[order::column_segment],
                                                  typename phase<Pass, Phase>::states (&all)[pack], const Contexts& context, const Firsts& firsts) const {
        using step = phase<Pass, Phase>;
        const typename step::list list{};
#pragma unroll
        for (int j = 0; j < pack; ++j) step::start(all[j], list);
#pragma unroll
        for (int b = 0; b < order::column_segment; ++b) {
            if (b >= there) continue;
            i64 at[count];
            place_of_single(begin + b, at);
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                typename rows::template pass_values<Pass> values;
                const typename work::template element_frame<typename rows::template pass_values<Pass>> here{around(j, at), held[b], values, position, j};
                eval::fill(values, here, selected<needed_in_pass<Kernel, Pass>>{});
                step::fold_in(here, all[j], context[j], firsts[j], begin + b, list);
            }
        }
    }
    template <int Pass, class Firsts>
    __device__ __forceinline__ void fold_segment(i64 begin, i64 stop, const Firsts& firsts, typename rows::template summaries<Pass> (&out)[pack]) const {
        typename phase<Pass>::states all[pack];
        typename phase<Pass>::contexts context[pack];
        if constexpr (holds && !packed_elsewhere && rows::template pass_has_second<Pass>)
            if (in.all_wide && left >= pack && in.column_axes == 1) {
                fold_held<Pass>(begin, int(stop - begin), firsts, out);
                return;
            }
        fold_rows<Pass, 1>(begin, stop, all, context, firsts);
        if constexpr (rows::template pass_has_second<Pass>) {
            typename phase<Pass, 2>::states second[pack];
#pragma unroll
            for (int j = 0; j < pack; ++j) rows::template one_lane<Pass>::settle(context[j], all[j], stop - begin, typename rows::template two_phase_folds<Pass>{});
            fold_rows<Pass, 2>(begin, stop, second, context, firsts);
#pragma unroll
            for (int j = 0; j < pack; ++j)
                rows::template one_lane<Pass>::close(out[j], all[j], context[j], second[j], stop - begin, typename rows::template folds<Pass>{});
        } else {
            const typename rows::template two_phase_bundle<Pass, pick_second> none{};
#pragma unroll
            for (int j = 0; j < pack; ++j) rows::template one_lane<Pass>::close(out[j], all[j], context[j], none, stop - begin, typename rows::template folds<Pass>{});
        }
    }

    // ------------------------------------------------------------------------------------------------------ the merge

    template <int Pass>
    using summary = typename rows::template summaries<Pass>;
    /// Place of column j's summary: threads side by side keep side by side.
    __device__ __forceinline__ int place(int line, int j) const { return (line * pack + j) * across + x; }
    /// Merges `parts` summaries of every column, in order: `produce(n, out)` gives number n. The result is valid in all threads.
    template <int Pass, class Produce>
    __device__ __forceinline__ void merge_parts(i64 parts, const Produce& produce, summary<Pass> (&result)[pack]) const {
        using merge = pass_merge<Kernel, Pass>;
        summary<Pass>* const tasks = reinterpret_cast<summary<Pass>*>(shared);
        int depth = 0;
        for (i64 first = 0; first < parts; first += down) {
            const int here = parts - first < down ? int(parts - first) : down;
            if (y < here) {
                summary<Pass> now[pack];
                produce(first + y, now);
#pragma unroll
                for (int j = 0; j < pack; ++j) tasks[place(y, j)] = now[j];
            }
            __syncthreads();
            for (int step = 1; step < here; step *= 2) {
                if (y % (2 * step) == 0 && y + step < here)
#pragma unroll
                    for (int j = 0; j < pack; ++j) tasks[place(y, j)] = merge::merged(tasks[place(y, j)], tasks[place(y + step, j)]);
                __syncthreads();
            }
            if (parts > down) {
                int levels = 0;  // how many results of the stack this one completes
                for (i64 number = first / down; number & 1; number >>= 1) ++levels;
                if (y == 0)
#pragma unroll
                    for (int j = 0; j < pack; ++j) {
                        summary<Pass> now = tasks[place(0, j)];
                        for (int level = 0; level < levels; ++level) now = merge::merged(tasks[place(down + depth - 1 - level, j)], now);
                        tasks[place(down + depth - levels, j)] = now;
                    }
                depth += 1 - levels;
                __syncthreads();
            }
        }
        if (parts > down) {
            if (y == 0)
#pragma unroll
                for (int j = 0; j < pack; ++j) {
                    summary<Pass> now = tasks[place(down + depth - 1, j)];
                    for (int level = depth - 2; level >= 0; --level) now = merge::merged(tasks[place(down + level, j)], now);
                    tasks[place(0, j)] = now;
                }
            __syncthreads();
        }
#pragma unroll
        for (int j = 0; j < pack; ++j) result[j] = tasks[place(0, j)];
        __syncthreads();
    }

    // --------------------------------------------------------------------------------------------------------- passes

    template <int Pass>
    __device__ __forceinline__ bool fold(i64 group, i64 unit) {
        const typename rows::template folds<Pass> folds{};
        summary<Pass> result[pack];
#pragma unroll
        for (int j = 0; j < pack; ++j) rows::template one_lane<Pass>::nothing(result[j], folds);
        if (in.columns > 0) {
            typename phase<Pass>::firsts firsts[pack];
            if constexpr (rows::template pass_has_second<Pass>) first_elements<Pass>(firsts, typename rows::template two_phase_folds<Pass>{});
            const i64 segments = (in.columns + order::column_segment - 1) / order::column_segment;
            if constexpr (fold_facts_of<Kernel>::splittable)
                if (in.units > 1 && unit == 0) in.tickets.begin(group);
            const i64 base = unit * in.unit, parts = in.units > 1 ? (segments - base < in.unit ? segments - base : in.unit) : segments;
            merge_parts<Pass>(parts, [&](i64 number, summary<Pass> (&out)[pack]) {
                const i64 begin = (base + number) * order::column_segment;
                fold_segment<Pass>(begin, begin + order::column_segment < in.columns ? begin + order::column_segment : in.columns, firsts, out);
            }, result);
            if constexpr (fold_facts_of<Kernel>::splittable)
                if (in.units > 1) {
                    const i64 each = i64(pack) * across;
                    summary<Pass>* const partial = reinterpret_cast<summary<Pass>*>(in.scratch) + group * in.units * each;
                    if (y == 0)
#pragma unroll
                        for (int j = 0; j < pack; ++j) partial[unit * each + j * across + x] = result[j];
                    if (!in.tickets.is_last_block(group, in.units, reinterpret_cast<u32*>(shared))) return false;
                    merge_parts<Pass>(in.units, [&](i64 number, summary<Pass> (&out)[pack]) {
#pragma unroll
                        for (int j = 0; j < pack; ++j) out[j] = partial[number * each + j * across + x];
                    }, result);
                }
        }
#pragma unroll
        for (int j = 0; j < pack; ++j) rows::template finalize<Pass>(result[j], column[j], folds);
        return true;
    }
    /// Values of the columns that are known before a pass.
    template <int Pass>
    __device__ __forceinline__ void fill_columns() {
#pragma unroll
        for (int j = 0; j < pack; ++j) {
            i64 at[count];
            place_of_column(j, at);
            eval::fill(column[j], typename work::row_frame{around(j, at)}, selected<rows_after<Kernel, Pass - 1>>{});
        }
    }
    template <int Pass>
    __device__ __forceinline__ bool passes(i64 group, i64 unit) {
        fill_columns<Pass>();
        if constexpr (Pass < last) {
            if (!fold<Pass>(group, unit)) return false;
            return passes<Pass + 1>(group, unit);
        } else {
            return true;
        }
    }

    // --------------------------------------------------------------------------------------------------------- stores

    template <int... Output>
    __device__ __forceinline__ void results_of(const typename work::operand_packs& loaded, typename work::output_packs& to, const offsets& at,
                                               indices<Output...>) const {
        typename work::results_of_packs computed;
#pragma unroll
        for (int j = 0; j < pack; ++j) {
            typename rows::template pass_values<last> values;
            const typename work::template element_frame<typename rows::template pass_values<last>> here{around(j, at), loaded, values, position, j};
            eval::fill(values, here, selected<needed_in_pass<Kernel, last>>{});
            (work::template result_one<Output>(here, computed), ...);
        }
        (work::template encode_one<Output>(computed, to), ...);
    }
    /// Rows of the nest, a batch of them to each thread of the column.
    __device__ __forceinline__ void store_elements() const {
        if constexpr (work::stores_elements) {
            constexpr int at_once = batch > 4 ? 4 : batch;
            if (left <= 0) return;
#pragma unroll 1
            for (i64 row = i64(y) * at_once; row < in.columns; row += i64(down) * at_once) {
                typename work::operand_packs loaded[at_once];
                i64 at[at_once][count];
#pragma unroll
                for (int b = 0; b < at_once; ++b) {
                    if (row + b >= in.columns) continue;
                    place_of_row(row + b, at[b]);
                    work::load(in, loaded[b], at[b], position, left, selected<typename work::element_leaves>{});
                }
#pragma unroll
                for (int b = 0; b < at_once; ++b) {
                    if (row + b >= in.columns) continue;
                    typename work::output_packs results;
                    results_of(loaded[b], results, at[b], selected<element_outputs<Kernel>>{});
                    work::store_packs(in, results, at[b], position, left, selected<element_outputs<Kernel>>{});
                }
            }
        }
    }
    /// Outputs with one element per column, or with one in all.
    template <int Output>
    __device__ __forceinline__ void store_column_one(int j, const offsets& at) const {
        constexpr bool per_column = (Kernel::table.output_free[Output] & Kernel::vector_bit) != 0;
        if (j < left && (per_column || (j == 0 && position == 0))) work::template store_row_one<Output>(typename work::row_frame{around(j, at)});
    }
    template <int... Output>
    __device__ __forceinline__ void store_columns(indices<Output...>) const {
#pragma unroll
        for (int j = 0; j < pack; ++j) {
            i64 at[count];
            place_of_column(j, at);
            (store_column_one<Output>(j, at), ...);
        }
    }
};

/// Grid: groups of columns of all outer rows along x, units of rows along y.
template <class Kernel>
__global__ void __launch_bounds__(columns_worker<Kernel>::threads, columns_worker<Kernel>::least_blocks) run_columns(const __grid_constant__ fold_parameters<Kernel> in) {
    await_stream();
    using worker = columns_worker<Kernel>;
    using work = typename worker::work;
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const int across = int(blockDim.x), down = int(blockDim.y), x = int(threadIdx.x), y = int(threadIdx.y);
    const i64 width = i64(across) * worker::pack, groups = (in.length + width - 1) / width;
    typename worker::rows::once_values once;
    for (i64 group = blockIdx.x; group < groups * in.rows; group += gridDim.x) {
        i64 outer_row;
        const i64 position = divide(group, groups, outer_row) * width + i64(x) * worker::pack;
        i64 offset[work::count];
        work::offsets_of_row(in, outer_row, offset);
        typename worker::rows::row_values column[worker::pack];
        worker thread{in, shared_memory, offset, once, column, position, in.length - position, across, down, x, y};
        worker::eval::fill(once, typename work::row_frame{thread.around(0, offset)}, selected<at_place<Kernel, site::once>>{});
        if (!thread.template passes<1>(group, blockIdx.y)) continue;
        thread.store_elements();
        if (y == 0) thread.store_columns(selected<row_outputs<Kernel>>{});
    }
}

// ------------------------------------------------------------------------------------------------------------- the launch

struct columns_shape {
    bool packed = false;  ///< cuda_packed_columns.cuh
    int across, down;
    i64 groups;
    u64 shared;
};
/// Decides how a call is cut; bytes of workspace that it needs, the tickets first.
template <class Kernel>
i64 plan_columns(fold_parameters<Kernel>& given, columns_shape& shape) {
    using worker = columns_worker<Kernel>;
    using fold = fold_facts_of<Kernel>;
    const i64 packs = (given.length + worker::pack - 1) / worker::pack, segments = (given.columns + order::column_segment - 1) / order::column_segment;
    const auto groups_of = [&](int across) { return (packs + across - 1) / across * given.rows; };
    shape.across = tuning_of<Kernel>::columns::across;
    // Few columns: fewer side by side, as long as a row of a block still fills whole lines.
    const bool splits = fold::splittable && segments >= tuning_of<Kernel>::columns::split_from && groups_of(tuning_of<Kernel>::columns::across) < tuning_of<Kernel>::columns::split_groups;
    while (shape.across > 1 && (shape.across / 2 >= packs || (!splits && shape.across > tuning_of<Kernel>::columns::narrow &&
                                                              groups_of(shape.across) < tuning_of<Kernel>::columns::split_groups)))
        shape.across /= 2;
    shape.down = worker::threads / shape.across;
    while (shape.down > 1 && shape.down / 2 >= segments && (!worker::work::stores_elements || i64(shape.down) / 2 * 4 >= given.columns)) shape.down /= 2;
    given.units = 1;
    given.unit = 0;
    given.capacity = 0;
    const auto bytes = [&] {
        given.depth = bits_of((segments > given.units ? segments : given.units) / shape.down + 1) + 1;
        return u64(shape.down + given.depth) * u64(worker::pack * shape.across) * u64(fold::summary_bytes());
    };
    while (bytes() > tuning_of<Kernel>::columns::shared_bytes && shape.down > 4) shape.down /= 2;
    while (bytes() > tuning_of<Kernel>::columns::shared_bytes && shape.across > 1) shape.across /= 2;
    shape.groups = groups_of(shape.across);
    i64 scratch = 0;
    if (splits && segments > shape.down) {
        i64 unit = shape.down;
        while ((segments + unit - 1) / unit * shape.groups > tuning_of<Kernel>::columns::blocks || (segments + unit - 1) / unit > 65535) {
            if (segments <= unit) break;
            unit *= 2;
        }
        given.units = (segments + unit - 1) / unit;
        given.unit = unit;
        if (given.units > 1)
            scratch = ticket_bytes(shape.groups) + shape.groups * given.units * worker::pack * shape.across * fold::summary_bytes();
    }
    shape.shared = bytes();
    return scratch;
}
template <class Kernel>
status launch_columns(kernel_handles& known, void (*run)(fold_parameters<Kernel>), fold_parameters<Kernel>& given, const columns_shape& shape, unsigned char* workspace, cudaStream_t stream) {
    i64 blocks = shape.groups;
    if (given.units > 1) given.take(workspace, shape.groups);
    if (blocks > 0x7fffffff) blocks = 0x7fffffff;
    return start(known, run, dim3(unsigned(blocks), unsigned(given.units)), dim3(unsigned(shape.across), unsigned(shape.down)), shape.shared, stream, given);
}

}  // namespace sinter::detail::device
