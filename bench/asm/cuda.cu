// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose machine code bench/asm/check_cuda reads. A launch each, under the portable policy.
#include <sinter/sinter.hpp>

#include <sinter/backend/cuda.cuh>

namespace si = sinter;
using si::bf16;
using si::dyn;

template <class Type, si::i64 Columns>
using matrix = si::tensor_view<Type, si::extents<dyn, Columns>, si::row_major, si::device_memory>;
template <class Type>
using line = si::tensor_view<Type, si::extents<dyn>, si::row_major, si::device_memory>;
template <class Type, si::i64 Columns>
using weights = si::tensor_view<Type, si::extents<Columns>, si::row_major, si::device_memory>;

si::status add(line<float> y, line<const float> a, line<const float> b) { return si::try_run(si::cuda(), y = a + b); }
si::status gelu(line<bf16> y, line<const bf16> x) { return si::try_run(si::cuda(), y = gelu_tanh(x)); }
si::status softmax_of(matrix<bf16, 4096> y, matrix<const bf16, 4096> x) { return si::try_run(si::cuda(), y = softmax(x)); }
si::status norm(matrix<bf16, 4096> y, matrix<const bf16, 4096> x, weights<const bf16, 4096> w) { return si::try_run(si::cuda(), y = si::rms_norm(x, w, 1e-5f)); }
si::status turn(matrix<float, 8192> y, matrix<const float, 8192> a, matrix<const float, 8192> b) { return si::try_run(si::cuda(), y = a + transpose(b)); }
template <class Type>
using halves = si::tensor_view<Type, si::extents<dyn, dyn, dyn, 64>, si::strided, si::device_memory>;
using angles = si::tensor_view<const float, si::extents<dyn, 1, 64>, si::row_major, si::device_memory>;
inline constexpr auto rotary = si::fused([](auto low, auto high, auto cosine, auto sine) {
    const auto a = si::cast<float>(low), b = si::cast<float>(high);
    return si::outputs(a * cosine - b * sine, b * cosine + a * sine);
});
si::status rotate(halves<bf16> y, halves<bf16> z, halves<const bf16> x, halves<const bf16> w, angles c, angles s) { return si::try_run(si::cuda(), si::tie(y, z) = rotary(x, w, c, s)); }
si::status column_sums(si::tensor_view<float, si::extents<1, dyn>, si::row_major, si::device_memory> y, matrix<const float, 1024> x, si::cuda_workspace room) {
    return si::try_run(si::cuda(nullptr, room), y = sum(x, si::axes<0>));
}
si::status column_variances(si::tensor_view<float, si::extents<1, dyn>, si::row_major, si::device_memory> y, matrix<const float, 1024> x, si::cuda_workspace room) {
    return si::try_run(si::cuda(nullptr, room), y = variance(x, si::axes<0>));
}
si::status entropy(matrix<float, 1> y, matrix<const bf16, 32768> x, matrix<const si::i64, 1> t) { return si::try_run(si::cuda(), y = si::cross_entropy(si::cast<float>(x), t)); }
template <class Code>
si::status bounded(line<Code> y, line<const float> x) { return si::try_run(si::cuda(), y = si::let(x, [](auto x) { return si::cast<Code>(maximum(round(x), 0.0f)); })); }
si::status unsigned_codes(line<si::u8> y, line<const float> x) { return bounded<si::u8>(y, x); }
si::status signed_codes(line<si::i8> y, line<const float> x) { return bounded<si::i8>(y, x); }
