// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same in a composed function.
// expect: SINTER-S021
// expect: sizes<2, 3>
// expect: at_axis<-3>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = softmax(x, si::axes<-2>));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = softmax(x, si::axes<-3>));
    // [/mistake]
#endif
}
