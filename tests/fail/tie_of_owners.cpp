// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Owners as the outputs of an operator with several values.
// expect: SINTER-E023
// expect: view(
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

inline constexpr auto two = si::fused([](auto v) { return outputs(v + 1.0f, v * 2.0f); });

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p);
    si::tensor<float, si::extents<3, 4>> less, more;
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
