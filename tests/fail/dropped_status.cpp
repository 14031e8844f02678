// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The status of a call that is dropped.
// expect: SINTER-E025
// expect: Hint:
// flags: -Wall -Werror
// only: g++ clang
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<si::dyn>> x(p, 8), y(p, 9);
    // [/given]
#ifdef CONTROL
    // [repair]
    const si::status said = si::try_run(si::reference, y = x + 1.0f);
    if (!said.ok()) __builtin_trap();
    // [/repair]
#else
    // [mistake]
    si::try_run(si::reference, y = x + 1.0f);
    // [/mistake]
#endif
}
