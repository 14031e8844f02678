// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of different types meet: the promoted type, and constants of either kind (T2).
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("mixed: integers of different widths and signs") {
    tally counted("mixed: integers of different widths and signs");
    strided_cases(counted, types<i16, i32, i64, i64, i32, i16>{}, types<u8, i8, u32, u64>{},
                  si::fused([](auto a, auto b, auto c, auto d) {
        return si::outputs(a + b, b * si::cast<i32>(a), c - b, d + b, si::cast<i32>(b) - 7, a - b);
    }));
}

TEST_CASE("mixed: floats with integers, f16 with bf16, f64") {
    tally counted("mixed: floats with integers, f16 with bf16, f64");
    strided_cases(counted, types<float, float, float, double, f16, double>{}, types<f16, bf16, i32, double>{},
                  si::fused([](auto a, auto b, auto c, auto d) {
        return si::outputs(a + b, a * c + b, c * 0.5f, d * c, a * 2, d - a);
    }));
}

TEST_CASE("mixed: bool with numbers") {
    tally counted("mixed: bool with numbers");
    strided_cases(counted, types<i32, float, u8, i64>{}, types<bool, i32, bool, float>{},
                  si::fused([](auto a, auto b, auto c, auto d) {
        return si::outputs(a + b, a * d, a + c, si::cast<i64>(a) - c);
    }));
}
