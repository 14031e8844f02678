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
    std::vector<float> memory(6);
    const auto x = si::view(memory);
#else
    const auto x = si::view(std::vector<float>(6));
#endif
    (void)x;
}
