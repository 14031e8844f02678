// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// eval without an executor.
// expect: SINTER-E008
// expect: an_expression
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const auto values = si::eval(si::reference, x + y);
    // [/repair]
#else
    // [mistake]
    const auto values = si::eval(x + y);
    // [/mistake]
#endif
}
