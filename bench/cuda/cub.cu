// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What CUB has the operation for, in the GPU benchmark: reductions of everything and elementwise transforms.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstring>

namespace bench {
namespace {

struct product {
    const float *x, *y;
    __device__ float operator()(int i) const { return x[i] * y[i]; }
};
struct huber_loss {
    const float *x, *y;
    __device__ float operator()(int i) const {
        const float d = fabsf(x[i] - y[i]);
        return d < 1.0f ? 0.5f * d * d : d - 0.5f;
    }
};
struct to_codes {
    __device__ signed char operator()(float x) const { return static_cast<signed char>(fminf(fmaxf(rintf(x * float(1 / 0.05)) + 3.0f, -128.0f), 127.0f)); }
};
struct add_relu_codes {
    __device__ signed char operator()(signed char a, signed char b) const {
        const float y = fmaxf((float(a) - 3.0f) * 0.05f + (float(b) + 7.0f) * 0.03f, 0.0f);
        return static_cast<signed char>(fminf(fmaxf(rintf(y * float(1 / 0.04)) - 5.0f, -128.0f), 127.0f));
    }
};
template <class Term>
cudaError_t sum_of(const Term& term, int count, void* to, void* workspace, size_t bytes, cudaStream_t stream) {
    const auto terms = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), term);
    return cub::DeviceReduce::Sum(workspace, bytes, terms, static_cast<float*>(to), count, stream);
}

}  // namespace
}  // namespace bench

/// 0: launched, -1: CUB has nothing for it, else CUDA's error. The loss is the sum, without the division by the count.
extern "C" __attribute__((visibility("default"))) int sinter_bench_cub(const char* name, void* const* at, void* workspace, long long bytes, cudaStream_t stream) {
    using namespace bench;
    const auto x = static_cast<const float*>(at[0]), y = static_cast<const float*>(at[1]);
    const auto is = [name](const char* word) { return std::strcmp(name, word) == 0; };
    if (is("dot_2^27_f32")) return sum_of(product{x, y}, 1 << 27, at[2], workspace, size_t(bytes), stream);
    if (is("huber_2^27_f32")) return sum_of(huber_loss{x, y}, 1 << 27, at[2], workspace, size_t(bytes), stream);
    if (is("quantize_i8_2^27_f32")) return cub::DeviceTransform::Transform(x, static_cast<signed char*>(at[1]), 1 << 27, to_codes{}, stream);
    if (is("qadd_relu_i8_2^28"))
        return cub::DeviceTransform::Transform(::cuda::std::tuple{static_cast<const signed char*>(at[0]), static_cast<const signed char*>(at[1])},
                                               static_cast<signed char*>(at[2]), 1 << 28, add_relu_codes{}, stream);
    return -1;
}
