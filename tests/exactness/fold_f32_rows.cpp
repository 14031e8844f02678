// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 reductions over trailing axes: the lane rule.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("float over last axes: sum prod min max mean argmax argmin any") {
    tally counted("float over last axes: sum prod min max mean argmax argmin any");
    fold_cases<4>(counted,
                  types<kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<i64>, kept<i64>,
                        kept<bool>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::last_axis), prod(a, si::last_axis), min(a, si::last_axis),
                           max(a, si::last_axis), mean(a, si::last_axis), si::argmax(a, si::last_axis),
                           si::argmin(a, si::last_axis), any(a, si::last_axis));
    }));
}

TEST_CASE("float over middle and last axes: sum prod min max mean argmax argmin any") {
    tally counted("float over middle and last axes: sum prod min max mean argmax argmin any");
    fold_cases<6>(counted,
                  types<kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<i64>, kept<i64>,
                        kept<bool>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<1, 2>), prod(a, si::axes<1, 2>), min(a, si::axes<1, 2>),
                           max(a, si::axes<1, 2>), mean(a, si::axes<1, 2>), si::argmax(a, si::axes<1, 2>),
                           si::argmin(a, si::axes<1, 2>), any(a, si::axes<1, 2>));
    }));
}
