// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What small cases don't reach: rows from 1 to 300000, reductions split over blocks, more than 2^31 elements, offsets past 2^31, the
// limits of grids; graphs, streams, workspaces, statuses, CUDA's half types, tensors on the device.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <sinter/sinter.hpp>

#include <sinter/backend/cuda_tensor.cuh>

#include "harness_cuda.hpp"
#include "tally.hpp"

#include <cstring>
#include <vector>

namespace si = sinter;
using si::dyn;
using si::i64;
using si::u64;
using si::u8;
using line = si::extents<dyn>;
using plane = si::extents<dyn, dyn>;
using one = si::extents<>;

#define MUST(call) cuda_test::must(call, #call)

void launched(const si::status& status, const char* name) {
    if (!status.ok()) std::printf("%s: %s\n", name, si::describe(status).c_str());
    check(name, status.ok());
}
std::vector<float> numbers(i64 count, u64 seed) {
    std::vector<float> out(static_cast<std::size_t>(count));
    u64 state = seed * 0x9e3779b97f4a7c15u + 1;
    for (float& value : out) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        value = float(double(i64(state)) * 0x1p-63) * (state % 7 == 0 ? 40.0f : 3.0f);
    }
    return out;
}
template <class Extents>
bool same(const si::device_tensor<float, Extents>& found, const std::vector<float>& wanted) {
    std::vector<float> got(wanted.size());
    return found.copy_to(got.data()).ok() && std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)) == 0;
}
/// One workspace for all.
struct scratch {
    void* pointer = nullptr;
    i64 bytes = 1 << 24;
    scratch() {
        MUST(cudaMalloc(&pointer, std::size_t(bytes)));
        MUST(cudaMemset(pointer, 0x5a, std::size_t(bytes)));
    }
    si::cuda_executor on(cudaStream_t stream = nullptr) const { return si::cuda(stream, {pointer, bytes}); }
};

/// Softmax and the sum of rows, sum and softmax of columns, of one size: bits as the reference.
void rows_and_columns(const scratch& memory) {
    for (const i64 length : {1, 3, 100, 127, 129, 1023, 1025, 4096, 10000, 65537, 131072, 131073, 300000}) {
        const i64 height = length < 1000 ? 77 : 3;
        const std::vector<float> from = numbers(height * length, u64(length));
        std::vector<float> wanted(from.size()), sums(std::size_t(height), 0.0f);
        si::device_tensor<float, plane> x{plane(height, length)}, y{plane(height, length)};
        si::device_tensor<float, si::extents<dyn, 1>> s{si::extents<dyn, 1>(height)};
        launched(x.copy_from(from.data()), "upload");
        const auto host = si::view(from, plane(height, length));
        launched(si::try_run(si::reference, si::view(wanted, plane(height, length)) = softmax(host)), "reference");
        launched(si::try_run(si::reference, si::view(sums, si::extents<dyn, 1>(height)) = sum(host, si::last_axis)), "reference");
        launched(si::try_run(memory.on(), y.view() = softmax(x.view())), "softmax of rows");
        launched(si::try_run(memory.on(), s.view() = sum(x.view(), si::last_axis)), "sum of rows");
        check("softmax of rows", length, same(y, wanted));
        check("sum of rows", length, same(s, sums));
        // The same memory as columns: `height` of them, `length` rows.
        std::vector<float> column_sums(static_cast<std::size_t>(height));
        const auto tall = si::view(from, plane(length, height));
        si::device_tensor<float, si::extents<1, dyn>> c{si::extents<1, dyn>(height)};
        const auto on_device = si::device_view(x.data(), plane(length, height));
        launched(si::try_run(si::reference, si::view(column_sums, si::extents<1, dyn>(height)) = sum(tall, si::axes<0>)), "reference");
        launched(si::try_run(memory.on(), c.view() = sum(on_device, si::axes<0>)), "sum of columns");
        check("sum of columns", length, same(c, column_sums));
        launched(si::try_run(si::reference, si::view(wanted, plane(length, height)) = softmax(tall, si::axes<0>)), "reference");
        launched(si::try_run(memory.on(), si::device_view(y.data(), plane(length, height)) = softmax(on_device, si::axes<0>)), "softmax of columns");
        check("softmax of columns", length, same(y, wanted));
    }
}
/// Whole reductions of many sizes; a missing workspace is a status, and a run twice gives the same.
void whole(const scratch& memory) {
    for (const i64 length : {131071, 131072, 1 << 20, (1 << 22) + 4321}) {
        const std::vector<float> from = numbers(length, u64(length) + 5);
        si::device_tensor<float, line> x{line(length)};
        launched(x.copy_from(from.data()), "upload");
        float wanted[2] = {};
        launched(si::try_run(si::reference, si::tensor_view<float, one>(wanted) = sum(si::view(from))), "reference");
        launched(si::try_run(si::reference, si::tensor_view<float, one>(wanted + 1) = variance(si::view(from))), "reference");
        si::device_tensor<float, one> s, v;
        for (int again = 0; again < 3; ++again) {
            launched(si::try_run(memory.on(), s.view() = sum(x.view())), "sum of all");
            launched(si::try_run(memory.on(), v.view() = variance(x.view())), "variance of all");
            check("sum of all", length, same(s, {wanted[0]}));
            check("variance of all", length, same(v, {wanted[1]}));
        }
        check("eval", length, si::eval(si::cuda(), sum(x.view())) == wanted[0]);
        const i64 bytes = si::cuda_workspace_size(s.view() = sum(x.view()));
        const si::status without = si::try_run(si::cuda(), s.view() = sum(x.view()));
        check("a missing workspace", bytes, bytes == 0 ? without.ok() : without.code() == si::error::workspace_too_small && without.expected == bytes);
    }
}
void graph_and_streams(const scratch& memory) {
    const i64 length = 1 << 20;
    std::vector<float> from = numbers(length, 1);
    cudaStream_t stream[2];
    for (cudaStream_t& each : stream) MUST(cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking));
    si::device_tensor<float, line> x{line(length)}, y{line(length)};
    si::device_tensor<float, one> s, t;
    launched(x.copy_from(from.data()), "upload");
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    MUST(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal));
    launched(si::try_run(memory.on(stream[0]), s.view() = sum(x.view())), "captured");
    launched(si::try_run(memory.on(stream[0]), y.view() = x.view() * 2.0f), "captured");
    MUST(cudaStreamEndCapture(stream[0], &graph));
    MUST(cudaGraphInstantiate(&ready, graph, 0));
    for (int replay = 0; replay < 3; ++replay) {
        for (float& value : from) value += float(replay);
        launched(x.copy_from(from.data()), "upload");
        MUST(cudaGraphLaunch(ready, stream[0]));
        MUST(cudaStreamSynchronize(stream[0]));
        float wanted = 0;
        launched(si::try_run(si::reference, si::tensor_view<float, one>(&wanted) = sum(si::view(from))), "reference");
        check("replay of a graph", replay, same(s, {wanted}));
    }
    // Two streams at once, a workspace each.
    const scratch other;
    float wanted = 0;
    launched(si::try_run(si::reference, si::tensor_view<float, one>(&wanted) = sum(si::view(from))), "reference");
    for (int again = 0; again < 50; ++again) {
        launched(si::try_run(memory.on(stream[0]), s.view() = sum(x.view())), "first stream");
        launched(si::try_run(other.on(stream[1]), t.view() = sum(x.view())), "second stream");
    }
    for (cudaStream_t each : stream) MUST(cudaStreamSynchronize(each));
    check("two streams", same(s, {wanted}) && same(t, {wanted}));
    MUST(cudaGraphExecDestroy(ready));
    MUST(cudaGraphDestroy(graph));
    for (cudaStream_t each : stream) MUST(cudaStreamDestroy(each));
    MUST(cudaFree(other.pointer));
}
void half_types() {
    std::vector<__half> from(1000);
    std::vector<__nv_bfloat16> other(1000);
    for (int i = 0; i < 1000; ++i) from[std::size_t(i)] = __float2half(float(i) * 0.25f), other[std::size_t(i)] = __float2bfloat16(float(i));
    __half* x;
    __nv_bfloat16* y;
    MUST(cudaMalloc(&x, 2000));
    MUST(cudaMalloc(&y, 2000));
    MUST(cudaMemcpy(x, from.data(), 2000, cudaMemcpyHostToDevice));
    const line sizes(1000);
    launched(si::try_run(si::cuda(), si::device_view(y, sizes) = si::device_view(static_cast<const __half*>(x), sizes) * 4.0f), "half types");
    std::vector<__nv_bfloat16> found(1000);
    MUST(cudaMemcpy(found.data(), y, 2000, cudaMemcpyDeviceToHost));
    check("half types", std::memcmp(found.data(), other.data(), 2000) == 0);
    std::vector<float> on_host(1000);
    launched(si::try_run(si::reference, si::view(on_host) = si::view(from.data(), sizes) * 4.0f), "half types on the host");
    check("half types on the host", on_host[999] == 999.0f);
    MUST(cudaFree(x));
    MUST(cudaFree(y));
}
void statuses() {
    float* x;
    MUST(cudaMalloc(&x, 64));
    const auto empty = si::device_view(x, line(0));
    launched(si::try_run(si::cuda(), empty = empty * 2.0f), "nothing");
    const si::tensor_view<float, one, si::row_major, si::device_memory> s(x);
    launched(si::try_run(si::cuda(), s = sum(empty)), "a sum of nothing");
    float found = 1;
    MUST(cudaMemcpy(&found, x, 4, cudaMemcpyDeviceToHost));
    check("a sum of nothing", found == 0);
    check("sizes differ", si::try_run(si::cuda(), si::device_view(x, line(4)) = si::device_view(x, line(5)) * 2.0f).code() == si::error::size_mismatch);
    MUST(cudaFree(x));
}

/// Bytes of a pattern that is cheap to know everywhere: the top bits of the element's number times a constant.
__global__ void fill(u8* to, i64 count) {
    for (i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += i64(gridDim.x) * blockDim.x) to[i] = u8(u64(i) * 0x9e3779b97f4a7c15u >> 56);
}
__global__ void differs(const u8* from, i64 count, unsigned long long* different) {
    for (i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += i64(gridDim.x) * blockDim.x)
        if (from[i] != u8((u64(i) * 0x9e3779b97f4a7c15u >> 56) + 3)) atomicAdd(different, 1ull);
}
__global__ void total_of(const u8* from, i64 count, unsigned long long* total) {
    unsigned long long own = 0;
    for (i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += i64(gridDim.x) * blockDim.x) own += from[i];
    atomicAdd(total, own);
}
/// 2^31 + 17 elements, in one row, in many rows of one, in columns; offsets past 2^31.
void large(const scratch& memory) {
    const i64 count = (i64(1) << 31) + 17;
    u8 *x = nullptr, *y = nullptr;
    if (cudaMalloc(&x, std::size_t(count)) != cudaSuccess || cudaMalloc(&y, std::size_t(count)) != cudaSuccess) {
        (void)cudaGetLastError();
        std::printf("no room for 2^32 bytes: the large cases are left out\n");
        return;
    }
    unsigned long long *counter, host[2] = {};
    MUST(cudaMalloc(&counter, 16));
    MUST(cudaMemset(counter, 0, 16));
    fill<<<2048, 256>>>(x, count);
    total_of<<<2048, 256>>>(x, count, counter + 1);
    const auto different = [&](const char* name) {
        differs<<<2048, 256>>>(y, count, counter);
        MUST(cudaMemcpy(host, counter, 16, cudaMemcpyDeviceToHost));
        check(name, i64(host[0]), host[0] == 0);
        MUST(cudaMemset(counter, 0, 8));
        MUST(cudaMemset(y, 0, std::size_t(count)));
    };
    launched(si::try_run(si::cuda(), si::device_view(y, line(count)) = si::device_view(x, line(count)) + u8(3)), "2^31 + 17 elements");
    different("2^31 + 17 elements");
    // Rows beyond the limit of grid.y, of one element each; then steps backwards.
    launched(si::try_run(si::cuda(), si::device_view(y, plane(count, 1)) = si::device_view(x, plane(count, 1), {1, 1}) + u8(3)), "2^31 + 17 rows");
    different("2^31 + 17 rows");
    launched(si::try_run(si::cuda(), si::device_view(y + (count - 1), line(count), {-1}) = si::device_view(x + (count - 1), line(count), {-1}) + u8(3)), "backwards");
    different("backwards");
    u64* s;
    MUST(cudaMalloc(&s, 8 * 100000));
    const auto read = [&](i64 index) {
        u64 found = 0;
        MUST(cudaMemcpy(&found, s + index, 8, cudaMemcpyDeviceToHost));
        return found;
    };
    const si::tensor_view<u64, one, si::row_major, si::device_memory> all(s);
    launched(si::try_run(memory.on(), all = sum(si::device_view(x, line(count)))), "sum of 2^31 + 17");
    check("sum of 2^31 + 17", read(0) == host[1]);
    // 17 columns: rows past 2^26; and 2^27 rows of 16.
    const i64 height = count / 17;
    const auto columns = si::device_view(s, si::extents<1, 17>{});
    launched(si::try_run(memory.on(), columns = sum(si::device_view(x, si::extents<dyn, 17>(height)), si::axes<0>)), "columns past 2^31");
    u64 sum_of_columns = 0;
    for (int c = 0; c < 17; ++c) sum_of_columns += read(c);
    u64 rest = 0;
    std::vector<u8> end(17);
    MUST(cudaMemcpy(end.data(), x + height * 17, std::size_t(count - height * 17), cudaMemcpyDeviceToHost));
    for (i64 i = 0; i < count - height * 17; ++i) rest += end[std::size_t(i)];
    check("columns past 2^31", sum_of_columns + rest == host[1]);
    // Two rows, the second one past 2^31.
    const auto two = si::device_view(s, si::extents<2, 1>{});
    launched(si::try_run(si::cuda(), two = sum(si::device_view(x, si::extents<2, 1000>{}, {count - 1000, 1}), si::last_axis)), "a row past 2^31");
    std::vector<u8> last(1000);
    MUST(cudaMemcpy(last.data(), x + (count - 1000), 1000, cudaMemcpyDeviceToHost));
    u64 wanted = 0;
    for (const u8 value : last) wanted += value;
    check("a row past 2^31", read(1) == wanted);
    // 100000 outer rows of columns.
    launched(si::try_run(memory.on(), si::device_view(s, si::extents<dyn, 1, 1>(100000)) = sum(si::device_view(x, si::extents<dyn, 70, 1>(100000)), si::axes<1>)),
             "100000 outer rows");
    std::vector<u8> begin(70);
    MUST(cudaMemcpy(begin.data(), x + 99999 * 70, 70, cudaMemcpyDeviceToHost));
    wanted = 0;
    for (const u8 value : begin) wanted += value;
    check("100000 outer rows", read(99999) == wanted);
    MUST(cudaFree(x));
    MUST(cudaFree(y));
    MUST(cudaFree(s));
    MUST(cudaFree(counter));
}

int main() {
    cudaDeviceProp card{};
    MUST(cudaGetDeviceProperties(&card, 0));
    std::printf("%s, compute capability %d.%d\n", card.name, card.major, card.minor);
    const scratch memory;
    statuses();
    half_types();
    rows_and_columns(memory);
    whole(memory);
    graph_and_streams(memory);
    large(memory);
    MUST(cudaDeviceSynchronize());
    return tally();
}
