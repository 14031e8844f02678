// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments of a normalization in another order, within a traced lambda: ranks are known there, too.
// expect: SINTER-S037
// expect: rms_norm
// expect: argument::eps
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    const si::tensor_view<float, si::extents<4>> weight(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::let(x, weight, [](auto v, auto w) { return v + si::rms_norm(v, w, 1e-5f); }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, weight, [](auto v, auto w) { return v + si::rms_norm(v, 1e-5f, w); }));
    // [/mistake]
#endif
}
