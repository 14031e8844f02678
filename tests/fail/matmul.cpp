// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products aren't there yet.
// expect: SINTER-N001
// expect: sizes<4, 6>
// expect: sizes<6, 5>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<4, 6>> x(p);
    const si::tensor_view<float, si::extents<6, 5>> w(p);
    const si::tensor_view<float, si::extents<4, 5>> y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = sum(si::unsqueeze<-1>(x) * si::unsqueeze<-3>(w), si::axes<-2>, si::drop));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = matmul(x, w));
    // [/mistake]
#endif
}
