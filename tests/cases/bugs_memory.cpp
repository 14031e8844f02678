// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Aliasing, dangling temporaries, offsets past 32 bits, large counts, tails at the end of a page, misaligned rows.
#include <sinter/backend/cpu.hpp>

#include "bugs.hpp"

#include <cmath>
#include <cstdint>
#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

using namespace bugs;

TEST_CASE("B102 pytorch#197829, B104 pytorch#101950: a shift or flip within one buffer is refused, nothing is written") {
    on_each([](const auto& executor) {
        for (const i64 columns : {i64(1), i64(3), i64(64), i64(2048)}) {
            si::tensor<float, si::extents<dyn, dyn>> x(16, columns);
            for (i64 i = 0; i < x.count(); ++i) x[i] = float(i);
            const auto down = si::slice<0>(x.view(), 1, 16), up = si::slice<0>(x.view(), 0, 15);
            CHECK(si::try_run(executor, down = si::copy(up)).code() == si::error::overlap);
            CHECK(si::try_run(executor, up = si::copy(down)).code() == si::error::overlap);
            CHECK(si::try_run(executor, x.view() = si::copy(si::flip<0>(x.view()))).code() == si::error::overlap);
            CHECK(si::try_run(executor, x.view() = si::flip<0>(x.view()) + x).code() == si::error::overlap);
            CHECK(same(x, [](i64 i) { return float(i); }));
            // Through a second buffer it is right.
            si::tensor<float, si::extents<dyn, dyn>> y(16, columns);
            si::run(executor, y.view() = si::copy(x));
            si::run(executor, down = si::copy(si::slice<0>(y.view(), 0, 15)));
            CHECK(same(x, [&](i64 i) { return float(i < columns ? i : i - columns); }));
        }
    });
}
TEST_CASE("B106 pytorch#183575: a buffer that is read is taken for one that may be reused") {
    on_each([](const auto& executor) {
        si::tensor<float, si::extents<1000>> m, g, p;
        si::tensor<f16, si::extents<1000>> half;
        si::run(executor, si::fill(m.view(), 1), si::fill(g.view(), 3), si::fill(p.view(), 2));
        si::run(executor, m.view() = m + 0.05f * (g - m));
        si::run(executor, p.view() = p - 0.01f * m);
        si::run(executor, half.view() = si::copy(g));
        CHECK(same(m, [](i64) { return 1.1f; }));
        CHECK(close(double(p[999]), 1.989, 1e-6));
        CHECK(same(half, [](i64) { return si::convert<f16>(3.0f); }));
        // And as one kernel with several outputs, one of them in place.
        si::run(executor, si::fill(m.view(), 1), si::fill(p.view(), 2));
        si::run(executor, si::tie(m.view(), p.view(), half.view()) = si::let(m, g, p, [](auto a, auto b, auto c) {
                              const auto next = a + 0.05f * (b - a);
                              return si::outputs(next, c - 0.01f * next, b);
                          }));
        CHECK(same(m, [](i64) { return 1.1f; }));
        CHECK(close(double(p[0]), 1.989, 1e-6));
    });
}
namespace {
auto floor_of_negatives(const si::tensor<double, si::extents<dyn>>& a) {
    auto t = a / 8;
    return where(t < 0, floor(t), t);
}
struct wave {
    si::tensor<float, si::extents<8>> data;
    auto squared_sine() const {
        const float c = 2 * 3.14159265f * 0.01f;
        const auto s = sin(data * c);
        return s * s;
    }
};
auto hand_made_log_softmax(const si::tensor<double, si::extents<2, 3>>& x) {
    auto top = max(x, si::last_axis);
    auto shifted = x - top;
    auto total = sum(exp(shifted), si::last_axis);
    return shifted - log(total);
}
}  // namespace
TEST_CASE("B108 xtensor#1932, B110 xtensor#2597, B112 xtensor#2871: expressions over their function's temporaries") {
    on_each([](const auto& executor) {
        si::tensor<double, si::extents<dyn>> a(11);
        for (i64 i = 0; i < 11; ++i) a[i] = double(i - 5);
        CHECK(same(si::eval(executor, floor_of_negatives(a)), {-1, -1, -1, -1, -1, 0, .125, .25, .375, .5, .625}));
        wave w;
        for (i64 i = 0; i < 8; ++i) w.data[i] = float(i < 4 ? i + 1 : 8 - i);
        CHECK(close(si::eval(executor, w.squared_sine()),
                    {0.003942649, 0.01570842, 0.03511176, 0.06184666, 0.06184666, 0.03511176, 0.01570842, 0.003942649}, 1e-5));
        si::tensor<double, si::extents<2, 3>> x;
        const double values[] = {1, 2, 3, 1, 2, 4};
        for (i64 i = 0; i < 6; ++i) x[i] = values[i];
        CHECK(close(si::eval(executor, hand_made_log_softmax(x)),
                    {-2.40760596, -1.40760596, -0.40760596, -3.16984602, -2.16984602, -0.16984602}, 2e-8));
    });
}
#if defined(__linux__) && UINTPTR_MAX > 0xffffffffu
TEST_CASE("B118 triton#944: stride times index overflows 32 bits") {
    const i64 stride = 67108864, count = 64;
    const std::size_t bytes = std::size_t(stride) * std::size_t(count);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    u8* const data = static_cast<u8*>(memory);
    for (i64 i = 0; i < count; ++i) data[i * stride] = u8(i + 1);
    const auto x = si::view(data, si::extents<64>{}, si::array<i64, 1>{{stride}});
    const auto backwards = si::view(data + 63 * stride, si::extents<64>{}, si::array<i64, 1>{{-stride}});
    on_each([&](const auto& executor) {
        CHECK(same(si::eval(executor, x + 0), [](i64 i) { return u8(i + 1); }));
        CHECK(same(si::eval(executor, backwards + 0), [](i64 i) { return u8(64 - i); }));
        CHECK(si::eval(executor, sum(x)) == 64 * 65 / 2);
        CHECK(si::eval(executor, si::argmax(x)) == 63);
        const auto square = si::unflatten<0, 8>(x);
        CHECK(same(si::eval(executor, sum(square, si::axes<0>)), [](i64 i) { return u64(8 * (i + 1) + 8 * 28); }));
        si::run(executor, x = 5);
        CHECK(data[63 * stride] == 5);
        for (i64 i = 0; i < count; ++i) data[i * stride] = u8(i + 1);
    });
    munmap(memory, bytes);
}
TEST_CASE("B130 XNNPACK#4190, B132 XNNPACK#10199, B136 cutlass#49: reads and writes past the last element") {
    const std::size_t page = std::size_t(sysconf(_SC_PAGESIZE));
    // Three pairs of pages, the second of each out of bounds.
    unsigned char* const memory = static_cast<unsigned char*>(
        mmap(nullptr, 6 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory != MAP_FAILED);
    for (int i = 0; i < 3; ++i) mprotect(memory + (2 * i + 1) * int(page), page, PROT_NONE);
    on_each([&](const auto& executor) {
        for_types<i8, u8, f16, i16, float, i32, double, bool>([&](auto type) {
            using element = decltype(type);
            for_lengths([&](i64 n) {
                if (std::size_t(n) * sizeof(element) > page) return;
                const auto at_the_end = [&](int which) {
                    unsigned char* const stop = memory + (2 * which + 1) * int(page);
                    return si::tensor_view<element, si::extents<dyn>>(reinterpret_cast<element*>(stop) - n, n);
                };
                const auto a = at_the_end(0), b = at_the_end(1), y = at_the_end(2);
                for (i64 i = 0; i < n; ++i) {
                    a(i) = si::convert<element>(i % 3);
                    b(i) = si::convert<element>(1);
                }
                if constexpr (si::is_same<element, bool>)
                    si::run(executor, y = a && b);
                else
                    si::run(executor, y = a + b);
                bool good = true;
                for (i64 i = 0; i < n; ++i)
                    good = good && bits_of(y(i)) == bits_of(si::convert<element>(si::is_same<element, bool> ? i % 3 != 0 : i % 3 + 1));
                CHECK(good);
                CHECK(same(si::eval(executor, max(a)), si::convert<element>(n < 3 ? n - 1 : 2)));
            });
        });
        // Rows of odd length: each starts at another alignment, the last one ends at the page.
        f16* const stop = reinterpret_cast<f16*>(memory + page);
        const si::tensor_view<f16, si::extents<2, 3>> rows(stop - 6);
        for (i64 i = 0; i < 6; ++i) stop[i - 6] = si::convert<f16>(i);
        CHECK(same(si::eval(executor, rows * 2), {0, 2, 4, 6, 8, 10}));
        CHECK(same(si::eval(executor, sum(rows, si::last_axis)), {3, 12}));
    });
    munmap(memory, 6 * page);
}
#endif
TEST_CASE("B122 ggml#877, B124 triton#580, B126 llama.cpp#13384: many rows, many columns") {
    on_each([](const auto& executor) {
        si::tensor<i32, si::extents<dyn, 4>> x(70000);
        for (i64 i = 0; i < x.count(); ++i) x[i] = i32(i);
        CHECK(same(si::eval(executor, x + 1), [](i64 i) { return i32(i + 1); }));
        CHECK(same(si::eval(executor, max(x, si::last_axis)), [](i64 i) { return i32(4 * i + 3); }));
        si::tensor<float, si::extents<2, dyn>> wide(66000);
        for (i64 i = 0; i < wide.count(); ++i) wide[i] = float(i % 1000);
        const auto scale = grid<float>(si::extents<2, 1>{}, {2, 3});
        CHECK(same(si::eval(executor, wide * scale), [](i64 i) { return float(i % 1000) * (i < 66000 ? 2 : 3); }));
    });
    si::tensor<u8, si::extents<196, dyn>> big(262144);
    for (i64 i = 0; i < big.count(); ++i) big[i] = u8(i * 7);
    const auto copied = si::eval(si::cpu, si::copy(big));
    CHECK(std::memcmp(copied.data(), big.data(), std::size_t(big.count())) == 0);
}
TEST_CASE("B128 flashinfer#718: residual and rms_norm over a long row") {
    on_each([](const auto& executor) {
        const auto x = si::view(repeated<f16>(2 * 16384, 0.5f).data(), si::extents<2, 16384>{});
        const auto weight = si::view(repeated<f16>(16384, 1).data(), si::extents<16384>{});
        CHECK(same(si::eval(executor, si::rms_norm(x + x, weight, 0.0f)), [](i64) { return si::convert<f16>(1.0f); }));
    });
}
TEST_CASE("B134 Fastor#139: rows of 24 bytes, 8-byte aligned") {
    on_each([](const auto& executor) {
        si::tensor<double, si::extents<5, 3>> x;
        for (i64 i = 0; i < 15; ++i) x[i] = double(i % 3 + 1);
        const auto step = grid<double>(si::extents<3>{}, {7, 8, 9});
        using row_view = si::tensor_view<double, si::extents<3>>;
        for (i64 i = 1; i < 5; ++i) {
            si::run(executor, row_view(x.data()) -= step);
            si::run(executor, row_view(x.data() + 3 * i) += step);
        }
        CHECK(same(x, {-27, -30, -33, 8, 10, 12, 8, 10, 12, 8, 10, 12, 8, 10, 12}));
    });
}
