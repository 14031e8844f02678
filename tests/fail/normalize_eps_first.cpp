// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number where the tensor stands.
// expect: SINTER-S037
// expect: rms_norm
// expect: argument::x
// expect: sizes<>
// expect: rms_norm(x, weight, eps)
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::rms_norm(x, 1e-5f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::rms_norm(1e-5f, x));
    // [/mistake]
#endif
}
