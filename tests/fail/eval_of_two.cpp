// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// eval of two formulas.
// expect: SINTER-E024
// expect: given<2>
// expect: tie(
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const float low = si::eval(si::reference, min(x)), high = si::eval(si::reference, max(x));
    si::run(si::reference, y = (x - low) / (high - low));
    // [/repair]
#else
    // [mistake]
    const auto [low, high] = si::eval(si::reference, min(x), max(x));
    si::run(si::reference, y = (x - low) / (high - low));
    // [/mistake]
#endif
}
