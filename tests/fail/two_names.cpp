// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two names on one axis.
// expect: SINTER-S014
// expect: name<'r', 'o', 'w'>
// expect: name<'c', 'o', 'l'>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    using si::operator""_d;
    const si::tensor_view<float, si::extents<"row"_d>> x(p, 8), y(p, 8);
    const si::tensor_view<float, si::extents<"col"_d>> b(p, 8);
    // [/given]
    (void)b;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x * x);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x * b);
    // [/mistake]
#endif
}
