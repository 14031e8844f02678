// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Row nests on CUDA at the speed of memory: every row is read once, into registers, and all passes run on it there. For one lane axis
// whose packs of 16 bytes are aligned; cuda_any_rows.cuh has the others.
//
// A thread's pack of neighbouring elements is as many of the 128 canonical lanes (order.hpp), so that 128 / pack threads, a group,
// hold a segment in 8 rounds, all 8 loads in flight. Rows of one segment: a group per row. Longer ones: a block per row, a group per
// segment; rows that exceed a block: a cluster of blocks, or, where one pass folds them in any order and there are many, a block that
// walks along the row. Each pass exchanges the segments' results once: through the block's shared memory and a barrier, or, in a
// cluster, by asynchronous stores to every block's shared memory that count on its mbarrier.
#pragma once

#include "cuda_row_division.cuh"
#include "cuda_row_worker.cuh"

namespace sinter::detail::device {

/// Short: a group per row. Long: a block per row, or a cluster.
template <class Kernel, int Rounds>
__global__ void __launch_bounds__(row_facts<Kernel>::bound_threads(Rounds), row_facts<Kernel>::bound_blocks(Rounds)) run_rows(const __grid_constant__ parameters<Kernel> in) {
    await_stream();
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    constexpr bool compiled = true;
#else
    constexpr bool compiled = row_facts<Kernel>::sharing != row_sharing::cluster;  // older cards have no clusters; nobody launches it there
#endif
    if constexpr (compiled) {
        using worker = row_worker<Kernel>;
        using work = typename worker::work;
        extern __shared__ __align__(16) unsigned char shared_memory[];
        const int own = int(threadIdx.x / unsigned(worker::group)), groups = int(blockDim.x / unsigned(worker::group));
        const int member = int(threadIdx.x % unsigned(worker::group));
        const int segments = work::template one_segment<Rounds> ? 1 : work::segments_of(in.length);
        unsigned row;  // (rows_fit: there are fewer than 2^31)
        int number;
        segment_exchange exchange;
        bool clustered = false;
        if constexpr (work::sharing != row_sharing::block && !work::template one_segment<Rounds>) {
            const int blocks = cluster_blocks();
            clustered = work::sharing == row_sharing::cluster || blocks > 1;
            if (clustered) {
                row = blockIdx.x / unsigned(blocks);
                number = cluster_rank() * groups + own;
                exchange = work::begin_exchange(shared_memory, segments, work::blocks_of(segments), make_indices<Kernel::levels>{});
            }
        }
        if (!clustered) {
            row = segments > 1 ? blockIdx.x : blockIdx.x * unsigned(groups) + unsigned(own);
            number = segments > 1 ? own : 0;
        }
        const unsigned rows = unsigned(in.rows);
        int turns = 1;
        if constexpr (work::streams) {
            if (work::holds_weights) {
                turns = int((rows - row + in.long_blocks - 1) / in.long_blocks);  // (row_worker::step_to_next)
            } else if (row < in.long_blocks) {
                turns = in.turns;
                if (!work::rows_lie_apart) row *= unsigned(turns);  // neighbours
            } else {  // one row, behind those of the blocks that take several
                row += in.long_blocks * unsigned(in.turns - 1);
            }
        }
        const bool exists = row < rows && number < segments;
        worker thread(in, shared_memory, exchange, segments, number, member, exists);
        if constexpr (work::streams) thread.turns = int(rows - row) < turns ? int(rows - row) : turns;
        if constexpr (Rounds == 1) {
            const unsigned all_groups = gridDim.x * unsigned(groups), second = row + all_groups;
            if (all_groups < rows) {  // (work::in_pairs)
                worker other(in, shared_memory, exchange, segments, number, member, second < rows);
                thread.template begin<Rounds>(row < rows ? row : 0u);
                other.template begin<Rounds>(second < rows ? second : 0u);
                thread.template finish<Rounds>();
                other.template finish<Rounds>();
                return;
            }
        }
        thread.template begin<Rounds>(row < rows ? row : 0u);
        if (clustered) {
            exchange.ready();
            // Nobody waits for warps without a segment, nor sends to blocks without one: several rows later they would be left behind.
            if ((number & -(32 / worker::group)) >= segments) return;
        }
        if constexpr (work::holds_weights) {
            thread.template finish_rows<Rounds>(row);
        } else {
            for (;;) {
                thread.template finish<Rounds>();
                if constexpr (!work::streams) return;
                if (!thread.goes_on()) return;
                if constexpr (work::streams) thread.take_next(selected<rows_after<Kernel, 0>>{});
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------------------- the launch

/// Do blocks walk along so many rows? Where three quarters of the places are taken that they have on the card, once or several times. (Of an H200 a
/// cross-entropy of 128256 is 13 to 4 % faster then than in clusters, and up to 3 % slower where the last ones are alone.)
template <class Kernel>
bool walks_fill(i64 rows) {
    constexpr i64 together = i64(cuda_table<arch_of<Kernel>()>::card.multiprocessors) * (tuning_of<Kernel>::rows::walking_threads / row_facts<Kernel>::block_threads);
    return rows >= together && rows * 4 >= (rows + together - 1) / together * together * 3;
}
/// Whether run_rows can take a call: whole aligned packs, a row that fits its threads, a grid of one block or cluster per row.
template <class Kernel>
bool rows_fit(const parameters<Kernel>& given) {
    using work = row_facts<Kernel>;
    if (given.length <= 0 || given.length % work::pack != 0 || given.length > work::longest) return false;
    if (given.rows > i64(0x7fffffff) / tuning_of<Kernel>::rows::most_blocks) return false;
    if (work::threads_of(given.length) > work::block_threads && !clusters_here()) return false;
    if constexpr (work::walks)
        if (!walks_fill<Kernel>(given.rows)) return false;
    for (int s = 0; s < work::count; ++s)
        if (work::moving_coordinates.has(s) && given.lane_step[s] != 1) return false;
    return work::whole_in_rows.is_within(given.wide);
}
/// A row gets a group, a block or a cluster, by its length.
template <class Kernel>
status launch_rows(parameters<Kernel>& given, cudaStream_t stream) {
    using work = row_facts<Kernel>;
    const i64 segments = given.length > order::segment ? (given.length + order::segment - 1) / order::segment : 1;
    const i64 wanted = work::threads_of(given.length);
    given.lasts = work::lasts(given.rows * given.length);
    if constexpr (work::may_fill_blocks) if (wanted <= work::block_threads) {
        i64 threads = segments == 1 ? tuning_of<Kernel>::rows::short_threads : wanted;
        // Few short rows: every multiprocessor has some.
        if (segments == 1)
            while (threads > 32 && given.rows * work::group < threads * cuda_table<arch_of<Kernel>()>::card.multiprocessors) threads /= 2;
        const i64 long_blocks = row_division<Kernel>::divide(given, threads, segments), rows_of_block = threads / work::group * (work::in_pairs(given) ? 2 : 1);
        const dim3 grid(unsigned(segments == 1 ? (given.rows + rows_of_block - 1) / rows_of_block : long_blocks)), block{unsigned(threads)};
        if constexpr (work::may_be_short) {
            static kernel_handles of_short;
            if (given.length <= order::lanes) return start(of_short, run_rows<Kernel, 1>, grid, block, 0, stream, given);
        }
        const u64 shared = work::shared_bytes(segments, threads, false);
        if constexpr (work::may_be_long) {
            static kernel_handles of_long;
            return start(of_long, run_rows<Kernel, work::long_rounds>, grid, block, shared, stream, given);
        }
    }
    if constexpr (work::may_be_long && work::may_need_clusters) {
        const auto [blocks, threads] = work::cluster_for(wanted);
        const i64 clusters = row_division<Kernel>::divide(given, blocks * threads, segments);
        static kernel_handles of_clusters;
        return start_cluster(of_clusters, run_rows<Kernel, work::long_rounds>, unsigned(blocks), dim3(unsigned(clusters * blocks)), dim3(unsigned(threads)),
                             work::shared_bytes(segments, threads, true), stream, given);
    }
    return {};
}

}  // namespace sinter::detail::device
