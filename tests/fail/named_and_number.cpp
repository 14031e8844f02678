// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A named size against a number.
// expect: SINTER-S013
// expect: name<'s', 'e', 'q'>
// expect: sizes<8>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    using si::operator""_d;
    const si::tensor_view<float, si::extents<"seq"_d>> x(p, 8), y(p, 8);
    const si::tensor_view<float, si::extents<8>> b(p);
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
