// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of numbers that gets a formula.
// expect: SINTER-E021
// expect: a formula, not a number
// expect: extents<>
// expect: Hint:
#include <sinter/sinter.hpp>

#include <cmath>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const float length = std::sqrt(si::eval(si::reference, sum(x * x)));
    si::run(si::reference, y = x / length);
    // [/repair]
#else
    // [mistake]
    const float length = std::sqrt(sum(x * x));
    si::run(si::reference, y = x / length);
    // [/mistake]
#endif
}
