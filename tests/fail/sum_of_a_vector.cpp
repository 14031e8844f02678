// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction of memory without a shape.
// expect: SINTER-E011
// expect: vector
// expect: Hint:
#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    std::vector<float> numbers(4);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x / sum(si::view(numbers)));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x / si::sum(numbers));
    // [/mistake]
#endif
}
