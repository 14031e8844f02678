// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function with too few operands.
// expect: SINTER-E018
// expect: clamp_op, sinter::takes<3>, sinter::given<1>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = clamp(x, 0.0f, 1.0f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = clamp(x));
    // [/mistake]
#endif
}
