// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More axes than eight.
// expect: SINTER-S002
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
#ifdef CONTROL
    // [repair]
    const si::tensor_view<float, si::extents<1, 2, 1, 2, 1, 2, 1, 2>> x(p);
    // [/repair]
    (void)x;
#else
    // [mistake]
    const si::tensor_view<float, si::extents<1, 2, 1, 2, 1, 2, 1, 2, 1>> x(p);
    // [/mistake]
    (void)x;
#endif
}
