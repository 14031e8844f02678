// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction inside another one, over axes of different lengths.
// expect: SINTER-P002
// expect: sizes<5>
// expect: sizes<6>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<5>> x(p);
    const si::tensor_view<float, si::extents<6>> z(p);
    const si::tensor_view<float, si::extents<>> y(p), total(p);
    // [/given]
    (void)total;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, total = sum(x));
    si::run(si::reference, y = sum(total * z));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = sum(sum(x) * z));
    // [/mistake]
#endif
}
