// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pointer beside a tensor, on the left.
// expect: SINTER-E011
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p, const float* bias) {
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p + 6);
#ifdef CONTROL
    si::run(si::reference, y = si::view(bias, si::extents<3>{}) * x);
#else
    si::run(si::reference, y = bias * x);
#endif
}
