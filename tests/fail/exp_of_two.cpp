// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function with too many operands.
// expect: SINTER-E018
// expect: exp_op, sinter::takes<1>, sinter::given<2>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = exp(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = exp(x, 2.0f));
    // [/mistake]
#endif
}
