// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// int8 tensors as real numbers: scale and zero point in the type, or held by the view; sums, norms and rows with a scale of their own,
// each one kernel.
#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <cstdio>
#include <vector>

namespace si = sinter;

// [types]
using namespace sinter::literals;
using image = si::q8<"0.05:3"_qp>;         // 8 bits: (code - 3) * 0.05
using residual = si::qu8<"0.013:7"_qp>;    // unsigned codes
using result = si::q8<"0.0773:-5"_qp>;
static_assert(sizeof(image) == 1 && image(0.1f).code == 5 && float(image(0.1f)) == 0.1f);
// [/types]

// [norm]
inline constexpr auto norm_to_int8 = si::fused([](auto x, auto weight) {
    return dynamic_quantize(si::rms_norm(x, weight, 1e-5f));  // two values: codes, and a scale for each row
});
// [/norm]

int main() {
    std::vector<image> a(1000);
    std::vector<residual> b(1000);
    std::vector<result> y(1000);
    std::vector<float> numbers(1000);
    for (std::size_t i = 0; i < 1000; ++i) numbers[i] = float(int(i * 37 % 200) - 100) * 0.04f;
    // [arithmetic]
    si::run(si::cpu, si::view(a) = copy(si::view(numbers)), si::view(b) = abs(si::view(numbers)));  // rounds half to even, saturates
    si::run(si::cpu, si::view(y) = relu(si::view(a) + si::view(b)));  // three scales, one kernel: 2 bytes read, 1 written, an element
    si::run(si::cpu, si::view(y) = requantize(si::view(a)));         // from scale to scale is said; a copy doesn't compile
    // [/arithmetic]
    std::printf("%.4f is code %d of a and code %d of y\n", double(numbers[9]), a[9].code, y[9].code);

    std::vector<si::i8> codes(8 * 128);
    std::vector<float> x(8 * 128), w(128, 1.0f), scales(8), zeros(8);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(int(i * 7919 % 2003) - 1000) * 0.001f;
    const si::extents<8, 128> matrix{};
    // [rows]
    si::run(si::cpu, si::tie(si::view(codes, matrix), si::view(scales, si::extents<8, 1>{})) = norm_to_int8(si::view(x, matrix), si::view(w)));
    // [/rows]
    // [views]
    auto per_row = si::quantized(si::view(codes, matrix), si::axes<0>, si::view(scales));  // a scale for each row, held by the view
    si::run(si::cpu, si::view(x, matrix) = per_row * 2.0f);
    si::run(si::cpu, per_row = si::view(x, matrix) * 0.5f);                                // an output, too: rounds with those scales
    // [/views]
    std::printf("row 0: scale %.6f, first code %d\n", double(scales[0]), codes[0]);

    std::vector<si::i32> sums(8);
    std::vector<si::i8> weights(128, 3);
    // [dot]
    si::run(si::cpu, si::view(sums, si::extents<8, 1>{}) = si::dot_codes(si::view(codes, matrix), si::view(weights, si::extents<128>{}), si::axes<-1>));
    // [/dot]
    std::printf("row 0: exact sum of products %d\n", sums[0]);

    std::vector<float> out(8), wanted(8);
    // [gemv]
    const si::extents<8, 1> column{};                                    // one result for each row of weights
    const auto token = si::view(numbers.data(), si::extents<1, 128>{});  // [1, inner]
    const auto token_scale = si::symmetric_scale(token);                 // [1, 1]: max |x| / 127
    const auto sum = si::dot_codes(si::quantize<si::i8>(token, token_scale), si::view(codes, matrix), si::axes<-1>);  // exact, i32
    const auto product = si::view(out, column) = sum * token_scale * si::view(scales, column);
    static_assert(si::plan_of<decltype(product)>.kernels == 1 && si::plan_of<decltype(product)>.code_product);
    si::run(si::cpu, product);
    // [/gemv]
    si::run(si::cpu, si::view(wanted, column) = si::sum(token * per_row, si::last_axis));
    std::printf("int8 product %.3f, with the token in f32 %.3f\n", double(out[1]), double(wanted[1]));
    return 0;
}
