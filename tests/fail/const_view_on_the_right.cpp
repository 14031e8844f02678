// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same from a const view: the copy assignment is taken, of which nvcc says that it is deleted, and no more.
// expect: SINTER-E005
// lines: 13
// expect: extents<2, 3>
// expect: Hint:
// only: g++ clang
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = copy(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x);
    // [/mistake]
#endif
}
