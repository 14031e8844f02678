// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory, and not views, as the outputs of an operator with several values.
// expect: SINTER-E032
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

inline constexpr auto two = si::fused([](auto v) { return outputs(v + 1.0f, v * 2.0f); });

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<8>> x(p);
    float less[8], more[8];
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, si::tie(si::view(less), si::view(more)) = two(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, si::tie(less, more) = two(x));
    // [/mistake]
#endif
}
