// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs that scripts/quant_cases generates share: memory of the backend under test, inputs from bits, comparison to the bit
// (any NaN is any NaN), CRC-32. QUANT_BACKEND: 0 reference, 1 cpu, 2 CUDA, 3 CUDA on an emulated device.
#pragma once

#if QUANT_BACKEND == 3
#include "../cuda/emulated.hpp"
#endif

#include <sinter/sinter.hpp>

#include <sinter/ops/requantize.hpp>
#include <sinter/ops/quantized_dot.hpp>
#include <sinter/ops/quantized_view.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#if QUANT_BACKEND == 1
#include <sinter/backend/cpu.hpp>
#elif QUANT_BACKEND == 2
#include <sinter/backend/cuda.cuh>
#endif

namespace si = sinter;
using si::axes;
using si::dyn;
using si::extents;
using si::i64;

namespace quant {

#if QUANT_BACKEND >= 2
using space = si::device_memory;
#else
using space = si::host_memory;
#endif

/// Memory that the host and the backend see.
inline void* allocate(std::size_t bytes) {
#if QUANT_BACKEND == 2
    void* memory = nullptr;
    if (cudaMallocManaged(&memory, bytes + 64) != cudaSuccess) std::abort();
    return memory;
#else
    return std::aligned_alloc(256, (bytes + 511) / 256 * 256);
#endif
}
template <class Type>
struct buffer {
    Type* data;
    i64 count;
    explicit buffer(i64 length) : data(static_cast<Type*>(allocate(std::size_t(length) * sizeof(Type)))), count(length) {
        std::memset(static_cast<void*>(data), 0, std::size_t(length) * sizeof(Type));
    }
    template <class Number>
    buffer(std::initializer_list<Number> values) : buffer(i64(values.size())) {
        i64 at = 0;
        for (Number value : values) {
            if constexpr (sizeof(Number) == sizeof(Type))
                std::memcpy(static_cast<void*>(data + at++), &value, sizeof(Type));
            else
                data[at++] = static_cast<Type>(value);
        }
    }
    buffer(const buffer&) = delete;
    ~buffer() {
#if QUANT_BACKEND == 2
        cudaFree(data);
#else
        std::free(data);
#endif
    }
    template <class Extents>
    auto view(const Extents& sizes) const {
        return si::tensor_view<Type, Extents, si::row_major, space>(data, sizes);
    }
    auto view() const { return view(extents<dyn>(count)); }
    template <class Other, class Extents>
    auto as(const Extents& sizes) const {
        return si::tensor_view<Other, Extents, si::row_major, space>(reinterpret_cast<Other*>(data), sizes);
    }
};
/// f32 numbers from their bits.
struct reals : buffer<float> {
    reals(std::initializer_list<si::u32> bits) : buffer<float>(bits) {}
};

inline const char* current = "";
inline bool wrong = false;
template <class... Assignments>
void launch(const Assignments&... assigned) {
#if QUANT_BACKEND == 0
    const si::status result = si::try_run(si::reference, assigned...);
#elif QUANT_BACKEND == 1
    const si::status result = si::try_run(si::cpu, assigned...);
#elif QUANT_BACKEND == 2
    static void* const scratch = [] {
        void* memory = nullptr;
        cudaMalloc(&memory, 1 << 24);
        return memory;
    }();
    si::status result = si::try_run(si::cuda(nullptr, {scratch, 1 << 24}), assigned...);
    if (result.ok() && cudaDeviceSynchronize() != cudaSuccess) result = si::status{si::error::backend_failure};
#else
    const si::status result = si::try_run(emulated::executor{}, assigned...);
#endif
    if (!result.ok() && !wrong) {
        wrong = true;
        std::printf("fail %s %s\n", current, result.message());
    }
}
inline void differ(const char* what, i64 at, double found, double wanted) {
    if (!wrong) std::printf("fail %s %s[%lld] is %.9g, not %.9g\n", current, what, static_cast<long long>(at), found, wanted);
    wrong = true;
}
template <class Type>
void same(const char* what, const buffer<Type>& found, std::initializer_list<long long> wanted) {
    i64 at = 0;
    for (long long value : wanted) {
        if (static_cast<long long>(found.data[at]) != value) differ(what, at, static_cast<double>(found.data[at]), static_cast<double>(value));
        ++at;
    }
}
/// Of a storage type, by its bits.
template <class Type>
void same_bits(const char* what, const buffer<Type>& found, std::initializer_list<long long> wanted) {
    i64 at = 0;
    for (long long value : wanted) {
        unsigned long long bits = 0;
        std::memcpy(&bits, found.data + at, sizeof(Type));
        if (bits != static_cast<unsigned long long>(value)) differ(what, at, static_cast<double>(bits), static_cast<double>(value));
        ++at;
    }
}
inline bool is_nan(si::u32 bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }
inline void same_reals(const char* what, const buffer<float>& found, std::initializer_list<si::u32> wanted) {
    i64 at = 0;
    for (si::u32 value : wanted) {
        const si::u32 bits = __builtin_bit_cast(si::u32, found.data[at]);
        if (bits != value && !(is_nan(bits) && is_nan(value))) differ(what, at, double(found.data[at]), double(__builtin_bit_cast(float, value)));
        ++at;
    }
}
inline void same_number(const char* what, double found, double wanted) {
    if (found != wanted) differ(what, 0, found, wanted);
}
inline si::u32 crc32(const void* bytes, i64 count) {
    si::u32 crc = ~0u;
    for (i64 i = 0; i < count; ++i) {
        crc ^= static_cast<const unsigned char*>(bytes)[i];
        for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0u);
    }
    return ~crc;
}
inline void same_crc(const void* bytes, i64 count, si::u32 wanted) {
    const si::u32 found = crc32(bytes, count);
    if (found != wanted) {
        if (!wrong) std::printf("fail %s CRC-32 is %08x, not %08x\n", current, found, wanted);
        wrong = true;
    }
}
/// Every f16, as f32.
struct every_half : buffer<float> {
    every_half() : buffer<float>(65536) {
        for (int i = 0; i < 65536; ++i) data[i] = static_cast<float>(si::f16::from_bits(static_cast<si::u16>(i)));
    }
    bool nan(i64 at) const { return is_nan(__builtin_bit_cast(si::u32, data[at])); }
};
inline float real(si::u32 bits) { return __builtin_bit_cast(float, bits); }

struct entry {
    const char* id;
    void (*test)();
};
inline void run_all(const entry* tests, int count) {
    for (int i = 0; i < count; ++i) {
        current = tests[i].id;
        wrong = false;
        tests[i].test();
        if (!wrong) std::printf("pass %s\n", current);
        std::fflush(stdout);
    }
}

}  // namespace quant
