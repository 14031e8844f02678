// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bool: logic, bitwise, selection, arithmetic as u8.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("bool: logic and bits") {
    tally counted("bool: logic and bits");
    pointwise_cases(counted, types<bool, bool, bool, bool, bool, bool, bool, bool>{}, types<bool, bool>{},
                    si::fused([](auto a, auto b) {
        return si::outputs(a && b, a || b, !a, a & b, a | b, a ^ b, ~a, minimum(a, b));
    }));
}

TEST_CASE("bool: maximum, where, comparisons, arithmetic as u8") {
    tally counted("bool: maximum, where, comparisons, arithmetic as u8");
    pointwise_cases(counted, types<bool, bool, bool, bool, u8, u8, u8, u8>{}, types<bool, bool, bool>{},
                    si::fused([](auto a, auto b, auto c) {
        return si::outputs(maximum(a, b), where(a, b, c), a == b, a < b, a + b, a * b, a - b, -a);
    }));
}
