// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bits of floating-point numbers.
// expect: SINTER-T002
// expect: bit_and_op
// expect: of_type<sinter::dtype::f32>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<6>> x(p), y(p);
    const si::tensor_view<int, si::extents<6>> n(reinterpret_cast<int*>(p));
    // [/given]
    (void)x, (void)n;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::cast<float>(n & 7));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x & n);
    // [/mistake]
#endif
}
