// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Three numbers for the two bytes of a row: the second half of them, one number, would broadcast to both.
// expect: SINTER-S041
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p, si::qu4x2<si::qp(0.5f, 3)>* pairs) {
    const auto packed = si::packed(pairs, si::extents<4, 2>{});
#ifdef CONTROL
    si::run(si::reference, packed = copy(si::view(p, si::extents<4, 4>{})));
#else
    si::run(si::reference, packed = copy(si::view(p, si::extents<4, 3>{})));
#endif
}
