// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// u64: comparison, logic, floored division, powers.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("u64: comparisons, logic") {
    tally counted("u64: comparisons, logic");
    contiguous_cases(counted, types<bool, bool, bool, bool, bool, bool, bool, bool, bool>{}, types<u64, u64>{},
                     si::fused([](auto a, auto b) {
        return si::outputs(a < b, a <= b, a > b, a >= b, a == b, a != b, a && b, a || b, !a);
    }));
}

TEST_CASE("u64: fmod remainder floor_divide pow") {
    tally counted("u64: fmod remainder floor_divide pow");
    strided_cases(counted, types<u64, u64, u64, u64>{}, types<u64, u64>{}, si::fused([](auto a, auto b) {
        return si::outputs(fmod(a, b), remainder(a, b), floor_divide(a, b), pow(a, b));
    }));
}
