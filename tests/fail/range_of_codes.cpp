// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A range that leaves the storage.
// expect: SINTER-Q009
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
    const si::q8<si::with_range("0.05"_qp, -64, 63)> stored(real);
    real = float(stored);
    // [/repair]
#else
    // [mistake]
    const si::q8<si::with_range("0.05"_qp, -64, 128)> stored(real);
    real = float(stored);
    // [/mistake]
#endif
}
