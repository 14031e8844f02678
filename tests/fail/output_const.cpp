// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writing to a view of const elements.
// expect: SINTER-C002
// expect: sizes<2, 3>
// expect: const float
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    const si::tensor_view<const float, si::extents<2, 3>> z(p);
    // [/given]
    (void)z;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x * 2.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, z = x * 2.0f);
    // [/mistake]
#endif
}
