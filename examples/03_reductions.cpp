// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums, means, extremes: over all axes, some axes, kept as 1 or dropped. Their order is fixed, so their bits are too.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>
#include <sinter/plan.hpp>

#include <cstdio>

namespace si = sinter;

int main() {
    float data[6] = {3, 1, 2, -4, 8, 5}, rows[2], columns[3], centred[6];
    auto x = si::view(data, si::extents<2, 3>{});

    float total = si::eval(si::cpu, sum(x));  // all axes: rank 0, which eval gives as a number
    std::printf("sum %g, largest %g\n", total, si::eval(si::cpu, max(x)));

    si::run(si::cpu, si::view(rows, si::extents<2>{}) = sum(x, si::last_axis, si::drop));
    si::run(si::cpu, si::view(columns, si::extents<3>{}) = mean(x, si::axes<0>, si::drop));
    std::printf("row sums %g %g, column means %g %g %g\n", rows[0], rows[1], columns[0], columns[1], columns[2]);

    // Without `drop` the axis stays as 1, so a reduction broadcasts back into the formula it came from: still one kernel.
    auto c = si::view(centred, si::extents<2, 3>{});
    auto formula = si::let(x, [](auto v) { return v - mean(v, si::last_axis); });
    static_assert(si::plan_of<decltype(formula)>.kernels == 1);
    si::run(si::cpu, c = formula);
    std::printf("centred %g %g %g | %g %g %g\n", centred[0], centred[1], centred[2], centred[3], centred[4], centred[5]);

    si::i64 best[2];
    si::run(si::cpu, si::view(best, si::extents<2>{}) = argmax(x, si::last_axis, si::drop));
    std::printf("largest of each row at %d and %d\n", int(best[0]), int(best[1]));
}
