// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 rounding to integers, signs, logic, and chains that must not be contracted or reordered.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("f32: rounding, signs, logic of floats, copy") {
    tally counted("f32: rounding, signs, logic of floats, copy");
    pointwise_cases(counted, types<float, float, float, float, float, float, bool, bool, bool, bool>{},
                    types<float, float>{}, si::fused([](auto a, auto b) {
        return si::outputs(floor(a), ceil(a), trunc(a), round(a), copysign(a, b), copy(b), a && b, a || b,
                           logical_xor(a, b), !a);
    }));
}

TEST_CASE("f32: what must not be contracted or reordered") {
    tally counted("f32: what must not be contracted or reordered");
    pointwise_cases(counted, types<float, float, float, float, float>{}, types<float, float, float>{},
                    si::fused([](auto a, auto b, auto c) {
        return si::outputs(a * b + c, c - a * b, (a + b) - a, (a + b) + c + a * b, a / c * c);
    }));
}

TEST_CASE("f32: reciprocal, constants on both sides") {
    tally counted("f32: reciprocal, constants on both sides");
    pointwise_cases(counted, types<float, float, float, float, float>{}, types<float, float>{},
                    si::fused([](auto a, auto b) {
        return si::outputs(reciprocal(a), 2.5f * a - 1, a + 1e-40, 0.1 * b, abs(a) - 1);
    }));
}

TEST_CASE("f32: quotients by powers of two, their neighbours and ends, and of 1") {
    tally counted("f32: quotients by powers of two, their neighbours and ends, and of 1");
    pointwise_cases(counted, types<float, float, float, float, float, float, float, float, float>{}, types<float, float>{},
                    si::fused([](auto a, auto b) {
        return si::outputs(a / 4.0f, a / -0x1p-126f, b / 0x1p126f, b / 0x1p127f, a / 0x1p-127f, a / 0x1.000002p+2f, a / 3.0f, 1.0f / a, -1.0f / (a + b));
    }));
}
