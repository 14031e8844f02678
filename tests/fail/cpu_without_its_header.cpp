// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The executor cpu without its header. g++ says what has the name elsewhere, the code beside it; clang's second error is that a type stands
// where a value is expected.
// expect: SINTER-B006
// expect: Hint:
// errors (clang): 2
// only: g++ clang
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
