// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One fold of few long rows of whole aligned packs: the sum, product or loss of a whole tensor at the speed of memory. A block takes an
// aligned part of the canonical tree, a group of threads one segment of it after the other; the last block of a row merges the parts.
// The blocks are many and small in registers, so that several share a multiprocessor and all end at about one time. Two-phase folds,
// long formulas and every other layout are cuda_any_rows.cuh's.
#pragma once

#include "cuda_fold.cuh"
#include "cuda_launch.cuh"

namespace sinter::detail::device {

template <class Kernel>
constexpr bool may_have_long_rows() {
    if constexpr (Kernel::nest == nest_kind::rows && Kernel::table.inner == Kernel::table.inner_lane)
        return fold_facts_of<Kernel>::splittable && !fold_facts_of<Kernel>::any_two_phase() && !fold_facts_of<Kernel>::heavy;
    else
        return false;
}
/// Elements of a pack: codes of 8 bits have fewer than fill 16 bytes, since each takes registers for its state.
template <class Kernel>
constexpr int pack_of_long_rows() {
    return fold_facts_of<Kernel>::pack_of(4) < 8 ? 4 : 8;
}
template <class Kernel>
struct long_row_facts : facts<Kernel, pack_of_long_rows<Kernel>()> {
    using work = facts<Kernel, pack_of_long_rows<Kernel>()>;
    using fold = fold_facts_of<Kernel>;
    using tuning = typename tuning_of<Kernel>::long_rows;
    using work::pack;
    static constexpr int group = order::lanes / pack;  ///< threads of a segment
    static constexpr int rounds = order::segment / order::lanes, batch = fold::batch_of(pack, rounds);
    static constexpr int threads = tuning::threads, groups = threads / group;
    /// Parts that a thread of the last block merges in registers, at most: a power of two.
    static constexpr int find_merged() {
        int merged = 16;
        while (merged > 1 && merged * fold::summary_bytes() > 64) merged /= 2;
        return merged;
    }
    static constexpr int merged = find_merged();
    static_assert(group <= 32, "a group is within a warp");
};

template <class Kernel>
struct long_row_worker {
    using facts_type = long_row_facts<Kernel>;
    using work = typename facts_type::work;
    using rows = typename work::rows;
    using eval = typename work::eval;
    using step = typename rows::template phase<1, 1>;
    using summary = typename rows::template summaries<1>;
    using merge = pass_merge<Kernel, 1>;
    static constexpr int pack = facts_type::pack, group = facts_type::group, batch = facts_type::batch, count = work::count;

    const fold_parameters<Kernel>& in;
    const i64 (&offset)[count];  ///< of the row
    const typename rows::once_values& once;
    const typename rows::row_values& row;
    int member;  ///< thread of its group

    template <class Environment>
    struct frame : work::template element_frame<Environment> {
        template <int Instance>
        SINTER_INLINE auto coordinate() const {
            constexpr int slot = slots<Kernel>::template place<Instance>;
            return family::value<i64>(this->in.base[slot] + this->offset[slot] + (this->position + this->lane) * this->in.lane_step[slot]);
        }
    };
    template <int... Instance>
    __device__ __forceinline__ void load(typename work::operand_packs& to, i64 position, indices<Instance...>) const {
        (load_whole(static_cast<typename work::template pack_slot<Instance>&>(to).value,
                    static_cast<const typename rows::template storage_of<Instance>*>(in.pointer[slots<Kernel>::template place<Instance>]) +
                        (offset[slots<Kernel>::template place<Instance>] + position)),
         ...);
    }
    __device__ __forceinline__ void fold_pack(const typename work::operand_packs& held, i64 position, typename step::states (&all)[pack]) const {
        const typename step::list list{};
        const typename step::contexts context{};
        const typename step::firsts firsts{};
#pragma unroll
        for (int j = 0; j < pack; ++j) {
            typename rows::template pass_values<1> values;
            const frame<typename rows::template pass_values<1>> here{{{in, once, row, offset}, held, values, position, j}};
            eval::fill(values, here, selected<needed_in_pass<Kernel, 1>>{});
            step::fold_in(here, all[j], context, firsts, position + j, list);
        }
    }
    /// Elements [begin, stop), at most a segment; afterwards the group's first thread has the summary. All threads of a warp come here.
    __device__ __forceinline__ void fold_segment(i64 begin, i64 stop, summary& out) const {
        const typename step::list list{};
        const selected<typename work::element_leaves> leaves{};
        typename step::states all[pack];
#pragma unroll
        for (int j = 0; j < pack; ++j) step::start(all[j], list);
        i64 position = begin + member * pack;
        if (stop - begin == order::segment) {
#pragma unroll
            for (int first = 0; first < facts_type::rounds; first += batch) {
                typename work::operand_packs held[batch];
#pragma unroll
                for (int b = 0; b < batch; ++b) load(held[b], position + (first + b) * order::lanes, leaves);
#pragma unroll
                for (int b = 0; b < batch; ++b) fold_pack(held[b], position + (first + b) * order::lanes, all);
            }
        } else {
#pragma unroll 1
            for (; position < stop; position += order::lanes) {
                typename work::operand_packs held;
                load(held, position, leaves);
                fold_pack(held, position, all);
            }
        }
#pragma unroll
        for (int distance = group / 2; distance > 0; distance /= 2)
#pragma unroll
            for (int j = 0; j < pack; ++j) step::combine(all[j], moved<rows, typename step::pick>(all[j], distance, group, list), list);
#pragma unroll
        for (int stride = pack / 2; stride > 0; stride /= 2)
#pragma unroll
            for (int j = 0; j < stride; ++j) step::combine(all[j], all[j + stride], list);
        rows::template one_lane<1>::close(out, all[0], typename step::contexts{}, typename rows::template two_phase_bundle<1, pick_second>{}, stop - begin,
                                          typename rows::template folds<1>{});
    }
    /// Segments [first, stop) of the row, fewer than `tasks` has room for; their merge is its first.
    __device__ __forceinline__ void fold_part(i64 first, i64 stop, summary* tasks) const {
        const int there = int(stop - first), own = int(threadIdx.x) / group;
#pragma unroll 1
        for (int base = 0; base < there; base += facts_type::groups) {
            const bool real = base + own < there;
            const i64 begin = (first + base + own) * order::segment;
            const i64 behind = begin + order::segment < in.length ? begin + order::segment : in.length;
            summary now;
            fold_segment(begin, real ? behind : begin, now);
            if (real && member == 0) tasks[base + own] = now;
        }
        __syncthreads();
        merge_pairs<merge>(tasks, 1, there, there);
    }
    /// The merge of the row's parts: by each thread of neighbours, then by the block.
    __device__ __forceinline__ void merge_parts(const summary* from, summary* tasks) const {
        constexpr int most = facts_type::merged;
        const int units = int(in.units), each = in.capacity, begin = int(threadIdx.x) * each, there = units - begin;
        if (there > 0) {
            summary own[most];
#pragma unroll
            for (int i = 0; i < most; ++i)
                if (i < each) own[i] = from[begin + (i < there ? i : 0)];
#pragma unroll
            for (int stride = 1; stride < most; stride *= 2)
#pragma unroll
                for (int i = 0; i + stride < most; i += 2 * stride)
                    if (i + stride < each && i + stride < there) own[i] = merge::merged(own[i], own[i + stride]);
            tasks[threadIdx.x] = own[0];
        }
        __syncthreads();
        const int lists = (units + each - 1) / each;
        merge_pairs<merge>(tasks, 1, lists, lists);
    }
};

/// Grid: parts of a row along x, rows along y.
template <class Kernel>
__global__ void __launch_bounds__(long_row_facts<Kernel>::threads, tuning_of<Kernel>::long_rows::blocks_of_multiprocessor)
    run_long_rows(const __grid_constant__ fold_parameters<Kernel> in) {
    await_stream();
    using worker = long_row_worker<Kernel>;
    using work = typename worker::work;
    using rows = typename work::rows;
    using summary = typename worker::summary;
    extern __shared__ __align__(16) unsigned char shared_memory[];
    i64 offset[work::count];
    work::offsets_of_row(in, blockIdx.y, offset);
    typename rows::once_values once;
    typename rows::row_values row;
    const worker thread{in, offset, once, row, int(threadIdx.x) % worker::group};
    const typename work::row_frame frame{{in, once, row, offset}};
    worker::eval::fill(once, frame, selected<at_place<Kernel, site::once>>{});
    worker::eval::fill(row, frame, selected<rows_after<Kernel, 0>>{});
    summary* const tasks = reinterpret_cast<summary*>(shared_memory);
    if (in.units > 1 && blockIdx.x == 0) in.tickets.begin(blockIdx.y);
    const i64 first = i64(blockIdx.x) * in.unit, segments = (in.length + order::segment - 1) / order::segment;
    thread.fold_part(first, first + in.unit < segments ? first + in.unit : segments, tasks);
    if (in.units > 1) {
        summary* const partial = reinterpret_cast<summary*>(in.scratch) + i64(blockIdx.y) * in.units;
        if (threadIdx.x == 0) partial[blockIdx.x] = tasks[0];
        if (!in.tickets.is_last_block(blockIdx.y, in.units, reinterpret_cast<u32*>(shared_memory))) return;
        thread.merge_parts(partial, tasks);
    }
    if (threadIdx.x == 0) {
        rows::template finalize<1>(tasks[0], row, typename rows::template folds<1>{});
        worker::eval::fill(row, frame, selected<rows_after<Kernel, 1>>{});
        work::store_row(frame, selected<row_outputs<Kernel>>{});
    }
}

/// Whether a call's rows are whole aligned packs, and how it is cut then; bytes of workspace that it needs, the tickets first.
template <class Kernel>
bool plan_long_rows(fold_parameters<Kernel>& given, i64& bytes) {
    using facts = long_row_facts<Kernel>;
    if (!given.all_wide || given.lane_axes > 1 || given.columns != 1 || given.length <= 0 || given.length % facts::pack != 0 || given.rows > 65535) return false;
    const i64 segments = (given.length + order::segment - 1) / order::segment, most = facts::tuning::blocks / given.rows;
    i64 unit = facts::groups;
    const auto units = [&] { return (segments + unit - 1) / unit; };
    while (units() > 1 && (units() > most || units() > i64(facts::threads) * facts::merged)) unit *= 2;
    given.unit = unit;
    given.units = units();
    given.capacity = 1;
    while (i64(given.capacity) * facts::threads < given.units) given.capacity *= 2;
    bytes = given.units > 1 ? ticket_bytes(given.rows) + given.rows * given.units * facts::fold::summary_bytes() : 0;
    return unit * facts::fold::summary_bytes() <= tuning_of<Kernel>::any_rows::shared_bytes;
}
template <class Kernel>
status launch_long_rows(fold_parameters<Kernel>& given, unsigned char* workspace, cudaStream_t stream) {
    using facts = long_row_facts<Kernel>;
    const i64 tasks = given.unit > facts::threads ? given.unit : facts::threads;
    if (given.units > 1) given.take(workspace, given.rows);
    static kernel_handles known;
    return start(known, run_long_rows<Kernel>, dim3(unsigned(given.units), unsigned(given.rows)), dim3(facts::threads), u64(tasks) * u64(facts::fold::summary_bytes()),
                 stream, given);
}

}  // namespace sinter::detail::device
