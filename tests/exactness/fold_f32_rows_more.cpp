// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 reductions over trailing axes: the lane rule; composites and the last of equals.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("float over last axes: variance logsumexp norms sum_square last picks all") {
    tally counted("float over last axes: variance logsumexp norms sum_square last picks all");
    fold_cases<4>(counted,
                  types<kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<i64>,
                        kept<i64>, kept<bool>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(variance(a, si::last_axis), variance(a, si::last_axis, 1), logsumexp(a, si::last_axis),
                           norm_l1(a, si::last_axis), norm_l2(a, si::last_axis), sum_square(a, si::last_axis),
                           si::argmax<si::pick::last>(a, si::last_axis),
                           si::argmin<si::pick::last>(a, si::last_axis), all(a > -1, si::last_axis));
    }));
}

TEST_CASE("float over middle and last axes: variance logsumexp norms sum_square last picks all") {
    tally counted("float over middle and last axes: variance logsumexp norms sum_square last picks all");
    fold_cases<6>(counted,
                  types<kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<i64>,
                        kept<i64>, kept<bool>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(variance(a, si::axes<1, 2>), variance(a, si::axes<1, 2>, 1), logsumexp(a, si::axes<1, 2>),
                           norm_l1(a, si::axes<1, 2>), norm_l2(a, si::axes<1, 2>), sum_square(a, si::axes<1, 2>),
                           si::argmax<si::pick::last>(a, si::axes<1, 2>),
                           si::argmin<si::pick::last>(a, si::axes<1, 2>), all(a > -1, si::axes<1, 2>));
    }));
}
