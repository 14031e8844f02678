// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What nvcc makes of a traced formula's type: it must not name the lambda, neither in a function that asks for its plan nor in the
// signature of a kernel that takes the formula by value. It runs anywhere; that it compiles is the test.
#include <sinter/sinter.hpp>

#include <cstdio>

namespace si = sinter;

inline constexpr auto scaled_norm = si::fused([](auto x, auto eps) { return si::rms_norm(x, eps) * 2.0f + mean(x, si::last_axis); });
inline constexpr auto two_values =
    si::fused([](auto x, auto y) { return si::outputs(softmax(x * y) + 1e-5f, sum(si::permute<1, 0>(x), si::axes<0>)); });

template <class Formula>
__global__ void takes(Formula) {}

int main() {
    float memory[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, result[2][4];
    const auto x = si::view(memory), y = si::view(result);
    const auto norm = scaled_norm(x, 1e-5f);
    static_assert(si::plan_of<decltype(norm)>.kernels == 1);
    const auto at_once = si::let(x, [](auto a) { return a * a + si::cast<float>(argmax(a, si::last_axis)); });
    static_assert(si::plan_of<decltype(at_once)>.kernels == 1);
    static_assert(si::plan_of<decltype(softmax(x, si::axes<0>))>.kernels == 1);
    static_assert(sizeof(decltype(two_values(x, x))) > 0);
    void (*const signatures[])(decltype(norm), decltype(at_once)) = {nullptr};
    (void)signatures;
    if (false) takes<<<1, 1>>>(norm), takes<<<1, 1>>>(at_once), takes<<<1, 1>>>(scaled_norm(x, 1e-5f));
    si::run(si::reference, y = at_once);
    const bool right = result[0][0] == 4.0f && result[1][3] == 67.0f;
    std::puts(right ? "plans in functions and formulas in signatures: pass" : "WRONG values");
    return right ? 0 : 1;
}
