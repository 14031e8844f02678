// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Row sums and column sums of one matrix in one kernel.
// expect: SINTER-P001
// expect: sizes<4, 5>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<4, 5>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x - sum(x, si::axes<1>));
    si::run(si::reference, y = y - sum(y, si::axes<0>));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x - sum(x, si::axes<1>) - sum(x, si::axes<0>));
    // [/mistake]
#endif
}
