// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slice with step 0.
// expect: SINTER-S025
// expect: sizes<2, 3>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
#ifdef CONTROL
    si::run(si::reference, y = si::slice<1, si::end, si::end, -1>(x) + 1.0f);
#else
    si::run(si::reference, y = si::slice<1, si::end, si::end, 0>(x) + 1.0f);
#endif
}
