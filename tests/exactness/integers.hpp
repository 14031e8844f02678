// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Wrapping arithmetic, division, bits, shifts, selection of one integer type. Included once per type, by a file that names it: `tested` is the type, TESTED its name.
#pragma once

#include "harness.hpp"

using namespace harness;

TEST_CASE(TESTED ": + - * / % neg abs sign") {
    tally counted(TESTED ": + - * / % neg abs sign");
    pointwise_cases(counted, types<tested, tested, tested, tested, tested, tested, tested, tested>{}, types<tested, tested>{}, si::fused([](auto a, auto b) {
        return si::outputs(a + b, a - b, a * b, a / b, a % b, -a, abs(a), sign(a));
    }));
}

TEST_CASE(TESTED ": bits, shifts, minimum maximum") {
    tally counted(TESTED ": bits, shifts, minimum maximum");
    strided_cases(counted, types<tested, tested, tested, tested, tested, tested, tested, tested>{}, types<tested, tested>{}, si::fused([](auto a, auto b) {
        return si::outputs(a & b, a | b, a ^ b, ~a, a << b, a >> b, minimum(a, b), maximum(a, b));
    }));
}

TEST_CASE(TESTED ": small shifts, wrapping chains, clamp, where, relu") {
    tally counted(TESTED ": small shifts, wrapping chains, clamp, where, relu");
    strided_cases(counted, types<tested, tested, tested, tested, tested, tested, i64>{}, types<tested, tested, tested>{},
                  si::fused([](auto a, auto b, auto c) {
        return si::outputs(a << (b & 15), a >> (b & 15), (a + b) * (a - c), clamp(a, b, c), where(a < b, b, c),
                           relu(a), si::cast<i64>(a + a));
    }));
}
