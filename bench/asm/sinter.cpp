// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels whose machine code bench/asm/check reads, one at a time: KERNEL is the name.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>

namespace si = sinter;
using matrix = si::tensor_view<float, si::extents<si::dyn, si::dyn>>;
using input = si::tensor_view<const float, si::extents<si::dyn, si::dyn>>;
using row = si::tensor_view<const float, si::extents<si::dyn>>;
using column = si::tensor_view<float, si::extents<si::dyn, 1>>;

#define residual_relu 1
#define bias_gelu 2
#define chain 3
#define sum_square 4
#define two_outputs 5
#define codes 6
#define halves 7

#if KERNEL == residual_relu
void kernel(input x, input r, matrix y) { si::run(si::cpu, y = relu(x + r) * 0.5f); }
#elif KERNEL == bias_gelu
void kernel(input x, row b, matrix y) { si::run(si::cpu, y = gelu_tanh(x + b)); }
#elif KERNEL == chain
void kernel(input x_, row w_, matrix y) {
    si::run(si::cpu, y = si::let(x_, w_, [](auto x, auto w) {
        for (int i = 0; i < 10; ++i) {
            x = x * w;
            x = x + 0.25f * float(i);
            x = w - x;
        }
        return x;
    }));
}
#elif KERNEL == sum_square
void kernel(input x, column y) {
    si::run(si::cpu, y = si::let(x, [](auto v) { return sum(v * v, si::last_axis); }));
}
#elif KERNEL == two_outputs
void kernel(input x_, input r_, matrix h, matrix y) {
    si::run(si::cpu, si::tie(h, y) = si::let(x_, r_, [](auto x, auto r) {
        auto s = x + r;
        return si::outputs(s, s * abs(s));
    }));
}
#elif KERNEL == codes
using namespace sinter::literals;
using quantized = si::tensor_view<si::q8<"0.05:3"_qp>, si::extents<si::dyn, si::dyn>>;
void kernel(input x, quantized y) { si::run(si::cpu, y = copy(x)); }
#elif KERNEL == halves
void kernel(input x, si::tensor_view<si::f16, si::extents<si::dyn, si::dyn>> y) { si::run(si::cpu, y = si::cast<si::f16>(x)); }
#endif
