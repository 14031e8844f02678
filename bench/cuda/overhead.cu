// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a call costs the host: `run` of a chain of 12 operations on 4096 elements beside cudaLaunchKernel of a kernel by hand that does
// the same and has as many bytes of parameters, in turns; so few calls a turn that neither waits for a full queue. The kernel by hand is also
// launched under a name as long as that of `run`'s kernel, which has the formula in it: the driver takes longer for it. Microseconds, medians.
//     overhead [JSON]        one line for people, or one JSON object
#include <sinter/sinter.hpp>
#include <sinter/backend/cuda.cuh>
#include <sinter/backend/cuda_tensor.cuh>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace si = sinter;

namespace {

inline constexpr auto chain = si::fused([](auto x, auto y) {
    auto a = x * 0.5f + y;
    auto b = maximum(a, 0.0f) - x;
    auto c = b * b + a;
    return minimum(abs(c) * 2.0f - y, 100.0f) + b * x;  // 12 operations
});

/// The parameters of `run` are as many bytes for this formula: operands, strides, sizes.
struct parameters {
    const float *x, *y;
    float* z;
    char more[144];
};
__device__ void twelve_operations(const parameters& in) {
    for (int i = 0; i < 8; ++i) {
        const int at = (blockIdx.x * 8 + i) * 256 + int(threadIdx.x);
        const float x = in.x[at], y = in.y[at], a = x * 0.5f + y, b = fmaxf(a, 0.0f) - x, c = b * b + a;
        in.z[at] = fminf(fabsf(c) * 2.0f - y, 100.0f) + b * x;
    }
}
double now_us() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

__global__ void by_hand(const __grid_constant__ parameters in) { twelve_operations(in); }
template <class LongName>
__global__ void by_hand_named(const __grid_constant__ parameters in) {
    twelve_operations(in);
}
template <class Assignment>
auto named_like(const Assignment&) {
    return by_hand_named<Assignment>;
}

/// Medians of the host's time per call. The candidates take turns call by call: what a launch costs depends on what the GPU is doing,
/// by as much as a microsecond, so that both must find it alike.
template <class First, class Second>
void in_turns(const First& first, const Second& second, double& first_us, double& second_us) {
    constexpr int turns = 500, calls = 16;
    std::vector<double> one, other;
    for (int turn = 0; turn < turns; ++turn) {
        cudaDeviceSynchronize();
        double spent[2] = {0, 0};
        for (int i = 0; i < calls; ++i) {
            const bool swapped = (i ^ turn) & 1;
            const double begin = now_us();
            swapped ? second() : first();
            const double between = now_us();
            swapped ? first() : second();
            const double end = now_us();
            spent[swapped ? 1 : 0] += between - begin;
            spent[swapped ? 0 : 1] += end - between;
        }
        one.push_back(spent[0] / calls), other.push_back(spent[1] / calls);
    }
    std::sort(one.begin(), one.end()), std::sort(other.begin(), other.end());
    first_us = one[one.size() / 2], second_us = other[other.size() / 2];
}

}  // namespace

int main(int count, char**) {
    constexpr si::i64 elements = 4096;
    using line = si::extents<elements>;
    cudaStream_t stream = nullptr;
    if (cudaStreamCreate(&stream) != cudaSuccess) return std::puts("no GPU here"), 1;
    si::device_tensor<float, line> x({}, stream), y({}, stream), z({}, stream);
    if (!x.ok() || !y.ok() || !z.ok()) return std::puts("no memory on the GPU"), 1;
    parameters given{x.data(), y.data(), z.data(), {}};
    void* arguments[] = {&given};
    double ours = 0, plain = 0, named = 0, unused = 0;
    in_turns([&] { (void)si::try_run(si::cuda(stream), z.view() = chain(x.view(), y.view())); },
             [&] { (void)cudaLaunchKernel(by_hand, dim3(2), dim3(256), arguments, 0, stream); }, ours, plain);
    const auto long_name = named_like(z.view() = chain(x.view(), y.view()));
    in_turns([&] { (void)cudaLaunchKernel(long_name, dim3(2), dim3(256), arguments, 0, stream); },
             [&] { (void)cudaLaunchKernel(by_hand, dim3(2), dim3(256), arguments, 0, stream); }, named, unused);
    cudaDeviceProp card{};
    (void)cudaGetDeviceProperties(&card, 0);
    if (cudaStreamSynchronize(stream) != cudaSuccess) return std::puts(cudaGetErrorString(cudaGetLastError())), 1;
    if (count > 1)
        std::printf("{\"card\": \"%s\", \"run_us\": %.3f, \"launch_us\": %.3f, \"launch_of_a_long_name_us\": %.3f}\n", card.name, ours, plain, named);
    else
        std::printf("%s: run of 12 operations on %lld elements %.2f us of the host's time; a raw launch %.2f us, under as long a name %.2f us\n", card.name,
                    static_cast<long long>(elements), ours, plain, named);
    return 0;
}
