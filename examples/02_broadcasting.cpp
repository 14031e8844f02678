// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of 1 and missing leading axes stretch, as in NumPy. What doesn't fit, doesn't compile; what is only known at run time is
// checked once per call.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>

#include <cstdio>
#include <vector>

namespace si = sinter;

int main() {
    float row[4] = {1, 2, 3, 4}, column[3] = {100, 200, 300}, table[12];
    auto r = si::view(row, si::extents<4>{});        // 4
    auto c = si::view(column, si::extents<3, 1>{});  // 3 x 1
    auto t = si::view(table, si::extents<3, 4>{});   // 3 x 4
    si::run(si::cpu, t = c + r);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) std::printf("%4g", t(i, j));
        std::printf("\n");
    }

    // `dyn` is a size that is known when the program runs; static sizes beside it are still checked while compiling.
    std::vector<float> batch(5 * 4, 1.0f), result(5 * 4);
    si::tensor_view<float, si::extents<si::dyn, 4>> in(batch.data(), 5), out(result.data(), 5);
    si::run(si::cpu, out = in * r - 1.0f);
    std::printf("last row: %g %g %g %g\n", out(4, 0), out(4, 1), out(4, 2), out(4, 3));

    // Views are strided: columns, reversed axes and transposes are read where they lie.
    si::run(si::cpu, t = si::flip<1>(c + r));
    std::printf("first row reversed: %g %g %g %g\n", t(0, 0), t(0, 1), t(0, 2), t(0, 3));
}
