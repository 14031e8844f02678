// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantized elements, which are real numbers, dequantized by parameters once more.
// expect: SINTER-Q017
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p, signed char* c) {
    // [given]
    using element = si::q8<"0.05:3"_qp>;
    const si::tensor_view<element, si::extents<8>> x(reinterpret_cast<element*>(c));
    const si::tensor_view<float, si::extents<8>> y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = dequantize(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::dequantize(x, 0.05f, 3));
    // [/mistake]
#endif
}
