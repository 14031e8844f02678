// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups that don't divide the channels.
// expect: SINTER-S027
// expect: sizes<2, 6, 5>
// expect: at_axis<1>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    const si::tensor_view<float, si::extents<2, 6, 5>> x(p), y(p);
    const si::tensor_view<float, si::extents<6>> w(p), b(p);
#ifdef CONTROL
    si::run(si::reference, si::unflatten<1, 3>(y) = si::group_norm<3>(x, w, b, 1e-5f));
#else
    si::run(si::reference, si::unflatten<1, 3>(y) = si::group_norm<4>(x, w, b, 1e-5f));
#endif
}
