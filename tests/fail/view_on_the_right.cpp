// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A view on the right side of =.
// expect: SINTER-E005
// expect: sizes<2, 3>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = copy(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x);
    // [/mistake]
#endif
}
