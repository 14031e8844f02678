// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same formula on a GPU and on this processor: one kernel each, equal bits.
//     nvcc -std=c++20 -O2 -arch=native -Iinclude examples/11_cuda.cu && ./a.out
#include <cuda_bf16.h>

#include <sinter/sinter.hpp>
#include <sinter/backend/cuda.cuh>
#include <sinter/backend/cuda_tensor.cuh>

#include <cstdio>
#include <cstring>
#include <vector>

namespace si = sinter;

// [formula]
/// h = x + r and its RMSNorm: two results of one kernel, every row read once.
inline constexpr auto add_norm = si::fused([](auto x, auto r, auto weight) {
    const auto h = x + r;
    return si::outputs(h, si::rms_norm(h, weight, 1e-5f));
});
// [/formula]

// [embedded]
/// In a program of your own: its memory (from cudaMalloc, another library, a graph), its stream, its number of rows. CUDA's own 16-bit types
/// are views as they stand, where their headers come before Sinter's.
si::status add_norm_of_rows(const __nv_bfloat16* x, const __nv_bfloat16* r, const __nv_bfloat16* weight, __nv_bfloat16* h, __nv_bfloat16* y, si::i64 rows, cudaStream_t stream) {
    const si::extents<si::dyn, 4096> sizes(rows);
    return si::try_run(si::cuda(stream), si::tie(si::device_view(h, sizes), si::device_view(y, sizes)) =
                                             add_norm(si::device_view(x, sizes), si::device_view(r, sizes), si::device_view(weight, si::extents<4096>{})));
}
// [/embedded]

int main() {
    constexpr si::i64 rows = 64, columns = 4096;
    using matrix = si::extents<rows, columns>;
    using row = si::extents<columns>;
    std::vector<si::bf16> x(rows * columns), r(x.size()), w(columns), h(x.size()), y(x.size()), h_gpu(x.size()), y_gpu(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = si::convert<si::bf16>(float(i * 7919 % 1000) * 0.01f - 5.0f);
        r[i] = si::convert<si::bf16>(float(i * 104729 % 1000) * 0.002f - 1.0f);
    }
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = si::convert<si::bf16>(0.5f + float(i % 16) * 0.0625f);
    si::run(si::reference, si::tie(si::view(h.data(), matrix{}), si::view(y.data(), matrix{})) =
                               add_norm(si::view(x.data(), matrix{}), si::view(r.data(), matrix{}), si::view(w.data(), row{})));

    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::puts("no GPU here: the reference ran on this processor");
        return 0;
    }
    // [run]
    cudaStream_t stream = nullptr;
    si::device_tensor<si::bf16, matrix> x_on({}, stream), r_on({}, stream), h_on({}, stream), y_on({}, stream);
    si::device_tensor<si::bf16, row> w_on({}, stream);
    if (!x_on.copy_from(x.data()).ok() || !r_on.copy_from(r.data()).ok() || !w_on.copy_from(w.data()).ok()) return 1;
    const si::status said = si::try_run(si::cuda(stream), si::tie(h_on.view(), y_on.view()) = add_norm(x_on.view(), r_on.view(), w_on.view()));
    // [/run]
    if (!said.ok()) return std::printf("%s\n", si::describe(said).c_str()), 1;
    if (!h_on.copy_to(h_gpu.data()).ok() || !y_on.copy_to(y_gpu.data()).ok()) return 1;
    bool equal = std::memcmp(h.data(), h_gpu.data(), h.size() * 2) == 0 && std::memcmp(y.data(), y_gpu.data(), y.size() * 2) == 0;

    // The same on memory and a stream of one's own, of which the last rows are left as they are.
    constexpr si::i64 some = 40, bytes = rows * columns * 2;
    cudaStream_t own = nullptr;
    char* memory = nullptr;
    if (cudaStreamCreate(&own) != cudaSuccess || cudaMalloc(&memory, 4 * bytes + columns * 2) != cudaSuccess) return 1;
    const auto part = [&](int i) { return reinterpret_cast<__nv_bfloat16*>(memory + i * bytes); };
    cudaMemcpyAsync(part(0), x.data(), bytes, cudaMemcpyHostToDevice, own);
    cudaMemcpyAsync(part(1), r.data(), bytes, cudaMemcpyHostToDevice, own);
    cudaMemcpyAsync(part(4), w.data(), columns * 2, cudaMemcpyHostToDevice, own);
    cudaMemsetAsync(part(2), 0, 2 * bytes, own);
    const si::status again = add_norm_of_rows(part(0), part(1), part(4), part(2), part(3), some, own);
    if (!again.ok()) return std::printf("%s\n", si::describe(again).c_str()), 1;
    cudaMemcpyAsync(h_gpu.data(), part(2), bytes, cudaMemcpyDeviceToHost, own);
    cudaMemcpyAsync(y_gpu.data(), part(3), bytes, cudaMemcpyDeviceToHost, own);
    if (cudaStreamSynchronize(own) != cudaSuccess) return 1;
    cudaFree(memory);
    cudaStreamDestroy(own);
    for (si::i64 i = 0; i < rows * columns; ++i) {
        const si::bf16 nothing{}, &h_wanted = i < some * columns ? h[i] : nothing, &y_wanted = i < some * columns ? y[i] : nothing;
        equal = equal && std::memcmp(&h_wanted, &h_gpu[i], 2) == 0 && std::memcmp(&y_wanted, &y_gpu[i], 2) == 0;
    }
    std::printf("GPU and processor: %s\n", equal ? "equal bits" : "NOT equal");
    return equal ? 0 : 1;
}
