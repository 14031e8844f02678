// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction keeps its axes as 1; the output has none.
// expect: SINTER-S041
// expect: sizes<2>
// expect: sizes<2, 1>
// expect: drop
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const si::tensor_view<float, si::extents<2>> z(p);
    // [/given]
    (void)y;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, z = sum(x, si::axes<1>, si::drop));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, z = sum(x, si::axes<1>));
    // [/mistake]
#endif
}
