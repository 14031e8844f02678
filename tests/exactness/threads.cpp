// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sinter::cpu itself, real threads, concurrent calls, and callers with another rounding mode or flush to zero: the same bits.
#include "harness.hpp"

#if !defined(SINTER_TEST_BACKEND_HEADER)
#include <sinter/backend/cpu.hpp>

#include <thread>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace harness;

namespace {
struct thread_hook {
    template <class Function>
    void operator()(int count, const Function& function) const {
        std::thread started[16];
        for (int i = 1; i < count; ++i) started[i] = std::thread([&function, i] { function(i); });
        function(0);
        for (int i = 1; i < count; ++i) started[i].join();
    }
};
constexpr auto formula = si::fused([](auto a, auto b) {
    const auto h = a * b + a;
    return si::outputs(h, si::softmax(h), variance(h, si::last_axis));
});
constexpr i64 rows = 37, columns = 1300;

struct data {
    si::tensor<float, plane> a{rows, columns}, b{rows, columns}, h{rows, columns}, s{rows, columns};
    si::tensor<float, si::extents<dyn, 1>> v{rows};
    explicit data(u64 seed) {
        generator random{seed};
        for (float& x : a) x = value_of<float>(random, mix::plain);
        for (float& x : b) x = value_of<float>(random, mix::tiny);
    }
    template <class Executor>
    bool run_on(const Executor& executor) {
        const auto assignment = si::tie(h.view(), s.view(), v.view()) = formula(a, b);
        return si::try_run(executor, assignment).ok();
    }
    bool equals(const data& other) const {
        bool same = true;
        for (i64 i = 0; i < h.count(); ++i)
            same = same && to_bits(h[i]) == to_bits(other.h[i]) && to_bits(s[i]) == to_bits(other.s[i]);
        for (i64 i = 0; i < rows; ++i) same = same && to_bits(v[i]) == to_bits(other.v[i]);
        return same;
    }
};
}  // namespace

// An element that several rows store would be stored by several threads at once.
TEST_CASE("rows aren't split over threads where an output lacks their axis") {
    si::tensor<float, si::extents<64, 40>> x, y;
    si::tensor<float, si::extents<40>> of_columns;
    si::tensor<float, si::extents<64, 1>> of_rows;
    for (float& value : x) value = 1;
    for (float& value : of_columns) value = 2;
    for (float& value : of_rows) value = 3;
    int calls = 0;
    const auto counting = si::cpu.parallel(
        [&calls](int count, const auto& function) {
            ++calls;
            for (int i = 0; i < count; ++i) function(i);
        },
        3);
    si::tensor<float, si::extents<40>> columns_out;
    si::tensor<float, si::extents<64, 1>> rows_out;
    CHECK(si::try_run(counting, y.view() = x + of_columns).ok());
    CHECK(calls == 1);
    CHECK(si::try_run(counting, y.view() = x + of_columns, columns_out.view() = of_columns * 2).ok());
    CHECK(calls == 1);
    for (const float value : columns_out) CHECK(value == 4);
    CHECK(si::try_run(counting, y.view() = x + of_rows, rows_out.view() = of_rows * 2).ok());
    CHECK(calls == 2);
    for (const float value : rows_out) CHECK(value == 6);
}
TEST_CASE("sinter::cpu and 1 to 7 real threads") {
    data expected(5), found(5);
    REQUIRE(expected.run_on(si::reference));
    REQUIRE(found.run_on(si::cpu));
    CHECK(found.equals(expected));
    for (int threads = 1; threads <= 7; ++threads) {
        data again(5);
        REQUIRE(again.run_on(si::cpu.parallel(thread_hook{}, threads)));
        CHECK(again.equals(expected));
    }
}
TEST_CASE("many calls at once from many threads, each with its own data") {
    bool good[8]{};
    std::thread started[8];
    for (int t = 0; t < 8; ++t)
        started[t] = std::thread([t, &good] {
            bool all = true;
            data expected(u64(t + 11));
            all = all && expected.run_on(si::reference);
            for (int i = 0; i < 20; ++i) {
                data found(u64(t + 11));
                all = all && found.run_on(si::cpu) && found.equals(expected);
            }
            good[t] = all;
        });
    for (std::thread& each : started) each.join();
    for (bool each : good) CHECK(each);
}
#if defined(__x86_64__)
TEST_CASE("the caller's floating-point state doesn't matter, and is restored") {
    data expected(9);
    REQUIRE(expected.run_on(si::reference));
    const unsigned usual = _mm_getcsr();
    for (const unsigned mode : {0x8040u, 0x2000u, 0x4000u, 0x6000u, 0xe040u}) {
        data found(9);
        const unsigned wanted = (usual & ~0xe07fu) | mode;
        _mm_setcsr(wanted);
        const bool ran = found.run_on(si::cpu.parallel(thread_hook{}, 3)) && found.run_on(si::cpu);
        const unsigned after = _mm_getcsr();
        _mm_setcsr(usual);
        CHECK(ran);
        CHECK((after & 0xffc0u) == (wanted & 0xffc0u));
        CHECK(found.equals(expected));
    }
}
#endif
#endif
