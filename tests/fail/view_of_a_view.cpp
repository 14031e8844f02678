// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A view of a view.
// expect: SINTER-E031
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<8>> x(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, si::view(x.data(), si::extents<2, 4>{}) = 1.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, si::view(x, si::extents<2, 4>{}) = 1.0f);
    // [/mistake]
#endif
}
