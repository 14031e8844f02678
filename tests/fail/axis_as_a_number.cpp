// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number where axes are wanted.
// expect: SINTER-S029
// expect: <int>
// expect: Hint: mean(x, axes<1>)
// expect: maximum(x, 0.0f)
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x - mean(x, si::axes<1>));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x - mean(x, 1));
    // [/mistake]
#endif
}
