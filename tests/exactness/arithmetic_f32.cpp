// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 arithmetic, comparison, selection: equal bits on the reference and the tested backend.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("f32: + - * / neg abs fma sqrt") {
    tally counted("f32: + - * / neg abs fma sqrt");
    pointwise_cases(counted, types<float, float, float, float, float, float, float, float>{},
                    types<float, float, float>{}, si::fused([](auto a, auto b, auto c) {
        return si::outputs(a + b, a - b, a * b, a / b, -a, abs(b), fma(a, b, c), sqrt(a));
    }));
}

TEST_CASE("f32: minimum maximum fmin fmax relu sign clamp where") {
    tally counted("f32: minimum maximum fmin fmax relu sign clamp where");
    pointwise_cases(counted, types<float, float, float, float, float, float, float, float>{},
                    types<float, float, float>{}, si::fused([](auto a, auto b, auto c) {
        return si::outputs(minimum(a, b), maximum(a, b), fmin(a, b), fmax(a, b), relu(a), sign(a), clamp(a, b, c),
                           where(a < b, b, c));
    }));
}

TEST_CASE("f32: comparisons and tests give bool") {
    tally counted("f32: comparisons and tests give bool");
    pointwise_cases(counted, types<bool, bool, bool, bool, bool, bool, bool, bool, bool>{}, types<float, float>{},
                    si::fused([](auto a, auto b) {
        return si::outputs(a < b, a <= b, a > b, a >= b, a == b, a != b, is_nan(a), is_inf(a), is_finite(a));
    }));
}
