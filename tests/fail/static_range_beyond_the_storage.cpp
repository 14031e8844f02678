// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same of static parameters.
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
    si::run(si::reference, codes = si::quantize<si::with_range(si::qp(0.1f), -30, 30)>(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, codes = si::quantize<si::with_range(si::qp(0.1f), -300, 300)>(x));
    // [/mistake]
#endif
}
