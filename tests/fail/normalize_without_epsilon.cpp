// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function without its last operand.
// expect: SINTER-E018
// expect: takes<3>, sinter::given<2>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = normalize(x, si::axes<0>, 1e-6f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = normalize(x, si::axes<0>));
    // [/mistake]
#endif
}
