// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer reductions: sums in 64 bits, means in f32. Included once per width: `tested_signed` and `tested_unsigned` are the types, TESTED_SIGNED and
// TESTED_UNSIGNED their names.
#pragma once

#include "harness.hpp"

using namespace harness;

TEST_CASE(TESTED_SIGNED " over first axes: sum prod min max mean argmax argmin any") {
    tally counted(TESTED_SIGNED " over first axes: sum prod min max mean argmax argmin any");
    fold_cases<1>(counted,
                  types<kept<i64>, kept<i64>, kept<tested_signed>, kept<tested_signed>, kept<float>, kept<i64>, kept<i64>, kept<bool>>{},
                  types<tested_signed>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0>), prod(a, si::axes<0>), min(a, si::axes<0>), max(a, si::axes<0>),
                           mean(a, si::axes<0>), si::argmax(a, si::axes<0>), si::argmin(a, si::axes<0>),
                           any(a, si::axes<0>));
    }), 9000);
}

TEST_CASE(TESTED_SIGNED " over last axes: sum prod min max mean argmax argmin any") {
    tally counted(TESTED_SIGNED " over last axes: sum prod min max mean argmax argmin any");
    fold_cases<4>(counted,
                  types<kept<i64>, kept<i64>, kept<tested_signed>, kept<tested_signed>, kept<float>, kept<i64>, kept<i64>, kept<bool>>{},
                  types<tested_signed>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::last_axis), prod(a, si::last_axis), min(a, si::last_axis),
                           max(a, si::last_axis), mean(a, si::last_axis), si::argmax(a, si::last_axis),
                           si::argmin(a, si::last_axis), any(a, si::last_axis));
    }), 9000);
}

TEST_CASE(TESTED_UNSIGNED " over first axes: sum prod min max mean argmax argmin any") {
    tally counted(TESTED_UNSIGNED " over first axes: sum prod min max mean argmax argmin any");
    fold_cases<1>(counted,
                  types<kept<u64>, kept<u64>, kept<tested_unsigned>, kept<tested_unsigned>, kept<float>, kept<i64>, kept<i64>, kept<bool>>{},
                  types<tested_unsigned>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0>), prod(a, si::axes<0>), min(a, si::axes<0>), max(a, si::axes<0>),
                           mean(a, si::axes<0>), si::argmax(a, si::axes<0>), si::argmin(a, si::axes<0>),
                           any(a, si::axes<0>));
    }), 9000);
}

TEST_CASE(TESTED_UNSIGNED " over last axes: sum prod min max mean argmax argmin any") {
    tally counted(TESTED_UNSIGNED " over last axes: sum prod min max mean argmax argmin any");
    fold_cases<4>(counted,
                  types<kept<u64>, kept<u64>, kept<tested_unsigned>, kept<tested_unsigned>, kept<float>, kept<i64>, kept<i64>, kept<bool>>{},
                  types<tested_unsigned>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::last_axis), prod(a, si::last_axis), min(a, si::last_axis),
                           max(a, si::last_axis), mean(a, si::last_axis), si::argmax(a, si::last_axis),
                           si::argmin(a, si::last_axis), any(a, si::last_axis));
    }), 9000);
}
