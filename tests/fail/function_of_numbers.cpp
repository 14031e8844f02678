// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function for numbers, called in a lambda that goes on with what it gives.
// expect: SINTER-E029
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

// [functions]
inline float of_a_number(float a) { return a * a; }
constexpr auto of_a_value(auto a) { return a * a; }
// [/functions]

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::let(x, [](auto v) { return of_a_value(v) + v; }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto v) { return of_a_number(v) + v; }));
    // [/mistake]
#endif
}
