// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What scripts/budget --cuda compiles beside: one elementwise kernel as one would write it by hand, and its launch.
#include <cuda_runtime.h>

__global__ void relu_of_a_sum(const float4* x, const float* bias, float4* y, long long rows, int packs) {
    for (long long row = blockIdx.y; row < rows; row += gridDim.y) {
        const int at = int(blockIdx.x * blockDim.x + threadIdx.x);
        if (at >= packs) return;
        float4 value = x[row * packs + at];
        const float4 b = reinterpret_cast<const float4*>(bias)[at];
        value.x = fmaxf(value.x + b.x, 0.0f) * 0.5f, value.y = fmaxf(value.y + b.y, 0.0f) * 0.5f;
        value.z = fmaxf(value.z + b.z, 0.0f) * 0.5f, value.w = fmaxf(value.w + b.w, 0.0f) * 0.5f;
        y[row * packs + at] = value;
    }
}
cudaError_t launch(const float* x, const float* bias, float* y, long long rows, long long columns, cudaStream_t stream) {
    const int packs = int(columns / 4);
    relu_of_a_sum<<<dim3(unsigned((packs + 255) / 256), unsigned(rows < 65535 ? rows : 65535)), 256, 0, stream>>>(
        reinterpret_cast<const float4*>(x), bias, reinterpret_cast<float4*>(y), rows, packs);
    return cudaGetLastError();
}
