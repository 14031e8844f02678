// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An element of a view by brackets.
// expect: SINTER-E020
// expect: 3, 4
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x / x(0, 2));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x / x[2]);
    // [/mistake]
#endif
}
