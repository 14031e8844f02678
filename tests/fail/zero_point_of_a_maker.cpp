// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters made with a zero point that is a float.
// expect: SINTER-Q015
// expect: float
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    float& real = *p;
    // [/given]
#ifdef CONTROL
    // [repair]
    const si::q8<si::qp(0.05f, 4)> stored(real);
    real = float(stored);
    // [/repair]
#else
    // [mistake]
    const si::q8<si::qp(0.05f, 3.5f)> stored(real);
    real = float(stored);
    // [/mistake]
#endif
}
