// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of one float type over last, first and all axes. Included once per type, by a file that names it: `tested` is the type, TESTED its name.
#pragma once

#include "harness.hpp"

using namespace harness;

TEST_CASE(TESTED " over first axes: sum prod min max mean argmax argmin any") {
    tally counted(TESTED " over first axes: sum prod min max mean argmax argmin any");
    fold_cases<1>(counted,
                  types<kept<tested>, kept<tested>, kept<tested>, kept<tested>, kept<tested>, kept<i64>, kept<i64>, kept<bool>>{},
                  types<tested>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0>), prod(a, si::axes<0>), min(a, si::axes<0>), max(a, si::axes<0>),
                           mean(a, si::axes<0>), si::argmax(a, si::axes<0>), si::argmin(a, si::axes<0>),
                           any(a, si::axes<0>));
    }), 9000);
}

TEST_CASE(TESTED " over last axes: sum prod min max mean argmax argmin any") {
    tally counted(TESTED " over last axes: sum prod min max mean argmax argmin any");
    fold_cases<4>(counted,
                  types<kept<tested>, kept<tested>, kept<tested>, kept<tested>, kept<tested>, kept<i64>, kept<i64>, kept<bool>>{},
                  types<tested>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::last_axis), prod(a, si::last_axis), min(a, si::last_axis),
                           max(a, si::last_axis), mean(a, si::last_axis), si::argmax(a, si::last_axis),
                           si::argmin(a, si::last_axis), any(a, si::last_axis));
    }), 9000);
}

TEST_CASE(TESTED " over all axes: sum prod min max mean argmax argmin any") {
    tally counted(TESTED " over all axes: sum prod min max mean argmax argmin any");
    fold_cases<7>(counted,
                  types<kept<tested>, kept<tested>, kept<tested>, kept<tested>, kept<tested>, kept<i64>, kept<i64>, kept<bool>>{},
                  types<tested>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0, 1, 2>), prod(a, si::axes<0, 1, 2>), min(a, si::axes<0, 1, 2>),
                           max(a, si::axes<0, 1, 2>), mean(a, si::axes<0, 1, 2>), si::argmax(a, si::axes<0, 1, 2>),
                           si::argmin(a, si::axes<0, 1, 2>), any(a, si::axes<0, 1, 2>));
    }), 9000);
}

TEST_CASE(TESTED ": variance, norms") {
    tally counted(TESTED ": variance, norms");
    fold_cases<4>(counted, types<kept<tested>, kept<tested>, kept<tested>, kept<tested>, kept<tested>>{}, types<tested>{},
                  si::fused([](auto a) {
        return si::outputs(variance(a, si::last_axis), norm_l1(a, si::last_axis), norm_l2(a, si::last_axis),
                           logsumexp(a, si::last_axis), sum(a * a + a, si::last_axis));
    }), 9000);
}
