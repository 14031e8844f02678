// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An element of a traced value by its index.
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
    si::run(si::reference, y = si::let(x, [](auto v) { return v + si::slice<0, 0, 1>(v); }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto v) { return v + v[0]; }));
    // [/mistake]
#endif
}
