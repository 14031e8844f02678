// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times formulas on a GPU, one JSON object a line; scripts/bench --cuda makes the table. For each: the time with a cold second-level
// cache, the bytes that it must move at least, and beside it a plain kernel that reads and writes as many bytes in the same mix.
//     main [part of a name]
#include <sinter/sinter.hpp>
#include <sinter/backend/cuda.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace si = sinter;
using si::bf16;
using si::dyn;
using si::i64;
using si::i8;

namespace {

void must(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    std::exit(1);
}
constexpr i64 buffer_bytes = i64(1) << 30, flush_bytes = i64(1) << 28, workspace_bytes = i64(1) << 24;
char *buffer[5], *result[4], *flushed, *workspace;

/// Random signs and fractions: numbers in [0.5, 1), of 4 or 2 bytes.
__global__ void fill(unsigned* to, i64 words, bool halves) {
    for (i64 i = blockIdx.x * i64(blockDim.x) + threadIdx.x; i < words; i += i64(gridDim.x) * blockDim.x) {
        unsigned hash = unsigned(i) * 2654435761u;
        hash = (hash ^ hash >> 15) * 2246822519u;
        hash ^= hash >> 13;
        to[i] = halves ? 0x3f003f00u | (hash & 0x807f807fu) : 0x3f000000u | (hash & 0x807fffffu);
    }
}
__global__ void read_all(const uint4* from, i64 packs, unsigned* to) {
    unsigned all = 0;
    for (i64 i = blockIdx.x * i64(blockDim.x) + threadIdx.x; i < packs; i += i64(gridDim.x) * blockDim.x) all ^= from[i].x;
    if (all == 0x12345678u) *to = all;
}
/// Each thread reads `Reads` packs of 16 bytes and writes `Writes`, neighbours side by side.
template <int Reads, int Writes>
__global__ void __launch_bounds__(256) plain(const uint4* from, uint4* to, i64 threads, unsigned* sink) {
    const i64 block = blockIdx.x * i64(256), i = block + threadIdx.x;
    if (i >= threads) return;
    uint4 held[Reads];
#pragma unroll
    for (int r = 0; r < Reads; ++r) held[r] = from[block * Reads + r * 256 + threadIdx.x];
    if constexpr (Writes == 0) {
        unsigned all = 0;
#pragma unroll
        for (int r = 0; r < Reads; ++r) all ^= held[r].x ^ held[r].y ^ held[r].z ^ held[r].w;
        if (all == 0x12345678u) *sink = all;
    }
#pragma unroll
    for (int w = 0; w < Writes; ++w) to[block * Writes + w * 256 + threadIdx.x] = held[w % Reads];
}
template <int Reads, int Writes>
void move_plainly(i64 reads, i64 writes) {
    const i64 threads = (Reads > 0 ? reads / Reads : writes / Writes) / 16;
    plain<Reads, Writes><<<unsigned((threads + 255) / 256), 256>>>(reinterpret_cast<const uint4*>(buffer[0]), reinterpret_cast<uint4*>(result[0]), threads,
                                                                     reinterpret_cast<unsigned*>(flushed));
}
void move_plainly(i64 reads, i64 writes) {
    if (writes * 16 < reads) return move_plainly<8, 0>(reads, writes);
    if (writes * 3 < reads) return move_plainly<8, 2>(reads, writes);
    if (writes * 5 < reads * 3) return move_plainly<4, 2>(reads, writes);
    if (writes * 8 < reads * 7) return move_plainly<4, 3>(reads, writes);
    move_plainly<4, 4>(reads, writes);
}

template <class Call>
double median_us(const Call& call) {
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
const char* wanted = "";
bool is_wanted(const char* name) { return std::strstr(name, wanted) != nullptr; }
/// Reads and writes in bytes.
template <class Assignment>
void measure(const char* name, double reads, double writes, const Assignment& assignment) {
    if (!is_wanted(name)) return;
    const si::cuda_executor executor = si::cuda(nullptr, {workspace, workspace_bytes});
    const si::status said = si::try_run(executor, assignment);
    if (!said.ok()) {
        std::printf("{\"name\": \"%s\", \"error\": \"%s\"}\n", name, si::cuda_message(said));
        return;
    }
    const double time = median_us([&] { (void)si::try_run(executor, assignment); });
    const double beside = median_us([&] { move_plainly(i64(reads), i64(writes)); });
    std::printf("{\"name\": \"%s\", \"bytes\": %.0f, \"us\": %.3f, \"plain_us\": %.3f}\n", name, reads + writes, time, beside);
    std::fflush(stdout);
}

template <class Type>
auto matrix(char* at, i64 rows, i64 columns) {
    return si::device_view(reinterpret_cast<Type*>(at), si::extents<dyn, dyn>(rows, columns));
}
template <class Type>
auto line(char* at, i64 count) {
    return si::device_view(reinterpret_cast<Type*>(at), si::extents<dyn>(count));
}
template <class Type>
auto column(char* at, i64 rows) {
    return si::device_view(reinterpret_cast<Type*>(at), si::extents<dyn, 1>(rows));
}

inline constexpr auto swiglu = si::fused([](auto gate, auto up) { return silu(gate) * up; });
inline constexpr auto add_norm = si::fused([](auto x, auto r, auto weight) {
    const auto h = x + r;
    return si::outputs(h, si::rms_norm(h, weight, 1e-5f));
});
inline constexpr auto norm_to_int8 = si::fused([](auto x, auto weight) {
    const auto y = si::cast<float>(x) * rsqrt(mean(si::cast<float>(x) * si::cast<float>(x), si::last_axis) + 1e-5f) * weight;
    const auto scale = maximum(max(abs(y), si::last_axis), 1e-8f) * (1.0f / 127.0f);
    return si::outputs(si::cast<i8>(round(y / scale)), scale);
});
inline constexpr auto huber = si::fused([](auto x, auto y) {
    const auto d = abs(x - y);
    return mean(where(d < 1.0f, 0.5f * d * d, d - 0.5f));
});
inline constexpr auto adamw = si::fused([](auto p, auto g, auto m, auto v) {
    const auto m1 = 0.9f * m + 0.1f * g;
    const auto v1 = 0.999f * v + 0.001f * g * g;
    return si::outputs(p * (1 - 1e-5f) - 1e-3f * (m1 / 0.5f) / (sqrt(v1 / 0.3f) + 1e-8f), m1, v1);
});

template <class Type>
void fill_all() {
    for (char* at : buffer) fill<<<4096, 256>>>(reinterpret_cast<unsigned*>(at), buffer_bytes / 4, sizeof(Type) == 2);
}
template <class Type>
void softmax_of(const char* name, i64 rows, i64 columns) {
    const double bytes = double(rows) * double(columns) * sizeof(Type);
    measure(name, bytes, bytes, matrix<Type>(result[0], rows, columns) = softmax(matrix<const Type>(buffer[0], rows, columns)));
}
template <class Type>
void rms_norm_of(const char* name, i64 rows, i64 columns) {
    const double bytes = double(rows) * double(columns) * sizeof(Type);
    measure(name, bytes, bytes,
            matrix<Type>(result[0], rows, columns) = si::rms_norm(matrix<const Type>(buffer[0], rows, columns), line<const Type>(buffer[1], columns), 1e-5f));
}
template <class Type>
void layer_norm_of(const char* name, i64 rows, i64 columns) {
    const double bytes = double(rows) * double(columns) * sizeof(Type);
    measure(name, bytes, bytes,
            matrix<Type>(result[0], rows, columns) = si::layer_norm(matrix<const Type>(buffer[0], rows, columns), line<const Type>(buffer[1], columns),
                                                                    line<const Type>(buffer[2], columns), 1e-5f));
}

}  // namespace

int main(int count, char** argument) {
    if (count > 1) wanted = argument[1];
    for (char*& at : buffer) must(cudaMalloc(&at, buffer_bytes), "memory");
    for (char*& at : result) must(cudaMalloc(&at, buffer_bytes), "memory");
    must(cudaMalloc(&flushed, flush_bytes), "memory");
    must(cudaMalloc(&workspace, workspace_bytes), "memory");
    cudaDeviceProp card{};
    must(cudaGetDeviceProperties(&card, 0), "device");
    const double copy = median_us([] { move_plainly<4, 4>(buffer_bytes, buffer_bytes); });
    std::printf("{\"card\": \"%s\", \"copy_gb_per_s\": %.0f}\n", card.name, 2 * double(buffer_bytes) / copy * 1e-3);

    constexpr i64 mega = 1 << 20;
    const double n64 = 64.0 * mega, n128 = 128.0 * mega;
    fill_all<float>();
    measure("add 16384x4096 f32", 8 * n64, 4 * n64, line<float>(result[0], 64 * mega) = line<const float>(buffer[0], 64 * mega) + line<const float>(buffer[1], 64 * mega));
    rms_norm_of<float>("rmsnorm_16384x4096_f32", 16384, 4096);
    layer_norm_of<float>("layernorm_65536x768_f32", 65536, 768);
    softmax_of<float>("softmax_262144x128_f32", 262144, 128);
    softmax_of<float>("softmax_65536x1024_f32", 65536, 1024);
    softmax_of<float>("softmax_16384x4096_f32", 16384, 4096);
    softmax_of<float>("softmax_2048x32768_f32", 2048, 32768);
    softmax_of<float>("softmax_512x131072_f32", 512, 131072);
    measure("logsumexp_16384x4096_f32", 4 * n64, 0, column<float>(result[0], 16384) = logsumexp(matrix<const float>(buffer[0], 16384, 4096), si::last_axis));
    measure("quantize_i8_2^27_f32", 4 * n128, n128,
            line<i8>(result[0], 128 * mega) = si::cast<i8>(clamp(round(line<const float>(buffer[0], 128 * mega) * 20.0f) + 3.0f, -128.0f, 127.0f)));
    measure("dot_2^27_f32", 8 * n128, 0,
            si::device_view(reinterpret_cast<float*>(result[0]), si::extents<>{}) = sum(line<const float>(buffer[0], 128 * mega) * line<const float>(buffer[1], 128 * mega)));
    measure("huber_2^27_f32", 8 * n128, 0,
            si::device_view(reinterpret_cast<float*>(result[0]), si::extents<>{}) = huber(line<const float>(buffer[0], 128 * mega), line<const float>(buffer[1], 128 * mega)));
    measure("col_sum_65536x1024_f32", 4 * n64, 0,
            si::device_view(reinterpret_cast<float*>(result[0]), si::extents<1, dyn>(1024)) = sum(matrix<const float>(buffer[0], 65536, 1024), si::axes<0>));
    measure("col_var_65536x1024_f32", 4 * n64, 0,
            si::device_view(reinterpret_cast<float*>(result[0]), si::extents<1, dyn>(1024)) = variance(matrix<const float>(buffer[0], 65536, 1024), si::axes<0>));
    measure("transpose_add_8192_f32", 8 * n64, 4 * n64,
            matrix<float>(result[0], 8192, 8192) = matrix<const float>(buffer[0], 8192, 8192) + transpose(matrix<const float>(buffer[1], 8192, 8192)));
    measure("adamw_2^26_f32", 16 * n64, 12 * n64,
            si::tie(line<float>(result[0], 64 * mega), line<float>(result[1], 64 * mega), line<float>(result[2], 64 * mega)) =
                adamw(line<const float>(buffer[0], 64 * mega), line<const float>(buffer[1], 64 * mega), line<const float>(buffer[2], 64 * mega),
                      line<const float>(buffer[3], 64 * mega)));

    fill_all<bf16>();
    measure("bias_gelu_16384x4096_bf16", 2 * n64, 2 * n64,
            matrix<bf16>(result[0], 16384, 4096) = gelu_tanh(matrix<const bf16>(buffer[0], 16384, 4096) + line<const bf16>(buffer[1], 4096)));
    measure("swiglu_8192x14336_bf16", 4.0 * 8192 * 14336, 2.0 * 8192 * 14336,
            matrix<bf16>(result[0], 8192, 14336) = swiglu(matrix<const bf16>(buffer[0], 8192, 14336), matrix<const bf16>(buffer[1], 8192, 14336)));
    measure("residual_rmsnorm_16384x4096_bf16", 4 * n64, 4 * n64,
            si::tie(matrix<bf16>(result[0], 16384, 4096), matrix<bf16>(result[1], 16384, 4096)) =
                add_norm(matrix<const bf16>(buffer[0], 16384, 4096), matrix<const bf16>(buffer[1], 16384, 4096), line<const bf16>(buffer[2], 4096)));
    rms_norm_of<bf16>("rmsnorm_32768x1024_bf16", 32768, 1024);
    rms_norm_of<bf16>("rmsnorm_4096x32768_bf16", 4096, 32768);
    layer_norm_of<bf16>("layernorm_16384x4096_bf16", 16384, 4096);
    softmax_of<bf16>("softmax_16384x4096_bf16", 16384, 4096);
    softmax_of<bf16>("softmax_8192x8192_bf16", 8192, 8192);
    softmax_of<bf16>("softmax_4096x32768_bf16", 4096, 32768);
    softmax_of<bf16>("softmax_2048x131072_bf16", 2048, 131072);
    measure("rmsnorm_quant_i8_16384x4096_bf16", 2 * n64, n64,
            si::tie(matrix<i8>(result[0], 16384, 4096), column<float>(result[1], 16384)) =
                norm_to_int8(matrix<const bf16>(buffer[0], 16384, 4096), line<const bf16>(buffer[1], 4096)));
    measure("argmax_4096x128256_bf16", 2.0 * 4096 * 128256, 0, column<i64>(result[0], 4096) = argmax(matrix<const bf16>(buffer[0], 4096, 128256), si::last_axis));
    must(cudaDeviceSynchronize(), "the end");
}
