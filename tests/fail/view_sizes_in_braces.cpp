// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes of a view in braces.
// expect: SINTER-S034
// expect: std::vector<float
// expect: Hint:
#include <sinter/sinter.hpp>
#include <vector>

namespace si = sinter;

void example(float* p) {
    // [given]
    std::vector<float> memory(12, *p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, si::view(memory, si::extents<si::dyn, si::dyn>(3, 4)) = 1.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, si::view(memory, {3, 4}) = 1.0f);
    // [/mistake]
#endif
}
