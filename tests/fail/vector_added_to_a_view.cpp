// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory without a shape behind +=.
// expect: SINTER-E011
// expect: std::vector<float
// expect: Hint:
#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;

void example(float* p, signed char* c) {
    const si::tensor_view<float, si::extents<2>> y(p);
    auto weight = si::quantized(si::tensor_view<signed char, si::extents<2>>(c), 0.5f);
    const std::vector<float> bias(2, 0.5f);
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y += si::view(bias));
    si::run(si::reference, weight += si::view(bias));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y += bias);
    // [/mistake]
#endif
}
