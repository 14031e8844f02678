// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The caller's rounding mode, flush-to-zero and denormals-are-zero change no bit of a result, and are as they were afterwards, also in
// a program that is linked with -ffast-math (whose startup code sets both). Threads of a hook each keep their own.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <initializer_list>

#if defined(__x86_64__)
namespace float_state {
namespace si = sinter;

unsigned control() {
    unsigned value;
    __asm__ volatile("stmxcsr %0" : "=m"(value));
    return value;
}
void set_control(unsigned value) { __asm__ volatile("ldmxcsr %0" ::"m"(value) : "memory"); }
constexpr unsigned setting = 0xffc0;  // all but the sticky flags

using matrix = si::tensor_view<float, si::extents<4, 70>>;
inline constexpr auto formula = si::fused([](auto x) {
    const auto low = x * 1e-36f;  // subnormal here and there
    return si::outputs(where(x < 0.0f, low / 3.0f, softmax(low * 1e36f)), sum(low * low + low, si::last_axis));
});
float x[280], y[280], truth[280], total[4], true_total[4];

struct hook {
    unsigned inside;  // what each thread of the caller's has set
    unsigned* after;
    template <class Function>
    void operator()(int count, const Function& function) const {
        for (int i = 0; i < count; ++i) {
            set_control(inside);
            function(i);
            *after = control();
        }
    }
};

TEST_CASE("The caller's state neither matters nor changes") {
    const unsigned before = control();
    for (int i = 0; i < 280; ++i) x[i] = float(i % 41 - 20) * 0.01f;
    const auto in = view(x, si::extents<4, 70>{});
    const auto sums = view(total, si::extents<4, 1>{});
    set_control(0x1f80);
    CHECK(si::try_run(si::reference, si::tie(view(truth, si::extents<4, 70>{}), view(true_total, si::extents<4, 1>{})) = formula(in)).ok());
    bool subnormal = false;
    for (const float each : truth) subnormal = subnormal || (each != 0 && each < 1.2e-38f && each > -1.2e-38f);
    CHECK(subnormal);  // so that flushing them would show
    // nearest, down, up, towards zero; then with flush to zero, denormals are zero, both; then with exceptions unmasked but inexact
    for (const unsigned state : {0x1f80u, 0x3f80u, 0x5f80u, 0x7f80u, 0x9f80u, 0x1fc0u, 0x9fc0u, 0xffc0u, 0x3fc0u}) {
        CAPTURE(state);
        for (const bool reference : {false, true}) {
            std::memset(y, 0, sizeof y);
            const auto out = si::tie(view(y, si::extents<4, 70>{}), sums);
            set_control(state);
            const bool ok = reference ? si::try_run(si::reference, out = formula(in)).ok() : si::try_run(si::cpu, out = formula(in)).ok();
            const unsigned after = control();
            set_control(0x1f80);
            CHECK(ok);
            CHECK((after & setting) == (state & setting));
            CHECK(std::memcmp(y, truth, sizeof y) == 0);
            CHECK(std::memcmp(total, true_total, sizeof total) == 0);
        }
        unsigned after_thread = 0;
        std::memset(y, 0, sizeof y);
        const bool ok = si::try_run(si::cpu.parallel(hook{state, &after_thread}, 3), si::tie(view(y, si::extents<4, 70>{}), sums) = formula(in)).ok();
        set_control(0x1f80);
        CHECK(ok);
        CHECK((after_thread & setting) == (state & setting));
        CHECK(std::memcmp(y, truth, sizeof y) == 0);
    }
    set_control(before);
}

TEST_CASE("A startup that flushes to zero") {
    // Linked with -ffast-math, main begins with both set; else this sets them itself.
    const unsigned before = control();
    MESSAGE("control word at the start: " << before);
    set_control(before | 0x8040u);
    const float tiny[8] = {1e-40f, -1e-40f, 3e-45f, 1e-38f, 2e-38f, -3e-39f, 0.0f, -0.0f};
    float out[8];
    const bool ok = si::try_run(si::cpu, view(out, si::extents<8>{}) = view(tiny, si::extents<8>{}) * 1.0f + 0.0f).ok();
    const unsigned after = control();
    set_control(before);
    CHECK(ok);
    CHECK((after & setting) == ((before | 0x8040u) & setting));
    si::u32 bits;
    std::memcpy(&bits, &out[0], 4);
    CHECK(bits == 71362);  // 1e-40, not 0
    std::memcpy(&bits, &out[2], 4);
    CHECK(bits == 2);
}

}  // namespace float_state
#endif
