// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C functions of the GPU benchmark's shared library. compare.py calls them on PyTorch's buffers; without PyTorch
// sinter_bench_alone fills buffers of its own, times every workload with a cold second-level cache and prints a line for each.
#include "workload_table.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace bench {
namespace {

const list* const policies[2][5] = {{&pointwise_portable, &norms_portable, &softmax_portable, &folds_portable, &layouts_portable},
                                    {&pointwise_fast, &norms_fast, &softmax_fast, &folds_fast, &layouts_fast}};
const char* const policy_names[] = {"portable", "fast"};
constexpr int policy_count = int(sizeof policies / sizeof *policies);

const workload* find(int policy, const char* name) {
    if (policy >= policy_count) return nullptr;
    for (const list* of : policies[policy])
        for (int i = 0; i < of->count; ++i)
            if (std::strcmp(of->first[i].name, name) == 0) return of->first + i;
    return nullptr;
}

/// Each thread reads `Reads` packs of 16 bytes and writes `Writes`, neighbours side by side; all that is read goes into what is written.
template <int Reads, int Writes>
__global__ void __launch_bounds__(256) plain(const uint4* from, uint4* to, long long threads) {
    const long long block = blockIdx.x * 256ll, i = block + threadIdx.x;
    if (i >= threads) return;
    uint4 held[Reads];
#pragma unroll
    for (int r = 0; r < Reads; ++r) held[r] = from[block * Reads + r * 256 + threadIdx.x];
    constexpr int kept = Writes > 0 ? Writes : 1;
#pragma unroll
    for (int r = kept; r < Reads; ++r) {
        uint4& into = held[r % kept];
        into.x ^= held[r].x, into.y ^= held[r].y, into.z ^= held[r].z, into.w ^= held[r].w;
    }
    if constexpr (Writes == 0)
        if ((held[0].x ^ held[0].y ^ held[0].z ^ held[0].w) == 0x12345678u) to[0] = held[0];
#pragma unroll
    for (int w = 0; w < Writes; ++w) to[block * Writes + w * 256 + threadIdx.x] = held[w % Reads];
}
template <int Reads, int Writes>
void move(long long reads, long long writes, const void* from, void* to, cudaStream_t stream) {
    const long long threads = (Reads >= Writes ? reads / Reads : writes / Writes) / 16;
    plain<Reads, Writes><<<unsigned((threads + 255) / 256), 256, 0, stream>>>(static_cast<const uint4*>(from), static_cast<uint4*>(to), threads);
}
/// The nearest of a few mixes.
void move(long long reads, long long writes, const void* from, void* to, cudaStream_t stream) {
    struct mix {
        int reads, writes;
        void (*run)(long long, long long, const void*, void*, cudaStream_t);
    };
    constexpr mix mixes[] = {{8, 0, move<8, 0>}, {8, 2, move<8, 2>}, {6, 3, move<6, 3>}, {4, 3, move<4, 3>},
                             {4, 4, move<4, 4>}, {1, 4, move<1, 4>}, {1, 6, move<1, 6>}};
    const double share = double(writes) / double(reads + writes);
    const mix* best = mixes;
    for (const mix& one : mixes) {
        const auto off = [&](const mix& of) { return std::abs(double(of.writes) / (of.reads + of.writes) - share); };
        if (off(one) < off(*best)) best = &one;
    }
    // As many bytes in all, whatever the mix.
    const double unit = double(reads + writes) / (best->reads + best->writes);
    best->run((long long)(unit * best->reads), (long long)(unit * best->writes), from, to, stream);
}

// ------------------------------------------------------------------------------------------------------------------- alone

void must(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    std::exit(1);
}
__global__ void read_all(const uint4* from, long long packs, unsigned* to) {
    unsigned all = 0;
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < packs; i += gridDim.x * 256ll) all ^= from[i].x;
    if (all == 0x12345678u) *to = all;
}
/// Random numbers of a kind: floats with random signs in [0.5, 1), codes, small indices.
__global__ void fill(unsigned* to, long long words, kind type) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < words; i += gridDim.x * 256ll) {
        unsigned hash = unsigned(i) * 2654435761u;
        hash = (hash ^ hash >> 15) * 2246822519u;
        hash ^= hash >> 13;
        to[i] = type == kind::f32 ? 0x3f000000u | (hash & 0x807fffffu) : type == kind::bf16 ? 0x3f003f00u | (hash & 0x807f807fu) : type == kind::i64 ? (i & 1 ? 0 : hash & 1023u) : type == kind::i16 ? hash & 0x1fff1fffu : hash;
    }
}
constexpr long long flush_bytes = 1ll << 28, workspace_bytes = 1ll << 24;
template <class Call>
double median_us(unsigned char* flushed, const Call& call) {
    cudaEvent_t begin, end;
    must(cudaEventCreate(&begin), "event");
    must(cudaEventCreate(&end), "event");
    std::vector<float> times;
    for (int i = 0; i < 16; ++i) {
        // A read after the write: dirty lines of a fill alone would cost what follows about ten microseconds.
        must(cudaMemsetAsync(flushed, i, flush_bytes / 2), "flush");
        read_all<<<1056, 256>>>(reinterpret_cast<const uint4*>(flushed + flush_bytes / 2), flush_bytes / 32, reinterpret_cast<unsigned*>(flushed));
        cudaEventRecord(begin);
        call();
        cudaEventRecord(end);
        must(cudaEventSynchronize(end), "a timed call");
        float ms = 0;
        cudaEventElapsedTime(&ms, begin, end);
        if (i >= 3) times.push_back(ms);
    }
    cudaEventDestroy(begin), cudaEventDestroy(end);
    std::sort(times.begin(), times.end());
    return double(times[times.size() / 2]) * 1000;
}
constexpr int size_of(kind type) { return type == kind::f32 ? 4 : type == kind::i64 ? 8 : type == kind::bf16 || type == kind::i16 ? 2 : 1; }

}  // namespace
}  // namespace bench

#define SINTER_BENCH_EXPORT extern "C" __attribute__((visibility("default")))

/// nullptr: launched. "unknown": there is no such workload under that policy. Else what CUDA, or Sinter, says.
SINTER_BENCH_EXPORT const char* sinter_bench_run(int policy, const char* name, void* const* operands, cudaStream_t stream, void* workspace, long long workspace_bytes) {
    const bench::workload* const found = bench::find(policy, name);
    if (!found) return "unknown";
    return found->launch({operands, stream, workspace, workspace_bytes});
}
SINTER_BENCH_EXPORT void sinter_bench_plain(long long reads, long long writes, const void* from, void* to, cudaStream_t stream) {
    bench::move(reads, writes, from, to, stream);
}
SINTER_BENCH_EXPORT int sinter_bench_alone(const char* wanted) {
    using namespace bench;
    cudaDeviceProp card{};
    must(cudaGetDeviceProperties(&card, 0), "device");
    unsigned char *flushed, *workspace, *from, *to;
    constexpr long long copied = 1ll << 30;
    must(cudaMalloc(&flushed, flush_bytes), "memory");
    must(cudaMalloc(&workspace, workspace_bytes), "memory");
    must(cudaMalloc(&from, 2 * copied), "memory");
    must(cudaMalloc(&to, 2 * copied), "memory");
    must(cudaMemset(from, 85, 2 * copied), "memory");
    const double copy = 2 * double(copied) / median_us(flushed, [&] { move(copied, copied, from, to, nullptr); }) * 1e-3;
    std::printf("%s, copies at %.0f GB/s\n%-36s%-10s%9s%9s%10s\n", card.name, copy, "", "policy", "us", "of copy", "of plain");
    for (int policy = 0; policy < policy_count; ++policy)
        for (const list* of : policies[policy])
            for (const workload* one = of->first; one < of->first + of->count; ++one) {
                if (std::strstr(one->name, wanted) == nullptr) continue;
                void* at[12] = {};
                double moved[2] = {};
                for (int i = 0; i < one->inputs + one->outputs; ++i) {
                    const long long bytes = one->at[i].count * size_of(one->at[i].type);
                    must(cudaMalloc(&at[i], size_t(bytes + 15) / 16 * 16), "memory");
                    if (i < one->inputs) fill<<<1056, 256>>>(static_cast<unsigned*>(at[i]), bytes / 4, one->at[i].type);
                    moved[i >= one->inputs] += double(bytes);
                }
                const call with{at, nullptr, workspace, workspace_bytes};
                const char* const wrong = one->launch(with);
                if (wrong) {
                    std::printf("%-36s%-10s%s\n", one->name, policy_names[policy], wrong);
                } else {
                    const double us = median_us(flushed, [&] { (void)one->launch(with); });
                    const double beside = median_us(flushed, [&] { move((long long)moved[0], (long long)moved[1], from, to, nullptr); });
                    std::printf("%-36s%-10s%9.1f%9.3f%10.3f\n", one->name, policy_names[policy], us, (moved[0] + moved[1]) / us * 1e-3 / copy, beside / us);
                }
                std::fflush(stdout);
                for (void* pointer : at) cudaFree(pointer);
            }
    must(cudaDeviceSynchronize(), "the end");
    return 0;
}
