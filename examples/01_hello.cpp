// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A formula over plain memory becomes one kernel.
// [hello]
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>
#include <sinter/explain.hpp>
#include <cstdio>

namespace si = sinter;

int main() {
    float x[6] = {1, -2, 3, -4, 5, -6}, bias[3] = {10, 20, 30}, y[6];
    auto input = si::view(x, si::extents<2, 3>{});
    auto output = si::view(y, si::extents<2, 3>{});
    auto formula = relu(input + si::view(bias, si::extents<3>{})) * 0.5f;
    static_assert(si::plan_of<decltype(formula)>.kernels == 1);

    si::run(si::cpu, output = formula);
    for (float value : y) std::printf("%g ", value);
    std::puts("");
    si::explain(formula);
}
// [/hello]
