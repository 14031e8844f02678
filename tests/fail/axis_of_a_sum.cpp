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
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
#ifdef CONTROL
    si::run(si::reference, y = x - sum(x, si::axes<1>));
#else
    si::run(si::reference, y = x - sum(x, si::axes<2>));
#endif
}
