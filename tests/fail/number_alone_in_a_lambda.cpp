// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of the type of a lambda's values, with each other: there is no record yet on which their product could stand.
// expect: SINTER-E026
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::let(x, [](auto v) {
        using value = decltype(v);
        return value(2.0f) * v * value(3.0f);
    }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto v) {
        using value = decltype(v);
        return value(2.0f) * value(3.0f) * v;
    }));
    // [/mistake]
#endif
}
