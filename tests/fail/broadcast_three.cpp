// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The third operand of a function of three.
// expect: SINTER-S012
// expect: where_op
// expect: sizes<2, 3>
// expect: sizes<2>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const si::tensor_view<float, si::extents<2>> b(p);
    // [/given]
    (void)b;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = where(x > 0.0f, x, -x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = where(x > 0.0f, x, b));
    // [/mistake]
#endif
}
