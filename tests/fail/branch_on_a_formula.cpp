// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A formula as a condition.
// expect: SINTER-E012
// expect: if (eval(
// expect: extents<>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    if (si::eval(si::reference, any(x > 0.0f))) si::run(si::reference, y = 2.0f * x);
    // [/repair]
#else
    // [mistake]
    if (any(x > 0.0f)) si::run(si::reference, y = 2.0f * x);
    // [/mistake]
#endif
}
