// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A C++ number that takes the value of a formula.
// expect: SINTER-E021
// expect: float
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    float total = 0;
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    total = si::eval(si::reference, sum(x));
    si::run(si::reference, y = x / total);
    // [/repair]
#else
    // [mistake]
    total += sum(x);
    si::run(si::reference, y = x / total);
    // [/mistake]
#endif
}
