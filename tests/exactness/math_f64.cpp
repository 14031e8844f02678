// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f64 functions: exp log tanh sigmoid rsqrt.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("f64: exp log tanh sigmoid rsqrt") {
    tally counted("f64: exp log tanh sigmoid rsqrt");
    pointwise_cases(counted, types<double, double, double, double, double>{}, types<double>{}, si::fused([](auto a) {
        return si::outputs(exp(a), log(a), tanh(a), sigmoid(a), rsqrt(a));
    }));
}
