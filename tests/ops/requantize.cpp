// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Other systems' conventions against plain integer and float code written from their sources' definitions.
#include <doctest/doctest.h>

#include <sinter/backend/cpu.hpp>
#include <sinter/ops/requantize.hpp>
#include <sinter/sinter.hpp>

#include <cmath>
#include <vector>

namespace si = sinter;
using namespace sinter::literals;
using si::extents;
using mode = si::requantization;

namespace {

si::i32 single_rounding(si::i32 x, si::i32 mantissa, int shift) {
    const int places = 31 - shift;
    return static_cast<si::i32>((static_cast<si::i64>(x) * mantissa + (si::i64(1) << (places - 1))) >> places);
}
si::i32 double_rounding(si::i32 x, si::i32 mantissa, int shift) {
    const si::i64 product = static_cast<si::i64>(shift > 0 ? x * (1 << shift) : x) * mantissa;
    const si::i32 high = static_cast<si::i32>((product + (product >= 0 ? (1 << 30) : 1 - (1 << 30))) / (si::i64(1) << 31));
    if (shift >= 0) return high;
    const int places = -shift;
    const si::i32 rest = high & ((1 << places) - 1), threshold = (((1 << places) - 1) >> 1) + (high < 0);
    return (high >> places) + (rest > threshold);
}

}  // namespace

static_assert(si::quantize_multiplier(0.0014402703931141053).mantissa == 1583594044 && si::quantize_multiplier(0.0014402703931141053).shift == -9);
static_assert(si::quantize_multiplier(0.9999999998835847).mantissa == 1073741824 && si::quantize_multiplier(0.9999999998835847).shift == 1);
static_assert(si::quantize_multiplier(1.1641532182693481e-10).mantissa == 0 && si::quantize_multiplier(0.0).mantissa == 0);

TEST_CASE("fixed-point multipliers in each rounding") {
    constexpr int count = 1003;
    std::vector<si::i32> x(count), mantissa(count), shift(count), found(count);
    for (int i = 0; i < count; ++i) {
        const std::size_t at = std::size_t(i);
        x[at] = static_cast<si::i32>((i * 7919 % 200003 - 100001) * 3);
        const si::fixed_multiplier made = si::quantize_multiplier(0.00001 + 0.0013 * (i % 50));
        mantissa[at] = made.mantissa;
        shift[at] = made.shift;
    }
    int wrong = 0;
    si::run(si::cpu, si::view(found) = si::rescale<mode::tflite_single>(si::view(x), si::view(mantissa), si::view(shift)));
    for (std::size_t i = 0; i < x.size(); ++i) wrong += found[i] != single_rounding(x[i], mantissa[i], shift[i]);
    CHECK(wrong == 0);
    si::run(si::cpu, si::view(found) = si::rescale<mode::tflite_double>(si::view(x), si::view(mantissa), si::view(shift)));
    for (std::size_t i = 0; i < x.size(); ++i) wrong += found[i] != double_rounding(x[i], mantissa[i], shift[i]);
    CHECK(wrong == 0);
    const si::fixed_multiplier exact = si::rndnu_multiplier(0.0123f);
    CHECK(std::ldexp(double(exact.mantissa), exact.shift - 31) == double(0.0123f));
    std::vector<si::i8> codes(count);
    si::run(si::cpu, si::view(codes) = si::requantize<"1:3"_qp, mode::rndnu>(si::view(x), exact.mantissa, exact.shift));
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double value = std::floor(double(x[i]) * double(0.0123f) + 0.5) + 3;
        wrong += codes[i] != static_cast<si::i8>(value < -128 ? -128 : value > 127 ? 127 : value);
    }
    CHECK(wrong == 0);
    si::run(si::cpu, si::view(codes) = si::requantize<"1:3"_qp>(si::view(x), 0.0005f));
    for (std::size_t i = 0; i < x.size(); ++i) {
        const float value = std::nearbyint(si::step::mul(static_cast<float>(x[i]), 0.0005f)) + 3;
        wrong += codes[i] != static_cast<si::i8>(value < -128 ? -128 : value > 127 ? 127 : value);
    }
    CHECK(wrong == 0);
    si::run(si::cpu, si::view(found) = si::divide_by_power_of_two(si::view(x), 3));
    for (std::size_t i = 0; i < x.size(); ++i) wrong += found[i] != static_cast<si::i32>(std::round(double(x[i]) / 8));
    CHECK(wrong == 0);
}
TEST_CASE("halves away from zero") {
    const float x[] = {0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 0.49999997f, -0.0f, 8388609.0f, 1e30f, 0.75f, -1.25f, 3.0f};
    float y[12];
    si::run(si::cpu, si::tensor_view<float, extents<12>>(y) = si::round_away(si::tensor_view<const float, extents<12>>(x)));
    for (int i = 0; i < 12; ++i) CHECK(y[i] == std::round(x[i]));
}
TEST_CASE("ggml's blocks") {
    constexpr int blocks = 40;
    std::vector<float> x(blocks * 32);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i / 32 == 3 ? 0.0f : float(int(i * 7919 % 2003) - 1000) * 0.017f;
    std::vector<si::i8> codes(x.size());
    std::vector<si::u8> nibbles(x.size());
    std::vector<si::f16> scale(blocks), sums(blocks);
    const auto rows = extents<blocks, 32>{};
    const auto heads = extents<blocks, 1>{};
    si::run(si::cpu, si::tie(si::view(codes, rows), si::view(scale, heads), si::view(sums, heads)) = ggml_q8_1(si::view(x, rows)));
    int wrong = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
        float top = 0;
        for (std::size_t i = 0; i < 32; ++i) top = std::fmax(top, std::fabs(x[b * 32 + i]));
        const float d = si::step::div(top, 127.0f), inverse = d != 0 ? si::step::div(1.0f, d) : 0;  // steps: as written, whatever the flags
        int sum = 0;
        for (std::size_t i = 0; i < 32; ++i) {
            const int code = int(std::round(si::step::mul(x[b * 32 + i], inverse)));
            sum += code;
            wrong += codes[b * 32 + i] != code;
        }
        wrong += scale[b].bits != si::f16(d).bits || sums[b].bits != si::f16(si::step::mul(static_cast<float>(sum), d)).bits;
    }
    CHECK(wrong == 0);
    si::run(si::cpu, si::tie(si::view(nibbles, rows), si::view(scale, heads)) = ggml_q4_0(si::view(x, rows)));
    for (std::size_t b = 0; b < blocks; ++b) {
        // The magnitude stands beside the element: of `if (fabs(x[i]) > fabs(extreme)) extreme = x[i]` clang 19 makes wrong code (-O3, AVX2).
        float extreme = 0, magnitude = 0;
        for (std::size_t i = 0; i < 32; ++i)
            if (std::fabs(x[b * 32 + i]) > magnitude) extreme = x[b * 32 + i], magnitude = std::fabs(extreme);
        const float d = si::step::div(extreme, -8.0f), inverse = d != 0 ? si::step::div(1.0f, d) : 0;
        for (std::size_t i = 0; i < 32; ++i) {
            const int code = int(si::step::add(si::step::mul(x[b * 32 + i], inverse), 8.5f));
            wrong += nibbles[b * 32 + i] != (code > 15 ? 15 : code);
        }
        wrong += scale[b].bits != si::f16(d).bits;
    }
    CHECK(wrong == 0);
}
