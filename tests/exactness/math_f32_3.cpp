// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 functions, first to last: sin cos tan sinh cosh asin acos atan.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("f32: sin cos tan sinh cosh asin acos atan") {
    tally counted("f32: sin cos tan sinh cosh asin acos atan");
    pointwise_cases(counted, types<float, float, float, float, float, float, float, float>{}, types<float>{},
                    si::fused([](auto a) {
        return si::outputs(sin(a), cos(a), tan(a), sinh(a), cosh(a), asin(a), acos(a), atan(a));
    }));
}
