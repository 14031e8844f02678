// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A type that is no monoid.
// expect: SINTER-E016
// expect: name_member
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::fold<si::monoids::sum_of>(x, si::last_axis));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::fold<int>(x, si::last_axis));
    // [/mistake]
#endif
}
