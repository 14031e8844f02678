// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same between views of different types.
// expect: E005
// lines: 13
// expect: extents<2, 3>
// expect: extents<3>
// expect: copy
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const si::tensor_view<const float, si::extents<3>> z(p);
    // [/given]
    (void)x, (void)z;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = copy(z));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = z);
    // [/mistake]
#endif
}
