// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 functions of two arguments.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("f32: atan2 pow hypot logaddexp fmod remainder floor_divide %") {
    tally counted("f32: atan2 pow hypot logaddexp fmod remainder floor_divide %");
    pointwise_cases(counted, types<float, float, float, float, float, float, float, float>{}, types<float, float>{},
                    si::fused([](auto a, auto b) {
        return si::outputs(atan2(a, b), pow(a, b), hypot(a, b), logaddexp(a, b), fmod(a, b), remainder(a, b),
                           floor_divide(a, b), a % b);
    }));
}
