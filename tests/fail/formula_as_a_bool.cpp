// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bool initialised by a comparison of tensors.
// expect: SINTER-E021
// expect: a formula, not a number
// expect: eval(
// expect: extents<3, 4>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const bool large = si::eval(si::reference, all(x > 3.0f));
    if (large) si::run(si::reference, y = 2.0f * x);
    // [/repair]
#else
    // [mistake]
    const bool large = x > 3.0f;
    if (large) si::run(si::reference, y = 2.0f * x);
    // [/mistake]
#endif
}
