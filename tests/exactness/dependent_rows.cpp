// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions that depend on each other, over the last axis: softmax and its kin, norms, several outputs of one pass.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("softmax log_softmax softmax(mask)") {
    tally counted("softmax log_softmax softmax(mask)");
    fold_cases<4>(counted, types<whole<float>, whole<float>, whole<float>>{}, types<float, bool>{},
                  si::fused([](auto a, auto b) {
        return si::outputs(si::softmax(a), si::log_softmax(a), si::softmax(a, b));
    }), 9000);
}

TEST_CASE("layer_norm rms_norm with statistics as outputs") {
    tally counted("layer_norm rms_norm with statistics as outputs");
    fold_cases<4>(counted, types<whole<float>, whole<float>, kept<float>, kept<float>>{}, types<float, float>{},
                  si::fused([](auto a, auto b) {
        return si::outputs(si::layer_norm(a, b, 1e-5f), si::rms_norm(a, 1e-5f), mean(a, si::last_axis),
                           variance(a, si::last_axis));
    }), 9000);
}

TEST_CASE("three levels: deviations from a mean, scaled by their maximum") {
    tally counted("three levels: deviations from a mean, scaled by their maximum");
    fold_cases<4>(counted, types<whole<float>, kept<float>, kept<i64>, whole<i8>>{}, types<float>{},
                  si::fused([](auto a) {
        return si::outputs((a - mean(a, si::last_axis)) / max(abs(a - mean(a, si::last_axis)), si::last_axis),
                           max(abs(a - mean(a, si::last_axis)), si::last_axis), si::argmax(a * a, si::last_axis),
                           si::cast<i8>(round(a / max(abs(a), si::last_axis) * 127)));
    }), 9000);
}
