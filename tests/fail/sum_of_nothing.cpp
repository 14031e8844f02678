// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction without an operand.
// expect: SINTER-E018
// expect: sum_of
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x / sum(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x / si::sum());
    // [/mistake]
#endif
}
