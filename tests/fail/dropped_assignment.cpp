// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An assignment that is made and not run.
// expect: SINTER-E009
// expect: Hint:
// flags: -Wall -Werror
// only: g++ clang
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x * 2.0f);
    // [/repair]
#else
    // [mistake]
    y = x * 2.0f;
    // [/mistake]
#endif
}
