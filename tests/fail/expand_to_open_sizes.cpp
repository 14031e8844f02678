// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Run-time sizes for expand.
// expect: SINTER-S036
// expect: run_time
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<4>> v(p);
    const si::tensor_view<float, si::extents<si::dyn, 4>> y(p, 3);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = y * 0.0f + v);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = expand(v, si::extents<si::dyn, 4>(3)));
    // [/mistake]
#endif
}
