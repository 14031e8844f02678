// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seventeen outputs in one call.
// expect: SINTER-E022
// expect: number<17>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    using matrix = si::tensor_view<float, si::extents<2, 3>>;
    const matrix x(p);
    const auto write_multiples = [&](auto... factor) { si::run(si::reference, (matrix(p + 6 * factor) = x * factor)...); };
    // [/given]
#ifdef CONTROL
    // [repair]
    write_multiples(1, 2, 3, 4, 5, 6, 7, 8, 9);
    write_multiples(10, 11, 12, 13, 14, 15, 16, 17);
    // [/repair]
#else
    // [mistake]
    write_multiples(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17);
    // [/mistake]
#endif
}
