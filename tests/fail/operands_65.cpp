// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sixty-five mentions of a view.
// expect: SINTER-E002
// expect: number<65>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const auto e = x + x + x + x + x + x + x + x;
    si::run(si::reference, y = e + e + e + e + e + e + e + e);
    // [/repair]
#else
    // [mistake]
    const auto e = x + x + x + x + x + x + x + x;
    si::run(si::reference, y = e + e + e + e + e + e + e + e + x);
    // [/mistake]
#endif
}
