// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// i64: comparison, logic, floored division, powers.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("i64: comparisons, logic") {
    tally counted("i64: comparisons, logic");
    contiguous_cases(counted, types<bool, bool, bool, bool, bool, bool, bool, bool, bool>{}, types<i64, i64>{},
                     si::fused([](auto a, auto b) {
        return si::outputs(a < b, a <= b, a > b, a >= b, a == b, a != b, a && b, a || b, !a);
    }));
}

TEST_CASE("i64: fmod remainder floor_divide pow") {
    tally counted("i64: fmod remainder floor_divide pow");
    strided_cases(counted, types<i64, i64, i64, i64>{}, types<i64, i64>{}, si::fused([](auto a, auto b) {
        return si::outputs(fmod(a, b), remainder(a, b), floor_divide(a, b), pow(a, b));
    }));
}
