// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator: a formula with a name. The lambda is traced once, while compiling; a value that it uses twice is one node.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>
#include <sinter/plan.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace si = sinter;

// [rms_norm]
inline constexpr auto rms_norm = si::fused([](auto x, auto weight, auto eps) {
    return x * rsqrt(mean(x * x, si::last_axis) + eps) * weight;
});
// [/rms_norm]

// Operators compose: this one is still one kernel that reads x and the residual once.
inline constexpr auto add_norm = si::fused([](auto x, auto residual, auto weight, auto eps) {
    return rms_norm(x + residual, weight, eps);
});

int main() {
    constexpr int rows = 3, columns = 4096;
    std::vector<float> x(rows * columns), residual(x.size()), weight(columns, 1.0f), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i % 7) - 3.0f;
        residual[i] = float(i % 5) * 0.25f;
    }
    using matrix = si::tensor_view<float, si::extents<si::dyn, columns>>;
    matrix in(x.data(), rows), add(residual.data(), rows), out(y.data(), rows);
    auto w = si::view(weight, si::extents<columns>{});

    auto formula = add_norm(in, add, w, 1e-5f);
    static_assert(si::plan_of<decltype(formula)>.kernels == 1);
    si::run(si::cpu, out = formula);

    double squares = 0;
    for (int i = 0; i < columns; ++i) squares += double(y[std::size_t(i)]) * double(y[std::size_t(i)]);
    std::printf("root mean square of the first row: %.4f\n", std::sqrt(squares / columns));
}
