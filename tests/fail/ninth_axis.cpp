// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation that would make a ninth axis.
// expect: SINTER-S002
// expect: sizes<1, 2, 1, 2, 1, 2, 1, 2>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<1, 2, 1, 2, 1, 2, 1, 2>> x(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    (void)si::squeeze<0>(x);
    // [/repair]
#else
    // [mistake]
    (void)si::unsqueeze<0>(x);
    // [/mistake]
#endif
}
