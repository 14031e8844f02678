// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats as codes of static parameters.
// expect: SINTER-Q017
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<8>> x(p), y(p + 8);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x * 0.05f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::dequantize<"0.05:3"_qp>(x));
    // [/mistake]
#endif
}
