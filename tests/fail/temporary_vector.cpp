// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A view of a temporary that owns its memory.
// expect: SINTER-C001
// expect: std::vector
// expect: Hint:
#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;

void example() {
#ifdef CONTROL
    // [repair]
    std::vector<float> memory(6);
    const auto x = si::view(memory);
    // [/repair]
#else
    // [mistake]
    const auto x = si::view(std::vector<float>(6));
    // [/mistake]
#endif
    (void)x;
}
