// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The number of a traced value's elements.
// expect: SINTER-E020
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::let(x, 12, [](auto v, auto size) { return v / size; }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto v) { return v / v.size(); }));
    // [/mistake]
#endif
}
