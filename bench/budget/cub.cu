// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What scripts/budget --cuda compiles beside: one reduction by CUB.
#include <cub/cub.cuh>

cudaError_t sum(void* workspace, size_t& bytes, const float* x, float* y, long long count, cudaStream_t stream) {
    return cub::DeviceReduce::Sum(workspace, bytes, x, y, count, stream);
}
