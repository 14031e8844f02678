// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The candidate definitions of softmax on a GPU, rows in registers, a block a row, W = 128, S = 1024:
//   (i)  e^(x - max), e * (1 / sum): two exchanges in the block; with the general exp, and with one for x <= 0 (the same bits);
//   (ii) 2^(x log2 e - K), an integer K per segment: one exchange.
// All candidates run in turns; medians; errors against double.
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
#define DEVICE __device__ __forceinline__

enum class way { general, negative, power };
constexpr float log2_e = 0x1.715476p+0f;

DEVICE float polynomial_e(float r) {
    float p = __fmaf_rn(0x1.6ab98p-10f, r, 0x1.126d0cp-7f);
    p = __fmaf_rn(p, r, 0x1.55589ap-5f), p = __fmaf_rn(p, r, 0x1.55540ep-3f), p = __fmaf_rn(p, r, 0x1.fffff8p-2f);
    return __fmaf_rn(__fmaf_rn(p, r, 1.0f), r, 1.0f);
}
template <way Way>
DEVICE float exp_of(float x) {  // raw maximum and minimum: NaN goes through
    x = -104.0f > x ? -104.0f : x;
    if (Way == way::general) x = 89.0f < x ? 89.0f : x;
    constexpr float magic = 12582912.0f + (Way == way::general ? 254.0f : 160.0f);
    const float t = __fmaf_rn(x, log2_e, magic), n = __fsub_rn(t, magic);
    const float p = polynomial_e(__fmaf_rn(n, -0x1.7f7d1cp-20f, __fmaf_rn(n, -0x1.62e4p-1f, x)));
    const uint32_t power = __float_as_uint(t);
    if (Way == way::general) {
        const uint32_t half = (power << 22) & 0xff800000u;
        return __fmul_rn(__fmul_rn(p, __uint_as_float(half)), __uint_as_float((power << 23) - half));
    }
    return __fmul_rn(__fmul_rn(p, __uint_as_float(power << 23)), 0x1p-33f);
}
DEVICE float power_of(float x, float magic, float lowest) {
    const float kept = lowest > x ? lowest : x;
    const float t = __fmaf_rn(kept, log2_e, magic), n = __fsub_rn(t, magic), f = __fmaf_rn(kept, log2_e, -n);
    float p = __fmaf_rn(0x1.470b4ap-13f, f, 0x1.5f7276p-10f);
    p = __fmaf_rn(p, f, 0x1.3b270ep-7f), p = __fmaf_rn(p, f, 0x1.c6ae66p-5f), p = __fmaf_rn(p, f, 0x1.ebfbe8p-3f);
    p = __fmaf_rn(__fmaf_rn(p, f, 0x1.62e432p-1f), f, 1.0f);
    const float e = __fmul_rn(p, __uint_as_float(__float_as_uint(t) << 23));
    return x < lowest ? 0.0f : e;
}
DEVICE float power_of_two(float n) { return n < -126.0f ? 0.0f : __int_as_float((int(n) + 127) << 23); }

template <int Per>
DEVICE void unpack(const uint4& v, float (&out)[Per]) {
    const uint32_t word[4] = {v.x, v.y, v.z, v.w};
    for (int i = 0; i < 4; ++i)
        if constexpr (Per == 4) out[i] = __uint_as_float(word[i]);
        else out[2 * i] = __uint_as_float(word[i] << 16), out[2 * i + 1] = __uint_as_float(word[i] & 0xffff0000u);
}
DEVICE uint32_t two(float low, float high) {
    uint32_t out;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
    return out;
}
template <int Per>
DEVICE uint4 packed(const float (&in)[Per]) {
    if constexpr (Per == 4) return make_uint4(__float_as_uint(in[0]), __float_as_uint(in[1]), __float_as_uint(in[2]), __float_as_uint(in[3]));
    else return make_uint4(two(in[0], in[1]), two(in[2], in[3]), two(in[4], in[5]), two(in[6], in[7]));
}
/// The lane tree W/2 ... 1 over the threads of a segment: the result in all of them.
template <int Per, int Group>
DEVICE float tree(float (&sum)[Per], int thread) {
    int held = Per;
#pragma unroll
    for (int bit = Group / 2; bit > 0; bit /= 2)
        if (held > 1) {
            const bool high = thread & bit;
            held /= 2;
#pragma unroll
            for (int i = 0; i < Per / 2; ++i)
                if (i < held) {
                    const float given = high ? sum[i] : sum[i + held], mine = high ? sum[i + held] : sum[i];
                    sum[i] = __fadd_rn(mine, __shfl_xor_sync(~0u, given, bit));
                }
        } else
            sum[0] = __fadd_rn(sum[0], __shfl_xor_sync(~0u, sum[0], bit));
#pragma unroll
    for (int s = Per / 2, bit = Group / 2; s > 0; s /= 2, bit /= 2) sum[0] = __fadd_rn(sum[0], __shfl_xor_sync(~0u, sum[0], bit));
    return sum[0];
}
/// Pairwise over the segments' totals, which a warp holds one a lane (a power of two of them).
template <int Segments>
DEVICE float pairwise(float value) {
#pragma unroll
    for (int s = 1; s < Segments; s *= 2) value = __fadd_rn(value, __shfl_xor_sync(~0u, value, s));
    return value;
}

template <int Per, int Columns, way Way>
__global__ void __launch_bounds__(Columns / Per / 8, 1024 / (Columns / Per / 8)) softmax(const uint4* x, uint4* y) {
    constexpr int group = 128 / Per, segments = Columns / 1024, warps = Columns / Per / 8 / 32;
    constexpr bool kept = Per == 4;  // f32: the exponentials stay in registers
    __shared__ float top_of[warps], total[32], power_of_segment[32];
    const int thread = threadIdx.x % group, segment = threadIdx.x / group, lane = threadIdx.x % 32;
    const size_t at = (size_t(blockIdx.x) * Columns + segment * 1024) / Per + thread;
    uint4 v[8];
#pragma unroll
    for (int r = 0; r < 8; ++r) asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[r].x), "=r"(v[r].y), "=r"(v[r].z), "=r"(v[r].w) : "l"(x + at + r * group));
    float top = -INFINITY;
#pragma unroll
    for (int r = 0; r < 8; ++r) {
        float value[Per];
        unpack<Per>(v[r], value);
#pragma unroll
        for (int i = 0; i < Per; ++i) top = fmaxf(top, value[i]);
    }
    float sum[Per], factor, magic = 0, lowest = 0;
    if constexpr (Way != way::power) {
#pragma unroll
        for (int bit = 16; bit > 0; bit /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, bit));
        if (warps > 1) {
            if (lane == 0) top_of[threadIdx.x / 32] = top;
            __syncthreads();
            top = top_of[lane % warps];
#pragma unroll
            for (int bit = warps / 2; bit > 0; bit /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, bit));
        }
    } else {
#pragma unroll
        for (int bit = group / 2; bit > 0; bit /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, bit));
        top = ceilf(__fmul_rn(top, log2_e));
        const float power = top < -3e6f ? -3e6f : top;
        magic = __fsub_rn(12582912.0f + 127.0f, power - 64.0f);
        lowest = __fmul_rn(power - 170.0f, 1.0f / log2_e);
    }
#pragma unroll
    for (int r = 0; r < 8; ++r) {
        float value[Per];
        unpack<Per>(v[r], value);
#pragma unroll
        for (int i = 0; i < Per; ++i) {
            const float e = Way == way::power ? power_of(value[i], magic, lowest) : exp_of<Way>(__fsub_rn(value[i], top));
            sum[i] = __fadd_rn(r == 0 ? 0.0f : sum[i], e);
            value[i] = e;
        }
        if (kept) v[r] = packed<Per>(value);
    }
    const float of_segment = tree<Per, group>(sum, thread);
    if (thread == 0) {
        total[segment] = of_segment;
        if (Way == way::power) power_of_segment[segment] = top;
    }
    __syncthreads();
    if constexpr (Way == way::power) {
        float row_power = power_of_segment[lane % segments];
        const float mine = row_power;
#pragma unroll
        for (int s = 1; s < segments; s *= 2) row_power = fmaxf(row_power, __shfl_xor_sync(~0u, row_power, s));
        const float all = pairwise<segments>(__fmul_rn(total[lane % segments], power_of_two(mine - row_power)));
        factor = __fmul_rn(__frcp_rn(all), power_of_two(top - row_power));
    } else
        factor = __frcp_rn(pairwise<segments>(total[lane % segments]));
#pragma unroll
    for (int r = 0; r < 8; ++r) {
        float value[Per];
        unpack<Per>(v[r], value);
#pragma unroll
        for (int i = 0; i < Per; ++i) {
            const float e = kept ? value[i] : Way == way::power ? power_of(value[i], magic, lowest) : exp_of<Way>(__fsub_rn(value[i], top));
            value[i] = __fmul_rn(e, factor);
        }
        const uint4 w = packed<Per>(value);
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(y + at + r * group), "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w) : "memory");
    }
}
template <int Threads>
__global__ void __launch_bounds__(Threads) copy(const uint4* x, uint4* y) {
    const size_t at = size_t(blockIdx.x) * Threads * 8 + threadIdx.x;
    uint4 v[8];
#pragma unroll
    for (int r = 0; r < 8; ++r) v[r] = x[at + r * Threads];
#pragma unroll
    for (int r = 0; r < 8; ++r) y[at + r * Threads] = v[r];
}
template <int Per>
__global__ void fill(uint32_t* to, size_t words, float scale) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < words; i += size_t(gridDim.x) * blockDim.x) {
        float value[2];
        for (int k = 0; k < 2; ++k) {
            uint32_t h = uint32_t((2 * i + k) * 2654435761u) ^ 0x9E3779B9u, g;
            h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
            g = h * 747796405u + 2891336453u, g ^= g >> 15;
            value[k] = (float(h & 0xffff) + float(h >> 16) + float(g & 0xffff) + float(g >> 16) - 131070.0f) * (scale / 37837.0f);
        }
        to[i] = Per == 4 ? __float_as_uint(value[0]) : two(value[0], value[1]);
    }
}
uint4 *x, *y;
std::vector<unsigned char> host_x, host_y;
template <int Per>
double element(const std::vector<unsigned char>& from, size_t i) {
    uint32_t word = 0;
    std::memcpy(reinterpret_cast<char*>(&word) + (Per == 4 ? 0 : 2), &from[i * (16 / Per)], 16 / Per);
    float out;
    std::memcpy(&out, &word, 4);
    return out;
}
struct candidate {
    std::string name;
    std::function<void()> call;
};
template <int Per, int Columns, way Way>
candidate entry(const char* name, int rows) {
    constexpr int threads = Columns / Per / 8;
    const auto kernel = softmax<Per, Columns, Way>;
    cudaFuncAttributes facts;
    MUST(cudaFuncGetAttributes(&facts, kernel));
    char text[100];
    std::snprintf(text, sizeof text, "%-36s %4d threads %2d registers%s", name, threads, facts.numRegs, facts.localSizeBytes ? " SPILL" : "");
    return {text, [=] { kernel<<<rows, threads>>>(x, y); }};
}
template <int Per, int Columns>
void table(int rows) {
    const size_t bytes = size_t(rows) * Columns * (16 / Per);
    fill<Per><<<1056, 256>>>(reinterpret_cast<uint32_t*>(x), bytes / 4, 3.0f);
    host_x.resize(bytes), host_y.resize(bytes);
    MUST(cudaMemcpy(host_x.data(), x, bytes, cudaMemcpyDeviceToHost));
    constexpr int threads = Columns / Per / 8;
    std::vector<candidate> all{{"copy of the same bytes", [=] { copy<threads><<<rows, threads>>>(x, y); }},
                               entry<Per, Columns, way::general>("(i)  general exp", rows), entry<Per, Columns, way::negative>("(i)  exp for x <= 0 alone", rows),
                               entry<Per, Columns, way::power>("(ii) 2^(x log2 e - K)", rows)};
    std::vector<double> worst(all.size(), 0);
    for (size_t c = 1; c < all.size(); ++c) {
        all[c].call();
        MUST(cudaMemcpy(host_y.data(), y, bytes, cudaMemcpyDeviceToHost));
        for (int row : {0, 7, rows - 1}) {
            double top = -1e300, sum = 0;
            for (int i = 0; i < Columns; ++i) top = std::max(top, element<Per>(host_x, size_t(row) * Columns + i));
            for (int i = 0; i < Columns; ++i) sum += std::exp(element<Per>(host_x, size_t(row) * Columns + i) - top);
            for (int i = 0; i < Columns; ++i) {
                const double truth = std::exp(element<Per>(host_x, size_t(row) * Columns + i) - top) / sum;
                worst[c] = std::max(worst[c], std::fabs(element<Per>(host_y, size_t(row) * Columns + i) - truth) / truth);
            }
        }
    }
    std::vector<std::vector<float>> times(all.size());
    cudaEvent_t begin, end;
    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreate(&end));
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
    std::printf("\nsoftmax %s, %d rows of %d\n", Per == 4 ? "f32" : "bf16", rows, Columns);
    double plain = 0;
    for (size_t c = 0; c < all.size(); ++c) {
        std::sort(times[c].begin(), times[c].end());
        const double median = times[c][times[c].size() / 2] * 1e-3;
        if (c == 0) plain = median;
        std::printf("  %-66s %7.1f us  %.3f of the copy  largest relative error %.1e\n", all[c].name.c_str(), median * 1e6, plain / median, worst[c]);
    }
}
int main() {
    cudaDeviceProp card{};
    MUST(cudaGetDeviceProperties(&card, 0));
    std::printf("%s, %d multiprocessors\n", card.name, card.multiProcessorCount);
    MUST(cudaMalloc(&x, size_t(1) << 28));
    MUST(cudaMalloc(&y, size_t(1) << 28));
    table<4, 4096>(16384);
    table<8, 4096>(16384);
    table<8, 32768>(4096);
    table<4, 1024>(65536);
    table<8, 8192>(8192);
}
