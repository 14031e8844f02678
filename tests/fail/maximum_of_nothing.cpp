// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The largest of no integers.
// expect: SINTER-S028
// expect: max_of
// expect: sizes<2, 0>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<int, si::extents<2, 0>> x(reinterpret_cast<int*>(p));
    const si::tensor_view<int, si::extents<2, 1>> y(reinterpret_cast<int*>(p));
    // [/given]
    (void)y;
#ifdef CONTROL
    // [repair]
    const si::tensor_view<float, si::extents<2, 1>> z(p);
    si::run(si::reference, z = max(si::cast<float>(x), si::last_axis));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = max(x, si::last_axis));
    // [/mistake]
#endif
}
