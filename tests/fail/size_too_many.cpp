// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A size for an axis whose size is in the type.
// expect: SINTER-S035
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
#ifdef CONTROL
    // [repair]
    const auto x = si::view(p, si::extents<si::dyn, 4>(3));
    si::run(si::reference, x = x + 1.0f);
    // [/repair]
#else
    // [mistake]
    const auto x = si::view(p, si::extents<si::dyn, 4>(3, 4));
    si::run(si::reference, x = x + 1.0f);
    // [/mistake]
#endif
}
