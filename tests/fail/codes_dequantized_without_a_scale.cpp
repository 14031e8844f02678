// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plain integers, whose scale isn't said, as if they were quantized.
// expect: SINTER-Q005
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p, signed char* c) {
    // [given]
    const si::tensor_view<signed char, si::extents<8>> n(c);
    const si::tensor_view<float, si::extents<8>> y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::dequantize(n, 0.05f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = dequantize(n));
    // [/mistake]
#endif
}
