// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// eval of an assignment.
// expect: SINTER-E008
// expect: an_assignment
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const auto values = si::eval(si::reference, x + 1.0f);
    si::run(si::reference, y = x + 1.0f);
    // [/repair]
#else
    // [mistake]
    const auto values = si::eval(si::reference, y = x + 1.0f);
    // [/mistake]
#endif
}
