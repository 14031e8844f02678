// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A branch in a traced lambda between a value and a number.
// expect: SINTER-E012
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::let(x, [](auto v) { return where(v > 0.0f, v, 0.0f); }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto v) { return v > 0.0f ? v : 0.0f; }));
    // [/mistake]
#endif
}
