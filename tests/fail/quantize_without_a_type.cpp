// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// quantize without the type of the codes.
// expect: SINTER-Q012
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<const float, si::extents<3, 4>> x(p);
    const si::tensor_view<si::i8, si::extents<3, 4>> codes(reinterpret_cast<si::i8*>(p));
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, codes = si::quantize<si::i8>(x, 0.1f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, codes = si::quantize(x, 0.1f));
    // [/mistake]
#endif
}
