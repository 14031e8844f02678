// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 reductions over outer axes: the column rule.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("float over first axes: sum prod min max mean argmax argmin any") {
    tally counted("float over first axes: sum prod min max mean argmax argmin any");
    fold_cases<1>(counted,
                  types<kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<i64>, kept<i64>,
                        kept<bool>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0>), prod(a, si::axes<0>), min(a, si::axes<0>), max(a, si::axes<0>),
                           mean(a, si::axes<0>), si::argmax(a, si::axes<0>), si::argmin(a, si::axes<0>),
                           any(a, si::axes<0>));
    }));
}

TEST_CASE("float over middle axes: sum prod min max mean argmax argmin any") {
    tally counted("float over middle axes: sum prod min max mean argmax argmin any");
    fold_cases<2>(counted,
                  types<kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<i64>, kept<i64>,
                        kept<bool>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<1>), prod(a, si::axes<1>), min(a, si::axes<1>), max(a, si::axes<1>),
                           mean(a, si::axes<1>), si::argmax(a, si::axes<1>), si::argmin(a, si::axes<1>),
                           any(a, si::axes<1>));
    }));
}

TEST_CASE("float over first and middle axes: sum prod min max mean argmax argmin any") {
    tally counted("float over first and middle axes: sum prod min max mean argmax argmin any");
    fold_cases<3>(counted,
                  types<kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<i64>, kept<i64>,
                        kept<bool>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0, 1>), prod(a, si::axes<0, 1>), min(a, si::axes<0, 1>),
                           max(a, si::axes<0, 1>), mean(a, si::axes<0, 1>), si::argmax(a, si::axes<0, 1>),
                           si::argmin(a, si::axes<0, 1>), any(a, si::axes<0, 1>));
    }));
}
