// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 15 numbers for 8 bytes of two 4-bit codes each.
// expect: SINTER-S041
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p, si::qu4x2<si::qp(0.5f, 3)>* pairs) {
    const auto packed = si::packed(pairs, si::extents<4, 8>{});
#ifdef CONTROL
    si::run(si::reference, packed = si::view(p, si::extents<4, 16>{}));
#else
    si::run(si::reference, packed = si::view(p, si::extents<4, 15>{}));
#endif
}
