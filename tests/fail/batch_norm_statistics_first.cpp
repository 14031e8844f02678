// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The statistics before the tensor.
// expect: SINTER-S037
// expect: batch_norm
// expect: argument::variance
// expect: sizes<3, 4>
// expect: batch_norm(x, mean, variance, weight, bias, eps)
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    const si::tensor_view<float, si::extents<4>> mean(p), variance(p), weight(p), bias(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::batch_norm(x, mean, variance, weight, bias, 1e-5f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::batch_norm(mean, variance, x, weight, bias, 1e-5f));
    // [/mistake]
#endif
}
