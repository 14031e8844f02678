// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number initialised by a formula: a reduction has no value before it is run.
// expect: SINTER-E021
// expect: a formula, not a number
// expect: eval(
// expect: extents<>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const float top = si::eval(si::reference, max(x));
    si::run(si::reference, y = x / top);
    // [/repair]
#else
    // [mistake]
    const float top = max(x);
    si::run(si::reference, y = x / top);
    // [/mistake]
#endif
}
