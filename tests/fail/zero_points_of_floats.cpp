// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Zero points of codes that are floats.
// expect: SINTER-Q015
// expect: float
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3>> zeros(p);
    const si::tensor_view<float, si::extents<3, 4>> y(p);
    const si::tensor_view<si::i8, si::extents<3, 4>> codes(reinterpret_cast<si::i8*>(p));
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::dequantize(codes, 0.05f, si::unsqueeze<1>(si::cast<si::i32>(round(zeros)))));
    // [/repair]
#else
    // [mistake]
    const auto x = si::quantized(codes, si::axes<0>, 0.05f, zeros);
    si::run(si::reference, y = copy(x));
    // [/mistake]
#endif
}
