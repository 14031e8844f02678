// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A C++ number that is to hold a traced value.
// expect: SINTER-E021
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
        auto total = sum(v);
        return v / total;
    }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto v) {
        float total = sum(v);
        return v / total;
    }));
    // [/mistake]
#endif
}
