// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A traced lambda that returns nothing.
// expect: SINTER-E010
// expect: void
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::let(x, [](auto a) { return a * 2.0f; }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto a) { a * 2.0f; }));
    // [/mistake]
#endif
}
