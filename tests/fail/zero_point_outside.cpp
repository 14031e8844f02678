// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A zero point that 8 bits don't hold.
// expect: SINTER-Q002
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p) {
    // [given]
    float& real = *p;
    // [/given]
#ifdef CONTROL
    // [repair]
    const si::qu8<"0.05:200"_qp> stored(real);
    real = float(stored);
    // [/repair]
#else
    // [mistake]
    const si::q8<"0.05:200"_qp> stored(real);
    real = float(stored);
    // [/mistake]
#endif
}
