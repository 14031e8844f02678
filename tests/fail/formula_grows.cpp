// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A formula that is to take one more term.
// expect: SINTER-E027
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const auto total = x + 1.0f;
    si::run(si::reference, y = total + x);
    // [/repair]
#else
    // [mistake]
    auto total = x + 1.0f;
    total += x;
    si::run(si::reference, y = total);
    // [/mistake]
#endif
}
