// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static parameters of an operation whose zero point is no code.
// expect: SINTER-Q002
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
    si::run(si::reference, codes = si::quantize<"0.1:100"_qp>(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, codes = si::quantize<"0.1:200"_qp>(x));
    // [/mistake]
#endif
}
