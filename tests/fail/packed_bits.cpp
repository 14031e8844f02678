// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// std::vector<bool> packs bits.
// expect: SINTER-C004
// expect: vector
// expect: Hint:
#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3>> y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const bool mask[] = {true, false, true};
    si::run(si::reference, y = where(si::view(mask), 1.0f, 0.0f));
    // [/repair]
#else
    // [mistake]
    std::vector<bool> mask(3);
    si::run(si::reference, y = where(si::view(mask), 1.0f, 0.0f));
    // [/mistake]
#endif
}
