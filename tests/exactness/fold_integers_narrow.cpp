// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer reductions, i8 and u8: sums in 64 bits, means in f32.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("i8 over first axes: sum prod min max mean argmax argmin any") {
    tally counted("i8 over first axes: sum prod min max mean argmax argmin any");
    fold_cases<1>(counted,
                  types<kept<i64>, kept<i64>, kept<i8>, kept<i8>, kept<float>, kept<i64>, kept<i64>, kept<bool>>{},
                  types<i8>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0>), prod(a, si::axes<0>), min(a, si::axes<0>), max(a, si::axes<0>),
                           mean(a, si::axes<0>), si::argmax(a, si::axes<0>), si::argmin(a, si::axes<0>),
                           any(a, si::axes<0>));
    }), 9000);
}

TEST_CASE("i8 over last axes: sum prod min max mean argmax argmin any") {
    tally counted("i8 over last axes: sum prod min max mean argmax argmin any");
    fold_cases<4>(counted,
                  types<kept<i64>, kept<i64>, kept<i8>, kept<i8>, kept<float>, kept<i64>, kept<i64>, kept<bool>>{},
                  types<i8>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::last_axis), prod(a, si::last_axis), min(a, si::last_axis),
                           max(a, si::last_axis), mean(a, si::last_axis), si::argmax(a, si::last_axis),
                           si::argmin(a, si::last_axis), any(a, si::last_axis));
    }), 9000);
}

TEST_CASE("u8 over first axes: sum prod min max mean argmax argmin any") {
    tally counted("u8 over first axes: sum prod min max mean argmax argmin any");
    fold_cases<1>(counted,
                  types<kept<u64>, kept<u64>, kept<u8>, kept<u8>, kept<float>, kept<i64>, kept<i64>, kept<bool>>{},
                  types<u8>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0>), prod(a, si::axes<0>), min(a, si::axes<0>), max(a, si::axes<0>),
                           mean(a, si::axes<0>), si::argmax(a, si::axes<0>), si::argmin(a, si::axes<0>),
                           any(a, si::axes<0>));
    }), 9000);
}

TEST_CASE("u8 over last axes: sum prod min max mean argmax argmin any") {
    tally counted("u8 over last axes: sum prod min max mean argmax argmin any");
    fold_cases<4>(counted,
                  types<kept<u64>, kept<u64>, kept<u8>, kept<u8>, kept<float>, kept<i64>, kept<i64>, kept<bool>>{},
                  types<u8>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::last_axis), prod(a, si::last_axis), min(a, si::last_axis),
                           max(a, si::last_axis), mean(a, si::last_axis), si::argmax(a, si::last_axis),
                           si::argmin(a, si::last_axis), any(a, si::last_axis));
    }), 9000);
}
