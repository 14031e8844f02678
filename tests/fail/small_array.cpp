// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An array with fewer elements than the shape.
// expect: SINTER-S033
// expect: 5
// expect: 2, 
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example() {
    // [given]
    float numbers[5]{};
    // [/given]
#ifdef CONTROL
    // [repair]
    const auto y = si::view(numbers);
    si::run(si::reference, y = 1.0f);
    // [/repair]
#else
    // [mistake]
    const auto y = si::view(numbers, si::extents<2, 3>{});
    si::run(si::reference, y = 1.0f);
    // [/mistake]
#endif
}
