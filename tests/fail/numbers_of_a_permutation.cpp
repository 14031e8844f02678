// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of a permutation as numbers.
// expect: SINTER-S036
// expect: int, int
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    const si::tensor_view<float, si::extents<4, 3>> z(p + 12);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, z = si::permute<1, 0>(x) * 2.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, z = si::permute(x, 1, 0) * 2.0f);
    // [/mistake]
#endif
}
