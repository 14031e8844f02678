// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same in what is composed of reductions.
// expect: SINTER-S029
// expect: <int>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::softmax(x, si::axes<0>));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::softmax(x, 0));
    // [/mistake]
#endif
}
