// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix-vector products of int8 on one core, with a scale and a bias for each row and relu: Sinter beside a loop of intrinsics with the
// same bits, Eigen's product of the codes as int (where Eigen is there), and a loop that reads the weights. And skinny products: 16 vectors
// at once. In turns, the least time of each counts; GB/s are bytes of weights.
#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <immintrin.h>

#include <cstdio>
#include <cstring>
#include <vector>

#if __has_include(<Eigen/Core>)
#include <Eigen/Core>
#define WITH_EIGEN 1
#else
#define WITH_EIGEN 0
#endif

#include "../harness.hpp"

namespace si = sinter;

namespace {

std::vector<si::i8> weights, x;
std::vector<float> scale, bias, y, y_hand, y_eigen;
std::vector<std::int16_t> wide;
int sink = 0;

int total(__m256i all) {
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}
void finish(int row, int sum) {
    const float value = static_cast<float>(sum) * scale[std::size_t(row)] + bias[std::size_t(row)];
    y_hand[std::size_t(row)] = value > 0 ? value : 0;
}

#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
template <int Rows, int Columns>
void hand() {  // the weights as unsigned bytes, less the sum of the vector 128 times
    __m512i sum_of_x = _mm512_setzero_si512();
    for (int k = 0; k < Columns; k += 64) sum_of_x = _mm512_dpbusd_epi32(sum_of_x, _mm512_set1_epi8(1), _mm512_loadu_si512(&x[std::size_t(k)]));
    const int offset = 128 * _mm512_reduce_add_epi32(sum_of_x);
    const __m512i top = _mm512_set1_epi8(-128);
    for (int row = 0; row < Rows; row += 4) {
        const si::i8* const from = weights.data() + std::size_t(row) * Columns;
        __m512i sum[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
        for (int k = 0; k < Columns; k += 64) {
            const __m512i these = _mm512_loadu_si512(&x[std::size_t(k)]);
            for (int r = 0; r < 4; ++r) sum[r] = _mm512_dpbusd_epi32(sum[r], _mm512_xor_si512(_mm512_loadu_si512(from + r * Columns + k), top), these);
        }
        for (int r = 0; r < 4; ++r) finish(row + r, _mm512_reduce_add_epi32(sum[r]) - offset);
    }
}
#else
template <int Rows, int Columns>
void hand() {
    for (int k = 0; k < Columns; k += 16)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(&wide[std::size_t(k)]), _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&x[std::size_t(k)]))));
    for (int row = 0; row < Rows; row += 4) {
        const si::i8* const from = weights.data() + std::size_t(row) * Columns;
        __m256i sum[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
        for (int k = 0; k < Columns; k += 16) {
            const __m256i these = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&wide[std::size_t(k)]));
            for (int r = 0; r < 4; ++r)
                sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + r * Columns + k))), these));
        }
        for (int r = 0; r < 4; ++r) finish(row + r, total(sum[r]));
    }
}
#endif
template <int Rows, int Columns>
void read() {
    __m256i all[8] = {};
    for (std::size_t i = 0; i < std::size_t(Rows) * Columns; i += 256)
        for (int k = 0; k < 8; ++k) all[k] = _mm256_xor_si256(all[k], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights.data() + i + std::size_t(32 * k))));
    for (const __m256i& one : all) sink += _mm256_extract_epi32(one, 0);
}
template <int Vectors, int Rows, int Columns>
auto product(std::vector<float>& to) {
    return si::view(to, si::extents<Vectors, Rows>{}) =
               relu(si::dot_codes(si::view(x.data(), si::extents<Vectors, 1, Columns>{}), si::view(weights.data(), si::extents<1, Rows, Columns>{}), si::axes<-1>, si::drop) *
                        si::view(scale.data(), si::extents<Rows>{}) + si::view(bias.data(), si::extents<Rows>{}));
}
template <int Vectors, int Rows, int Columns>
void run_sinter() {
    si::run(si::cpu, product<Vectors, Rows, Columns>(y));
}
template <int Rows, int Columns>
void eigen() {
#if WITH_EIGEN
    using matrix = Eigen::Matrix<si::i8, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using vector = Eigen::Matrix<si::i8, Eigen::Dynamic, 1>;
    const Eigen::Map<const matrix> w(weights.data(), Rows, Columns);
    const Eigen::Map<const vector> v(x.data(), Columns);
    const Eigen::Map<const Eigen::ArrayXf> s(scale.data(), Rows), b(bias.data(), Rows);
    Eigen::Map<Eigen::ArrayXf>(y_eigen.data(), Rows) = ((w.cast<int>() * v.cast<int>()).array().template cast<float>() * s + b).max(0.0f);
#endif
}
template <int Rows, int Columns>
bool measure() {
    const std::size_t rows = Rows, columns = Columns;
    weights.resize(rows * columns), x.resize(16 * columns), wide.resize(columns);
    scale.resize(rows), bias.resize(rows), y.assign(16 * rows, -1), y_hand.assign(rows, -2), y_eigen.assign(rows, -3);
    unsigned state = 1;
    for (auto* codes : {&weights, &x})
        for (si::i8& code : *codes) code = static_cast<si::i8>((state = state * 1664525u + 1013904223u) >> 24);
    for (std::size_t i = 0; i < rows; ++i) scale[i] = 0.0001f * float(i % 7 + 1), bias[i] = float(i % 13) - 6;
    hand<Rows, Columns>();
    run_sinter<1, Rows, Columns>();
    eigen<Rows, Columns>();
    if (std::memcmp(y.data(), y_hand.data(), rows * sizeof(float)) != 0 || (WITH_EIGEN && std::memcmp(y.data(), y_eigen.data(), rows * sizeof(float)) != 0)) {
        std::printf("gemv %d x %d: other bits than by hand\n", Rows, Columns);
        return false;
    }
    void (*const candidates[])() = {run_sinter<1, Rows, Columns>, hand<Rows, Columns>, read<Rows, Columns>, run_sinter<16, Rows, Columns>, WITH_EIGEN ? eigen<Rows, Columns> : read<Rows, Columns>};
    double best[5];
    bench::in_turns(candidates, 5, 7, 0.02, best);
    const double bytes = double(Rows) * Columns;
    std::printf("gemv int8 %5d x %5d %7.1f GB/s   of hand-written %5.2f   of a read %5.2f   ", Rows, Columns, bytes / best[0] * 1e-9, best[1] / best[0], best[2] / best[0]);
    if (WITH_EIGEN) std::printf("x Eigen %6.2f   ", best[4] / best[0]);
    std::printf("16 vectors: %7.1f products a ns\n", 16 * bytes / best[3] * 1e-9);
    return true;
}

}  // namespace

bool measure_gemv();
bool measure_gemv() {
    return measure<256, 1024>() && measure<4096, 4096>() && measure<11008, 4096>();
}
