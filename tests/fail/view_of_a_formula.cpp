// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A view of a formula.
// expect: SINTER-E031
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<8>> x(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const auto next = si::eval(si::reference, x + 1.0f);
    const auto seen = si::view(next);
    // [/repair]
#else
    // [mistake]
    const auto seen = si::view(x + 1.0f);
    // [/mistake]
#endif
    (void)seen;
}
