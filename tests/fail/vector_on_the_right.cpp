// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What isn't an operand on the right side of =.
// expect: SINTER-E006
// expect: std::vector
// expect: Hint:
#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;

void example(std::vector<float>& memory, std::vector<float>& result) {
    // [given]
    const auto y = si::view(result);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::view(memory) * 1.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = memory);
    // [/mistake]
#endif
}
