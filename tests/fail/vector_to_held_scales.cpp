// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory without a shape on the right of codes whose scales a view holds.
// expect: SINTER-E006
// expect: std::vector<float
// expect: Hint:
#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;

void example(float* p, signed char* c) {
    const std::vector<float> x(6);
    const auto weight = si::quantized(si::tensor_view<signed char, si::extents<2, 3>>(c), si::axes<0>, si::tensor_view<const float, si::extents<2>>(p));
#ifdef CONTROL
    // [repair]
    si::run(si::reference, weight = si::view(x, si::extents<2, 3>{}));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, weight = x);
    // [/mistake]
#endif
}
