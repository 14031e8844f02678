// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every f32 through quantize for a table of 24 scales and zero points, with parameters in the type and as run-time operands: on the CPU
// each code is compared with the scalar formula (and, on a sample, with the reference backend); every backend prints the same hashes.
//   quantize_sweep [--stride N] [--threads N]
// Compiled as CUDA it runs on the device. The hash of an entry is the sum of (code + 300) * (index * an odd number) over all floats.
#include <sinter/sinter.hpp>

#if defined(__CUDACC__)
#include <sinter/backend/cuda.cuh>
#else
#include <sinter/backend/cpu.hpp>

#include <thread>
#endif

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace si = sinter;

namespace {

constexpr si::qparams table[24] = {
    // powers of two
    si::qp(1.0f), si::qp(1.0f, 5), si::qp(0.25f, -128), si::qp(0x1p-7f, 127), si::qp(0x1p60f), si::qp(0x1p-100f, 3), si::qp_bits(0x00800000u, -7),
    // subnormal
    si::qp_bits(1u), si::qp_bits(2u, 1), si::qp_bits(0x00012345u, -3), si::qp_bits(0x007fffffu, 100),
    // huge, where dequantized codes overflow
    si::qp_bits(0x7f7fffffu), si::qp(1e38f, 11), si::qp(3e36f, -90),
    // any
    si::qp_bits(0x3dcccccdu, 3), si::qp_bits(0x3b0cceaau), si::qp_bits(0x3c909091u, 85), si::qp_bits(0x33d6bf95u), si::qp_bits(0x3e99999au, -3),
    si::qp_bits(0x40490fdbu, 17), si::qp_bits(0x447a1234u, -64), si::qp_bits(0x3a83126fu, 42), si::qp_bits(0x2edbe6ffu, -1), si::qp_bits(0x3f7fffffu, 64)};
constexpr si::i64 whole = si::i64(1) << 32;
constexpr si::u64 odd = 0x9e3779b97f4a7c15u;

template <int Entry>
using element = si::q8<table[Entry]>;
template <class Space>
using numbers = si::tensor_view<const float, si::extents<si::dyn>, si::row_major, Space>;
template <class Type, class Space>
using results = si::tensor_view<Type, si::extents<si::dyn>, si::row_major, Space>;

si::i64 stride = 1;

#if defined(__CUDACC__)

__global__ void fill(float* x, si::i64 begin, si::i64 count, si::i64 step) {
    const si::i64 i = si::i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) x[i] = __uint_as_float(unsigned((begin + i) * step));
}
__global__ void hash_codes(const signed char* first, const signed char* second, si::i64 begin, si::i64 count, si::i64 step, unsigned long long* sums) {
    unsigned long long mine = 0, other = 0;
    for (si::i64 i = si::i64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += si::i64(gridDim.x) * blockDim.x) {
        const unsigned long long weight = static_cast<unsigned long long>((begin + i) * step) * odd;
        mine += static_cast<unsigned long long>(first[i] + 300) * weight;
        other += static_cast<unsigned long long>(second[i] + 300) * weight;
    }
    atomicAdd(sums, mine);
    atomicAdd(sums + 1, other);
}
struct sweep {
    static constexpr si::i64 chunk = si::i64(1) << 26;
    float* x;
    signed char *fixed, *given;
    unsigned long long* sums;
    sweep() {
        cudaMalloc(&x, chunk * sizeof(float));
        cudaMalloc(&fixed, chunk);
        cudaMalloc(&given, chunk);
        cudaMalloc(&sums, 16);
    }
    template <int Entry>
    int run(si::u64& hash) {
        using space = si::device_memory;
        const si::i64 total = (whole + stride - 1) / stride;
        cudaMemset(sums, 0, 16);
        for (si::i64 begin = 0; begin < total; begin += chunk) {
            const si::i64 count = total - begin < chunk ? total - begin : chunk;
            fill<<<unsigned((count + 255) / 256), 256>>>(x, begin, count, stride);
            const numbers<space> in(x, count);
            const si::status said = si::try_run(si::cuda(nullptr), results<element<Entry>, space>(reinterpret_cast<element<Entry>*>(fixed), count) = copy(in),
                                                results<signed char, space>(given, count) = si::quantize<si::i8>(in, table[Entry].scale(), table[Entry].zero));
            if (!said.ok()) {
                std::printf("%s\n", said.message());
                return 1;
            }
            hash_codes<<<1024, 256>>>(fixed, given, begin, count, stride, sums);
        }
        unsigned long long both[2];
        if (cudaMemcpy(both, sums, 16, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
        hash = both[0];
        return both[0] != both[1];
    }
};

#else

int threads = int(std::thread::hardware_concurrency());

struct sweep {
    static constexpr si::i64 chunk = si::i64(1) << 16;
    template <int Entry>
    int run(si::u64& hash) {
        const si::i64 total = (whole + stride - 1) / stride;
        std::atomic<si::i64> next{0}, wrong{0};
        std::atomic<si::u64> sum{0};
        const auto work = [&] {
            using space = si::host_memory;
            std::vector<float> x(chunk);
            std::vector<element<Entry>> fixed(chunk), again(chunk);
            std::vector<signed char> given(chunk);
            for (si::i64 begin = next.fetch_add(chunk); begin < total; begin = next.fetch_add(chunk)) {
                const si::i64 count = total - begin < chunk ? total - begin : chunk;
                for (si::i64 i = 0; i < count; ++i) x[std::size_t(i)] = __builtin_bit_cast(float, si::u32((begin + i) * stride));
                const numbers<space> in(x.data(), count);
                si::run(si::cpu, results<element<Entry>, space>(fixed.data(), count) = copy(in),
                        results<signed char, space>(given.data(), count) = si::quantize<si::i8>(in, table[Entry].scale(), table[Entry].zero));
                si::u64 here = 0;
                si::i64 bad = 0;
                const si::float_environment exact;
                for (si::i64 i = 0; i < count; ++i) {
                    const int code = fixed[std::size_t(i)].code;
                    here += si::u64(code + 300) * (si::u64((begin + i) * stride) * odd);
                    bad += code != given[std::size_t(i)] || code != si::quantize_code(x[std::size_t(i)], element<Entry>::parameters);
                }
                if (begin / chunk % 61 == 0) {
                    si::run(si::reference, results<element<Entry>, space>(again.data(), count) = copy(in));
                    bad += std::memcmp(again.data(), fixed.data(), std::size_t(count)) != 0;
                }
                sum += here;
                wrong += bad;
            }
        };
        std::vector<std::thread> workers;
        for (int t = 0; t < threads; ++t) workers.emplace_back(work);
        for (std::thread& worker : workers) worker.join();
        hash = sum;
        return wrong != 0;
    }
};

#endif

template <int Entry>
int sweep_entry(sweep& all) {
    const auto begin = std::chrono::steady_clock::now();
    si::u64 hash = 0;
    const int wrong = all.run<Entry>(hash);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("scale %08x zero %4d  %-10s  hash %016llx  %s\n", table[Entry].scale_bits, table[Entry].zero,
                si::detail::uses_reciprocal<element<Entry>::parameters> ? "reciprocal" : si::detail::uses_long_reciprocal<element<Entry>::parameters> ? "long      " : "division  ", static_cast<unsigned long long>(hash), wrong ? "WRONG" : "equal");
    std::fprintf(stderr, "  %.1f s\n", seconds);
    std::fflush(stdout);
    return wrong;
}
template <int... Entry>
int sweep_all(si::indices<Entry...>) {
    sweep all;
    int wrong = 0;
    ((wrong += sweep_entry<Entry>(all)), ...);
    return wrong;
}

}  // namespace

int main(int count, char** words) {
    for (int i = 1; i + 1 < count; i += 2) {
        if (std::strcmp(words[i], "--stride") == 0) stride = std::atoll(words[i + 1]);
#if !defined(__CUDACC__)
        if (std::strcmp(words[i], "--threads") == 0) threads = std::atoi(words[i + 1]);
#endif
    }
    const int wrong = sweep_all(si::make_indices<24>{});
    std::printf("%d of 24 wrong, every %lld. float\n", wrong, static_cast<long long>(stride));
    return wrong != 0;
}
