// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dependent reductions over outer axes and over all axes.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("softmax over the first axis") {
    tally counted("softmax over the first axis");
    fold_cases<1>(counted, types<whole<float>, kept<float>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(si::softmax(a, si::axes<0>), sum(a, si::axes<0>));
    }), 9000);
}

TEST_CASE("normalize over the middle axis") {
    tally counted("normalize over the middle axis");
    fold_cases<2>(counted, types<whole<float>, kept<float>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(si::normalize(a, si::axes<1>, 1e-5f), max(a, si::axes<1>));
    }), 3000);
}

TEST_CASE("normalize over two trailing axes") {
    tally counted("normalize over two trailing axes");
    fold_cases<6>(counted, types<whole<float>, kept<float>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(si::normalize(a, si::axes<1, 2>, 1e-5f), max(a, si::axes<1, 2>));
    }), 3000);
}

TEST_CASE("softmax over all axes") {
    tally counted("softmax over all axes");
    fold_cases<7>(counted, types<whole<float>, kept<float>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(si::softmax(a, si::axes<0, 1, 2>), max(a, si::axes<0, 1, 2>));
    }), 9000);
}
