// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Something that is no value among the values of a lambda.
// expect: SINTER-E028
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<8>> x(p), y(p + 8), z(p + 16);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, si::tie(y, z) = si::let(x, [](auto v) { return outputs(v, v * 2.0f); }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, si::tie(y, z) = si::let(x, [](auto v) { return outputs(v, "twice"); }));
    // [/mistake]
#endif
}
