// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reshape of a value that was broadcast.
// expect: SINTER-P004
// expect: sizes<4, 6>
// expect: sizes<6>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<4, 6>> x(p);
    const si::tensor_view<float, si::extents<6>> b(p);
    const si::tensor_view<float, si::extents<24>> y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const auto flat = si::reshape<24>(x);
    si::run(si::reference, y = flat * 2.0f);
    // [/repair]
    (void)b;
#else
    // [mistake]
    si::run(si::reference, y = si::reshape<24>(x + b));
    // [/mistake]
#endif
}
