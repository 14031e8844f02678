// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator of two values behind +=.
// expect: SINTER-E007
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

inline constexpr auto two = si::fused([](auto x) { return si::outputs(x, x * 2.0f); });

void example(float* p) {
    const si::tensor_view<float, si::extents<4>> x(p), y(p + 4), z(p + 8);
#ifdef CONTROL
    si::run(si::reference, si::tie(y, z) = two(x));
#else
    si::run(si::reference, y += two(x));
#endif
}
