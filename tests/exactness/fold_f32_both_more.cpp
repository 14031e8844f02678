// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 reductions over outer and trailing axes together: rows by the lane rule, then the column rule; composites and the last of equals.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("float over first and last axes: variance logsumexp norms sum_square last picks all") {
    tally counted("float over first and last axes: variance logsumexp norms sum_square last picks all");
    fold_cases<5>(counted,
                  types<kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<i64>,
                        kept<i64>, kept<bool>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(variance(a, si::axes<0, -1>), variance(a, si::axes<0, -1>, 1),
                           logsumexp(a, si::axes<0, -1>), norm_l1(a, si::axes<0, -1>), norm_l2(a, si::axes<0, -1>),
                           sum_square(a, si::axes<0, -1>), si::argmax<si::pick::last>(a, si::axes<0, -1>),
                           si::argmin<si::pick::last>(a, si::axes<0, -1>), all(a > -1, si::axes<0, -1>));
    }));
}

TEST_CASE("float over all axes: variance logsumexp norms sum_square last picks all") {
    tally counted("float over all axes: variance logsumexp norms sum_square last picks all");
    fold_cases<7>(counted,
                  types<kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<i64>,
                        kept<i64>, kept<bool>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(variance(a, si::axes<0, 1, 2>), variance(a, si::axes<0, 1, 2>, 1),
                           logsumexp(a, si::axes<0, 1, 2>), norm_l1(a, si::axes<0, 1, 2>),
                           norm_l2(a, si::axes<0, 1, 2>), sum_square(a, si::axes<0, 1, 2>),
                           si::argmax<si::pick::last>(a, si::axes<0, 1, 2>),
                           si::argmin<si::pick::last>(a, si::axes<0, 1, 2>), all(a > -1, si::axes<0, 1, 2>));
    }));
}
