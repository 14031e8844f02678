// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Codes for a view that would hold their scales, and none.
// expect: SINTER-E018
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p, signed char* c) {
    const si::tensor_view<float, si::extents<2, 3>> y(p);
    const si::tensor_view<signed char, si::extents<2, 3>> codes(c);
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::quantized(codes, 0.5f) * 2.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::quantized(codes) * 2.0f);
    // [/mistake]
#endif
}
