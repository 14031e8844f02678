// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A size may have a name. Names are checked while compiling, their values once per call: an axis called "seq" never meets one
// called "head", whatever their numbers are.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>

#include <cstdio>
#include <vector>

namespace si = sinter;
using si::operator""_d;

using tokens = si::extents<"batch"_d, "seq"_d, 8>;

inline constexpr auto mix = si::fused([](auto x, auto gate) { return x * sigmoid(gate) + x; });

int main() {
    const int batch = 2, seq = 3;
    std::vector<float> x(batch * seq * 8, 2.0f), gate(seq * 8, 0.0f), y(x.size());
    si::tensor_view<float, tokens> input(x.data(), batch, seq), output(y.data(), batch, seq);
    si::tensor_view<float, si::extents<"seq"_d, 8>> gates(gate.data(), seq);

    si::run(si::cpu, output = mix(input, gates));
    std::printf("every element: %g\n", y[0]);

    // The same name with two values is an error of this call, found before anything is written.
    si::tensor_view<float, si::extents<"seq"_d, 8>> wrong(gate.data(), 2);
    si::status result = si::try_run(si::cpu, output = mix(input, wrong));
    std::printf("%s: expected %d, found %d\n", result.ok() ? "ok" : "refused", int(result.expected), int(result.found));
}
