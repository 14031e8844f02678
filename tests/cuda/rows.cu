// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows on the CUDA backend give the bits that the reference gives on the host: every length to a limit, lengths that need a block or a
// cluster of blocks, weights that all rows share.
//     rows [longest row]       default 9000
#include <sinter/sinter.hpp>

#include <sinter/backend/cuda.cuh>

#include "programs.cuh"

/// Two operands that every row has for itself, and one that they share; what a thread holds differs by the number of operands.
inline constexpr auto add_norm = si::fused([](auto x, auto r, auto weight) {
    const auto h = x + r;
    return si::outputs(h, si::rms_norm(h, weight, 1e-5f));
});
/// The shared one is needed by a fold, too.
inline constexpr auto norm_to_int8 = si::fused([](auto x, auto, auto weight) {
    const auto y = si::cast<float>(x) * rsqrt(mean(si::cast<float>(x) * si::cast<float>(x), si::last_axis) + 1e-5f) * weight;
    const auto scale = maximum(max(abs(y), si::last_axis), 1e-8f) * (1.0f / 127.0f);
    return si::outputs(si::cast<float>(si::cast<si::i8>(round(y / scale))), y / scale);
});
template <class Type, class Formula>
void weighted(const char* name, const Formula& formula) {
    using plane = si::extents<dyn, dyn>;
    result all;
    for (const i64 length : {8, 120, 128, 136, 1000, 1024, 1032, 3000, 4096, 16392, 32768, 50264, 131072, 200000}) {
        const plane sizes(7, length);
        operand<Type, plane> x(numbers<Type>(7 * length, 31 + length, 0), sizes), r(numbers<Type>(7 * length, 32 + length, 5 * length), sizes);
        operand<Type, plane> h(numbers<Type>(7 * length, 33, 29), sizes), y(numbers<Type>(7 * length, 34, 29), sizes);
        operand<Type, si::extents<dyn>> w(numbers<Type>(length, 35, 0), si::extents<dyn>(length));
        launched(si::try_run(si::reference, si::tie(h.on_host(), y.on_host()) = formula(x.on_host(), r.on_host(), w.on_host())));
        launched(si::try_run(si::cuda(), si::tie(h.on_device(), y.on_device()) = formula(x.on_device(), r.on_device(), w.on_device())));
        compare(h, all), compare(y, all);
    }
    report(name, all);
}

int main(int count, char** argument) {
    return run_all(si::cuda(), {1, 2, 127, 128, 129, 640, 1023, 1024, 1025, 2048, 3000, 5121, 9000, 16384, 30001, 65536, 131072},
                   count > 1 ? std::atoll(argument[1]) : 9000, [] {
                       weighted<si::bf16>("residual and RMS norm with weights, bf16", add_norm);
                       weighted<float>("RMS norm with weights and rounding to int8, f32", norm_to_int8);
                   });
}
