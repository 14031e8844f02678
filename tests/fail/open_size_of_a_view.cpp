// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A view whose open size is left out.
// expect: SINTER-S035
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    using rows = si::tensor_view<float, si::extents<si::dyn, 4>>;
    // [/given]
#ifdef CONTROL
    // [repair]
    const rows x(p, 3);
    si::run(si::reference, x = x + 1.0f);
    // [/repair]
#else
    // [mistake]
    const rows x(p);
    si::run(si::reference, x = x + 1.0f);
    // [/mistake]
#endif
}
