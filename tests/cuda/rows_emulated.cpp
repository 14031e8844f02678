// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows with weights on the emulated device: operands that rows share are read by the passes that need them, others are held; one
// group, one block, and the general kernel where a cluster would be needed. Bits as the reference.
#include "emulated.hpp"
#include "numbers.hpp"
#include "tally.hpp"

#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;
using si::dyn;
using si::i64;
template <class Type, class Extents>
using on_device = si::tensor_view<Type, Extents, si::row_major, si::device_memory>;
using plane = si::extents<dyn, dyn>;
using row = si::extents<dyn>;

template <class Type, class Formula>
void same(const char* name, i64 length, const Formula& formula) {
    const i64 rows = 5, count = rows * length;
    const plane sizes(rows, length);
    const row line(length);
    // 16-byte aligned as std::vector's memory is: the fast kernel takes the packs
    std::vector<Type> x = numbers<Type>(count, 1), r = numbers<Type>(count, 2), w = numbers<Type>(length, 3);
    std::vector<Type> found[2], wanted[2];
    for (int o = 0; o < 2; ++o) found[o].resize(std::size_t(count)), wanted[o].resize(std::size_t(count));
    const on_device<Type, plane> first(found[0].data(), sizes), second(found[1].data(), sizes), x_on(x.data(), sizes), r_on(r.data(), sizes);
    const on_device<Type, row> w_on(w.data(), line);
    const bool ran = si::try_run(emulated::executor{}, si::tie(first, second) = formula(x_on, r_on, w_on)).ok() &&
                     si::try_run(si::reference, si::tie(si::view(wanted[0].data(), sizes), si::view(wanted[1].data(), sizes)) =
                                                    formula(si::view(x.data(), sizes), si::view(r.data(), sizes), si::view(w.data(), line))).ok();
    bool equal = ran;
    for (int o = 0; o < 2 && equal; ++o) equal = std::memcmp(found[o].data(), wanted[o].data(), std::size_t(count) * sizeof(Type)) == 0;
    check(name, length, equal);
}
inline constexpr auto add_norm = si::fused([](auto x, auto r, auto weight) {
    const auto h = x + r;
    return si::outputs(h, si::rms_norm(h, weight, 1e-5f));
});
inline constexpr auto norm_to_int8 = si::fused([](auto x, auto, auto weight) {
    const auto y = x * rsqrt(mean(x * x, si::last_axis) + 1e-5f) * weight;
    const auto scale = maximum(max(abs(y), si::last_axis), 1e-8f) * (1.0f / 127.0f);
    return si::outputs(si::cast<float>(si::cast<si::i8>(round(y / scale))), y / scale);
});
inline constexpr auto layer_norm_and_softmax = si::fused([](auto x, auto r, auto weight) {
    return si::outputs(si::layer_norm(x, weight, weight, 1e-5f), softmax(r * weight));
});

/// The values of rows as a vector of their own, beside elements: the axis that the one lacks is the other's.
void dropped_beside_kept(i64 length) {
    const i64 rows = 5, count = rows * length;
    const plane sizes(rows, length);
    const row line(rows);
    const auto formula = [](auto x) { return si::outputs(x - mean(x, si::last_axis), max(x, si::last_axis, si::drop)); };
    const std::size_t size = static_cast<std::size_t>(count);
    std::vector<float> x = numbers<float>(count, 1), found(size), wanted(size), top(5), true_top(5);
    const on_device<float, plane> elements(found.data(), sizes), x_on(x.data(), sizes);
    const on_device<float, row> values(top.data(), line);
    const bool ran = si::try_run(emulated::executor{}, si::tie(elements, values) = si::let(x_on, formula)).ok() &&
                     si::try_run(si::reference, si::tie(si::view(wanted.data(), sizes), si::view(true_top.data(), line)) =
                                                    si::let(si::view(x.data(), sizes), formula)).ok();
    check("dropped beside kept, f32", length, ran && std::memcmp(found.data(), wanted.data(), size * 4) == 0 && top == true_top);
}

int main() {
    for (const i64 length : {1, 8, 120, 128, 136, 1000, 1024, 1032, 3000, 4096, 8192, 16392, 33000}) {
        dropped_beside_kept(length);
        same<si::bf16>("residual and RMS norm, bf16", length, add_norm);
        same<float>("RMS norm and int8, f32", length, norm_to_int8);
        same<si::f16>("layer norm and softmax, f16", length, layer_norm_and_softmax);
    }
    return tally();
}
