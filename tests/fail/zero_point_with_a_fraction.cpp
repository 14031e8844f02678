// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A text of parameters whose zero point has a fraction.
// expect: SINTER-Q015
// expect: literal_text<9
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
    const si::q8<"0.05:3.5"_qp> stored(real);
    real = float(stored);
    // [/mistake]
#endif
}
