// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f16 in and out: computed in f32, rounded once where stored or cast.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("f16: arithmetic stored as itself") {
    tally counted("f16: arithmetic stored as itself");
    pointwise_cases(counted, types<f16, f16, f16, f16, f16, f16, f16, f16>{}, types<f16, f16, f16>{},
                    si::fused([](auto a, auto b, auto c) {
        return si::outputs(a + b, a - b, a * b, a / b, -a, abs(b), fma(a, b, c), sqrt(a));
    }));
}

TEST_CASE("f16: selection and rounding stored as itself") {
    tally counted("f16: selection and rounding stored as itself");
    pointwise_cases(counted, types<f16, f16, f16, f16, f16, f16, f16, f16>{}, types<f16, f16, f16>{},
                    si::fused([](auto a, auto b, auto c) {
        return si::outputs(minimum(a, b), maximum(a, b), relu(a), clamp(a, b, c), where(a < b, b, c), floor(a),
                           round(a), copy(a));
    }));
}

TEST_CASE("f16: chains stay in f32; casts round; stores to other types") {
    tally counted("f16: chains stay in f32; casts round; stores to other types");
    pointwise_cases(counted, types<float, float, f16, double, bool, bool, i32, f16>{}, types<f16, f16>{},
                    si::fused([](auto a, auto b) {
        return si::outputs(a * b + a, si::cast<si::f16>(a * b) + a, a * 3 - 0.1f, si::cast<double>(a * b), a < b,
                           a == b, si::cast<i32>(a * 100), si::cast<si::f16>(si::cast<double>(a) * 0.3));
    }));
}
