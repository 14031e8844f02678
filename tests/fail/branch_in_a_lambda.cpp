// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An if in a traced lambda.
// expect: SINTER-E012
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::let(x, [](auto a) { return where(a > 0.0f, a, 0.1f * a); }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto a) { return a > 0.0f ? a : 0.1f * a; }));
    // [/mistake]
#endif
}
