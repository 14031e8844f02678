// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running what isn't an assignment.
// expect: SINTER-E008
// expect: an_expression
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x * 2.0f);
    // [/repair]
#else
    (void)y;
    // [mistake]
    si::run(si::reference, x * 2.0f);
    // [/mistake]
#endif
}
