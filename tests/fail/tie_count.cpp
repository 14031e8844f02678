// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Three views for two values.
// expect: SINTER-E007
// expect: number<3>
// expect: number<2>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

// [formula]
inline constexpr auto both = si::fused([](auto x) { return si::outputs(x * 2.0f, x * x); });
// [/formula]

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p), z(p), t(p);
    // [/given]
    (void)t;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, si::tie(y, z) = both(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, si::tie(y, z, t) = both(x));
    // [/mistake]
#endif
}
