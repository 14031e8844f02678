// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two shapes that don't broadcast; what is done with the result says nothing more.
// expect: SINTER-S012
// expect: sizes<2, 3>
// expect: sizes<4, 3>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const si::tensor_view<float, si::extents<4, 3>> b(p);
    const si::tensor_view<float, si::extents<2, 1>> c(p);
    // [/given]
    (void)b, (void)c;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = softmax(relu(x + c) * 0.5f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = softmax(relu(x + b) * 0.5f));
    // [/mistake]
#endif
}
