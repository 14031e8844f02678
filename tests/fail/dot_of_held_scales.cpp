// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dot of codes whose scales the view holds.
// expect: SINTER-Q014
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(si::i8* q, float* p) {
    // [given]
    const si::tensor_view<const si::i8, si::extents<4, 64>> codes(q);
    const si::tensor_view<const si::i8, si::extents<64>> weights(q);
    const si::tensor_view<const float, si::extents<4>> scales(p);
    const si::tensor_view<float, si::extents<4>> y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::dot_codes(codes, weights, si::axes<-1>, si::drop) * scales);                      // exact sums
    si::run(si::reference, y = sum(si::quantized(codes, si::axes<0>, scales) * si::cast<float>(weights), si::axes<-1>, si::drop));  // rounded ones
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::dot(si::quantized(codes, si::axes<0>, scales), weights, si::axes<-1>, si::drop));
    // [/mistake]
#endif
}
