// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A traced formula with too many operations.
// expect: SINTER-E003
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

// [formula]
template <int Count>
inline constexpr auto many = si::fused([](auto x) {
    for (int i = 0; i < Count; ++i) x = x + 1.0f;
    return x;
});
// [/formula]

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<2, 3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = many<40>(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = many<600>(x));
    // [/mistake]
#endif
}
