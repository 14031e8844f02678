// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The output of += has the smaller shape.
// expect: SINTER-S041
// expect: sizes<3>
// expect: sizes<2, 3>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const si::tensor_view<float, si::extents<3>> z(p);
    // [/given]
    (void)y;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, z += sum(x, si::axes<0>, si::drop));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, z += x);
    // [/mistake]
#endif
}
