// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks down columns on a device, `Storage` its memory: costly values that depend on the column alone are computed once for many rows
// (cuda_pointwise.cuh). Few and many columns, whole packs or not, aligned or not, rows that don't share out evenly, rows cut out of wider
// ones; values of several types for each column, one of them stored itself. Bits as the reference.
#pragma once

#include "device_copy.hpp"
#include "numbers.hpp"
#include "tally.hpp"

#include <sinter/sinter.hpp>

#include <cstring>
#include <type_traits>
#include <vector>

namespace walks_of_device {

namespace si = sinter;
using si::dyn;
using si::i64;

inline constexpr auto batch_norm = si::fused([](auto x, auto mean, auto variance, auto weight, auto bias) {
    return relu((si::cast<float>(x) - mean) * (rsqrt(variance * variance + 1e-5f) * weight) + bias);
});
/// A comparison, an integer and a float of each column; the float is an output, too. (The shortest first: others lie behind it in shared memory.)
inline constexpr auto several = si::fused([](auto x, auto mean, auto variance, auto weight, auto bias) {
    const auto low = exp(-mean * mean) < 0.5f;
    const auto scale = rsqrt(variance * variance + 1e-5f) * weight;
    const auto step = si::cast<si::i32>(round(tanh(bias) * 8.0f));
    const auto y = si::cast<float>(x) * scale;
    return si::outputs(where(low, y, y + si::cast<float>(step + si::cast<si::i32>(y > 0.0f))), scale + y * 0.0f);
});

template <class Type>
bool same_bits(const std::vector<Type>& found, const std::vector<Type>& wanted) {
    for (std::size_t i = 0; i < found.size(); ++i) {
        const float a = si::convert<float>(found[i]), b = si::convert<float>(wanted[i]);
        if (std::memcmp(&found[i], &wanted[i], sizeof(Type)) != 0 && (a == a || b == b)) return false;  // any NaN is any other
    }
    return true;
}
/// Rows lie `pitch` elements apart, the first element `shift` elements into the memory; what lies between stays as it was.
template <class Storage, class Type, i64 Columns, class Executor>
void walk(const char* name, i64 rows, i64 columns, i64 pitch, i64 shift, const Executor& executor) {
    const i64 count = rows * pitch + shift;
    std::vector<Type> x = numbers<Type>(count, unsigned(columns + rows)), filled = numbers<Type>(count, 7);
    std::vector<float> of_column[4];
    for (unsigned i = 0; i < 4; ++i) of_column[i] = numbers<float>(columns, 11 + i);
    const device_copy<Storage, Type> x_on(x), y_on(filled), z_on(filled);
    const device_copy<Storage, float> a(of_column[0]), b(of_column[1]), c(of_column[2]), d(of_column[3]);
    std::vector<Type> y = filled, z = filled;
    const auto sizes = si::extents_with<si::extents<dyn, Columns>>(si::shape{2, {rows, columns}});
    const auto length = si::extents_with<si::extents<Columns>>(si::shape{1, {columns}});
    const auto plane = [&](auto space, auto* from) {
        return si::tensor_view<std::remove_pointer_t<decltype(from)>, std::remove_const_t<decltype(sizes)>, si::strided, decltype(space)>(from + shift, sizes, {{pitch, 1}});
    };
    const auto line = [&](auto space, auto* from) {
        return si::tensor_view<const float, std::remove_const_t<decltype(length)>, si::row_major, decltype(space)>(from, length);
    };
    const si::device_memory there{};
    const si::host_memory here{};
    const auto formula_of = [&](auto space, const auto& formula, auto* from, auto* p, auto* q, auto* r, auto* s) {
        return formula(plane(space, from), line(space, p), line(space, q), line(space, r), line(space, s));
    };
    const auto on_host = [&](const auto& formula) {
        return formula_of(here, formula, static_cast<const Type*>(x.data()), of_column[0].data(), of_column[1].data(), of_column[2].data(), of_column[3].data());
    };
    const auto on_device = [&](const auto& formula) {
        return formula_of(there, formula, static_cast<const Type*>(x_on.device), a.device, b.device, c.device, d.device);
    };
    bool ran = si::try_run(si::reference, plane(here, y.data()) = on_host(batch_norm)).ok() && si::try_run(executor, plane(there, y_on.device) = on_device(batch_norm)).ok();
    check(name, columns, ran && same_bits(y_on.read(), y));
    ran = si::try_run(si::reference, si::tie(plane(here, y.data()), plane(here, z.data())) = on_host(several)).ok() &&
          si::try_run(executor, si::tie(plane(there, y_on.device), plane(there, z_on.device)) = on_device(several)).ok();
    check(name, -columns, ran && same_bits(y_on.read(), y) && same_bits(z_on.read(), z));
}
/// Everything; 0 if all is right.
template <class Storage, class Executor>
int check_all(const Executor& executor) {
    walk<Storage, si::bf16, 256>("columns of a static number", 203, 256, 256, 0, executor);
    walk<Storage, si::bf16, 256>("not aligned", 203, 256, 259, 3, executor);
    walk<Storage, float, 100>("packs that aren't whole", 130, 100, 100, 0, executor);
    for (const i64 columns : {1, 3, 8, 40, 257, 520, 2064})
        for (const i64 rows : {63, 64, 67, 150}) walk<Storage, si::f16, dyn>("columns and rows", rows, columns, columns, 0, executor);
    for (const i64 columns : {1, 3, 4, 6, 9, 12}) walk<Storage, float, dyn>("few columns: a value of a byte before those of four", 150, columns, columns, 0, executor);
    walk<Storage, float, dyn>("many rows", 5000, 24, 24, 0, executor);
    walk<Storage, float, dyn>("rows of wider ones", 100, 264, 300, 4, executor);
    return tally();
}

}  // namespace walks_of_device
