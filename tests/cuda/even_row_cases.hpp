// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of whole packs with operands that repeat along other axes, on a device, `Storage` its memory: a thread takes neighbouring rows
// (even_rows in cuda_pointwise.cuh). Even and odd numbers of rows along the innermost axis, axes that merge and others, whole packs or not,
// aligned or not; numbers of a row, coordinates, halves of wider rows. Bits as the reference.
#pragma once

#include "device_copy.hpp"
#include "numbers.hpp"
#include "tally.hpp"

#include <sinter/sinter.hpp>

#include <cstring>
#include <vector>

// Small calls, too.
template <class Assignment>
struct sinter::cuda_tuning<Assignment, sinter::detail::device::compiled_arch> : sinter::cuda_table<sinter::detail::device::compiled_arch> {
    struct pointwise : sinter::cuda_table<sinter::detail::device::compiled_arch>::pointwise {
        static constexpr i64 small_packs = 0;
    };
};

namespace even_rows_of_device {

namespace si = sinter;
using si::bf16;
using si::dyn;
using si::f16;
using si::i64;

/// Rotary positions: of [batch, position, head, half] by angles of [position, 1, half].
inline constexpr auto rotate = si::fused([](auto low, auto high, auto cosine, auto sine, auto) {
    const auto a = si::cast<float>(low), b = si::cast<float>(high);
    return si::outputs(a * cosine - b * sine, b * cosine + a * sine);
});
/// A number of each row, and where the row is.
inline constexpr auto placed = si::fused([](auto low, auto high, auto cosine, auto sine, auto factor) {
    return si::outputs(si::cast<float>(low) * cosine + si::cast<float>(high) * sine, si::cast<float>(low) * factor + si::cast<float>(si::iota<2>(low)));
});

template <class Type>
bool same_bits(const std::vector<Type>& found, const std::vector<Type>& wanted) {
    return std::memcmp(found.data(), wanted.data(), found.size() * sizeof(Type)) == 0;
}
/// `Half` or the run's `half` elements; halves lie beside each other, rows `pitch` apart, the first `shift` elements into the memory.
template <class Storage, class Type, i64 Half, class Formula, class Executor>
void turn(const char* name, const Formula& formula, si::array<i64, 3> counts, i64 half, i64 pitch, i64 shift, const Executor& executor) {
    const i64 batch = counts[0], positions = counts[1], heads = counts[2], count = batch * positions * heads * pitch + shift;
    const std::vector<Type> x = numbers<Type>(count, unsigned(count));
    std::vector<Type> y(x.size());
    const std::vector<float> cosine = numbers<float>(positions * half, 5), sine = numbers<float>(positions * half, 6), factor = numbers<float>(batch * positions * heads, 8);
    const device_copy<Storage, Type> x_on(x), y_on(y);
    const device_copy<Storage, float> cosine_on(cosine), sine_on(sine), factor_on(factor);
    const auto call = [&](auto space, const Type* from, Type* to, const float* c, const float* s, const float* f) {
        const auto sizes = si::extents_with<si::extents<dyn, dyn, dyn, Half>>(si::shape{4, {batch, positions, heads, half}});
        const auto halves = [&](auto* at, i64 i) {
            return si::tensor_view<std::remove_pointer_t<decltype(at)>, std::remove_const_t<decltype(sizes)>, si::strided, decltype(space)>(
                at + shift + i * half, sizes, {{positions * heads * pitch, heads * pitch, pitch, 1}});
        };
        const auto dense = [&](const float* at, const auto& of) { return si::tensor_view<const float, si::remove_cvref<decltype(of)>, si::row_major, decltype(space)>(at, of); };
        const auto angles = si::extents_with<si::extents<dyn, 1, Half>>(si::shape{3, {positions, 1, half}});
        return si::tie(halves(to, 0), halves(to, 1)) =
                   formula(halves(from, 0), halves(from, 1), dense(c, angles), dense(s, angles), dense(f, si::extents<dyn, dyn, dyn, 1>(batch, positions, heads)));
    };
    bool right = si::try_run(si::reference, call(si::host_memory{}, x.data(), y.data(), cosine.data(), sine.data(), factor.data())).ok();
    const auto on_device = call(si::device_memory{}, x_on.device, y_on.device, cosine_on.device, sine_on.device, factor_on.device);
    using kernel = si::detail::device::cuda_kernel<si::remove_cvref<decltype(si::detail::join_assignments(on_device))>>;
    static_assert(si::detail::device::even_rows<kernel>::possible);
    right = right && si::try_run(executor, on_device).ok();
    check(name, half, right && same_bits(y_on.read(), y));
}
template <class Storage, class Type, i64 Half, class Executor>
void turn_both(const char* name, si::array<i64, 3> counts, i64 half, i64 pitch, i64 shift, const Executor& executor) {
    turn<Storage, Type, Half>(name, rotate, counts, half, pitch, shift, executor);
    turn<Storage, Type, Half>(name, placed, counts, half, pitch, shift, executor);
}
/// Everything; 0 if all is right.
template <class Storage, class Executor>
int check_all(const Executor& executor) {
    for (const i64 heads : {1, 2, 3, 5, 8, 32}) turn_both<Storage, bf16, 64>("heads", {{2, 7, heads}}, 64, 128, 0, executor);
    turn_both<Storage, bf16, 64>("one of each", {{1, 1, 1}}, 64, 128, 0, executor);
    turn_both<Storage, bf16, 64>("many positions", {{3, 130, 6}}, 64, 128, 0, executor);
    turn_both<Storage, bf16, 64>("rows of wider ones", {{2, 9, 4}}, 64, 136, 0, executor);
    turn_both<Storage, bf16, 64>("not aligned", {{2, 9, 4}}, 64, 128, 1, executor);
    turn_both<Storage, bf16, 64>("rows that aren't aligned", {{2, 9, 4}}, 64, 131, 0, executor);
    for (const i64 half : {8, 16, 24, 128, 1032, 12, 5}) turn_both<Storage, f16, dyn>("a length that the run knows", {{2, 5, 6}}, half, 2 * half, 0, executor);
    turn_both<Storage, f16, dyn>("more rows than a grid", {{1, 35, 70000}}, 8, 16, 0, executor);
    return tally();
}

}  // namespace even_rows_of_device
