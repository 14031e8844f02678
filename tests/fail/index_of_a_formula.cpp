// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An element of a formula by its indices.
// expect: SINTER-E020
// expect: 3, 4
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    const si::tensor_view<float, si::extents<1, 1>> z(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, z = si::slice<1, 2, 3>(si::slice<0, 1, 2>(x + y)));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, z = (x + y)(1, 2));
    // [/mistake]
#endif
}
