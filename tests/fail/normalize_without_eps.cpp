// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// layer_norm without its last argument: bias would be taken for eps.
// expect: SINTER-S037
// expect: layer_norm
// expect: argument::eps
// expect: sizes<4>
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
    si::run(si::reference, y = si::layer_norm(x, weight, bias));
    // [/mistake]
#endif
}
