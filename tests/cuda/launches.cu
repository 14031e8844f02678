// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels keep a handle for each device from their first launch on: they must start from a thread that has made no call of CUDA, from
// many threads at a time, and on every device, also one that a kernel was first started on after another. A kernel is put in place before
// the one before it ends: what each reads is what all of that one's blocks wrote, in a stream and in a graph, also behind a kernel that
// lets it start long before it writes.
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

/// Lets the next kernel of the stream start at once (where it may), and writes a tenth of a millisecond later. Words that are numbers from 0.5
/// to 1 as f32, of either sign as bf16.
__global__ void write_late(unsigned* to, i64 words) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
    const long long until = clock64() + 200000;
    while (clock64() < until) {}
    for (i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += i64(gridDim.x) * blockDim.x) to[i] = 0x3f003f00u | (unsigned(i) * 2654435761u >> 9 & 0x7f007fu);
}
/// Kernels of every file of the backend behind that one: were there one that doesn't wait before it reads, it would read zeros.
class late {
public:
    explicit late(cudaStream_t on) : stream(on) {
        ready = cudaMalloc(&memory, 2 * bytes) == cudaSuccess && cudaMalloc(&workspace, bytes) == cudaSuccess && cudaMemset(memory, 0, 2 * bytes) == cudaSuccess;
    }
    late(const late&) = delete;
    ~late() { cudaFree(memory), cudaFree(workspace); }
    /// `formula` of an x of these sizes, and of other operands in the same memory.
    template <class From, class To, class Sizes, class Result, class Formula>
    void check_one(const char* name, const Sizes& sizes, const Result& of_result, const Formula& formula) {
        const auto x = si::device_view(reinterpret_cast<const From*>(memory), sizes);
        const auto y = si::device_view(reinterpret_cast<To*>(memory + bytes), of_result);
        const i64 result_bytes = of_result.sizes().count() * i64(sizeof(To)), used = sizes.sizes().count() * i64(sizeof(From));
        // (Allocated before: a launch that is late itself would find the operands written.)
        std::vector<unsigned char> of_zeros(static_cast<std::size_t>(result_bytes)), behind = of_zeros, after = of_zeros;
        const auto run = [&](std::vector<unsigned char>& out) {
            return si::try_run(si::cuda(stream, {workspace, bytes}), y = formula(x)).ok() && cudaStreamSynchronize(stream) == cudaSuccess &&
                   cudaMemcpy(out.data(), memory + bytes, out.size(), cudaMemcpyDeviceToHost) == cudaSuccess;
        };
        check(name, used <= bytes && result_bytes <= bytes && ready && cudaMemset(memory, 0, 2 * bytes) == cudaSuccess && run(of_zeros));
        write_late<<<16, 256, 0, stream>>>(reinterpret_cast<unsigned*>(memory), bytes / 4);
        check(name, run(behind) && run(after));
        check(name, behind == after && behind != of_zeros);
    }
    void check_all() {
        check_one<float, float>("waits: pointwise", si::extents<dyn>(1 << 20), si::extents<dyn>(1 << 20), [](auto x) { return x * 2.0f + 1.0f; });
        check_one<signed char, signed char>("waits: few codes", si::extents<dyn>(1 << 14), si::extents<dyn>(1 << 14), [](auto x) { return si::cast<si::i8>(si::cast<float>(x) * 0.5f); });
        check_one<si::bf16, si::bf16>("waits: down columns", si::extents<dyn, 256>(4096), si::extents<dyn, 256>(4096), [this](auto x) {
            const auto of_channel = si::device_view(reinterpret_cast<const float*>(memory), si::extents<256>{});
            return (si::cast<float>(x) - of_channel) * rsqrt(of_channel + 1e-5f);
        });
        check_one<unsigned char, float>("waits: channels", si::extents<64, 64, 3>{}, si::extents<3, 64, 64>{}, [](auto x) { return si::permute<2, 0, 1>(si::cast<float>(x) * 0.5f); });
        check_one<float, float>("waits: tiles", si::extents<512, 512>{}, si::extents<512, 512>{}, [](auto x) { return x + si::permute<1, 0>(x); });
        check_one<si::bf16, si::bf16>("waits: rows of a segment", si::extents<dyn, 1024>(64), si::extents<dyn, 1024>(64), [](auto x) { return si::softmax(x); });
        check_one<float, float>("waits: rows of a block", si::extents<dyn, 4096>(64), si::extents<dyn, 4096>(64), [](auto x) { return si::rms_norm(x, 1e-5f); });
        check_one<si::bf16, si::bf16>("waits: rows of a cluster", si::extents<dyn, 65536>(8), si::extents<dyn, 65536>(8), [](auto x) { return si::softmax(x); });
        check_one<float, float>("waits: rows of any length", si::extents<dyn, dyn>(64, 1001), si::extents<dyn, 1>(64), [](auto x) { return mean(x, si::last_axis); });
        check_one<float, float>("waits: a split row of any length", si::extents<dyn>(1000001), si::extents<>{}, [](auto x) { return mean(x); });
        check_one<float, float>("waits: a long row", si::extents<dyn>(1 << 20), si::extents<>{}, [](auto x) { return sum(x); });
        check_one<float, float>("waits: columns", si::extents<dyn, dyn>(1000, 301), si::extents<1, dyn>(301), [](auto x) { return variance(x, si::axes<0>); });
        check_one<float, float>("waits: packed columns", si::extents<dyn, 256>(4096), si::extents<1, 256>{}, [](auto x) { return sum(x, si::axes<0>); });
        check_one<float, float>("waits: row values", si::extents<dyn, dyn>(300, 500), si::extents<>{}, [](auto x) { return mean(logsumexp(x, si::last_axis, si::drop)); });
        check_one<signed char, si::i32>("waits: a product of codes", si::extents<1, dyn, 1024>(512), si::extents<1, dyn, 1>(512), [this](auto w) {
            return si::dot_codes(si::device_view(reinterpret_cast<const signed char*>(memory + 4096), si::extents<1, 1, 1024>{}), w, si::axes<-1>);
        });
    }

private:
    static constexpr i64 bytes = 1 << 22;
    cudaStream_t stream;
    unsigned char *memory = nullptr, *workspace = nullptr;
    bool ready = false;
};

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
        late(stream).check_all();
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
