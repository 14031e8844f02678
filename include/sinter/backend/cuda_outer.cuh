// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over row values on CUDA: each row's value goes to scratch, the last block folds all of them by the lane rule, a warp per
// segment of 1024 rows, four lanes a thread, and stores what depends on the results. fold.hpp does the same on hosts.
#pragma once

#include "cuda_fold.cuh"

namespace sinter::detail::device {

template <class Kernel>
struct outer_worker {
    using work = facts<Kernel>;
    using rows = typename work::rows;
    using eval = typename work::eval;
    using list = selected<outer_folds<Kernel>>;
    template <int Instance>
    using types = fold_types<Kernel, family, Instance>;
    static constexpr int capacity = 64, stack = 48;  ///< summaries in shared memory; stack for 2^48 * 64 segments
    static constexpr int lanes = order::lanes / 32;

    static SINTER_INLINE i64 padded(i64 bytes) { return (bytes + 15) / 16 * 16; }
    template <int... Instance>
    static constexpr i64 bytes_of(i64 count, indices<Instance...>) {
        return (padded(count * i64(sizeof(typename types<Instance>::element))) + ... + i64(0));
    }
    static constexpr i64 scratch_bytes(i64 count) { return bytes_of(count, list{}); }
    template <int... Instance>
    static constexpr u64 largest(indices<Instance...>) {
        u64 most = 4;
        ((most = most > sizeof(typename types<Instance>::summary) ? most : sizeof(typename types<Instance>::summary)), ...);
        return most;
    }
    static constexpr u64 shared_bytes() { return (capacity + stack) * largest(list{}); }

    /// The values that row number `row` gives to each fold.
    template <class Frame, int... Instance>
    static __device__ __forceinline__ void keep_all(const fold_parameters<Kernel>& in, const Frame& frame, i64 row, indices<Instance...>) {
        unsigned char* at = in.scratch;
        ((reinterpret_cast<typename types<Instance>::element*>(at)[row] = first(eval::template argument<Instance, 0>(frame)),
          at += padded(in.rows * i64(sizeof(typename types<Instance>::element)))), ...);
    }
    template <class Frame>
    static __device__ __forceinline__ void keep(const fold_parameters<Kernel>& in, const Frame& frame, i64 row) {
        keep_all(in, frame, row, list{});
    }

    template <int Instance>
    struct merge {
        using summary = typename types<Instance>::summary;
        static __device__ __forceinline__ summary merged(const summary& a, const summary& b) {
            if constexpr (types<Instance>::two_phase)
                return types<Instance>::monoid::merge(a, b);
            else
                return types<Instance>::monoid::combine(a, b);
        }
    };
    template <class State, class Combine>
    static __device__ __forceinline__ void tree(State (&all)[lanes], const Combine& combine) {
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2)
#pragma unroll
            for (int j = 0; j < lanes; ++j) all[j] = combine(all[j], lane::transform(from_neighbour{distance, 32}, all[j]));
#pragma unroll
        for (int stride = lanes / 2; stride > 0; stride /= 2)
#pragma unroll
            for (int j = 0; j < stride; ++j) all[j] = combine(all[j], all[j + stride]);
    }
    /// Rows [begin, stop) of one segment; the warp's first thread has the summary.
    template <int Instance>
    static __device__ __forceinline__ typename types<Instance>::summary segment(const typename types<Instance>::element* from, i64 begin, i64 stop) {
        using monoid = typename types<Instance>::monoid;
        using value = typename types<Instance>::value;
        using element = typename types<Instance>::element;
        using state = typename types<Instance>::state;
        const int member = int(threadIdx.x) % 32;
        const value shift(from[0]);
        state all[lanes];
#pragma unroll
        for (int j = 0; j < lanes; ++j) all[j] = monoid::template identity<value>();
        for (i64 round = begin; round < stop; round += order::lanes)
#pragma unroll
            for (int j = 0; j < lanes; ++j) {
                const i64 place = round + member * lanes + j;
                if (place >= stop) continue;
                const value x(from[place]);
                if constexpr (types<Instance>::two_phase)
                    all[j] = monoid::combine(all[j], monoid::lift(x, shift));
                else if constexpr (monoids::takes_index<monoid>)
                    all[j] = monoid::combine(all[j], monoid::lift(x, lane::scalar<i64>(place)));
                else
                    all[j] = monoid::combine(all[j], monoid::lift(x));
            }
        tree(all, [](const state& a, const state& b) { return state(monoid::combine(a, b)); });
        if constexpr (types<Instance>::two_phase) {
            using second = typename types<Instance>::second_state;
            const value size(sinter::convert<element>(stop - begin));
            const auto context = monoid::settle(lane::transform(from_neighbour{-1, 32}, all[0]), size);
            second seconds[lanes];
#pragma unroll
            for (int j = 0; j < lanes; ++j) seconds[j] = monoid::template identity_second<value>();
            for (i64 round = begin; round < stop; round += order::lanes)
#pragma unroll
                for (int j = 0; j < lanes; ++j) {
                    const i64 place = round + member * lanes + j;
                    if (place < stop) seconds[j] = monoid::combine_second(seconds[j], monoid::lift_second(value(from[place]), shift, context));
                }
            tree(seconds, [](const second& a, const second& b) { return second(monoid::combine_second(a, b)); });
            return monoid::close(context, seconds[0], size);
        } else {
            return all[0];
        }
    }
    template <int Instance>
    static __device__ __forceinline__ typename types<Instance>::element fold(const fold_parameters<Kernel>& in, const unsigned char* scratch, unsigned char* shared) {
        using summary = typename types<Instance>::summary;
        const typename types<Instance>::element* const from = reinterpret_cast<const typename types<Instance>::element*>(scratch);
        summary* const tasks = reinterpret_cast<summary*>(shared);
        pair_stack<summary, merge<Instance>> waiting{tasks + capacity};
        const i64 segments = (in.rows + order::segment - 1) / order::segment;
        const int warp = int(threadIdx.x) / 32, warps = int(blockDim.x) / 32;
        for (i64 done = 0; done < segments; done += capacity) {
            const int here = segments - done < capacity ? int(segments - done) : capacity;
            for (int i = warp; i < here; i += warps) {
                const i64 begin = (done + i) * order::segment, stop = begin + order::segment < in.rows ? begin + order::segment : in.rows;
                const summary now = segment<Instance>(from, begin, stop);
                if (threadIdx.x % 32 == 0) tasks[i] = now;
            }
            __syncthreads();
            merge_pairs<merge<Instance>>(tasks, 1, here, here);
            if (threadIdx.x == 0) waiting.push(tasks[0], done / capacity);
            __syncthreads();
        }
        if (threadIdx.x == 0) tasks[0] = segments > 0 ? waiting.collapse() : types<Instance>::find_summary();
        __syncthreads();
        const summary all = tasks[0];
        __syncthreads();
        return first(types<Instance>::monoid::finalize(all));
    }

    /// Values known after all rows, at the origin.
    struct frame {
        const fold_parameters<Kernel>& in;
        const typename rows::once_values& once;
        const typename rows::after_values& after;
        const i64 (&offset)[work::count];
        SINTER_INLINE const auto& operands() const { return in.assigned.operands; }
        SINTER_INLINE i64 folded_count(u32 folded) const {
            i64 product = 1;
            for (int a = 0; a < Kernel::axes; ++a) product *= folded >> a & 1 ? in.folded_size[a] : 1;
            return product;
        }
        template <int Instance>
        SINTER_INLINE const auto& value() const {
            if constexpr (Kernel::where[Instance] == site::once)
                return static_cast<const typename rows::template value_slot<Instance>&>(once).value;
            else
                return static_cast<const typename rows::template value_slot<Instance>&>(after).value;
        }
    };
    template <int... Output>
    static __device__ __forceinline__ void store(const frame& from, indices<Output...>) {
        (lane::store(static_cast<typename rows::template output_storage<Output>*>(const_cast<void*>(from.in.pointer[slots<Kernel>::operands + Output])),
                     rows::template stored_value<Output>(from)), ...);
    }
    template <int... Instance>
    static __device__ __forceinline__ void finish_all(const fold_parameters<Kernel>& in, const typename rows::once_values& once, unsigned char* shared,
                                                      indices<Instance...>) {
        if (!in.tickets.is_last_block(0, gridDim.x, reinterpret_cast<u32*>(shared))) return;
        typename rows::after_values after;
        const unsigned char* from = in.scratch;
        ((static_cast<typename rows::template value_slot<Instance>&>(after).value = instance_value<Kernel, family, Instance>(fold<Instance>(in, from, shared)),
          from += padded(in.rows * i64(sizeof(typename types<Instance>::element)))), ...);
        const i64 origin[work::count] = {};
        const frame here{in, once, after, origin};
        eval::fill(after, here, selected<at_place<Kernel, site::after>>{});
        if (threadIdx.x == 0) store(here, selected<after_outputs<Kernel>>{});
    }
    static __device__ __forceinline__ void finish(const fold_parameters<Kernel>& in, const typename rows::once_values& once, unsigned char* shared) {
        finish_all(in, once, shared, list{});
    }
};

}  // namespace sinter::detail::device
