// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum of products of codes, of floats.
// expect: SINTER-Q016
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<8>> x(p), w(p + 8);
    const si::tensor_view<float, si::extents<1>> y(p + 16);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = sum(x * w, si::axes<-1>));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = dot_codes(x, w, si::axes<-1>));
    // [/mistake]
#endif
}
