// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A 16-bit float in and out: computed in f32, rounded once where stored or cast. Included once per type, by a file that names it: `tested` is the type, TESTED its name.
#pragma once

#include "harness.hpp"

using namespace harness;

TEST_CASE(TESTED ": arithmetic stored as itself") {
    tally counted(TESTED ": arithmetic stored as itself");
    pointwise_cases(counted, types<tested, tested, tested, tested, tested, tested, tested, tested>{}, types<tested, tested, tested>{},
                    si::fused([](auto a, auto b, auto c) {
        return si::outputs(a + b, a - b, a * b, a / b, -a, abs(b), fma(a, b, c), sqrt(a));
    }));
}

TEST_CASE(TESTED ": selection and rounding stored as itself") {
    tally counted(TESTED ": selection and rounding stored as itself");
    pointwise_cases(counted, types<tested, tested, tested, tested, tested, tested, tested, tested>{}, types<tested, tested, tested>{},
                    si::fused([](auto a, auto b, auto c) {
        return si::outputs(minimum(a, b), maximum(a, b), relu(a), clamp(a, b, c), where(a < b, b, c), floor(a),
                           round(a), copy(a));
    }));
}

TEST_CASE(TESTED ": chains stay in f32; casts round; stores to other types") {
    tally counted(TESTED ": chains stay in f32; casts round; stores to other types");
    pointwise_cases(counted, types<float, float, tested, double, bool, bool, i32, tested>{}, types<tested, tested>{},
                    si::fused([](auto a, auto b) {
        return si::outputs(a * b + a, si::cast<tested>(a * b) + a, a * 3 - 0.1f, si::cast<double>(a * b), a < b,
                           a == b, si::cast<i32>(a * 100), si::cast<tested>(si::cast<double>(a) * 0.3));
    }));
}
