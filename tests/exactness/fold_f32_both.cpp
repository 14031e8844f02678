// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 reductions over outer and trailing axes together: rows by the lane rule, then the column rule.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("float over first and last axes: sum prod min max mean argmax argmin any") {
    tally counted("float over first and last axes: sum prod min max mean argmax argmin any");
    fold_cases<5>(counted,
                  types<kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<i64>, kept<i64>,
                        kept<bool>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0, -1>), prod(a, si::axes<0, -1>), min(a, si::axes<0, -1>),
                           max(a, si::axes<0, -1>), mean(a, si::axes<0, -1>), si::argmax(a, si::axes<0, -1>),
                           si::argmin(a, si::axes<0, -1>), any(a, si::axes<0, -1>));
    }));
}

TEST_CASE("float over all axes: sum prod min max mean argmax argmin any") {
    tally counted("float over all axes: sum prod min max mean argmax argmin any");
    fold_cases<7>(counted,
                  types<kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<i64>, kept<i64>,
                        kept<bool>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0, 1, 2>), prod(a, si::axes<0, 1, 2>), min(a, si::axes<0, 1, 2>),
                           max(a, si::axes<0, 1, 2>), mean(a, si::axes<0, 1, 2>), si::argmax(a, si::axes<0, 1, 2>),
                           si::argmin(a, si::axes<0, 1, 2>), any(a, si::axes<0, 1, 2>));
    }));
}
