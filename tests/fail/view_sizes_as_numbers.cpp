// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes of a view as numbers.
// expect: SINTER-S034
// expect: float
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    float memory[12] = {*p};
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, si::view(memory, si::extents<3, 4>{}) = 1.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, si::view(memory, 3, 4) = 1.0f);
    // [/mistake]
#endif
}
