// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 functions and activations: asinh acosh atanh gelu gelu_tanh elu leaky_relu hard_sigmoid hard_swish.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("f32: asinh acosh atanh gelu gelu_tanh elu") {
    tally counted("f32: asinh acosh atanh gelu gelu_tanh elu");
    pointwise_cases(counted, types<float, float, float, float, float, float>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(asinh(a), acosh(a), atanh(a), gelu(a), gelu_tanh(a), elu(a, 0.5f));
    }));
}

TEST_CASE("f32: leaky_relu hard_sigmoid hard_swish") {
    tally counted("f32: leaky_relu hard_sigmoid hard_swish");
    pointwise_cases(counted, types<float, float, float, float>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(si::leaky_relu(a), si::leaky_relu(a, 0.25f), si::hard_sigmoid(a), si::hard_swish(a));
    }));
}
