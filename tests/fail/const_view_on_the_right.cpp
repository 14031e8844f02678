// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same from a const view: the copy assignment that type traits ask for is deleted, with the code beside it.
// expect: SINTER-E005
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
