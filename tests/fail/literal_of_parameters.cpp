// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A literal of parameters with a word in it.
// expect: SINTER-Q010
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
    const si::q8<"0.05:3"_qp> stored(real);
    real = float(stored);
    // [/repair]
#else
    // [mistake]
    const si::q8<"0.05:three"_qp> stored(real);
    real = float(stored);
    // [/mistake]
#endif
}
