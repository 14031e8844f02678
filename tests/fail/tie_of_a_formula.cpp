// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A formula as an output of an operator with several values.
// expect: SINTER-E032
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

inline constexpr auto two = si::fused([](auto v) { return outputs(v + 1.0f, v * 2.0f); });

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<8>> x(p), y(p + 8), z(p + 16);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, si::tie(y, z) = two(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, si::tie(y, z + 1.0f) = two(x));
    // [/mistake]
#endif
}
