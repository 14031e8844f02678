// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 functions, first to last: tanh erf erfc rsqrt cbrt silu softplus mish.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("f32: tanh erf erfc rsqrt cbrt silu softplus mish") {
    tally counted("f32: tanh erf erfc rsqrt cbrt silu softplus mish");
    pointwise_cases(counted, types<float, float, float, float, float, float, float, float>{}, types<float>{},
                    si::fused([](auto a) {
        return si::outputs(tanh(a), erf(a), erfc(a), rsqrt(a), cbrt(a), silu(a), softplus(a), mish(a));
    }));
}
