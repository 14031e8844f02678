// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unsigned 64-bit numbers stored to signed ones: the upper half isn't there.
// expect: SINTER-T011
// expect: i64
// expect: u64
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<si::u64, si::extents<6>> u(reinterpret_cast<si::u64*>(p));
    const si::tensor_view<si::i64, si::extents<6>> n(reinterpret_cast<si::i64*>(p));
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, n = si::cast<si::i64>(u + 1));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, n = u + 1);
    // [/mistake]
#endif
}
