// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of the standard library on a traced value.
// expect: SINTER-E021
// expect: Hint:
#include <sinter/sinter.hpp>

#include <cmath>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::let(x, [](auto v) { return exp(v); }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto v) { return std::exp(v); }));
    // [/mistake]
#endif
}
