// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lambda that captures.
// expect: SINTER-E001
// expect: lambda
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const float scale = p[0];
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::let(x, scale, [](auto a, auto b) { return a * b; }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [scale](auto a) { return a * scale; }));
    // [/mistake]
#endif
}
