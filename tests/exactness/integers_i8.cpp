// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// i8: wrapping arithmetic, division, bits, shifts, selection.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("i8: + - * / % neg abs sign") {
    tally counted("i8: + - * / % neg abs sign");
    pointwise_cases(counted, types<i8, i8, i8, i8, i8, i8, i8, i8>{}, types<i8, i8>{}, si::fused([](auto a, auto b) {
        return si::outputs(a + b, a - b, a * b, a / b, a % b, -a, abs(a), sign(a));
    }));
}

TEST_CASE("i8: bits, shifts, minimum maximum") {
    tally counted("i8: bits, shifts, minimum maximum");
    strided_cases(counted, types<i8, i8, i8, i8, i8, i8, i8, i8>{}, types<i8, i8>{}, si::fused([](auto a, auto b) {
        return si::outputs(a & b, a | b, a ^ b, ~a, a << b, a >> b, minimum(a, b), maximum(a, b));
    }));
}

TEST_CASE("i8: small shifts, wrapping chains, clamp, where, relu") {
    tally counted("i8: small shifts, wrapping chains, clamp, where, relu");
    strided_cases(counted, types<i8, i8, i8, i8, i8, i8, i64>{}, types<i8, i8, i8>{},
                  si::fused([](auto a, auto b, auto c) {
        return si::outputs(a << (b & 15), a >> (b & 15), (a + b) * (a - c), clamp(a, b, c), where(a < b, b, c),
                           relu(a), si::cast<i64>(a + a));
    }));
}
