// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mask of a softmax after its axes.
// expect: SINTER-S037
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = softmax(x, x < 3.0f, si::axes<0>));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = softmax(x, si::axes<0>, x < 3.0f));
    // [/mistake]
#endif
}
