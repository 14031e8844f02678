// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number as a condition.
// expect: SINTER-T003
// expect: where_op
// expect: of_type<sinter::dtype::f32>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = where(x != 0.0f, x, 1.0f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = where(x, x, 1.0f));
    // [/mistake]
#endif
}
