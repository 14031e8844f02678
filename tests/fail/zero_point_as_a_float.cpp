// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A zero point that is a float, known when run.
// expect: SINTER-Q015
// expect: of_type<sinter::dtype::f32>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p);
    const si::tensor_view<si::i8, si::extents<3, 4>> codes(reinterpret_cast<si::i8*>(p));
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, codes = si::quantize<si::i8>(x, 0.05f, 4));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, codes = si::quantize<si::i8>(x, 0.05f, 3.5f));
    // [/mistake]
#endif
}
