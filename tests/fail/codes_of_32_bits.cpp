// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Codes of a type that quantize doesn't give.
// expect: SINTER-Q012
// expect: int
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    const si::tensor_view<si::i32, si::extents<3, 4>> codes(reinterpret_cast<si::i32*>(p));
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, codes = si::quantize<si::i16>(x, 0.5f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, codes = si::quantize<si::i32>(x, 0.5f));
    // [/mistake]
#endif
}
