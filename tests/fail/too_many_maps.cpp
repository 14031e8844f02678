// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More index maps on one operand than a kernel's tables hold.
// expect: SINTER-P005
// expect: sizes<4, 6>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

template <int Count>
inline constexpr auto flips = si::fused([](auto x) {
    for (int i = 0; i < Count; ++i) x = si::flip<0>(x);
    return x * 2.0f;
});

void example(float* p) {
    const si::tensor_view<float, si::extents<4, 6>> x(p), y(p);
#ifdef CONTROL
    si::run(si::reference, y = flips<3>(x));
#else
    si::run(si::reference, y = flips<9>(x));
#endif
}
