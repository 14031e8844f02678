// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cast that names no type.
// expect: SINTER-T007
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::cast<float>(x > 0.0f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::cast(x > 0.0f));
    // [/mistake]
#endif
}
