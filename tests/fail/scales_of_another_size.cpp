// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scales by rows, of which there are fewer than rows.
// expect: SINTER-Q007
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p, signed char* c) {
    const si::tensor_view<signed char, si::extents<3, 5>> codes(c);
    const si::tensor_view<const float, si::extents<3, 5>> x(p + 8);
#ifdef CONTROL
    auto weight = si::quantized(codes, si::view(p, si::extents<3, 1>{}));
#else
    auto weight = si::quantized(codes, si::view(p, si::extents<2, 1>{}));
#endif
    si::run(si::reference, weight = x);
}
