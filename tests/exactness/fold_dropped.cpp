// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 reductions whose axes are dropped.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("float over first axes, dropped") {
    tally counted("float over first axes, dropped");
    fold_cases<1>(counted, types<dropped<float>, dropped<float>, dropped<float>, dropped<float>, dropped<float>>{},
                  types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0>, si::drop), max(a, si::axes<0>, si::drop),
                           mean(a, si::axes<0>, si::drop), variance(a, si::axes<0>, 0, si::drop),
                           logsumexp(a, si::axes<0>, si::drop));
    }), 3000);
}

TEST_CASE("float over last axes, dropped") {
    tally counted("float over last axes, dropped");
    fold_cases<4>(counted, types<dropped<float>, dropped<float>, dropped<float>, dropped<float>, dropped<float>>{},
                  types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::last_axis, si::drop), max(a, si::last_axis, si::drop),
                           mean(a, si::last_axis, si::drop), variance(a, si::last_axis, 0, si::drop),
                           logsumexp(a, si::last_axis, si::drop));
    }), 3000);
}

TEST_CASE("float over first and last axes, dropped") {
    tally counted("float over first and last axes, dropped");
    fold_cases<5>(counted, types<dropped<float>, dropped<float>, dropped<float>, dropped<float>, dropped<float>>{},
                  types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0, -1>, si::drop), max(a, si::axes<0, -1>, si::drop),
                           mean(a, si::axes<0, -1>, si::drop), variance(a, si::axes<0, -1>, 0, si::drop),
                           logsumexp(a, si::axes<0, -1>, si::drop));
    }), 3000);
}

TEST_CASE("float over middle and last axes, dropped") {
    tally counted("float over middle and last axes, dropped");
    fold_cases<6>(counted, types<dropped<float>, dropped<float>, dropped<float>, dropped<float>, dropped<float>>{},
                  types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<1, 2>, si::drop), max(a, si::axes<1, 2>, si::drop),
                           mean(a, si::axes<1, 2>, si::drop), variance(a, si::axes<1, 2>, 0, si::drop),
                           logsumexp(a, si::axes<1, 2>, si::drop));
    }), 3000);
}

TEST_CASE("float over all axes, dropped") {
    tally counted("float over all axes, dropped");
    fold_cases<7>(counted, types<dropped<float>, dropped<float>, dropped<float>, dropped<float>, dropped<float>>{},
                  types<float>{}, si::fused([](auto a) {
        return si::outputs(sum(a, si::axes<0, 1, 2>, si::drop), max(a, si::axes<0, 1, 2>, si::drop),
                           mean(a, si::axes<0, 1, 2>, si::drop), variance(a, si::axes<0, 1, 2>, 0, si::drop),
                           logsumexp(a, si::axes<0, 1, 2>, si::drop));
    }), 3000);
}
