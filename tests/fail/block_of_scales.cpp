// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of 4 along an axis of 10.
// expect: SINTER-Q008
// expect: 4
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p, signed char* c) {
    // [given]
    const si::tensor_view<const signed char, si::extents<2, 10>> codes(c);
    const si::tensor_view<const float, si::extents<2, 3>> scales(p);
    const si::tensor_view<float, si::extents<2, 10>> y(p + 8);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::quantized(codes, si::partial_block<1, 4>, scales) * 2.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::quantized(codes, si::block<1, 4>, scales) * 2.0f);
    // [/mistake]
#endif
}
