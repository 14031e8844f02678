// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// i16: comparison, logic, floored division, powers.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("i16: comparisons, logic") {
    tally counted("i16: comparisons, logic");
    contiguous_cases(counted, types<bool, bool, bool, bool, bool, bool, bool, bool, bool>{}, types<i16, i16>{},
                     si::fused([](auto a, auto b) {
        return si::outputs(a < b, a <= b, a > b, a >= b, a == b, a != b, a && b, a || b, !a);
    }));
}

TEST_CASE("i16: fmod remainder floor_divide pow") {
    tally counted("i16: fmod remainder floor_divide pow");
    strided_cases(counted, types<i16, i16, i16, i16>{}, types<i16, i16>{}, si::fused([](auto a, auto b) {
        return si::outputs(fmod(a, b), remainder(a, b), floor_divide(a, b), pow(a, b));
    }));
}
