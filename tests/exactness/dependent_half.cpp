// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dependent reductions on f16 and bf16, and on f64.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("f16 softmax, rms_norm") {
    tally counted("f16 softmax, rms_norm");
    fold_cases<4>(counted, types<whole<f16>, whole<f16>, kept<f16>>{}, types<f16>{}, si::fused([](auto a) {
        return si::outputs(si::softmax(a), si::rms_norm(a, 1e-5f), mean(a, si::last_axis));
    }), 3000);
}

TEST_CASE("bf16 layer_norm") {
    tally counted("bf16 layer_norm");
    fold_cases<4>(counted, types<whole<bf16>, kept<float>>{}, types<bf16, bf16>{}, si::fused([](auto a, auto b) {
        return si::outputs(si::layer_norm(a, b, 1e-5f), sum(a, si::last_axis));
    }), 3000);
}

TEST_CASE("f64 softmax") {
    tally counted("f64 softmax");
    fold_cases<4>(counted, types<whole<double>, kept<double>>{}, types<double>{}, si::fused([](auto a) {
        return si::outputs(si::softmax(a), variance(a, si::last_axis));
    }), 3000);
}
