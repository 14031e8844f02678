// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A container beside a tensor.
// expect: SINTER-E011
// expect: Hint:
#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;

void example(float* p, const std::vector<float>& bias) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p + 6);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x + si::view(bias));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x + bias);
    // [/mistake]
#endif
}
