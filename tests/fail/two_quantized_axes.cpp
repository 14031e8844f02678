// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two operands of a sum, quantized along different axes.
// expect: SINTER-Q011
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p, signed char* c) {
    // [given]
    const si::tensor_view<const signed char, si::extents<3, 3>> a(c), b(c);
    const si::tensor_view<const float, si::extents<3>> scales(p);
    const si::tensor_view<float, si::extents<3, 3>> y(p + 8);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::quantized(a, si::axes<0>, scales) + dequantize(si::quantized(b, si::axes<1>, scales)));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::quantized(a, si::axes<0>, scales) + si::quantized(b, si::axes<1>, scales));
    // [/mistake]
#endif
}
