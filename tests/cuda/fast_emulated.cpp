// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The policy `fast` on the emulated device, where a substitute stands for each approximation: every operation that has one is used in
// its place and means the same, within bounds; one formula has a portable and a fast kernel side by side; other executors take the name.
#include "emulated.hpp"
#include "tally.hpp"

#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;
using si::dyn;
using si::i64;

constexpr i64 rows = 4, length = 1032;
using plane = si::extents<dyn, dyn>;
std::vector<float> numbers() {
    std::vector<float> out;
    unsigned state = 7;
    for (i64 i = 0; i < rows * length; ++i) {
        state = state * 1664525u + 1013904223u;
        out.push_back(float(int(state)) * 0x1p-29f);
    }
    return out;
}
/// Portable and fast kernels beside the reference: the first equal, the second within `tolerance`, relative with 1 as the least size.
template <class Result = float, class Formula>
void near(const char* name, float tolerance, const Formula& formula) {
    const plane sizes(rows, length);
    const std::vector<float> x = numbers();
    std::vector<Result> portable(x.size()), fast(x.size()), wanted(x.size());
    const auto on_device = [&](auto* at) { return si::device_view(at, sizes); };
    check(name, si::try_run(si::cuda(), on_device(portable.data()) = formula(on_device(x.data()))).ok());
    check(name, si::try_run(si::fast(si::cuda()), on_device(fast.data()) = formula(on_device(x.data()))).ok());
    check(name, si::try_run(si::fast(si::reference), si::view(wanted.data(), sizes) = formula(si::view(x.data(), sizes))).ok());
    bool equal = true, close = true;
    for (std::size_t i = 0; i < x.size(); ++i) {
        equal = equal && std::memcmp(&portable[i], &wanted[i], sizeof(Result)) == 0;
        const float right = float(wanted[i]), found = float(fast[i]);
        const float size = right < 0 ? -right : right;
        const float off = found < right ? right - found : found - right;
        close = close && off <= tolerance * (size > 1.0f ? size : 1.0f);
    }
    check(name, equal);
    check(name, close);
}

/// A norm that is quantized by its row, whose maximum is found beside the sum of squares: codes off by one at most, scales nearly as the
/// reference's; a NaN among the weights is one of every scale.
inline constexpr auto norm_to_codes = si::fused([](auto x, auto weight) { return dynamic_quantize(si::rms_norm(x, weight, 1e-5f)); });
template <i64 Length>
void near_codes(bool has_nan) {
    const si::extents<dyn, Length> sizes(3);
    const si::extents<Length> row;
    const si::extents<dyn, 1> column(3);
    std::vector<float> all = numbers(), scale(3), wanted_scale(3);
    std::vector<si::bf16> x, weight;
    for (i64 i = 0; i < 3 * Length; ++i) x.push_back(si::convert<si::bf16>(all[std::size_t(i) % all.size()]));
    for (i64 i = 0; i < Length; ++i) weight.push_back(si::convert<si::bf16>(has_nan && i == 77 ? __builtin_nanf("") : all[std::size_t(i * 3) % all.size()]));
    std::vector<si::i8> codes(x.size()), wanted(x.size());
    const auto call = si::tie(si::device_view(codes.data(), sizes), si::device_view(scale.data(), column)) = norm_to_codes(si::device_view(x.data(), sizes), si::device_view(weight.data(), row));
    static_assert(si::detail::device::row_facts<si::detail::device::fast_kernel<si::detail::device::cuda_kernel<si::remove_cvref<decltype(si::detail::join_assignments(call))>>>>::lifts);
    check("codes", si::try_run(si::fast(si::cuda()), call).ok());
    check("codes", si::try_run(si::reference, si::tie(si::view(wanted.data(), sizes), si::view(wanted_scale.data(), column)) = norm_to_codes(si::view(x.data(), sizes), si::view(weight.data(), row))).ok());
    bool close = true, close_scale = true;
    for (std::size_t i = 0; i < x.size(); ++i) close = close && codes[i] - wanted[i] <= 1 && wanted[i] - codes[i] <= 1;
    for (std::size_t r = 0; r < 3; ++r) {
        const float off = scale[r] / wanted_scale[r] - 1.0f;
        close_scale = close_scale && (has_nan ? scale[r] != scale[r] && wanted_scale[r] != wanted_scale[r] : off < 1e-6f && off > -1e-6f);
    }
    check("codes of a norm, lifted", Length, close);
    check("scales of a norm, lifted", Length, close_scale);
}

int main() {
    for (const bool has_nan : {false, true}) {
        near_codes<512>(has_nan);
        near_codes<1024>(has_nan);
        near_codes<4096>(has_nan);
    }
    near("arithmetic", 1e-6f, si::fused([](auto x) { return (x * 3.0f - x * x) / (x * x + 1.0f); }));
    near("roots", 1e-6f, si::fused([](auto x) { return sqrt(abs(x)) + rsqrt(abs(x) + 1.0f) + reciprocal(abs(x) + 2.0f); }));
    near("exponentials", 1e-6f, si::fused([](auto x) { return exp(-abs(x)) + exp2(x) + sigmoid(x); }));
    near("logarithms", 1e-6f, si::fused([](auto x) { return log(abs(x) + 1.0f) + log2(abs(x) + 1.0f) + log10(abs(x) + 1.0f); }));
    near("activations", 2e-6f, si::fused([](auto x) { return silu(x) + gelu_tanh(x) * 0.5f + tanh(x); }));
    near("softmax", 1e-6f, si::fused([](auto x) { return softmax(x); }));
    near("layer norm", 1e-6f, si::fused([](auto x) { return si::layer_norm(x, 1e-5f); }));  // in two passes: f32 would show one
    near<si::f16>("layer norm in one pass", 1e-3f, si::fused([](auto x) { return si::layer_norm(x, 1e-5f); }));
    near<si::f16>("layer norm in one pass, far from zero", 1e-3f, si::fused([](auto x) { return si::layer_norm(x + 3000.0f, 1e-5f); }));
    near("layer norm far from zero", 1e-4f, si::fused([](auto x) { return si::layer_norm(x + 3000.0f, 1e-5f); }));
    near("variance of one number", 0.0f, si::fused([](auto x) { return variance(x * 0.0f + 3.7f, si::last_axis) + x; }));
    // The policies are different kernels, and integers know no difference.
    const si::extents<dyn> four(4);
    int in[4] = {7, -7, 1 << 30, 3}, out[4] = {};
    const auto doubled = si::device_view(out, four) = si::device_view(in, four) * 2 / 3;
    using assignment = si::remove_cvref<decltype(doubled)>;
    static_assert(!si::is_same<si::detail::device::fast_kernel<si::kernel<assignment>>, si::kernel<assignment>>);
    check("integers", si::try_run(si::cuda().fast(), doubled).ok() && out[0] == 4 && out[1] == -4 && out[2] == -715827882 && out[3] == 2);
    return tally();
}
