// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor of integers plus a quantized one.
// expect: SINTER-Q005
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p, signed char* c) {
    // [given]
    using element = si::q8<"0.05:3"_qp>;
    const si::tensor_view<element, si::extents<8>> x(reinterpret_cast<element*>(c));
    const si::tensor_view<signed char, si::extents<8>> n(c);
    const si::tensor_view<float, si::extents<8>> y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x + si::dequantize(n, 0.05f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x + n);
    // [/mistake]
#endif
}
