// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An error of the language in a traced lambda is the compiler's own message, and no other follows it.
// expect: example
// expect: no_such_function
// only: g++
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::let(x, [](auto a) { return exp(a) + 1.0f; }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto a) { return no_such_function(a) + 1.0f; }));
    // [/mistake]
#endif
}
