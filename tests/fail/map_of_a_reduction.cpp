// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slice of a reduced axis... that can't be pushed to the operand.
// expect: SINTER-P003
// expect: sizes<4, 6>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<4, 6>> x(p);
    const si::tensor_view<float, si::extents<2, 2>> y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const si::tensor_view<float, si::extents<4>> z(p);
    si::run(si::reference, z = sum(x, si::axes<1>, si::drop));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::reshape<2, 2>(sum(x, si::axes<1>, si::drop)));
    // [/mistake]
#endif
}
