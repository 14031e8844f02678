// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 functions, first to last: exp exp2 expm1 log log2 log10 log1p sigmoid.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("f32: exp exp2 expm1 log log2 log10 log1p sigmoid") {
    tally counted("f32: exp exp2 expm1 log log2 log10 log1p sigmoid");
    pointwise_cases(counted, types<float, float, float, float, float, float, float, float>{}, types<float>{},
                    si::fused([](auto a) {
        return si::outputs(exp(a), exp2(a), expm1(a), log(a), log2(a), log10(a), log1p(a), sigmoid(a));
    }));
}
