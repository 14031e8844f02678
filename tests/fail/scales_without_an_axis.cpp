// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scale for each row of a square matrix, and no axis: it would be each column's. Said where the view is made, once, and of an output as well.
// expect: SINTER-Q007
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p, signed char* c) {
    const si::tensor_view<signed char, si::extents<3, 3>> codes(c);
    const si::tensor_view<const float, si::extents<3>> scales(p);
    const si::tensor_view<const float, si::extents<3, 3>> x(p + 8);
#ifdef CONTROL
    // [repair]
    auto weight = si::quantized(codes, si::axes<0>, scales);
    // [/repair]
#else
    // [mistake]
    auto weight = si::quantized(codes, scales);
    // [/mistake]
#endif
    si::run(si::reference, weight = x);
}
