// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// u16: comparison, logic, floored division, powers.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("u16: comparisons, logic") {
    tally counted("u16: comparisons, logic");
    contiguous_cases(counted, types<bool, bool, bool, bool, bool, bool, bool, bool, bool>{}, types<u16, u16>{},
                     si::fused([](auto a, auto b) {
        return si::outputs(a < b, a <= b, a > b, a >= b, a == b, a != b, a && b, a || b, !a);
    }));
}

TEST_CASE("u16: fmod remainder floor_divide pow") {
    tally counted("u16: fmod remainder floor_divide pow");
    strided_cases(counted, types<u16, u16, u16, u16>{}, types<u16, u16>{}, si::fused([](auto a, auto b) {
        return si::outputs(fmod(a, b), remainder(a, b), floor_divide(a, b), pow(a, b));
    }));
}
