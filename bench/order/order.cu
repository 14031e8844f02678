// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the constants of the lane rule cost on a GPU: sums of squares of 16384 rows of 4096 in f32, bf16 and u8, for W = 64, 128,
// 256, the tree down (W/2 ... 1) and up (1 ... W/2), S = 512, 1024, 2048, beside a kernel that only reads the same bytes. By hand:
// a group of W / (elements of 16 bytes) threads takes a segment, a block a row. All candidates run in turns; medians.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#define MUST(call)                                                                                                                       \
    do {                                                                                                                                 \
        const cudaError_t code = call;                                                                                                   \
        if (code != cudaSuccess) std::printf("%s: %s\n", #call, cudaGetErrorString(code)), std::fflush(stdout), std::exit(2);            \
    } while (0)

constexpr int row_length = 4096, row_count = 16384;

struct f32 { static constexpr int per_vector = 4, bytes = 4; static constexpr const char* name = "f32"; };
struct bf16 { static constexpr int per_vector = 8, bytes = 2; static constexpr const char* name = "bf16"; };
struct u8 { static constexpr int per_vector = 16, bytes = 1; static constexpr const char* name = "u8"; };

__device__ __forceinline__ uint4 load(const uint4* from) {
    uint4 v;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
    return v;
}
template <class Type>
__device__ __forceinline__ void unpack(const uint4& v, float (&out)[Type::per_vector]) {
    const uint32_t word[4] = {v.x, v.y, v.z, v.w};
    for (int i = 0; i < 4; ++i) {
        if constexpr (Type::bytes == 4) out[i] = __uint_as_float(word[i]);
        else if constexpr (Type::bytes == 2) out[2 * i] = __uint_as_float(word[i] << 16), out[2 * i + 1] = __uint_as_float(word[i] & 0xffff0000u);
        else  // a byte becomes the low one of 2^23 + byte
            for (int b = 0; b < 4; ++b) out[4 * i + b] = __fadd_rn(__uint_as_float(__byte_perm(word[i], 0x4b000000u, 0x7540 + b)), -8388608.0f);
    }
}

/// Group: threads of a segment. Each holds `slots` lanes: lane = (slot / V) * 32 V + thread * V + slot % V.
template <class Type, int Lanes, int Segment, bool Down>
__global__ void __launch_bounds__(Lanes / Type::per_vector > 32 ? 32 * row_length / Segment : Lanes / Type::per_vector * (row_length / Segment))
sum_square(const uint4* x, float* out) {
    constexpr int per = Type::per_vector, wanted = Lanes / per, group = wanted > 32 ? 32 : wanted;
    constexpr int vectors = wanted / group, slots = vectors * per, rounds = Segment / Lanes, segments = row_length / Segment;
    __shared__ float total[segments];
    const int thread = threadIdx.x % group, segment = threadIdx.x / group;
    const uint4* from = x + (size_t(blockIdx.x) * row_length + segment * Segment) / per;
    float sum[slots];
    for (int i = 0; i < slots; ++i) sum[i] = 0.0f;
    uint4 v[rounds * vectors];
#pragma unroll
    for (int r = 0; r < rounds * vectors; ++r) v[r] = load(from + r * group + thread);
#pragma unroll
    for (int r = 0; r < rounds; ++r)
#pragma unroll
        for (int u = 0; u < vectors; ++u) {
            float value[per];
            unpack<Type>(v[r * vectors + u], value);
#pragma unroll
            for (int i = 0; i < per; ++i) sum[u * per + i] = __fadd_rn(sum[u * per + i], __fmul_rn(value[i], value[i]));
        }
    float result;
    if constexpr (Down) {
        // strides over vectors, then over threads: the two halves of the slots go to the two threads of a pair, while there are two
#pragma unroll
        for (int s = slots / 2; s >= per; s /= 2)
#pragma unroll
            for (int i = 0; i < s; ++i) sum[i] = __fadd_rn(sum[i], sum[i + s]);
        int held = per;
        int bit = group / 2;
#pragma unroll
        for (; bit > 0; bit /= 2) {
            if (held > 1) {
                const bool high = thread & bit;
                held /= 2;
#pragma unroll
                for (int i = 0; i < per / 2; ++i)
                    if (i < held) {
                        const float given = high ? sum[i] : sum[i + held], mine = high ? sum[i + held] : sum[i];
                        sum[i] = __fadd_rn(mine, __shfl_xor_sync(~0u, given, bit));
                    }
            } else
                sum[0] = __fadd_rn(sum[0], __shfl_xor_sync(~0u, sum[0], bit));
        }
        // lanes of one vector: those that went to other threads, the first exchange first, then those still here
        constexpr int exchanges = 31 - __builtin_clz(unsigned(group));
#pragma unroll
        for (int s = per / 2; s > 0; s /= 2) {
            const int level = 31 - __builtin_clz(unsigned(per / (2 * s)));  // 0 for stride per/2
            if (level < exchanges) {
#pragma unroll
                for (int i = 0; i < per / 2; ++i)
                    if (i < held) sum[i] = __fadd_rn(sum[i], __shfl_xor_sync(~0u, sum[i], (group / 2) >> level));
            } else {
                held = s;
#pragma unroll
                for (int i = 0; i < per / 2; ++i)
                    if (i < s) sum[i] = __fadd_rn(sum[i], sum[i + s]);
            }
        }
        result = sum[0];
    } else {
#pragma unroll
        for (int s = 1; s < per; s *= 2)
#pragma unroll
            for (int i = 0; i < slots; i += 2 * s) sum[i] = __fadd_rn(sum[i], sum[i + s]);
#pragma unroll
        for (int bit = 1; bit < group; bit *= 2)
#pragma unroll
            for (int i = 0; i < slots; i += per) sum[i] = __fadd_rn(sum[i], __shfl_xor_sync(~0u, sum[i], bit));
#pragma unroll
        for (int s = per; s < slots; s *= 2)
#pragma unroll
            for (int i = 0; i < slots; i += 2 * s) sum[i] = __fadd_rn(sum[i], sum[i + s]);
        result = sum[0];
    }
    if (thread == 0) total[segment] = result;
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll
        for (int s = 1; s < segments; s *= 2)
#pragma unroll
            for (int i = 0; i < segments; i += 2 * s) total[i] = __fadd_rn(total[i], total[i + s]);
        out[blockIdx.x] = total[0];
    }
}
template <class Type>
__global__ void __launch_bounds__(row_length / Type::per_vector / 8 < 32 ? 32 : row_length / Type::per_vector / 8) read_only(const uint4* x, float* out) {
    constexpr int all = row_length / Type::per_vector;
    uint4 v[8];
    const uint4* from = x + size_t(blockIdx.x) * all;
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] = load(from + i * blockDim.x + threadIdx.x);
    uint32_t any = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) any ^= v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
    if (any == 0x12345678u) out[blockIdx.x] = 1;
}
__global__ void fill(uint32_t* to, size_t words, int bytes) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < words; i += size_t(gridDim.x) * blockDim.x) {
        uint32_t h = uint32_t(i * 2654435761u) ^ uint32_t(i >> 32) * 0x9E3779B9u;
        h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
        to[i] = bytes == 4 ? 0x3f800000u ^ (h & 0x807fffffu) : bytes == 2 ? 0x3f803f80u ^ (h & 0x807f807fu) : h;
    }
}

std::vector<unsigned char> host;
template <class Type>
float element(size_t i) {
    if (Type::bytes == 1) return float(host[i]);
    uint32_t word = 0;
    std::memcpy(reinterpret_cast<char*>(&word) + 4 - Type::bytes, &host[i * Type::bytes], Type::bytes);
    float out;
    std::memcpy(&out, &word, 4);
    return out;
}
/// One row by the rule's words.
template <class Type, int Lanes, int Segment, bool Down>
float by_rule(int row) {
    std::vector<float> totals;
    for (int begin = 0; begin < row_length; begin += Segment) {
        std::vector<float> lane(Lanes, 0.0f);
        for (int i = 0; i < Segment; ++i) {
            const float value = element<Type>(size_t(row) * row_length + begin + i);
            volatile float square = value * value;
            lane[i % Lanes] += square;
        }
        if (Down)
            for (int s = Lanes / 2; s > 0; s /= 2)
                for (int l = 0; l < s; ++l) lane[l] += lane[l + s];
        else
            for (int s = 1; s < Lanes; s *= 2)
                for (int l = 0; l < Lanes; l += 2 * s) lane[l] += lane[l + s];
        totals.push_back(lane[0]);
    }
    for (size_t s = 1; s < totals.size(); s *= 2)
        for (size_t i = 0; i < totals.size(); i += 2 * s) totals[i] += totals[i + s];
    return totals[0];
}

struct candidate {
    std::string name;
    std::function<void()> call;
    std::function<bool()> right;
};
uint4* x;
float* out;
template <class Type, int Lanes, int Segment, bool Down>
candidate entry() {
    constexpr int wanted = Lanes / Type::per_vector, group = wanted > 32 ? 32 : wanted, threads = group * (row_length / Segment);
    const auto kernel = sum_square<Type, Lanes, Segment, Down>;
    cudaFuncAttributes facts;
    MUST(cudaFuncGetAttributes(&facts, kernel));
    int blocks = 0;
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
    char name[120];
    std::snprintf(name, sizeof name, "%-4s W %3d S %4d tree %-4s  %3d threads %3d registers %2d blocks%s", Type::name, Lanes, Segment, Down ? "down" : "up", threads,
                  facts.numRegs, blocks, facts.localSizeBytes ? " SPILL" : "");
    return {name, [=] { kernel<<<row_count, threads>>>(x, out); },
            [] {
                std::vector<float> found(row_count);
                MUST(cudaMemcpy(found.data(), out, row_count * 4, cudaMemcpyDeviceToHost));
                for (int row : {0, 1, 5000, row_count - 1}) {
                    const float truth = by_rule<Type, Lanes, Segment, Down>(row);
                    if (std::memcmp(&truth, &found[size_t(row)], 4) != 0) return false;
                }
                return true;
            }};
}
template <class Type>
void table() {
    const size_t bytes = size_t(row_count) * row_length * Type::bytes;
    fill<<<1056, 256>>>(reinterpret_cast<uint32_t*>(x), bytes / 4, Type::bytes);
    host.resize(bytes);
    MUST(cudaMemcpy(host.data(), x, bytes, cudaMemcpyDeviceToHost));
    constexpr int plain_threads = row_length / Type::per_vector / 8;
    std::vector<candidate> all{
        {std::string(Type::name) + " reads the same bytes", [] { read_only<Type><<<row_count, plain_threads>>>(x, out); }, [] { return true; }},
        entry<Type, 64, 1024, true>(), entry<Type, 128, 1024, true>(), entry<Type, 256, 1024, true>(), entry<Type, 64, 1024, false>(),
        entry<Type, 128, 1024, false>(), entry<Type, 256, 1024, false>(), entry<Type, 128, 512, true>(), entry<Type, 128, 2048, true>(),
        entry<Type, 256, 2048, true>()};
    std::vector<std::vector<float>> times(all.size());
    std::vector<bool> right;
    cudaEvent_t begin, end;
    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreate(&end));
    for (candidate& each : all) {
        MUST(cudaMemset(out, 0xff, row_count * 4));
        each.call();
        MUST(cudaDeviceSynchronize());
        right.push_back(each.right());
    }
    for (int round = 0; round < 40; ++round)
        for (size_t c = 0; c < all.size(); ++c) {
            MUST(cudaEventRecord(begin));
            all[c].call();
            MUST(cudaEventRecord(end));
            MUST(cudaEventSynchronize(end));
            float ms;
            MUST(cudaEventElapsedTime(&ms, begin, end));
            times[c].push_back(ms);
        }
    std::printf("\n");
    double plain = 0;
    for (size_t c = 0; c < all.size(); ++c) {
        std::sort(times[c].begin(), times[c].end());
        const double median = times[c][times[c].size() / 2] * 1e-3;
        if (c == 0) plain = median;
        std::printf("  %-75s %7.1f us %6.3f TB/s  %.3f of the plain read%s\n", all[c].name.c_str(), median * 1e6, double(bytes) / median * 1e-12, plain / median,
                    right[c] ? "" : "  WRONG");
    }
}

int main() {
    cudaDeviceProp card{};
    MUST(cudaGetDeviceProperties(&card, 0));
    std::printf("%s, %d multiprocessors: sums of squares, %d rows of %d\n", card.name, card.multiProcessorCount, row_count, row_length);
    MUST(cudaMalloc(&x, size_t(row_count) * row_length * 4));
    MUST(cudaMalloc(&out, row_count * 4));
    table<f32>();
    table<bf16>();
    table<u8>();
}
