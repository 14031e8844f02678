// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// outputs of formulas outside of a lambda.
// expect: SINTER-E028
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p), z(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x + 1.0f, z = x * 2.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, si::tie(y, z) = si::outputs(x + 1.0f, x * 2.0f));
    // [/mistake]
#endif
}
