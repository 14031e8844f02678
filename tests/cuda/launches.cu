// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels keep a handle for each device from their first launch on: they must start from a thread that has made no call of CUDA, from
// many threads at a time, and on every device, also one that a kernel was first started on after another. A kernel is put in place before
// the one before it ends: what each reads is what all of that one's blocks wrote, in a stream and in a graph.
#include <sinter/sinter.hpp>
#include <sinter/backend/cuda.cuh>
#include <sinter/backend/cuda_tensor.cuh>

#include "tally.hpp"

#include <thread>
#include <vector>

namespace si = sinter;
using si::dyn;
using si::i64;


inline constexpr i64 count = 5000;
template <class Extents>
bool runs_on(cudaStream_t stream, const Extents& sizes, float factor) {
    si::device_tensor<float, Extents> x(sizes, stream), y(sizes, stream);
    std::vector<float> in(count), out(count);
    for (i64 i = 0; i < count; ++i) in[std::size_t(i)] = float(i % 251);
    if (!x.ok() || !y.ok() || !x.copy_from(in.data()).ok()) return false;
    for (int again = 0; again < 3; ++again)
        if (!si::try_run(si::cuda(stream), y.view() = x.view() * factor + 1.0f).ok()) return false;
    if (!y.copy_to(out.data()).ok()) return false;
    for (i64 i = 0; i < count; ++i)
        if (out[std::size_t(i)] != in[std::size_t(i)] * factor + 1.0f) return false;
    return true;
}
bool runs(cudaStream_t stream, float factor) {
    return runs_on(stream, si::extents<count>{}, factor) && runs_on(stream, si::extents<dyn>(count), factor);
}
/// The launch alone, by a thread whose first call of CUDA it is.
bool starts_in_a_new_thread(cudaStream_t stream) {
    si::device_tensor<float, si::extents<count>> x({}, stream), y({}, stream);
    std::vector<float> in(count, 3.0f), out(count);
    if (!x.ok() || !y.ok() || !x.copy_from(in.data()).ok()) return false;
    bool started = false;
    std::thread([&] { started = si::try_run(si::cuda(stream), y.view() = x.view() * 2.0f + 1.0f).ok(); }).join();
    if (!started || !y.copy_to(out.data()).ok()) return false;
    return out[0] == 7.0f && out[count - 1] == 7.0f;
}
/// A scalar of an unsigned type is checked when it runs; and nvcc has no warning for it.
bool refuses_a_number(cudaStream_t stream) {
    si::device_tensor<unsigned char, si::extents<count>> x({}, stream), y({}, stream);
    const si::status said = si::try_run(si::cuda(stream), y.view() = x.view() + 300u);
    return x.ok() && y.ok() && said.code() == si::error::number_out_of_range && said.expected == 255 && said.found == 300;
}

/// A chain of kernels of every kind, each of which reads what all blocks of the one before it wrote. The numbers stay near 1.
class chain {
public:
    static constexpr i64 rows = 256, columns = 2048, rounds = 30;
    explicit chain(cudaStream_t on)
        : stream(on), a({}, on), b({}, on), turned({}, on), of_row({}, on), of_column({}, on), all({}, on) {
        std::vector<float> in(std::size_t(rows * columns));
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = 1.0f + float(i * 7919 % 1013) * 0x1p-10f;
        ready = cudaMalloc(&memory, bytes) == cudaSuccess && cudaMemset(memory, 0xff, bytes) == cudaSuccess && a.copy_from(in.data()).ok();
    }
    chain(const chain&) = delete;
    ~chain() { cudaFree(memory); }
    /// `Waits`: for each kernel, before the next one is launched.
    template <bool Waits>
    bool run() {
        bool right = ready;
        const auto step = [&](auto&& call) {
            right = right && si::try_run(si::cuda(stream, {memory, bytes}), call).ok();
            if (Waits) right = right && cudaStreamSynchronize(stream) == cudaSuccess;
        };
        for (int i = 0; i < rounds; ++i) {
            step(all.view() = mean(a.view()));
            step(b.view() = a.view() / all.view());
            step(of_column.view() = mean(b.view(), si::axes<0>));
            step(a.view() = b.view() - of_column.view() * 0.25f + 0.25f);
            step(of_row.view() = variance(a.view(), si::last_axis));
            step(b.view() = a.view() + of_row.view() * 0.5f);
            step(turned.view() = b.view() * 0.5f + 0.5f);
            step(a.view() = si::rms_norm(turned.view(), 1e-5f));
        }
        return right;
    }
    std::vector<float> result() {
        std::vector<float> out(std::size_t(rows * columns));
        ready = ready && a.copy_to(out.data()).ok();
        return out;
    }

private:
    static constexpr i64 bytes = 1 << 22;
    cudaStream_t stream;
    void* memory = nullptr;
    bool ready = false;
    si::device_tensor<float, si::extents<rows, columns>> a, b, turned;
    si::device_tensor<float, si::extents<rows, 1>> of_row;
    si::device_tensor<float, si::extents<1, columns>> of_column;
    si::device_tensor<float, si::extents<1, 1>> all;
};
void chains(cudaStream_t stream) {
    chain one(stream);
    check("a chain, kernel by kernel", one.run<true>());
    const std::vector<float> wanted = one.result();
    for (int again = 0; again < 3; ++again) {
        chain next(stream);
        check("a chain", next.run<false>());
        check("a chain's result", next.result() == wanted);
    }
    chain captured(stream);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    check("a capture", cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    check("a chain in a capture", captured.run<false>());
    check("a graph", cudaStreamEndCapture(stream, &graph) == cudaSuccess && cudaGraphInstantiate(&replay, graph, 0) == cudaSuccess);
    check("a replay", cudaGraphLaunch(replay, stream) == cudaSuccess && captured.result() == wanted);
    check("a graph ends", cudaGraphExecDestroy(replay) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess);
}

int main() {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::puts("no GPU here"), 1;
    for (int device = 0; device < devices; ++device) {
        check("a device", cudaSetDevice(device) == cudaSuccess);
        cudaStream_t stream = nullptr;
        check("a stream", cudaStreamCreate(&stream) == cudaSuccess);
        check("a launch", runs(stream, 2.0f));
        check("a launch on the default stream", runs(nullptr, 2.0f));
        if (device == 0) check("from a new thread", starts_in_a_new_thread(stream));
        chains(stream);
        std::vector<std::thread> threads;
        std::vector<char> right(8, 0);
        for (std::size_t t = 0; t < right.size(); ++t)
            threads.emplace_back([&right, t, device] { right[t] = cudaSetDevice(device) == cudaSuccess && runs(nullptr, float(t)); });
        for (std::thread& thread : threads) thread.join();
        for (const char one : right) check("from many threads", one != 0);
        check("the stream ends", cudaStreamDestroy(stream) == cudaSuccess);
    }
    check("a number that no code holds is refused", refuses_a_number(nullptr));
    check("the first device again", cudaSetDevice(0) == cudaSuccess && runs(nullptr, 3.0f));
    check("nothing is left as the last error", cudaGetLastError() == cudaSuccess);
    std::printf("%d devices: ", devices);
    return tally();
}
