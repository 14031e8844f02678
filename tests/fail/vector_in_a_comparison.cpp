// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A container beside a tensor in a comparison.
// expect: SINTER-E011
// expect: std::vector<float
// expect: Hint:
#include <sinter/sinter.hpp>
#include <vector>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    const std::vector<float> row(4);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = where(x == si::view(row), x, 0.0f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = where(x == row, x, 0.0f));
    // [/mistake]
#endif
}
