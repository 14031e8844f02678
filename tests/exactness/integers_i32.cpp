// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// i32: wrapping arithmetic, division, bits, shifts, selection.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("i32: + - * / % neg abs sign") {
    tally counted("i32: + - * / % neg abs sign");
    pointwise_cases(counted, types<i32, i32, i32, i32, i32, i32, i32, i32>{}, types<i32, i32>{},
                    si::fused([](auto a, auto b) {
        return si::outputs(a + b, a - b, a * b, a / b, a % b, -a, abs(a), sign(a));
    }));
}

TEST_CASE("i32: bits, shifts, minimum maximum") {
    tally counted("i32: bits, shifts, minimum maximum");
    strided_cases(counted, types<i32, i32, i32, i32, i32, i32, i32, i32>{}, types<i32, i32>{},
                  si::fused([](auto a, auto b) {
        return si::outputs(a & b, a | b, a ^ b, ~a, a << b, a >> b, minimum(a, b), maximum(a, b));
    }));
}

TEST_CASE("i32: small shifts, wrapping chains, clamp, where, relu") {
    tally counted("i32: small shifts, wrapping chains, clamp, where, relu");
    strided_cases(counted, types<i32, i32, i32, i32, i32, i32, i64>{}, types<i32, i32, i32>{},
                  si::fused([](auto a, auto b, auto c) {
        return si::outputs(a << (b & 15), a >> (b & 15), (a + b) * (a - c), clamp(a, b, c), where(a < b, b, c),
                           relu(a), si::cast<i64>(a + a));
    }));
}
