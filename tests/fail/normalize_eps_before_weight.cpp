// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// eps where the weight stands: without a rule it would compile and compute something else.
// expect: SINTER-S037
// expect: rms_norm
// expect: argument::eps
// expect: sizes<4>
// expect: rms_norm(x, weight, eps)
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    const si::tensor_view<float, si::extents<4>> weight(p), bias(p);
    (void)bias;
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::rms_norm(x, weight, 1e-5f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::rms_norm(x, 1e-5f, weight));
    // [/mistake]
#endif
}
