// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over the lane axes on CUDA, in the canonical order (order.hpp). A thread's pack of neighbouring elements is as many of
// the 128 lanes, so that 128 / pack threads, a group, walk a segment in 8 rounds, all 8 loads in flight; the lane tree is shuffles
// among them. Rows of one segment: a group per row. Longer ones: a block per row, a group per segment, and as long as each
// segment has its group, the row stays in registers through all passes.
#pragma once

#include "cuda_call.cuh"

namespace sinter::detail::device {

template <class Value>
__device__ __forceinline__ Value move_down(Value from, int distance, int group) {
    using element = typename Value::element;
    Value out = from;
    if constexpr (sizeof(element) == 8) {
        unsigned long long bits;
        __builtin_memcpy(&bits, &from.value, 8);
        bits = distance < 0 ? __shfl_sync(~0u, bits, 0, group) : __shfl_down_sync(~0u, bits, static_cast<unsigned>(distance), group);
        __builtin_memcpy(&out.value, &bits, 8);
    } else {
        unsigned bits = 0;
        __builtin_memcpy(&bits, &from.value, sizeof(element));
        bits = distance < 0 ? __shfl_sync(~0u, bits, 0, group) : __shfl_down_sync(~0u, bits, static_cast<unsigned>(distance), group);
        __builtin_memcpy(&out.value, &bits, sizeof(element));
    }
    return out;
}
/// Receives from the thread `distance` further on in a group; a negative distance: from the group's first.
struct from_thread {
    int distance, group;
    template <class Value>
    __device__ __forceinline__ Value operator()(Value from) const {
        return move_down(from, distance, group);
    }
};

template <class Kernel>
struct row_facts : facts<Kernel> {
    using work = facts<Kernel>;
    static constexpr int group = order::lanes / work::pack;  ///< threads of a segment
    static constexpr int rounds = order::segment / order::lanes;
    static constexpr int pack_bytes() {
        int bytes = 0;
        for (int i = 0; i < Kernel::instances; ++i)
            if (work::is_element_leaf(i)) bytes += work::pack * dtype_size(Kernel::leaf_type[Kernel::node[Kernel::table.at[i].node].bits].type);
        return bytes;
    }
    /// What a thread holds (rounds x pack bytes) decides how many fit a multiprocessor.
    static constexpr int most_threads = pack_bytes() <= 16 ? 512 : 256;
    static_assert(group <= 32, "a lane group is within a warp");
};

template <class Kernel>
struct row_worker {
    using work = row_facts<Kernel>;
    using rows = typename work::rows;
    using eval = typename work::eval;
    template <int Pass, int Phase = 1>
    using phase = typename rows::template phase<Pass, Phase>;
    static constexpr int pack = work::pack, group = work::group, rounds = work::rounds, last = work::last;

    const parameters<Kernel>& in;
    unsigned char* shared;
    i64 offset[work::count];
    i64 length;    ///< of the row; 0 for a group without one
    int segments, member, segment_of_group, groups;
    bool resident;
    typename rows::once_values once;
    typename rows::row_values row;
    typename work::operand_packs held[rounds];

    template <int Pass = 1>
    static constexpr u64 summary_bytes() {
        constexpr u64 own = sizeof(typename rows::template summaries<Pass>);
        if constexpr (Pass + 1 < last) {
            constexpr u64 others = summary_bytes<Pass + 1>();
            return own > others ? own : others;
        } else {
            return own;
        }
    }
    __device__ __forceinline__ typename work::common around() const { return {in, once, row, offset}; }
    __device__ __forceinline__ typename work::row_frame row_frame() const { return {around()}; }

    __device__ __forceinline__ void load_segment(i64 begin) {
#pragma unroll
        for (int q = 0; q < rounds; ++q) {
            const i64 position = begin + q * order::lanes + member * pack;
            if (position < length)
                work::load(in, held[q], offset, position, length - position, selected<typename work::element_leaves>{});
        }
    }
    /// One segment from `held`; afterwards the group's first thread has the total.
    template <int Pass, int Phase, class Context, class Firsts>
    __device__ __forceinline__ void fold_segment(i64 begin, i64 stop, typename phase<Pass, Phase>::states& total, const Context& context,
                                                 const Firsts& firsts) const {
        using step = phase<Pass, Phase>;
        const typename step::list list{};
        typename step::states all[pack];
#pragma unroll
        for (int j = 0; j < pack; ++j) step::start(all[j], list);
#pragma unroll
        for (int q = 0; q < rounds; ++q) {
            const i64 position = begin + q * order::lanes + member * pack;
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                if (position + j >= stop) continue;
                typename rows::template pass_values<Pass> values;
                const typename work::template element_frame<typename rows::template pass_values<Pass>> frame{around(), held[q], values, position, j};
                eval::fill(values, frame, selected<needed_in_pass<Kernel, Pass>>{});
                step::fold_in(frame, all[j], context, firsts, position + j, list);
            }
        }
#pragma unroll
        for (int distance = group / 2; distance > 0; distance /= 2)
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                const auto other = moved<typename step::pick>(all[j], distance, list);
                step::combine(all[j], other, list);
            }
#pragma unroll
        for (int stride = pack / 2; stride > 0; stride /= 2)
#pragma unroll
            for (int j = 0; j < stride; ++j) step::combine(all[j], all[j + stride], list);
        total = all[0];
    }
    template <class Pick, class Bundle, int... Instance>
    static __device__ __forceinline__ Bundle moved(const Bundle& from, int distance, indices<Instance...>) {
        Bundle out = from;
        ((rows::template member<Pick, Instance>(out) = lane::transform(from_thread{distance, group}, rows::template member<Pick, Instance>(from))), ...);
        return out;
    }
    template <int Pass, int... Instance>
    __device__ __forceinline__ void first_elements(typename phase<Pass>::firsts& out, indices<Instance...>) const {
        typename work::operand_packs first;
        work::load(in, first, offset, 0, length, selected<typename work::element_leaves>{});
        typename rows::template pass_values<Pass> values;
        const typename work::template element_frame<typename rows::template pass_values<Pass>> frame{around(), first, values, 0, 0};
        eval::fill(values, frame, selected<needed_in_pass<Kernel, Pass>>{});
        ((rows::template member<pick_value, Instance>(out) = eval::template argument<Instance, 0>(frame)), ...);
    }
    template <int Pass>
    __device__ __forceinline__ void fold() {
        const typename rows::template folds<Pass> folds{};
        const typename rows::template two_phase_folds<Pass> two_phase{};
        using summary = typename rows::template summaries<Pass>;
        summary* const list_of_segments = reinterpret_cast<summary*>(shared);
        summary result;
        rows::template nothing<Pass>(result, folds);
        typename phase<Pass>::firsts firsts;
        if constexpr (rows::template pass_has_second<Pass>)
            if (length > 0) first_elements<Pass>(firsts, two_phase);
        for (int first = 0; first < segments; first += groups) {
            const int number = segments == 1 ? 0 : first + segment_of_group;
            const i64 begin = i64(number) * order::segment, stop = begin + order::segment < length ? begin + order::segment : length;
            if (Pass == 1 || !resident) load_segment(begin);
            typename phase<Pass>::states total;
            typename phase<Pass>::contexts context;
            typename rows::template two_phase_bundle<Pass, pick_second> second;
            fold_segment<Pass, 1>(begin, stop, total, context, firsts);
            if constexpr (rows::template pass_has_second<Pass>) {
                total = moved<pick_state>(total, -1, folds);
                rows::template settle<Pass>(context, total, stop - begin, two_phase);
                fold_segment<Pass, 2>(begin, stop, second, context, firsts);
            }
            summary now;
            rows::template close<Pass>(now, total, context, second, stop - begin, folds);
            if (segments == 1)
                result = length > 0 ? moved<pick_summary>(now, -1, folds) : moved<pick_summary>(result, -1, folds);
            else if (member == 0 && number < segments)
                list_of_segments[number] = now;
        }
        if (segments > 1) {
            summary *from = list_of_segments, *to = list_of_segments + segments;
            __syncthreads();
            for (int left = segments; left > 1; left = (left + 1) / 2) {
                for (int i = int(threadIdx.x); i < (left + 1) / 2; i += int(blockDim.x)) {
                    if (2 * i + 1 < left)
                        rows::template merge<Pass>(to[i], from[2 * i], from[2 * i + 1], folds);
                    else
                        to[i] = from[2 * i];
                }
                __syncthreads();
                summary* const other = from;
                from = to;
                to = other;
            }
            result = from[0];
            __syncthreads();
        }
        rows::template finalize<Pass>(result, row, folds);
    }
    template <int Pass>
    __device__ __forceinline__ void passes() {
        eval::fill(row, row_frame(), selected<rows_after<Kernel, Pass - 1>>{});
        if constexpr (Pass < last) {
            fold<Pass>();
            passes<Pass + 1>();
        }
    }
    __device__ __forceinline__ void store_elements() {
        if constexpr (work::stores_elements)
            for (int first = 0; first < segments; first += groups) {
                const i64 begin = segments == 1 ? 0 : i64(first + segment_of_group) * order::segment;
                if (!resident) load_segment(begin);
#pragma unroll
                for (int q = 0; q < rounds; ++q) {
                    const i64 position = begin + q * order::lanes + member * pack;
                    if (position >= length) continue;
                    typename work::output_packs results;
                    work::results_of(around(), held[q], results, position, selected<element_outputs<Kernel>>{});
                    work::store_packs(in, results, offset, position, length - position, selected<element_outputs<Kernel>>{});
                }
            }
    }
};

template <class Kernel>
__global__ void __launch_bounds__(row_facts<Kernel>::most_threads) run_rows(const __grid_constant__ parameters<Kernel> in) {
    using worker = row_worker<Kernel>;
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const int groups = int(blockDim.x) / worker::group, own = int(threadIdx.x) / worker::group;
    const int segments = int((in.length + order::segment - 1) / order::segment);
    const bool group_per_row = segments <= 1;
    const i64 rows_of_block = group_per_row ? groups : 1;
    for (i64 first = i64(blockIdx.x) * rows_of_block; first < in.rows; first += i64(gridDim.x) * rows_of_block) {
        const i64 row = group_per_row ? first + own : first;
        const bool exists = row < in.rows;
        worker thread{in, shared_memory, {}, exists ? in.length : 0, segments > 1 ? segments : 1, int(threadIdx.x) % worker::group, own, groups,
                      segments <= groups};
        worker::work::offsets_of_row(in, exists ? row : 0, thread.offset);
        worker::eval::fill(thread.once, thread.row_frame(), selected<at_place<Kernel, site::once>>{});
        thread.template passes<1>();
        thread.store_elements();
        if (exists && thread.member == 0 && (group_per_row || own == 0))
            worker::work::store_row(thread.row_frame(), selected<row_outputs<Kernel>>{});
    }
}

}  // namespace sinter::detail::device
