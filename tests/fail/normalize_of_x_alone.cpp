// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A normalization with too few arguments: said of the function, not of a lambda.
// expect: SINTER-E018
// expect: rms_norm
// expect: given<1>
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
    si::run(si::reference, y = si::rms_norm(x));
    // [/mistake]
#endif
}
