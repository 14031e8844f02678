// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A view on the right side of =.
// expect: SINTER-E005
// expect: sizes<2, 3>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
#ifdef CONTROL
    si::run(si::reference, y = copy(x));
#else
    si::run(si::reference, y = x);
#endif
}
