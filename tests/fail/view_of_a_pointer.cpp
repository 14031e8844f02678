// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pointer as a view, without a shape.
// expect: SINTER-S034
// expect: float
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
#ifdef CONTROL
    // [repair]
    si::run(si::reference, si::view(p, si::extents<12>{}) = 1.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, si::view(p) = 1.0f);
    // [/mistake]
#endif
}
