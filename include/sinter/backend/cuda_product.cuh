// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of a matrix of codes and some vectors (code_product.hpp) on CUDA: a warp takes a row of weights, 16 bytes a thread at a time,
// and up to 16 rows of activations, which lie in the caches; dp4a sums four products an instruction. Exact sums have no order to keep.
// For factors that lie in memory as such, in rows of whole packs; cuda_rows.cuh and cuda_any_rows.cuh have the others.
#pragma once

#include "../code_product.hpp"
#include "cuda_call.cuh"
#include "cuda_launch.cuh"

namespace sinter::detail::device {

/// Data, apart from the algorithm. 8 loads of 16 bytes a thread are more than the memory's latency needs.
struct product_tuning {
    static constexpr int threads = 128, loads = 8, most_columns = 16;
};

/// a . b + c over four bytes each. Written out where there is no such instruction: on the host of the emulated device.
template <bool LeftCounts, bool RightCounts>
__device__ __forceinline__ int four_products(unsigned left, unsigned right, int sum) {
#if SINTER_DEVICE_PASS
    int out;
    if constexpr (LeftCounts && RightCounts)
        asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(out) : "r"(left), "r"(right), "r"(sum));
    else if constexpr (LeftCounts)
        asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(out) : "r"(left), "r"(right), "r"(sum));
    else if constexpr (RightCounts)
        asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(out) : "r"(left), "r"(right), "r"(sum));
    else
        asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(out) : "r"(left), "r"(right), "r"(sum));
    return out;
#else
    u32 all = u32(sum);
    for (int i = 0; i < 32; i += 8) {
        const i32 a = LeftCounts ? i32(left >> i & 255) : i32(i8(left >> i & 255)), b = RightCounts ? i32(right >> i & 255) : i32(i8(right >> i & 255));
        all += u32(a * b);
    }
    return int(all);
#endif
}
/// Weights pass once: they needn't displace the activations in the first-level cache.
__device__ __forceinline__ uint4 load_once(const void* from) {
    uint4 out;
#if SINTER_DEVICE_PASS
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(out.x), "=r"(out.y), "=r"(out.z), "=r"(out.w) : "l"(from));
#else
    __builtin_memcpy(&out, from, 16);
#endif
    return out;
}

template <class Kernel>
struct product_worker {
    using work = facts<Kernel, 16>;
    using rows = typename work::rows;
    using eval = typename work::eval;
    using product = code_product_facts<Kernel>;
    static constexpr int count = work::count;
    static constexpr int weights_slot = slots<Kernel>::template place<product::weights>, activations_slot = slots<Kernel>::template place<product::activations>;

    template <int... Word>
    static __device__ __forceinline__ int sixteen(uint4 weights, uint4 activations, int sum, indices<Word...>) {
        const unsigned left[] = {weights.x, weights.y, weights.z, weights.w}, right[] = {activations.x, activations.y, activations.z, activations.w};
        ((sum = four_products<product::weights_count, product::activations_count>(left[Word], right[Word], sum)), ...);
        return sum;
    }
    template <bool Counts>
    static __device__ __forceinline__ int plain_sum(uint4 codes, int sum) {
        const unsigned words[] = {codes.x, codes.y, codes.z, codes.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) sum = four_products<Counts, true>(words[i], 0x01010101u, sum);
        return sum;
    }
    static __device__ __forceinline__ int over_warp(int sum) {
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
        return sum;
    }

    /// Exact sums of a row of weights with `Columns` rows of activations, in every thread of the warp.
    template <int Columns>
    static __device__ __forceinline__ void sums_of_row(const parameters<Kernel>& in, const unsigned char* weights, const unsigned char* activations, i64 column_step,
                                                       int columns, int (&sums)[Columns]) {
        constexpr int loads = Columns == 1 ? product_tuning::loads : 4, warp_bytes = 512;
        constexpr bool with_weights = product::activations_zero != 0, with_activations = product::weights_zero != 0;
        int of_weights = 0, of_activations[Columns];
#pragma unroll
        for (int c = 0; c < Columns; ++c) sums[c] = of_activations[c] = 0;
        const i64 own = i64(threadIdx.x & 31) * 16;
        for (i64 begin = own; begin < in.length; begin += loads * warp_bytes) {
            uint4 held[loads];
#pragma unroll
            for (int l = 0; l < loads; ++l)
                if (begin + l * warp_bytes < in.length) held[l] = load_once(weights + begin + l * warp_bytes);
#pragma unroll
            for (int l = 0; l < loads; ++l) {
                if (begin + l * warp_bytes >= in.length) break;
                if constexpr (with_weights) of_weights = plain_sum<product::weights_count>(held[l], of_weights);
#pragma unroll
                for (int c = 0; c < Columns; ++c) {
                    if (Columns > 1 && c >= columns) break;
                    const uint4 these = load_16(activations + c * column_step + begin + l * warp_bytes);
                    sums[c] = sixteen(held[l], these, sums[c], make_indices<4>{});
                    if constexpr (with_activations) of_activations[c] = plain_sum<product::activations_count>(these, of_activations[c]);
                }
            }
        }
        if constexpr (with_weights) of_weights = over_warp(of_weights);
#pragma unroll
        for (int c = 0; c < Columns; ++c) {
            if (Columns > 1 && c >= columns) break;
            u32 sum = u32(over_warp(sums[c]));
            if constexpr (with_weights) sum -= u32(product::activations_zero) * u32(of_weights);
            if constexpr (with_activations) sum -= u32(product::weights_zero) * u32(over_warp(of_activations[c]));
            sums[c] = int(sum + u32(product::weights_zero) * u32(product::activations_zero) * u32(in.length));
        }
    }
    /// What follows the sum of a row, on one thread.
    static __device__ __forceinline__ void finish(const parameters<Kernel>& in, i64 row, int sum) {
        i64 offset[count];
        work::offsets_of_row(in, row, offset);
        typename rows::once_values once;
        typename rows::row_values values;
        const typename work::row_frame frame{{in, once, values, offset}};
        eval::fill(once, frame, selected<at_place<Kernel, site::once>>{});
        eval::fill(values, frame, selected<rows_after<Kernel, 0>>{});
        static_cast<typename rows::template value_slot<product::fold>&>(values).value = lane::scalar<i32>(sum);
        eval::fill(values, frame, selected<rows_after<Kernel, 1>>{});
        work::store_row(frame, selected<row_outputs<Kernel>>{});
    }
};

/// Rows of the nest are `columns` of activations (outer) by rows of weights (inner).
template <class Kernel>
struct product_parameters : parameters<Kernel> {
    using parameters<Kernel>::parameters;
    i64 weights, columns;
};
/// A warp per row of weights; with fewer columns left than `Columns`, with those. A grid's second dimension counts blocks of columns.
template <class Kernel, int Columns>
__global__ void __launch_bounds__(product_tuning::threads) run_product(const __grid_constant__ product_parameters<Kernel> given) {
    using worker = product_worker<Kernel>;
    const parameters<Kernel>& in = given;
    const i64 row = i64(blockIdx.x) * (product_tuning::threads / 32) + threadIdx.x / 32;
    if (row >= given.weights) return;
    const i64 first = i64(blockIdx.y) * Columns;
    const int columns = given.columns - first < Columns ? int(given.columns - first) : Columns, thread = int(threadIdx.x) & 31;
    const int axes = in.outer_axes;
    const i64 column_step = axes > 1 ? in.outer_step[axes - 2][worker::activations_slot] : 0;
    const unsigned char* const weights = static_cast<const unsigned char*>(in.pointer[worker::weights_slot]) + row * in.outer_step[axes - 1][worker::weights_slot];
    const unsigned char* const activations = static_cast<const unsigned char*>(in.pointer[worker::activations_slot]) + first * column_step;
    int sums[Columns];
    worker::template sums_of_row<Columns>(in, weights, activations, column_step, columns, sums);
    int own = 0;
#pragma unroll
    for (int c = 0; c < Columns; ++c)
        if (c == thread) own = sums[c];
    if (thread < columns) worker::finish(in, (first + thread) * given.weights + row, own);
}

template <class Kernel>
constexpr bool multiplies() {
    if constexpr (code_product_facts<Kernel>::possible)
        return Kernel::levels == 1 && Kernel::table.at[code_product_facts<Kernel>::activations].kind == node_kind::leaf;
    else
        return false;
}
/// Whether run_product can take a call, whose parameters are filled.
template <class Kernel>
bool plan_product(product_parameters<Kernel>& given) {
    using worker = product_worker<Kernel>;
    const parameters<Kernel>& in = given;
    const int axes = in.outer_axes;
    if (in.length <= 0 || in.length % 16 != 0 || axes == 0 || axes > 2 || !in.is_wide(worker::weights_slot) || !in.is_wide(worker::activations_slot)) return false;
    if (in.outer_step[axes - 1][worker::weights_slot] == 0 || in.outer_step[axes - 1][worker::activations_slot] != 0) return false;
    if (axes == 2 && in.outer_step[0][worker::weights_slot] != 0) return false;
    given.weights = in.outer_size[axes - 1];
    given.columns = axes == 2 ? in.outer_size[0] : 1;
    return given.columns <= i64(65535) * product_tuning::most_columns && given.weights < i64(0x7fffffff);
}
template <class Kernel>
status launch_product(const product_parameters<Kernel>& given, cudaStream_t stream) {
    constexpr int at_once = product_tuning::threads / 32, most = product_tuning::most_columns;
    const unsigned blocks = unsigned((given.weights + at_once - 1) / at_once);
    const dim3 block{unsigned(product_tuning::threads)};
    static kernel_handles of_one, of_some;
    if (given.columns == 1) return start(of_one, run_product<Kernel, 1>, dim3(blocks), block, 0, stream, given);
    return start(of_some, run_product<Kernel, most>, dim3(blocks, unsigned((given.columns + most - 1) / most)), block, 0, stream, given);
}

}  // namespace sinter::detail::device
