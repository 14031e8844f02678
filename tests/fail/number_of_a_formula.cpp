// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A C++ number that is initialised with a formula.
// expect: SINTER-E021
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    float largest = si::eval(si::reference, max(x));
    si::run(si::reference, y = x / largest);
    // [/repair]
#else
    // [mistake]
    float largest = max(x);
    si::run(si::reference, y = x / largest);
    // [/mistake]
#endif
}
