// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A range of codes that their storage doesn't have.
// expect: SINTER-Q009
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p, signed char* c) {
    // [given]
    const si::tensor_view<float, si::extents<8>> x(p);
    const si::tensor_view<si::i8, si::extents<8>> codes(c);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, codes = si::quantize<si::i8, -64, 63>(x, 0.5f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, codes = si::quantize<si::i8, 0, 255>(x, 0.5f));
    // [/mistake]
#endif
}
