// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A named size where its number is meant.
// expect: SINTER-S015
// expect: mul_op
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    using si::operator""_d;
    const si::tensor_view<float, si::extents<"seq"_d, 4>> x(p, 3), y(p, 3);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x * (1.0f / float(x.size<0>())));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x * "seq"_d);
    // [/mistake]
#endif
}
