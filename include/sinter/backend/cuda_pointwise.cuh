// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointwise nests on CUDA: a thread takes packs of neighbouring elements, all loads of a thread before its arithmetic. Threads of
// a block are arranged (across, rows), so that short rows share a block and no thread divides.
#pragma once

#include "cuda_call.cuh"

namespace sinter::detail::device {

/// Packs per thread and block size; data, apart from the algorithm.
struct pointwise_tuning {
    static constexpr int threads = 256, packs = 2;
};

template <class Kernel>
__global__ void __launch_bounds__(pointwise_tuning::threads) run_pointwise(const __grid_constant__ parameters<Kernel> in) {
    using work = facts<Kernel>;
    using rows = typename work::rows;
    constexpr int packs = pointwise_tuning::packs, pack = work::pack;
    const i64 first = (i64(blockIdx.x) * packs * blockDim.x + threadIdx.x) * pack;
    const i64 step = i64(blockDim.x) * pack;
    typename rows::once_values once;
    typename rows::row_values row_of_thread;
    for (i64 row = i64(blockIdx.y) * blockDim.y + threadIdx.y; row < in.rows; row += i64(gridDim.y) * blockDim.y) {
        i64 offset[work::count];
        work::offsets_of_row(in, row, offset);
        typename work::operand_packs loaded[packs];
#pragma unroll
        for (int p = 0; p < packs; ++p)
            work::load(in, loaded[p], offset, first + p * step, in.length - first - p * step, selected<typename work::element_leaves>{});
        const typename work::common around{in, once, row_of_thread, offset};
        const typename work::row_frame frame{around};
        work::eval::fill(once, frame, selected<at_place<Kernel, site::once>>{});
        work::eval::fill(row_of_thread, frame, selected<rows_after<Kernel, 0>>{});
#pragma unroll
        for (int p = 0; p < packs; ++p) {
            const i64 position = first + p * step;
            if (position >= in.length) break;
            typename work::output_packs results;
            work::results_of(around, loaded[p], results, position, selected<element_outputs<Kernel>>{});
            work::store_packs(in, results, offset, position, in.length - position, selected<element_outputs<Kernel>>{});
        }
        if (first == 0) work::store_row(frame, selected<row_outputs<Kernel>>{});
    }
}

}  // namespace sinter::detail::device
