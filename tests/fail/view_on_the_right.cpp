// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A view on the right side of =: a deleted function, since classes that hold views ask whether they can be assigned. The code stands on its
// line, which g++ and clang show, and in its parameter, which nvcc names. clang lists three operators and counts its error: 13 lines.
// expect: E005
// lines: 13
// expect: extents<2, 3>
// expect: copy
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = copy(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = x);
    // [/mistake]
#endif
}
