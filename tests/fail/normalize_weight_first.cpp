// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parameters before the tensor.
// expect: SINTER-S037
// expect: layer_norm
// expect: argument::bias
// expect: sizes<3, 4>
// expect: (x, weight, bias, eps)
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    const si::tensor_view<float, si::extents<4>> weight(p), bias(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::layer_norm(x, weight, bias, 1e-5f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::layer_norm(weight, bias, x, 1e-5f));
    // [/mistake]
#endif
}
