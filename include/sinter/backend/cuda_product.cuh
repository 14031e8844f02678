// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of a matrix of codes and some vectors (code_product.hpp) on CUDA: a warp takes a row of weights, 16 bytes a thread at a time,
// and up to 16 rows of activations, which lie in the caches; dp4a sums four products an instruction. Exact sums have no order to keep.
// For factors that lie in memory as such, in rows of whole packs; cuda_rows.cuh and cuda_any_rows.cuh have the others.
#pragma once

#include "../code_product.hpp"
#include "cuda_call.cuh"
#include "cuda_launch.cuh"

namespace sinter::detail::device {

/// Data, apart from the algorithm. Of a thread: rows of weights, which share the vector, and loads of 16 bytes under way of each. With one
/// vector, 16384 x 16384 on an H200, of a plain kernel: four rows of two loads .97, one of eight .86, two of four .84, four of four .78.
struct product_tuning {
    static constexpr int threads = 128, most_columns = 16;
    static constexpr int rows_of_one = 4, loads_of_one = 2, rows_of_some = 1, loads_of_some = 4;
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

    /// Exact sums of `Rows` rows of weights with `Columns` rows of activations, in every thread of the warp.
    template <int Rows, int Columns>
    static __device__ __forceinline__ void sums_of_rows(const parameters<Kernel>& in, const unsigned char* const (&weights)[Rows], const unsigned char* activations,
                                                        i64 column_step, int columns, int (&sums)[Rows][Columns]) {
        constexpr int loads = Columns == 1 ? product_tuning::loads_of_one : product_tuning::loads_of_some, warp_bytes = 512;
        constexpr bool with_weights = product::activations_zero != 0, with_activations = product::weights_zero != 0;
        int of_weights[Rows], of_activations[Columns];
#pragma unroll
        for (int r = 0; r < Rows; ++r) {
            of_weights[r] = 0;
#pragma unroll
            for (int c = 0; c < Columns; ++c) sums[r][c] = of_activations[c] = 0;
        }
        const i64 own = i64(threadIdx.x & 31) * 16;
        for (i64 begin = own; begin < in.length; begin += loads * warp_bytes) {
            uint4 held[loads][Rows];
#pragma unroll
            for (int l = 0; l < loads; ++l)
#pragma unroll
                for (int r = 0; r < Rows; ++r)
                    if (begin + l * warp_bytes < in.length) held[l][r] = load_once(weights[r] + begin + l * warp_bytes);
#pragma unroll
            for (int l = 0; l < loads; ++l) {
                if (begin + l * warp_bytes >= in.length) break;
                if constexpr (with_weights)
#pragma unroll
                    for (int r = 0; r < Rows; ++r) of_weights[r] = plain_sum<product::weights_count>(held[l][r], of_weights[r]);
#pragma unroll
                for (int c = 0; c < Columns; ++c) {
                    if (Columns > 1 && c >= columns) break;
                    const uint4 these = load_16(activations + c * column_step + begin + l * warp_bytes);
#pragma unroll
                    for (int r = 0; r < Rows; ++r) sums[r][c] = sixteen(held[l][r], these, sums[r][c], make_indices<4>{});
                    if constexpr (with_activations) of_activations[c] = plain_sum<product::activations_count>(these, of_activations[c]);
                }
            }
        }
#pragma unroll
        for (int c = 0; c < Columns; ++c) {
            if (Columns > 1 && c >= columns) break;
            u32 constant = u32(product::weights_zero) * u32(product::activations_zero) * u32(in.length);
            if constexpr (with_activations) constant -= u32(product::weights_zero) * u32(over_warp(of_activations[c]));
#pragma unroll
            for (int r = 0; r < Rows; ++r) sums[r][c] = int(u32(over_warp(sums[r][c])) + constant);
        }
        if constexpr (with_weights)
#pragma unroll
            for (int r = 0; r < Rows; ++r) {
                const u32 correction = u32(product::activations_zero) * u32(over_warp(of_weights[r]));
#pragma unroll
                for (int c = 0; c < Columns; ++c) sums[r][c] = int(u32(sums[r][c]) - correction);
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
/// A warp per `Rows` rows of weights; with fewer columns left than `Columns`, with those. A grid's second dimension counts blocks of columns.
template <class Kernel, int Rows, int Columns>
__global__ void __launch_bounds__(product_tuning::threads) run_product(const __grid_constant__ product_parameters<Kernel> given) {
    await_stream();
    using worker = product_worker<Kernel>;
    static_assert(Rows * Columns <= 32);
    const parameters<Kernel>& in = given;
    const i64 row = (i64(blockIdx.x) * (product_tuning::threads / 32) + threadIdx.x / 32) * Rows;
    if (row >= given.weights) return;
    const i64 first = i64(blockIdx.y) * Columns;
    const int columns = given.columns - first < Columns ? int(given.columns - first) : Columns, thread = int(threadIdx.x) & 31;
    const int axes = in.outer_axes;
    const i64 column_step = axes > 1 ? in.outer_step[axes - 2][worker::activations_slot] : 0, row_step = in.outer_step[axes - 1][worker::weights_slot];
    const unsigned char* weights[Rows];
#pragma unroll
    for (int r = 0; r < Rows; ++r)  // beyond the last row that one again
        weights[r] = static_cast<const unsigned char*>(in.pointer[worker::weights_slot]) + (row + r < given.weights ? row + r : row) * row_step;
    const unsigned char* const activations = static_cast<const unsigned char*>(in.pointer[worker::activations_slot]) + first * column_step;
    int sums[Rows][Columns];
    worker::template sums_of_rows<Rows, Columns>(in, weights, activations, column_step, columns, sums);
    int own = 0;
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
        for (int c = 0; c < Columns; ++c)
            if (c * Rows + r == thread) own = sums[r][c];
    const i64 my_row = row + thread % Rows;
    const int my_column = thread / Rows;
    if (my_column < columns && my_row < given.weights) worker::finish(in, (first + my_column) * given.weights + my_row, own);
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
    constexpr int warps = product_tuning::threads / 32, most = product_tuning::most_columns;
    constexpr int of_one_rows = product_tuning::rows_of_one, of_some_rows = product_tuning::rows_of_some;
    const auto blocks_of = [&](int rows_of_warp) { return unsigned((given.weights + i64(warps) * rows_of_warp - 1) / (i64(warps) * rows_of_warp)); };
    const dim3 block{unsigned(product_tuning::threads)};
    static kernel_handles of_one, of_some;
    if (given.columns == 1) return start(of_one, run_product<Kernel, of_one_rows, 1>, dim3(blocks_of(of_one_rows)), block, 0, stream, given);
    return start(of_some, run_product<Kernel, of_some_rows, most>, dim3(blocks_of(of_some_rows), unsigned((given.columns + most - 1) / most)), block, 0, stream, given);
}

}  // namespace sinter::detail::device
