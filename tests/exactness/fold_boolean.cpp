// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of bool: counts, any, all.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("bool over last axes") {
    tally counted("bool over last axes");
    fold_cases<4>(counted,
                  types<kept<i64>, kept<i64>, kept<bool>, kept<bool>, kept<bool>, kept<bool>, kept<float>, kept<i64>>{},
                  types<bool>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::last_axis), prod(a, si::last_axis), any(a, si::last_axis),
                           all(a, si::last_axis), min(a, si::last_axis), max(a, si::last_axis),
                           mean(a, si::last_axis), si::argmax(a, si::last_axis));
    }), 9000);
}

TEST_CASE("bool over first axes") {
    tally counted("bool over first axes");
    fold_cases<1>(counted,
                  types<kept<i64>, kept<i64>, kept<bool>, kept<bool>, kept<bool>, kept<bool>, kept<float>, kept<i64>>{},
                  types<bool>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0>), prod(a, si::axes<0>), any(a, si::axes<0>), all(a, si::axes<0>),
                           min(a, si::axes<0>), max(a, si::axes<0>), mean(a, si::axes<0>), si::argmax(a, si::axes<0>));
    }), 9000);
}

TEST_CASE("bool over all axes") {
    tally counted("bool over all axes");
    fold_cases<7>(counted,
                  types<kept<i64>, kept<i64>, kept<bool>, kept<bool>, kept<bool>, kept<bool>, kept<float>, kept<i64>>{},
                  types<bool>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0, 1, 2>), prod(a, si::axes<0, 1, 2>), any(a, si::axes<0, 1, 2>),
                           all(a, si::axes<0, 1, 2>), min(a, si::axes<0, 1, 2>), max(a, si::axes<0, 1, 2>),
                           mean(a, si::axes<0, 1, 2>), si::argmax(a, si::axes<0, 1, 2>));
    }), 9000);
}
