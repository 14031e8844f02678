// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slice with step 0.
// expect: SINTER-S025
// expect: sizes<2, 3>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::slice<1, si::end, si::end, -1>(x) + 1.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::slice<1, si::end, si::end, 0>(x) + 1.0f);
    // [/mistake]
#endif
}
