// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A traced lambda with another number of parameters than operands.
// expect: SINTER-E010
// expect: number<2>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), w(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::let(x, w, [](auto a, auto b) { return a * b; }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, w, [](auto a) { return a * 2.0f; }));
    // [/mistake]
#endif
}
