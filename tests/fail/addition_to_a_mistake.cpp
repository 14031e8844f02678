// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// += of an output that was refused: one message is enough.
// expect: SINTER-Q012
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p, signed char* c) {
    const si::tensor_view<float, si::extents<4>> x(p), y(p + 4);
    const si::tensor_view<signed char, si::extents<4>> codes(c);
#ifdef CONTROL
    si::run(si::reference, si::quantized(codes, 0.5f) += x);
#else
    si::run(si::reference, si::quantized(y, 0.5f) += x);
#endif
}
