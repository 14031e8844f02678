// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slice of memory without a shape.
// expect: SINTER-E011
// expect: std::vector<float
// expect: Hint:
#include <sinter/sinter.hpp>
#include <vector>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<si::dyn>> y(p, 3);
    const std::vector<float> signal(4);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::slice<0, 1, si::end>(si::view(signal)) * 2.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::slice<0, 1, si::end>(signal) * 2.0f);
    // [/mistake]
#endif
}
