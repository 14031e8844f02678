// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An axis that is listed twice, once from the right.
// expect: SINTER-S022
// expect: sizes<2, 3>
// expect: at_axis<-1>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x - mean(x, si::axes<0, 1>));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x - mean(x, si::axes<1, -1>));
    // [/mistake]
#endif
}
