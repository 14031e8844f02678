// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers beside codes whose scales a view holds.
// expect: SINTER-Q005
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p, signed char* c) {
    const si::tensor_view<float, si::extents<2, 3>> y(p);
    const si::tensor_view<signed char, si::extents<2, 3>> codes(c), n(c + 6);
    const auto weight = si::quantized(codes, si::axes<0>, si::tensor_view<const float, si::extents<2>>(p + 6));
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = weight + si::cast<float>(n));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = weight + n);
    // [/mistake]
#endif
}
