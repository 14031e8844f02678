// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scales in a container, which has no shape, for an axis of the codes.
// expect: SINTER-E011
// expect: std::vector<float
// expect: Hint:
#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;

void example(float* p, signed char* c) {
    const si::tensor_view<const float, si::extents<2, 3>> x(p);
    const si::tensor_view<signed char, si::extents<2, 3>> codes(c);
    const std::vector<float> scales(2, 0.5f);
#ifdef CONTROL
    // [repair]
    auto weight = si::quantized(codes, si::axes<0>, si::view(scales));
    // [/repair]
#else
    // [mistake]
    auto weight = si::quantized(codes, si::axes<0>, scales);
    // [/mistake]
#endif
    si::run(si::reference, weight = x);
}
