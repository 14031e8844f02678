// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A name of more than seven letters.
// expect: SINTER-S001
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    using si::operator""_d;
    // [/given]
#ifdef CONTROL
    // [repair]
    si::tensor_view<float, si::extents<"channel"_d>> x(p, 8);
    // [/repair]
    (void)x;
#else
    // [mistake]
    si::tensor_view<float, si::extents<"channels"_d>> x(p, 8);
    // [/mistake]
    (void)x;
#endif
}
