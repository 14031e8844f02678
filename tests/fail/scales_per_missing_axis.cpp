// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scales along an axis that isn't there.
// expect: SINTER-Q007
// expect: 2
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p, signed char* c) {
    // [given]
    const si::tensor_view<const signed char, si::extents<2, 3>> codes(c);
    const si::tensor_view<const float, si::extents<2>> scales(p);
    const si::tensor_view<float, si::extents<2, 3>> y(p + 8);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::quantized(codes, si::axes<0>, scales) * 2.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::quantized(codes, si::axes<2>, scales) * 2.0f);
    // [/mistake]
#endif
}
