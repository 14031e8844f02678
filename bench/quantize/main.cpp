// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantized workloads on one core: Sinter beside a hand-written loop of AVX2 intrinsics with the same bits, and a loop that copies as many
// bytes; where the policy `fast` has a form of its own, that one beside a hand-written loop in any order, of the registers that there are. All
// run in turns, the least time of each counts. In cache: 32768 elements; out of cache: 2^26 (rows of 4096).
//   quantize                      y = code of x / 0.05 (a division)         5 bytes an element
//   quantize, scale 2^-4          the same with a proved reciprocal
//   dequantize-add-relu-requantize   three scales                           3 bytes
//   sigmoid of codes              a table of 256                            2 bytes
//   f32 to f16                    rounded and stored                        6 bytes
//   rms norm to int8              codes and a scale for each row            5 bytes
#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <immintrin.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../harness.hpp"

namespace si = sinter;
using namespace sinter::literals;

namespace {

using first_type = si::q8<"0.05:3"_qp>;
using second_type = si::qu8<"0.013:7"_qp>;
using result_type = si::q8<"0.0773:-5"_qp>;
using power_type = si::q8<"0.0625:3"_qp>;
template <class Type>
using line = si::tensor_view<Type, si::extents<si::dyn>>;
template <class Type>
using matrix = si::tensor_view<Type, si::extents<si::dyn, 4096>>;

inline constexpr auto norm_to_int8 = si::fused([](auto x, auto weight) { return dynamic_quantize(si::rms_norm(x, weight, 1e-5f)); });

/// Memory that begins with a cache line, as a tensor's does.
template <class Type>
struct on_lines {
    using value_type = Type;
    on_lines() = default;
    template <class Other>
    on_lines(const on_lines<Other>&) {}
    Type* allocate(std::size_t length) { return static_cast<Type*>(std::aligned_alloc(64, (length * sizeof(Type) + 63) / 64 * 64)); }
    void deallocate(Type* memory, std::size_t) { std::free(memory); }
    bool operator==(const on_lines&) const { return true; }
};
template <class Type>
using numbers = std::vector<Type, on_lines<Type>>;

long count = 0;
numbers<float> x, tiny, weight(4096, 1.125f), scales;
numbers<first_type> a, a_hand;
numbers<second_type> b;
numbers<result_type> y, y_hand;
numbers<power_type> p;
numbers<signed char> q;
numbers<si::f16> halves;
numbers<unsigned char> from, to;

void store32(signed char* at, const __m256i (&parts)[4]) {
    const __m256i words = _mm256_packs_epi16(_mm256_packs_epi32(parts[0], parts[1]), _mm256_packs_epi32(parts[2], parts[3]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), _mm256_permutevar8x32_epi32(words, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
}
__m256i codes_of(__m256 quotient, float zero, __m256i offset) {
    const __m256 inside = _mm256_min_ps(_mm256_max_ps(quotient, _mm256_set1_ps(-128.0f - zero)), _mm256_set1_ps(127.0f - zero));
    return _mm256_add_epi32(_mm256_cvtps_epi32(inside), offset);
}
void hand_quantize() {
    const __m256 scale = _mm256_set1_ps(0.05f);
    for (long i = 0; i < count; i += 32) {
        __m256i parts[4];
        for (int k = 0; k < 4; ++k) parts[k] = codes_of(_mm256_div_ps(_mm256_loadu_ps(x.data() + i + 8 * k), scale), 3, _mm256_set1_epi32(3));
        store32(&a_hand[std::size_t(i)].code, parts);
    }
}
void hand_add() {
    const __m256 left = _mm256_set1_ps(0.05f), right = _mm256_set1_ps(0.013f), scale = _mm256_set1_ps(0.0773f);
    for (long i = 0; i < count; i += 32) {
        __m256i parts[4];
        for (int k = 0; k < 4; ++k) {
            const std::size_t at = std::size_t(i + 8 * k);
            const __m256i one = _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(&a[at])));
            const __m256i two = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(&b[at])));
            const __m256 sum = _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(one, _mm256_set1_epi32(3))), left),
                                             _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(two, _mm256_set1_epi32(7))), right));
            parts[k] = codes_of(_mm256_div_ps(_mm256_max_ps(sum, _mm256_setzero_ps()), scale), -5, _mm256_set1_epi32(-5));
        }
        store32(&y_hand[std::size_t(i)].code, parts);
    }
}
/// Three passes over a row, the fewest roundings: a factor for rms and scale together, codes that saturate when packed; the next row is asked
/// for meanwhile.
#if defined(__AVX512F__)
constexpr int width = 16;
using lanes = __m512;
lanes load(const float* at) { return _mm512_loadu_ps(at); }
lanes all(float value) { return _mm512_set1_ps(value); }
lanes mul(lanes a, lanes b) { return _mm512_mul_ps(a, b); }
lanes fma(lanes a, lanes b, lanes c) { return _mm512_fmadd_ps(a, b, c); }
lanes add(lanes a, lanes b) { return _mm512_add_ps(a, b); }
lanes larger(lanes a, lanes b) { return _mm512_max_ps(a, b); }
lanes magnitude(lanes a) { return _mm512_abs_ps(a); }
void store_codes(signed char* to, const lanes (&x)[4]) {
    for (int k = 0; k < 4; ++k) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16 * k), _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(x[k])));
}
#else
constexpr int width = 8;
using lanes = __m256;
lanes load(const float* at) { return _mm256_loadu_ps(at); }
lanes all(float value) { return _mm256_set1_ps(value); }
lanes mul(lanes a, lanes b) { return _mm256_mul_ps(a, b); }
lanes fma(lanes a, lanes b, lanes c) { return _mm256_fmadd_ps(a, b, c); }
lanes add(lanes a, lanes b) { return _mm256_add_ps(a, b); }
lanes larger(lanes a, lanes b) { return _mm256_max_ps(a, b); }
lanes magnitude(lanes a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
void store_codes(signed char* to, const lanes (&x)[4]) {
    const __m256i parts[4] = {_mm256_cvtps_epi32(x[0]), _mm256_cvtps_epi32(x[1]), _mm256_cvtps_epi32(x[2]), _mm256_cvtps_epi32(x[3])};
    store32(to, parts);
}
#endif
void free_norm() {
    const float *row = x.data(), *const w = weight.data();
    signed char* to = q.data();
    for (long r = 0; r < count / 4096; ++r, row += 4096, to += 4096) {
        lanes sums[4], tops[4];
        for (int k = 0; k < 4; ++k) sums[k] = tops[k] = all(0.0f);
        for (long i = 0; i < 4096; i += 4 * width)
            for (int k = 0; k < 4; ++k) {
                const lanes now = load(row + i + k * width);
                sums[k] = fma(now, now, sums[k]);
            }
        float part[width], total = 0, top = 0;
        std::memcpy(part, &(sums[0] = add(add(sums[0], sums[1]), add(sums[2], sums[3]))), sizeof part);
        for (float each : part) total += each;
        const float inverse = 1.0f / std::sqrt(total / 4096 + 1e-5f);
        for (long i = 0; i < 4096; i += 4 * width)
            for (int k = 0; k < 4; ++k) tops[k] = larger(magnitude(mul(mul(load(row + i + k * width), all(inverse)), load(w + i + k * width))), tops[k]);
        std::memcpy(part, &(tops[0] = larger(larger(tops[0], tops[1]), larger(tops[2], tops[3]))), sizeof part);
        for (float each : part) top = each > top ? each : top;
        const float scale = top == 0 ? 1 : top / 127;
        scales[std::size_t(r)] = scale;
        const lanes factor = all(inverse / scale);
        for (long i = 0; i < 4096; i += 4 * width) {
            lanes now[4];
            for (int k = 0; k < 4; ++k) {
                _mm_prefetch(reinterpret_cast<const char*>(row + 4096 + i + k * width), _MM_HINT_T1);
                now[k] = mul(mul(load(row + i + k * width), factor), load(w + i + k * width));
            }
            store_codes(to + i, now);
        }
    }
}
void copy_bytes(long bytes_read, long bytes_written) {
    // As many bytes read and written: a copy of the smaller number, and loads of the rest.
    const long common = bytes_read < bytes_written ? bytes_read : bytes_written;
    std::memcpy(to.data(), from.data(), std::size_t(common));
    __m256i sum = _mm256_setzero_si256();
    for (long i = common; i + 128 <= bytes_read; i += 128)
        for (int k = 0; k < 4; ++k) sum = _mm256_xor_si256(sum, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from.data() + i + 32 * k)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to.data()), sum);
}
void copy_quantize() { copy_bytes(4 * count, count); }
void copy_add() { copy_bytes(2 * count, count); }
void copy_codes() { copy_bytes(count, count); }
void copy_halves() { copy_bytes(4 * count, 2 * count); }

void quantize() { si::run(si::cpu, line<first_type>(a.data(), count) = copy(line<const float>(x.data(), count))); }
/// Every 32nd number so small that its quotient is subnormal, or next to it.
void quantize_tiny() { si::run(si::cpu, line<first_type>(a.data(), count) = copy(line<const float>(tiny.data(), count))); }
void quantize_by_power() { si::run(si::cpu, line<power_type>(p.data(), count) = copy(line<const float>(x.data(), count))); }
void add() {
    si::run(si::cpu, line<result_type>(y.data(), count) = relu(line<const first_type>(a.data(), count) + line<const second_type>(b.data(), count)));
}
void sigmoid_of_codes() { si::run(si::cpu, line<result_type>(y.data(), count) = sigmoid(line<const first_type>(a.data(), count))); }
void to_halves() { si::run(si::cpu, line<si::f16>(halves.data(), count) = si::cast<si::f16>(line<const float>(x.data(), count))); }
template <class Executor>
void norm(const Executor& executor) {
    const long rows = count / 4096;
    si::run(executor, si::tie(matrix<signed char>(q.data(), rows), si::tensor_view<float, si::extents<si::dyn, 1>>(scales.data(), rows)) =
                         norm_to_int8(matrix<const float>(x.data(), rows), si::tensor_view<const float, si::extents<4096>>(weight.data())));
}

void norm() { norm(si::cpu); }
void fast_norm() { norm(si::fast(si::cpu)); }

void measure(const char* where) {
    struct row {
        const char* name;
        void (*candidates[5])();  // Sinter, hand-written, copy, Sinter under `fast`, hand-written in any order
    };
    const row rows[] = {{"quantize", {quantize, hand_quantize, copy_quantize}},
                        {"quantize, tiny numbers among them", {quantize_tiny, nullptr, copy_quantize}},
                        {"quantize, scale 2^-4", {quantize_by_power, nullptr, copy_quantize}},
                        {"dequantize-add-relu-requantize", {add, hand_add, copy_add}},
                        {"sigmoid of codes", {sigmoid_of_codes, nullptr, copy_codes}},
                        {"f32 to f16", {to_halves, nullptr, copy_halves}},
                        {"rms norm to int8", {norm, nullptr, copy_quantize, fast_norm, free_norm}}};
    for (const row& one : rows) {
        double best[5];
        bench::in_turns(one.candidates, 5, 9, 0.02, best);
        std::printf("%-12s %-36s %8.3f ns an element", where, one.name, best[0] / double(count) * 1e9);
        if (one.candidates[1])
            std::printf("   of hand-written %5.2f", best[1] / best[0]);
        else
            std::printf("%24s", "");
        std::printf("   of copy %5.2f", best[2] / best[0]);
        if (one.candidates[3]) std::printf("   fast %8.3f ns   of a free loop %5.2f   of copy %5.2f", best[3] / double(count) * 1e9, best[4] / best[3], best[2] / best[3]);
        std::printf("\n");
    }
}

}  // namespace

bool measure_gemv();  // gemv.cpp

int main() {
    for (const long length : {32768L, 1L << 26}) {
        count = length;
        const std::size_t elements = std::size_t(length);
        x.resize(elements);
        for (std::size_t i = 0; i < elements; ++i) x[i] = float(int(i * 37 % 2003) - 1001) * 0.0071f;
        tiny = x;
        for (std::size_t i = 0; i < elements; i += 32) tiny[i] = i % 64 == 0 ? 1e-33f : -1e-39f;
        a.resize(elements), a_hand.resize(elements), b.resize(elements), y.resize(elements), y_hand.resize(elements), p.resize(elements), q.resize(elements), halves.resize(elements);
        from.assign(elements * 4, 1), to.assign(elements * 2, 2), scales.resize(elements / 4096 + 1);
        for (std::size_t i = 0; i < elements; ++i) b[i].code = static_cast<unsigned char>(i * 11);
        quantize(), hand_quantize(), add(), hand_add();
        if (std::memcmp(a.data(), a_hand.data(), elements) != 0 || std::memcmp(y.data(), y_hand.data(), elements) != 0) {
            std::printf("the hand-written loop has other bits\n");
            return 1;
        }
        // In any order codes may be the next ones.
        norm();
        const numbers<signed char> codes = [] { numbers<signed char> copied; copied.assign(q.begin(), q.end()); return copied; }();
        for (const auto form : {fast_norm, free_norm}) {
            form();
            for (std::size_t i = 0; i < elements; ++i)
                if (codes[i] - q[i] > 1 || q[i] - codes[i] > 1) {
                    std::printf("codes are further apart than one\n");
                    return 1;
                }
        }
        measure(length < 100000 ? "in cache" : "out of cache");
    }
    return measure_gemv() ? 0 : 1;
}
