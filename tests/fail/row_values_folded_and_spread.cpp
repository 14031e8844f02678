// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number over all rows, known when they are over, that fills a value of each.
// expect: SINTER-P001
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<4, 5>> x(p);
    const si::tensor_view<float, si::extents<4, 1>> y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    float total = si::eval(si::reference, sum(max(x, si::last_axis)));
    si::run(si::reference, si::fill(y, total));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = sum(max(x, si::last_axis)));
    // [/mistake]
#endif
}
