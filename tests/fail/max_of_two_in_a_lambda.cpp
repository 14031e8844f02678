// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The maximum of two values by the name of the reduction, in a traced lambda: said at its call, whatever is done with the result.
// expect: SINTER-S029
// expect: max_of, float
// expect: maximum(x, 0.0f)
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::let(x, [](auto v) { return exp(v) + 2.0f * maximum(v, 0.0f); }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto v) { return exp(v) + 2.0f * max(v, 0.0f); }));
    // [/mistake]
#endif
}
