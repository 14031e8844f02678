// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The executor cpu without its header, g++: it lists what has the name elsewhere, the code among it.
// expect: SINTER-B006
// expect: Hint:
// lines: 14
// only: g++
#include <sinter/sinter.hpp>
#ifdef CONTROL
// [repair]
#include <sinter/backend/cpu.hpp>
// [/repair]
#endif

namespace si = sinter;

void example(float* p) {
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [mistake]
    si::run(si::cpu, y = x + 1.0f);
    // [/mistake]
}
