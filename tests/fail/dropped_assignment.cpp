// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An assignment that is made and not run.
// expect: SINTER-E009
// expect: Hint:
// flags: -Wall -Werror
// only: g++ clang
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
#ifdef CONTROL
    si::run(si::reference, y = x * 2.0f);
#else
    y = x * 2.0f;
#endif
}
