// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A choice between one value.
// expect: SINTER-E018
// expect: where_op, sinter::takes<3>, sinter::given<2>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = where(x > 0, x, 0.0f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = where(x > 0, x));
    // [/mistake]
#endif
}
