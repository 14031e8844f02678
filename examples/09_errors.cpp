// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes that are known when the program runs: one check per call, before anything is written. `try_run` returns a status and
// never throws; `run` throws, or calls SINTER_THROW where the project defined it.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>

#include <cstdio>
#include <vector>

namespace si = sinter;
using matrix = si::tensor_view<float, si::extents<si::dyn, si::dyn>>;

int main() {
    std::vector<float> a(12, 1.0f), b(12, 2.0f), c(12, 7.0f);
    matrix x(a.data(), 3, 4), y(b.data(), 4, 3), z(c.data(), 3, 4);

    // [try_run]
    si::status result = si::try_run(si::cpu, z = x + y);
    if (!result.ok()) std::printf("%s\n(operand %d, axis %d: expected %d, found %d)\n", result.message(), result.operand, result.axis, int(result.expected), int(result.found));
    // [/try_run]
    std::printf("untouched: %g\n", c[0]);

    // An output may be its own input; a shifted overlap is refused.
    si::run(si::cpu, x = x * 2.0f);
    auto whole = si::view(a);
    auto shifted = si::tensor_view<float, si::extents<si::dyn>>(a.data() + 1, 11);
    auto front = si::tensor_view<float, si::extents<si::dyn>>(a.data(), 11);
    std::printf("%s\n", si::try_run(si::cpu, shifted = front + 1.0f).message());
    std::printf("%g %g\n", a[0], whole(11));

    try {
        si::run(si::cpu, z = x + y);
    } catch (const si::run_error& problem) {
        std::printf("thrown: %.14s\n", problem.what());
    }
}
