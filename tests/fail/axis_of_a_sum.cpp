// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction over an axis that isn't there.
// expect: SINTER-S021
// expect: sum_of
// expect: sizes<2, 3>
// expect: at_axis<2>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x - sum(x, si::axes<1>));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x - sum(x, si::axes<2>));
    // [/mistake]
#endif
}
