// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An interval as mathematics writes it.
// expect: SINTER-T012
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = where(0.0f < x && x < 1.0f, x, 0.0f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = where(0.0f < x < 1.0f, x, 0.0f));
    // [/mistake]
#endif
}
