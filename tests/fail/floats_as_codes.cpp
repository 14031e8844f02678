// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers where codes belong: a view holds parameters for codes.
// expect: SINTER-Q012
// expect: float
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p, signed char* c) {
    const si::tensor_view<const float, si::extents<2, 3>> x(p);
    const si::tensor_view<float, si::extents<2, 3>> y(p + 6);
    const si::tensor_view<signed char, si::extents<2, 3>> codes(c);
#ifdef CONTROL
    // [repair]
    auto weight = si::quantized(codes, 0.5f);
    si::run(si::reference, weight = x);
    // [/repair]
#else
    // [mistake]
    auto weight = si::quantized(x, 0.5f);
    // [/mistake]
#endif
    si::run(si::reference, y = weight);
}
