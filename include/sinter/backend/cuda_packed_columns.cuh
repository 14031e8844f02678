// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One fold over the rows of a matrix whose columns are read in whole packs: sums, means and variances of columns at the speed of memory.
// A thread owns a pack of neighbouring columns and folds several neighbouring segments of 64 rows one after the other, merging them as it
// goes; only then do the threads of a block meet, and the last block of a group of columns merges the blocks' results. So several blocks
// share a multiprocessor, and one computes while others wait for memory. cuda_columns.cuh has every other layout.
#pragma once

#include "cuda_columns.cuh"

namespace sinter::detail::device {

template <class Kernel>
struct packed_columns_facts {
    using worker = columns_worker<Kernel>;
    using fold = fold_facts_of<Kernel>;
    using tuning = typename tuning_of<Kernel>::packed_columns;
    static constexpr bool possible = worker::packed_elsewhere;
    static constexpr int least_blocks =
        worker::holds || fold::any_two_phase() || worker::pack * fold::state_bytes() > tuning::much_state ? tuning::blocks_of_much : tuning::blocks_of_little;
    static constexpr int wave = cuda_table<arch_of<Kernel>()>::card.multiprocessors * least_blocks;  ///< blocks: each has as many segments as that leaves
};

template <class Kernel>
struct packed_columns_worker : columns_worker<Kernel> {
    using base = columns_worker<Kernel>;
    using typename base::eval;
    using typename base::rows;
    using typename base::work;
    using base::across, base::column, base::count, base::down, base::in, base::left, base::offset, base::pack, base::position, base::shared, base::x, base::y;
    using summary = typename base::template summary<1>;
    using merge = pass_merge<Kernel, 1>;
    static constexpr bool holds_segments = base::holds && rows::template pass_has_second<1>;

    /// Place in shared memory of this thread's summary of column j on a level of its stack.
    __device__ __forceinline__ summary& cell(int level, int line, int j) const {
        return reinterpret_cast<summary*>(shared)[((level * down + line) * pack + j) * across + x];
    }
    /// Merges parts [0, parts) of every column in canonical order: a thread those from y * each on, then the block. `each` is a power of
    /// two; `produce(n, out)` gives number n. The result is valid in the threads of line 0.
    /// `Ahead` of them are produced together.
    template <int Ahead, class Produce>
    __device__ __forceinline__ void merge_lines(int parts, int each, const Produce& produce, summary (&result)[pack]) const {
        const int begin = y * each, behind = left > 0 ? parts - begin : 0;
        const int own = behind < each ? behind : each;
        int depth = 0;
#pragma unroll 1
        for (int first = 0; first < own; first += Ahead) {
            summary now[Ahead][pack];
#pragma unroll
            for (int a = 0; a < Ahead; ++a)
                if (first + a < own) produce(begin + first + a, now[a]);
#pragma unroll
            for (int a = 0; a < Ahead; ++a) {
                if (first + a >= own) continue;
#pragma unroll 1
                for (int bits = first + a; bits & 1; bits >>= 1) {
                    --depth;
#pragma unroll
                    for (int j = 0; j < pack; ++j) now[a][j] = merge::merged(cell(depth, y, j), now[a][j]);
                }
#pragma unroll
                for (int j = 0; j < pack; ++j) cell(depth, y, j) = now[a][j];
                ++depth;
            }
        }
#pragma unroll 1
        for (; depth > 1; --depth)
#pragma unroll
            for (int j = 0; j < pack; ++j) cell(depth - 2, y, j) = merge::merged(cell(depth - 2, y, j), cell(depth - 1, y, j));
        __syncthreads();
        // Lines that have something to give are those from whose first part on there is one.
#pragma unroll 1
        for (int step = 1; step < down && step * each < parts; step *= 2) {
            if ((y & (2 * step - 1)) == 0 && y + step < down && begin + step * each < parts)
#pragma unroll
                for (int j = 0; j < pack; ++j) cell(0, y, j) = merge::merged(cell(0, y, j), cell(0, y + step, j));
            __syncthreads();
        }
#pragma unroll
        for (int j = 0; j < pack; ++j) result[j] = cell(0, 0, j);
    }

    /// Where the operands' packs of a row lie; a step from row to row is one addition each. The steps are held beside them: read from the
    /// parameters for each row, since loads may change what memory is, they would follow one another.
    struct row_pointers {
        const unsigned char* at[count];
        i64 step[count];
    };
    template <int... Instance>
    __device__ __forceinline__ void point_to(row_pointers& to, int row, indices<Instance...>) const {
        ((to.step[slots<Kernel>::template place<Instance>] =
              in.inner_step[0][slots<Kernel>::template place<Instance>] * i64(sizeof(typename rows::template storage_of<Instance>))), ...);
        ((to.at[slots<Kernel>::template place<Instance>] = reinterpret_cast<const unsigned char*>(
              static_cast<const typename rows::template storage_of<Instance>*>(in.pointer[slots<Kernel>::template place<Instance>]) +
              (offset[slots<Kernel>::template place<Instance>] + position + i64(row) * in.inner_step[0][slots<Kernel>::template place<Instance>]))),
         ...);
    }
    template <int... Instance>
    __device__ __forceinline__ void load_row(row_pointers& from, typename work::operand_packs& to, indices<Instance...>) const {
        ((load_whole(static_cast<typename work::template pack_slot<Instance>&>(to).value, from.at[slots<Kernel>::template place<Instance>]),
          from.at[slots<Kernel>::template place<Instance>] += from.step[slots<Kernel>::template place<Instance>]),
         ...);
    }
    template <int Phase, class Contexts, class Firsts>
    __device__ __forceinline__ void fold_row(int row, const typename work::operand_packs& loaded, typename base::template phase<1, Phase>::states (&all)[pack],
                                             const Contexts& context, const Firsts& firsts) const {
        using step = typename base::template phase<1, Phase>;
        i64 at[count];
        this->place_of_single(row, at);
#pragma unroll
        for (int j = 0; j < pack; ++j) {
            typename rows::template pass_values<1> values;
            const typename work::template element_frame<typename rows::template pass_values<1>> here{this->around(j, at), loaded, values, position, j};
            eval::fill(values, here, selected<needed_in_pass<Kernel, 1>>{});
            step::fold_in(here, all[j], context[j], firsts[j], i64(row), typename step::list{});
        }
    }
    /// Rows from `row` on, as long as there are `Batch`. Untested, so that no load waits for another one's sum.
    template <int Phase, int Batch, class Contexts, class Firsts>
    __device__ __forceinline__ void walk_batches(int& row, int stop, row_pointers& from, typename base::template phase<1, Phase>::states (&all)[pack],
                                                 const Contexts& context, const Firsts& firsts) const {
#pragma unroll 1
        for (; row + Batch <= stop; row += Batch) {
            typename work::operand_packs loaded[Batch];
#pragma unroll
            for (int b = 0; b < Batch; ++b) load_row(from, loaded[b], selected<typename work::element_leaves>{});
#pragma unroll
            for (int b = 0; b < Batch; ++b) fold_row<Phase>(row + b, loaded[b], all, context, firsts);
        }
    }
    template <int Phase, class Contexts, class Firsts>
    __device__ __forceinline__ void walk_packs(int begin, int stop, typename base::template phase<1, Phase>::states (&all)[pack], const Contexts& context,
                                               const Firsts& firsts) const {
        constexpr int batch = base::batch;
#pragma unroll
        for (int j = 0; j < pack; ++j) base::template phase<1, Phase>::start(all[j], typename base::template phase<1, Phase>::list{});
        row_pointers from;
        point_to(from, begin, selected<typename work::element_leaves>{});
        int row = begin;
        walk_batches<Phase, batch>(row, stop, from, all, context, firsts);
        if constexpr (batch > 2) walk_batches<Phase, 2>(row, stop, from, all, context, firsts);
        if constexpr (batch > 1) walk_batches<Phase, 1>(row, stop, from, all, context, firsts);
    }
    /// A whole segment in registers, for both phases of a fold. `from` is where it begins, and then where the next one does.
    template <int Phase, class Contexts, class Firsts>
    __device__ __forceinline__ void walk_held(int begin, const typename work::operand_packs (&held)[order::column_segment],
                                              typename base::template phase<1, Phase>::states (&all)[pack], const Contexts& context, const Firsts& firsts) const {
#pragma unroll
        for (int j = 0; j < pack; ++j) base::template phase<1, Phase>::start(all[j], typename base::template phase<1, Phase>::list{});
#pragma unroll
        for (int b = 0; b < order::column_segment; ++b) fold_row<Phase>(begin + b, held[b], all, context, firsts);
    }
    template <int... Instance>
    static __device__ __forceinline__ void forget(typename work::operand_packs& held, indices<Instance...>) {
        (forget_unpacked(static_cast<typename work::template pack_slot<Instance>&>(held).value), ...);
    }
    template <class Firsts>
    __device__ __forceinline__ void fold_held(int segment, row_pointers& from, const Firsts& firsts, summary (&out)[pack]) const {
        const int begin = segment * order::column_segment;
        typename work::operand_packs held[order::column_segment];
#pragma unroll
        for (int b = 0; b < order::column_segment; ++b) load_row(from, held[b], selected<typename work::element_leaves>{});
        typename base::template phase<1>::states all[pack];
        typename base::template phase<1>::contexts context[pack];
        typename rows::template two_phase_bundle<1, pick_second> second[pack];
        walk_held<1>(begin, held, all, context, firsts);
#pragma unroll
        for (int j = 0; j < pack; ++j) rows::template one_lane<1>::settle(context[j], all[j], order::column_segment, typename rows::template two_phase_folds<1>{});
#pragma unroll
        for (int b = 0; b < order::column_segment; ++b) forget(held[b], selected<typename work::element_leaves>{});
        walk_held<2>(begin, held, second, context, firsts);
#pragma unroll
        for (int j = 0; j < pack; ++j) rows::template one_lane<1>::close(out[j], all[j], context[j], second[j], order::column_segment, typename rows::template folds<1>{});
    }
    template <class Firsts>
    __device__ __forceinline__ void fold_packs(int segment, const Firsts& firsts, summary (&out)[pack]) const {
        constexpr bool second_phase = rows::template pass_has_second<1>;
        const int begin = segment * order::column_segment, behind = int(in.columns) - begin;
        const int there = behind < order::column_segment ? behind : order::column_segment;
        typename base::template phase<1>::states all[pack];
        typename base::template phase<1>::contexts context[pack];
        typename rows::template two_phase_bundle<1, pick_second> second[pack];
        const auto settle = [&] {
#pragma unroll
            for (int j = 0; j < pack; ++j) rows::template one_lane<1>::settle(context[j], all[j], there, typename rows::template two_phase_folds<1>{});
        };
        walk_packs<1>(begin, begin + there, all, context, firsts);
        if constexpr (second_phase) {
            settle();
            walk_packs<2>(begin, begin + there, second, context, firsts);
        }
#pragma unroll
        for (int j = 0; j < pack; ++j) rows::template one_lane<1>::close(out[j], all[j], context[j], second[j], there, typename rows::template folds<1>{});
    }
    /// The columns' results. Only the last block of a group of columns has them: false elsewhere.
    __device__ __forceinline__ bool fold_all(int group) const {
        if (in.units > 1 && blockIdx.y == 0) in.tickets.begin(group);
        summary result[pack];
        typename base::template phase<1>::firsts firsts[pack];
        if constexpr (rows::template pass_has_second<1>) this->template first_elements<1>(firsts, typename rows::template two_phase_folds<1>{});
        const int segments = int((in.columns + order::column_segment - 1) / order::column_segment), each = int(in.unit);
        const int begin = int(blockIdx.y) * each * down, behind = segments - begin;
        const int parts = behind < each * down ? behind : each * down;
        [[maybe_unused]] row_pointers from;
        if constexpr (holds_segments) point_to(from, (begin + y * each) * order::column_segment, selected<typename work::element_leaves>{});
        merge_lines<1>(parts, each, [&](int number, summary (&out)[pack]) {
            const int segment = begin + number;
            if constexpr (holds_segments)
                if ((i64(segment) + 1) * order::column_segment <= in.columns) return fold_held(segment, from, firsts, out);
            fold_packs(segment, firsts, out);
        }, result);
        if (in.units > 1) {
            const int units = int(in.units), width = pack * across;
            summary* const partial = reinterpret_cast<summary*>(in.scratch) + i64(group) * units * width;
            if (y == 0)
#pragma unroll
                for (int j = 0; j < pack; ++j) partial[int(blockIdx.y) * width + j * across + x] = result[j];
            if (!in.tickets.is_last_block(group, units, reinterpret_cast<u32*>(shared))) return false;
            constexpr int ahead = pack * int(sizeof(summary)) > 64 ? 1 : pack * int(sizeof(summary)) > 16 ? 2 : 8;
            merge_lines<ahead>(units, in.capacity, [&](int number, summary (&out)[pack]) {
#pragma unroll
                for (int j = 0; j < pack; ++j) out[j] = partial[number * width + j * across + x];
            }, result);
        }
#pragma unroll
        for (int j = 0; j < pack; ++j) rows::template finalize<1>(result[j], column[j], typename rows::template folds<1>{});
        return true;
    }
};

/// Grid: groups of columns of all outer rows along x, parts of the rows along y.
template <class Kernel>
__global__ void __launch_bounds__(tuning_of<Kernel>::packed_columns::threads, packed_columns_facts<Kernel>::least_blocks)
    run_packed_columns(const __grid_constant__ fold_parameters<Kernel> in) {
    await_stream();
    using worker = packed_columns_worker<Kernel>;
    using work = typename worker::work;
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const int across = int(blockDim.x), x = int(threadIdx.x);
    const i64 width = i64(across) * worker::pack;
    i64 outer_row = 0, group = blockIdx.x;
    if (in.rows > 1) group = divide(blockIdx.x, (in.length + width - 1) / width, outer_row);
    const i64 position = group * width + i64(x) * worker::pack;
    i64 offset[work::count];
    work::offsets_of_row(in, outer_row, offset);
    typename worker::rows::once_values once;
    typename worker::rows::row_values column[worker::pack];
    worker thread{{in, shared_memory, offset, once, column, position, in.length - position, across, int(blockDim.y), x, int(threadIdx.y)}};
    worker::eval::fill(once, typename work::row_frame{thread.around(0, offset)}, selected<at_place<Kernel, site::once>>{});
    thread.template fill_columns<1>();
    if (!thread.fold_all(int(blockIdx.x))) return;
    thread.template fill_columns<2>();
    if (threadIdx.y == 0) thread.store_columns(selected<row_outputs<Kernel>>{});
}

/// Whether a call's rows are one loop over whole packs, and how it is cut then; bytes of workspace that it needs, the tickets first.
template <class Kernel>
bool plan_packed_columns(fold_parameters<Kernel>& given, columns_shape& shape, i64& bytes) {
    using tuning = typename tuning_of<Kernel>::packed_columns;
    constexpr int pack = columns_worker<Kernel>::pack;
    if (!given.all_wide || given.column_axes != 1 || given.length % pack != 0 || given.columns <= 0 || given.columns > 0x7fffff00) return false;
    const i64 packs = given.length / pack, segments = (given.columns + order::column_segment - 1) / order::column_segment;
    shape.across = tuning::across;
    while (shape.across > 1 && shape.across / 2 >= packs) shape.across /= 2;
    shape.down = tuning::threads / shape.across;
    while (shape.down > 1 && shape.down / 2 >= segments) shape.down /= 2;
    shape.groups = (packs + shape.across - 1) / shape.across * given.rows;
    if (shape.groups > 0x7fffffff) return false;
    i64 each = 1;
    const auto units = [&] { return (segments + each * shape.down - 1) / (each * shape.down); };
    while (units() > 1 && (shape.groups * units() > packed_columns_facts<Kernel>::wave || units() > 65535)) each *= 2;
    given.unit = each;
    given.units = units();
    int merged = 1;  // of the blocks' results, by each line of the last block
    while (i64(merged) * shape.down < given.units) merged *= 2;
    given.capacity = merged;
    given.depth = bits_of(each > merged ? each : merged);
    const i64 summaries = i64(pack) * shape.across;
    shape.shared = u64(given.depth * shape.down * summaries) * u64(fold_facts_of<Kernel>::summary_bytes());
    if (shape.shared < 16) shape.shared = 16;
    bytes = given.units > 1 ? ticket_bytes(shape.groups) + shape.groups * given.units * summaries * fold_facts_of<Kernel>::summary_bytes() : 0;
    return shape.shared <= 49152;
}

/// How a call is cut, by the kernel that it gets; bytes of workspace that it needs.
template <class Kernel>
i64 plan_column_folds(fold_parameters<Kernel>& given, columns_shape& shape) {
    if constexpr (packed_columns_facts<Kernel>::possible) {
        i64 bytes = 0;
        shape.packed = plan_packed_columns(given, shape, bytes);
        if (shape.packed) return bytes;
    }
    return plan_columns<Kernel>(given, shape);
}
template <class Kernel>
status launch_column_folds(fold_parameters<Kernel>& given, const columns_shape& shape, unsigned char* workspace, cudaStream_t stream) {
    if constexpr (packed_columns_facts<Kernel>::possible) {
        static kernel_handles of_packed;
        if (shape.packed) return launch_columns(of_packed, run_packed_columns<Kernel>, given, shape, workspace, stream);
    }
    static kernel_handles of_all;
    return launch_columns(of_all, run_columns<Kernel>, given, shape, workspace, stream);
}

}  // namespace sinter::detail::device
