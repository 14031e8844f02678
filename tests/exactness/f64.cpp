// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f64: arithmetic, comparison, selection, rounding and the functions that exist for it.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("f64: + - * / neg abs fma sqrt") {
    tally counted("f64: + - * / neg abs fma sqrt");
    pointwise_cases(counted, types<double, double, double, double, double, double, double, double>{},
                    types<double, double, double>{}, si::fused([](auto a, auto b, auto c) {
        return si::outputs(a + b, a - b, a * b, a / b, -a, abs(b), fma(a, b, c), sqrt(a));
    }));
}

TEST_CASE("f64: minimum maximum relu sign clamp where copysign") {
    tally counted("f64: minimum maximum relu sign clamp where copysign");
    pointwise_cases(counted, types<double, double, double, double, double, double, double, double>{},
                    types<double, double, double>{}, si::fused([](auto a, auto b, auto c) {
        return si::outputs(minimum(a, b), maximum(a, b), fmin(a, b), fmax(a, b), relu(a), sign(a), clamp(a, b, c),
                           where(a < b, b, copysign(c, a)));
    }));
}

TEST_CASE("f64: rounding, comparisons") {
    tally counted("f64: rounding, comparisons");
    pointwise_cases(counted, types<double, double, double, double, bool, bool, bool, bool, bool, bool>{},
                    types<double, double>{}, si::fused([](auto a, auto b) {
        return si::outputs(floor(a), ceil(a), trunc(a), round(a), a < b, a <= b, a == b, a != b, is_nan(a),
                           is_finite(a));
    }));
}

TEST_CASE("f64: quotients by powers of two and their ends, and of 1") {
    tally counted("f64: quotients by powers of two and their ends, and of 1");
    pointwise_cases(counted, types<double, double, double, double, double, double>{}, types<double, double>{}, si::fused([](auto a, auto b) {
        return si::outputs(a / 8.0, a / -0x1p-1022, b / 0x1p1022, b / 0x1p1023, 1.0 / a, 1.0 / (a + b));
    }));
}
