// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop over the elements of a traced value.
// expect: SINTER-E020
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
        auto state = v;
        for (int i = 0; i < 3; ++i) state += v;
        return state;
    }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto v) {
        auto state = v;
        for (auto element : v) state += element;
        return state;
    }));
    // [/mistake]
#endif
}
