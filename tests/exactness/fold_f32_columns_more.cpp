// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 reductions over outer axes: the column rule; composites and the last of equals.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("float over first axes: variance logsumexp norms sum_square last picks all") {
    tally counted("float over first axes: variance logsumexp norms sum_square last picks all");
    fold_cases<1>(counted,
                  types<kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<i64>,
                        kept<i64>, kept<bool>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(variance(a, si::axes<0>), variance(a, si::axes<0>, 1), logsumexp(a, si::axes<0>),
                           norm_l1(a, si::axes<0>), norm_l2(a, si::axes<0>), sum_square(a, si::axes<0>),
                           si::argmax<si::pick::last>(a, si::axes<0>), si::argmin<si::pick::last>(a, si::axes<0>),
                           all(a > -1, si::axes<0>));
    }));
}

TEST_CASE("float over middle axes: variance logsumexp norms sum_square last picks all") {
    tally counted("float over middle axes: variance logsumexp norms sum_square last picks all");
    fold_cases<2>(counted,
                  types<kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<i64>,
                        kept<i64>, kept<bool>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(variance(a, si::axes<1>), variance(a, si::axes<1>, 1), logsumexp(a, si::axes<1>),
                           norm_l1(a, si::axes<1>), norm_l2(a, si::axes<1>), sum_square(a, si::axes<1>),
                           si::argmax<si::pick::last>(a, si::axes<1>), si::argmin<si::pick::last>(a, si::axes<1>),
                           all(a > -1, si::axes<1>));
    }));
}

TEST_CASE("float over first and middle axes: variance logsumexp norms sum_square last picks all") {
    tally counted("float over first and middle axes: variance logsumexp norms sum_square last picks all");
    fold_cases<3>(counted,
                  types<kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<float>, kept<i64>,
                        kept<i64>, kept<bool>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(variance(a, si::axes<0, 1>), variance(a, si::axes<0, 1>, 1), logsumexp(a, si::axes<0, 1>),
                           norm_l1(a, si::axes<0, 1>), norm_l2(a, si::axes<0, 1>), sum_square(a, si::axes<0, 1>),
                           si::argmax<si::pick::last>(a, si::axes<0, 1>),
                           si::argmin<si::pick::last>(a, si::axes<0, 1>), all(a > -1, si::axes<0, 1>));
    }));
}
