// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference backend as an executor: its memory space, strided inputs and outputs, several outputs, broadcasting stores,
// that it changes nothing else, and that it leaves the caller's floating-point state alone.
#include <doctest/doctest.h>

#include "support.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace support;
using si::reference;

static_assert(si::is_same<si::reference_executor::memory_space, si::host_memory>);
static_assert(__is_empty(si::reference_executor) && __is_trivially_copyable(si::reference_executor));

TEST_CASE("strided operands and outputs; elements in the gaps stay") {
    float in[40], out[40];
    for (int i = 0; i < 40; ++i) {
        in[i] = float(i);
        out[i] = -1;
    }
    const auto x = si::view(in + 1, si::extents<3, 4>{}, si::array<i64, 2>{{2, 9}});
    const auto y = si::view(out + 39, si::extents<3, 4>{}, si::array<i64, 2>{{-13, -3}});
    si::run(reference, y = x * 2);
    int written = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j) CHECK(out[39 - 13 * i - 3 * j] == float(1 + 2 * i + 9 * j) * 2);
    for (float value : out) written += value != -1;
    CHECK(written == 12);
    for (int i = 0; i < 40; ++i) CHECK(in[i] == float(i));
}
TEST_CASE("node by node: values shared, outputs of different shapes and types") {
    const auto x = grid<float>(si::extents<2, 3>{}, {1, 2, 3, 4, 5, 6});
    si::tensor<float, si::extents<2, 3>> scaled;
    si::tensor<double, si::extents<2, 1>> total;
    si::tensor<i64, si::extents<2, 1>> place;
    si::run(reference, si::tie(scaled.view(), total.view(), place.view()) = si::let(x, [](auto a) {
                           const auto all = sum(a, si::last_axis);
                           return si::outputs(a / all, all, si::argmax(a, si::last_axis));
                       }));
    CHECK(same(scaled, [&](i64 i) { return si::step::div(x(i / 3, i % 3), i < 3 ? 6.0f : 15.0f); }));
    CHECK(same(total, {6.0, 15.0}));
    CHECK(same(place, {2, 2}));
}
TEST_CASE("broadcasting stores, constants, scalars") {
    si::tensor<float, si::extents<2, 3>> y;
    si::run(reference, y.view() = grid<float>(si::extents<3>{}, {1, 2, 3}) * 1);
    CHECK(same(y, {1.0f, 2.0f, 3.0f, 1.0f, 2.0f, 3.0f}));
    si::run(reference, y.view() = 4);
    CHECK(same(y, {4.0f, 4.0f, 4.0f, 4.0f, 4.0f, 4.0f}));
    si::run(reference, y.view() = sum(y));
}
TEST_CASE("masks are bytes 0 or 1") {
    si::tensor<bool, si::extents<4>> mask;
    si::run(reference, mask.view() = grid<float>(si::extents<4>{}, {1, -1, nan, 0}) < 0.5f);
    for (i64 i = 0; i < 4; ++i) CHECK(bits_of(mask[i]) == (i == 1 || i == 3 ? 1u : 0u));
}
#if defined(__x86_64__)
TEST_CASE("E2: rounding mode and flush to zero of the caller don't matter and come back") {
    const auto x = row<float>({1e-40f, 1, 0.1f}), d = row<float>({2, 3, 3});
    const unsigned usual = _mm_getcsr();
    for (const unsigned mode : {0x8040u, 0x2000u, 0x4000u, 0x6000u}) {
        _mm_setcsr((usual & ~0xe07fu) | mode);
        si::tensor<float, si::extents<dyn>> y(3);
        const bool ran = si::try_run(reference, y.view() = x / d).ok();
        const unsigned after = _mm_getcsr();
        _mm_setcsr(usual);
        CHECK(ran);
        CHECK((after & 0xe040u) == mode);
        CHECK(same(y, {4.99994e-41f, 0.33333334f, 0.033333335f}));
    }
}
#endif
