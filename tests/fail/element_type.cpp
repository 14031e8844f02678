// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A view of a type that isn't an element type.
// expect: SINTER-T007
// expect: long double
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const si::tensor_view<double, si::extents<2, 3>> w(nullptr);
    si::run(si::reference, y = x * w);
    // [/repair]
#else
    // [mistake]
    const si::tensor_view<long double, si::extents<2, 3>> w(nullptr);
    si::run(si::reference, y = x * w);
    // [/mistake]
#endif
}
