// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparison, logic, floored division, powers of one integer type. Included once per type, by a file that names it: `tested` is the type, TESTED its name.
#pragma once

#include "harness.hpp"

using namespace harness;

TEST_CASE(TESTED ": comparisons, logic") {
    tally counted(TESTED ": comparisons, logic");
    contiguous_cases(counted, types<bool, bool, bool, bool, bool, bool, bool, bool, bool>{}, types<tested, tested>{},
                     si::fused([](auto a, auto b) {
        return si::outputs(a < b, a <= b, a > b, a >= b, a == b, a != b, a && b, a || b, !a);
    }));
}

TEST_CASE(TESTED ": fmod remainder floor_divide pow") {
    tally counted(TESTED ": fmod remainder floor_divide pow");
    strided_cases(counted, types<tested, tested, tested, tested>{}, types<tested, tested>{}, si::fused([](auto a, auto b) {
        return si::outputs(fmod(a, b), remainder(a, b), floor_divide(a, b), pow(a, b));
    }));
}
