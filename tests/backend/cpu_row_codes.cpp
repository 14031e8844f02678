// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Codes whose scale is a row's: a factor in two parts gives the codes of the division for every scale that it is used with, around every
// place where a code changes; and rows of any scale, zero point and contents have the reference's bits.
#include <doctest/doctest.h>

#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <vector>

#include "support.hpp"

using namespace support;

namespace {

constexpr int width = si::backend::SINTER_ISA::native_width;
using value = si::backend::SINTER_ISA::vec<float, width>;
using reciprocal = si::backend::SINTER_ISA::row_reciprocal<value>;

float float_of(u32 bits) { return __builtin_bit_cast(float, bits); }
u32 bits_of(float x) { return __builtin_bit_cast(u32, x); }
u32 state = 1;
u32 draw() { return state = state * 1664525u + 1013904223u, state ^ state >> 15; }

/// The scales of a sweep: every significand near a multiple of 2^15, and random ones, with exponents that take turns.
std::vector<float> scales_of_sweep() {
    std::vector<float> out;
    const u32 exponents[] = {27, 28, 60, 100, 119, 120, 123, 126, 127, 128, 131, 150, 185, 186, 187};
    for (u32 middle = 0; middle <= 1u << 23; middle += 1u << 15)
        for (int beside = -40; beside <= 40; ++beside)
            out.push_back(float_of((exponents[draw() % 15] << 23) + ((middle + u32(beside)) & 0x7fffffu)));
    for (int i = 0; i < 20000; ++i) out.push_back(float_of((27 + draw() % 160) << 23 | (draw() & 0x7fffffu)));
    return out;
}
/// How many of the codes around places where they change are others than the division's.
i64 codes_that_differ(float scale) {
    reciprocal by;
    by.set(value(scale));
    i64 wrong = 0;
    float x[unsigned(width)], quotient[unsigned(width)];
    for (int half = -511; half <= 511; half += 2) {
        const u32 middle = bits_of(si::step::mul(float(half) * 0.5f, scale));
        for (int k = 0; k < width; ++k) x[k] = float_of(middle + u32(k - width / 2));
        const value now = value::load(x);
        store(quotient, by.quotient(now));
        for (int k = 0; k < width; ++k)
            wrong += si::step::round_even(quotient[k]) != si::step::round_even(si::step::div(x[k], scale));
    }
    return wrong;
}

template <class Type>
using in_rows = si::tensor_view<const Type, si::extents<dyn, dyn>>;
template <class Type>
using out_rows = si::tensor_view<Type, si::extents<dyn, dyn>>;
template <class Type>
using column = si::tensor_view<Type, si::extents<dyn, 1>>;

/// Rows whose largest magnitude over 127 is a scale from anywhere, their elements near places where codes change; then rows that no factor
/// is proved for: other scales, a NaN, infinities, nothing but zeros, subnormal numbers.
std::vector<float> rows_of_all_kinds(i64 rows, i64 length) {
    std::vector<float> x(std::size_t(rows * length));
    for (i64 r = 0; r < rows; ++r) {
        const u32 exponents[] = {1, 20, 26, 27, 28, 90, 120, 127, 140, 186, 187, 188, 240};
        const u32 kind = u32(r) % 4;
        float scale = float_of(exponents[draw() % 13] << 23 | (draw() & 0x7fffffu));
        if (kind == 1) scale = float_of((bits_of(scale) & 0xffff0000u) + (draw() % 80) - 40);
        if (kind == 2) scale = 0.01f + float(draw() % 1000) * 0.001f;
        for (i64 i = 0; i < length; ++i) {
            const float place = si::step::mul(float(int(draw() % 255) - 127) + 0.5f, scale);
            x[std::size_t(r * length + i)] = i == 0 || draw() % 64 == 0 ? si::step::mul(127.0f, scale) : float_of(bits_of(place) + draw() % 5 - 2);
        }
        float& any = x[std::size_t(r * length) + draw() % unsigned(length)];
        if (r % 29 == 11) any = support::nan;
        if (r % 31 == 12) any = infinity;
        if (r % 37 == 13) any = -infinity;
        if (r % 41 == 14)
            for (i64 i = 0; i < length; ++i) x[std::size_t(r * length + i)] = i % 2 ? 0.0f : -0.0f;
        if (r % 43 == 15)
            for (i64 i = 0; i < length; ++i) x[std::size_t(r * length + i)] = float_of(draw() & 0x8000ffffu);
    }
    return x;
}
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (bits_of(a[i]) != bits_of(b[i]) && !((bits_of(a[i]) & 0x7fffffffu) > 0x7f800000u && (bits_of(b[i]) & 0x7fffffffu) > 0x7f800000u)) return false;
    return true;
}

}  // namespace

TEST_CASE("a factor in two parts gives the codes of the division") {
    if (!value::has_fma) return;
    i64 wrong = 0, exact = 0, all = 0;
    for (const float scale : scales_of_sweep()) {
        ++all;
        if (!reciprocal::is_exact(scale, 0, -128)) continue;
        ++exact;
        wrong += codes_that_differ(scale);
    }
    CHECK(wrong == 0);
    CHECK(exact > all / 4);
    // What isn't proved for a scale's significand isn't idle care: next to a multiple of 2^16 codes do differ.
    i64 differ = 0;
    for (u32 middle = 1; middle < 128; ++middle)
        for (u32 beside : {1u, 0xffffu}) {
            const float scale = float_of((127u << 23) + (middle << 16) + beside);
            CHECK(!reciprocal::is_exact(scale, 0, -128));
            differ += codes_that_differ(scale);
        }
    CHECK(differ > 0);
}
TEST_CASE("which scales are divided by") {
    for (float scale : {0.0f, 0x1p-149f, 0x1p-101f, 0x1.8p60f, 0x1p127f, infinity, support::nan, -1.0f}) CHECK(!reciprocal::is_exact(scale, 0, -128));
    for (float scale : {0x1p-100f, 0.05f, 1.0f, 1.5f, 0x1p60f}) CHECK(reciprocal::is_exact(scale, 0, -128));
    for (i32 zero : {-128, 0, 127}) CHECK(reciprocal::is_exact(0.05f, zero, -128));
    for (i32 zero : {-129, 128, 1000000000, -2147483647 - 1}) CHECK(!reciprocal::is_exact(0.05f, zero, -128));
    for (i32 zero : {0, 255}) CHECK(reciprocal::is_exact(0.05f, zero, 0));
    for (i32 zero : {-1, 256}) CHECK(!reciprocal::is_exact(0.05f, zero, 0));
}
TEST_CASE("rows that find their scale have the reference's codes") {
    for (const i64 length : {1, 5, 16, 33, 64, 65, 300, 1024, 4096 + 7}) {
        const i64 rows = length > 1000 ? 120 : 400;
        const std::vector<float> x = rows_of_all_kinds(rows, length);
        const in_rows<float> in(x.data(), rows, length);
        std::vector<i8> codes[2] = {std::vector<i8>(x.size()), std::vector<i8>(x.size())};
        std::vector<u8> places[2] = {std::vector<u8>(x.size()), std::vector<u8>(x.size())};
        std::vector<float> scales[2] = {std::vector<float>(std::size_t(rows)), std::vector<float>(std::size_t(rows))}, others[2] = {scales[0], scales[0]};
        std::vector<u8> zeros[2] = {std::vector<u8>(std::size_t(rows)), std::vector<u8>(std::size_t(rows))};
        const auto all = [&](const auto& executor, std::size_t k) {
            si::run(executor, si::tie(out_rows<i8>(codes[k].data(), rows, length), column<float>(scales[k].data(), rows)) = dynamic_quantize(in));
            si::run(executor, si::tie(out_rows<u8>(places[k].data(), rows, length), column<float>(others[k].data(), rows), column<u8>(zeros[k].data(), rows)) =
                                  dynamic_quantize_asymmetric(in));
        };
        all(si::reference, 0);
        all(si::cpu, 1);
        CHECK(codes[0] == codes[1]);
        CHECK(same_bits(scales[0], scales[1]));
        CHECK(places[0] == places[1]);
        CHECK(zeros[0] == zeros[1]);
    }
}
TEST_CASE("rows whose scale is given have the reference's codes, whatever the zero point") {
    for (const i64 length : {7, 64, 300, 1024}) {
        const i64 rows = 200;
        std::vector<float> x = rows_of_all_kinds(rows, length), scales(static_cast<std::size_t>(rows));
        std::vector<i32> zeros(scales.size());
        for (std::size_t r = 0; r < scales.size(); ++r) {
            scales[r] = float_of((20 + draw() % 200) << 23 | (draw() & (r % 3 == 0 ? 0x7f001fu : 0x7fffffu)));
            zeros[r] = r % 2 ? int(draw() % 300) - 150 : 0;
            for (i64 i = 0; i < length; i += 2) x[r * std::size_t(length) + std::size_t(i)] = si::step::mul(float(int(draw() % 1100) - 550) * 0.5f, scales[r]);
        }
        const in_rows<float> in(x.data(), rows, length);
        const column<const float> scale(scales.data(), rows);
        std::vector<i8> codes[2] = {std::vector<i8>(x.size()), std::vector<i8>(x.size())}, plain[2] = {codes[0], codes[0]};
        std::vector<u8> places[2] = {std::vector<u8>(x.size()), std::vector<u8>(x.size())};
        std::vector<float> largest[2] = {scales, scales};
        const auto all = [&](const auto& executor, std::size_t k) {
            const auto zero = si::cast<i32>(cast<float>(column<const i32>(zeros.data(), rows)));  // computed: not refused
            si::run(executor, out_rows<i8>(codes[k].data(), rows, length) = si::quantize<i8>(in, scale * 1.0f, zero));
            si::run(executor, out_rows<u8>(places[k].data(), rows, length) = si::quantize<u8>(in, scale * 1.0f, zero));
            // Beside the rows' magnitudes, which have nothing to do with the scale, or are known too late.
            si::run(executor, si::tie(out_rows<i8>(plain[k].data(), rows, length), column<float>(largest[k].data(), rows)) =
                                  si::let(in, scale, [](auto a, auto s) { return si::outputs(si::quantize<i8>(a, s), max(abs(a), si::last_axis)); }));
        };
        all(si::reference, 0);
        all(si::cpu, 1);
        CHECK(codes[0] == codes[1]);
        CHECK(places[0] == places[1]);
        CHECK(plain[0] == plain[1]);
        CHECK(same_bits(largest[0], largest[1]));
    }
}
TEST_CASE("a scale of the call, a number or an element, has the reference's codes") {
    for (const float scale : {0.05f, 0.0625f, float_of(0x3d4c0001u), float_of(0x3d4bffffu), 0x1p-101f, 0x1.1p-100f, 0x1.3p61f, 0x1.23456p59f, 1.0f})
        for (const i32 zero : {0, 3, -128, 127})
            for (const i64 length : {1, 15, 64, 65, 1000}) {
                std::vector<float> x(std::size_t(3 * length));
                for (std::size_t i = 0; i < x.size(); ++i) {
                    const float special[] = {infinity, -infinity, support::nan, 0.0f, -0.0f, 0x1p-149f, 0x1.fffffep127f, -0x1.fffffep127f};
                    x[i] = i % 9 == 8 ? special[draw() % 8] : float_of(bits_of(si::step::mul(float(int(draw() % 1100) - 550) * 0.5f, scale)) + draw() % 3 - 1);
                }
                const in_rows<float> in(x.data(), 3, length);
                const si::tensor_view<const float, si::extents<1>> one(&scale);
                std::vector<i8> codes[2] = {std::vector<i8>(x.size()), std::vector<i8>(x.size())}, others[2] = {codes[0], codes[0]}, held[2] = {codes[0], codes[0]};
                std::vector<u8> places[2] = {std::vector<u8>(x.size()), std::vector<u8>(x.size())};
                const auto all = [&](const auto& executor, std::size_t k) {
                    si::run(executor, out_rows<i8>(codes[k].data(), 3, length) = si::quantize<i8>(in, scale, zero));
                    si::run(executor, out_rows<i8>(others[k].data(), 3, length) = si::quantize<i8>(in * 0.5f, one));
                    si::run(executor, out_rows<u8>(places[k].data(), 3, length) = si::quantize<u8>(in, scale, (zero + 128)));
                    si::run(executor, si::quantized(out_rows<i8>(held[k].data(), 3, length), scale, zero) = copy(in));
                };
                all(si::reference, 0);
                all(si::cpu, 1);
                CHECK(codes[0] == codes[1]);
                CHECK(others[0] == others[1]);
                CHECK(places[0] == places[1]);
                CHECK(held[0] == held[1]);
            }
}
TEST_CASE("a scale of the call, where a driver of its own takes the kernel: a table of all codes, products of codes") {
    std::vector<i8> from(4096), to[2] = {from, from};
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = i8(u8(i));
    const si::tensor_view<const i8, si::extents<dyn>> x(from.data(), 4096);
    std::vector<float> activations(2 * 512);
    std::vector<i32> products[2] = {std::vector<i32>(2 * 64), std::vector<i32>(2 * 64)}, more[2] = {products[0], products[0]};
    std::vector<i8> weights(64 * 512);
    for (float& a : activations) a = float(int(draw() % 2000) - 1000) * 0.01f;
    for (i8& w : weights) w = i8(draw());
    const si::tensor_view<const float, si::extents<dyn, 1, 512>> a(activations.data(), 2);
    const si::tensor_view<const i8, si::extents<1, dyn, 512>> w(weights.data(), 64);
    const auto all = [&](const auto& executor, std::size_t k, float scale) {
        si::run(executor, si::tensor_view<i8, si::extents<dyn>>(to[k].data(), 4096) = si::quantize<i8>(tanh(si::dequantize(x, 0.02f)), scale, 1));
        si::run(executor, out_rows<i32>(products[k].data(), 2, 64) = si::dot_codes(si::quantize<i8>(a, scale * 8.0f), w, si::last_axis, si::drop));
        const float scales[] = {scale * 9.0f, scale * 7.0f};
        const si::tensor_view<const float, si::extents<dyn, 1, 1>> found(scales, 2);
        si::run(executor, out_rows<i32>(more[k].data(), 2, 64) = si::dot_codes(si::quantize<i8>(a * 0.5f, found * 0.5f), w, si::last_axis, si::drop));
    };
    for (float scale : {0.01f, 0x1.0002p-7f}) {
        all(si::reference, 0, scale);
        all(si::cpu, 1, scale);
        CHECK(to[0] == to[1]);
        CHECK(products[0] == products[1]);
        CHECK(more[0] == more[1]);
    }
}
TEST_CASE("magnitudes beyond the codes are clamped, under fast, too") {
    const i64 rows = 64, length = 300;
    std::vector<float> x(std::size_t(rows * length));
    for (float& one : x) one = float(int(draw() % 2001) - 1000) * 0.013f;
    const in_rows<float> in(x.data(), rows, length);
    std::vector<i8> codes[3] = {std::vector<i8>(x.size()), std::vector<i8>(x.size()), std::vector<i8>(x.size())};
    std::vector<u8> places[3] = {std::vector<u8>(x.size()), std::vector<u8>(x.size()), std::vector<u8>(x.size())};
    for (float share : {1 / 100.0f, 1 / 127.0f, 1 / 127.49f, 1 / 127.51f, 1 / 128.0f, 1 / 128.6f, 1 / 130.0f, 1 / 400.0f, 1e-9f, 1e-12f})
        for (i32 zero : {0, 2, -100}) {
            const auto all = [&](const auto& executor, std::size_t k) {
                si::run(executor, out_rows<i8>(codes[k].data(), rows, length) =
                                      si::let(in, share, zero, [](auto a, auto s, auto z) { return si::quantize<i8>(a, max(abs(a), si::last_axis) * s, z); }));
                si::run(executor, out_rows<u8>(places[k].data(), rows, length) =
                                      si::let(in, share, zero, [](auto a, auto s, auto z) { return si::quantize<u8>(a, max(abs(a), si::last_axis) * s, z + 128); }));
            };
            all(si::reference, 0);
            all(si::cpu, 1);
            all(si::fast(si::cpu), 2);
            CHECK(codes[0] == codes[1]);
            CHECK(places[0] == places[1]);
            int far = 0;
            for (std::size_t i = 0; i < x.size(); ++i)
                far += codes[0][i] - codes[2][i] > 1 || codes[2][i] - codes[0][i] > 1 || places[0][i] - places[2][i] > 1 || places[2][i] - places[0][i] > 1;
            CHECK(far == 0);
        }
}
