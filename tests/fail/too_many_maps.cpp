// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More index maps on one operand than a kernel's tables hold.
// expect: SINTER-P005
// expect: sizes<4, 6>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

// [formula]
template <int Count>
inline constexpr auto flips = si::fused([](auto x) {
    for (int i = 0; i < Count; ++i) x = si::flip<0>(x);
    return x * 2.0f;
});
// [/formula]

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<4, 6>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = flips<3>(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = flips<9>(x));
    // [/mistake]
#endif
}
