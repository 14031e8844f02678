// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A permutation that names an axis twice.
// expect: SINTER-S023
// expect: sizes<2, 3>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = permute<0, 1>(x)+ 1.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = permute<1, 1>(x) + 1.0f);
    // [/mistake]
#endif
}
