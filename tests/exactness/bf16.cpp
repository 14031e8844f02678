// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bf16 in and out: computed in f32, rounded once where stored or cast.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("bf16: arithmetic stored as itself") {
    tally counted("bf16: arithmetic stored as itself");
    pointwise_cases(counted, types<bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16>{}, types<bf16, bf16, bf16>{},
                    si::fused([](auto a, auto b, auto c) {
        return si::outputs(a + b, a - b, a * b, a / b, -a, abs(b), fma(a, b, c), sqrt(a));
    }));
}

TEST_CASE("bf16: selection and rounding stored as itself") {
    tally counted("bf16: selection and rounding stored as itself");
    pointwise_cases(counted, types<bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16>{}, types<bf16, bf16, bf16>{},
                    si::fused([](auto a, auto b, auto c) {
        return si::outputs(minimum(a, b), maximum(a, b), relu(a), clamp(a, b, c), where(a < b, b, c), floor(a),
                           round(a), copy(a));
    }));
}

TEST_CASE("bf16: chains stay in f32; casts round; stores to other types") {
    tally counted("bf16: chains stay in f32; casts round; stores to other types");
    pointwise_cases(counted, types<float, float, bf16, double, bool, bool, i32, bf16>{}, types<bf16, bf16>{},
                    si::fused([](auto a, auto b) {
        return si::outputs(a * b + a, si::cast<si::bf16>(a * b) + a, a * 3 - 0.1f, si::cast<double>(a * b), a < b,
                           a == b, si::cast<i32>(a * 100), si::cast<si::bf16>(si::cast<double>(a) * 0.3));
    }));
}
