// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mistake inside a traced lambda is one message, at the call.
// expect: SINTER-N001
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::let(x, [](auto a) { return a * a + 1.0f; }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto a) { return matmul(a, a) + 1.0f; }));
    // [/mistake]
#endif
}
