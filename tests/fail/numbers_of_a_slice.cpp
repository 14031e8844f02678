// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bounds of a slice as numbers, in a traced formula.
// expect: SINTER-S036
// expect: int, int
// expect: Hint:
// lines: 40
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    const si::tensor_view<float, si::extents<2, 4>> z(p + 12);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, z = si::let(x, [](auto v) { return si::slice<0, 0, 2>(v) * 2.0f; }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, z = si::let(x, [](auto v) { return si::slice<0>(v, 0, 2) * 2.0f; }));
    // [/mistake]
#endif
}
