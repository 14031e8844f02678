// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of up to 128 elements on a device, `Storage` its memory, two of which each group of threads takes (cuda_rows.cuh): here always, by a
// table of this file's own. Even and odd numbers of rows, of which the last groups have one or none; values of rows as outputs, masks,
// weights, sums of two phases, indices, results in place. Bits as the reference.
#pragma once

#include "device_copy.hpp"
#include "numbers.hpp"
#include "tally.hpp"

#include <sinter/sinter.hpp>

#include <cstring>
#include <vector>

template <class Assignment>
struct sinter::cuda_tuning<Assignment, sinter::detail::device::compiled_arch> : sinter::cuda_table<sinter::detail::device::compiled_arch> {
    struct rows : sinter::cuda_table<sinter::detail::device::compiled_arch>::rows {
        static constexpr i64 pair_threads = 0;
    };
    struct streams : sinter::cuda_table<sinter::detail::device::compiled_arch>::streams {
        static constexpr i64 lasting_bytes = 1;  // and every call asks the second-level cache to keep what it reads
    };
};

namespace row_pairs {

namespace si = sinter;
using si::dyn;
using si::i64;

inline constexpr auto norm_and_place = si::fused([](auto x, auto weight) {
    return si::outputs(si::layer_norm(x, weight, weight, 1e-5f), argmax(x, si::last_axis));
});
inline constexpr auto masked_and_sum = si::fused([](auto x, auto weight) {
    return si::outputs(softmax(x * 8.0f, si::iota<-1>(x) <= si::iota<-2>(x)), si::cast<i64>(round(sum(x * weight, si::last_axis) * 64.0f)));
});
inline constexpr auto softmax_and_count = si::fused([](auto x, auto weight) {
    return si::outputs(softmax(x * weight), sum(si::cast<i64>(x > 0.0f), si::last_axis));
});

template <class Storage, class Type, i64 Columns, class Executor>
void pairs(const char* name, i64 rows, i64 columns, const Executor& executor) {
    const std::vector<Type> x = numbers<Type>(rows * columns, unsigned(rows)), w = numbers<Type>(columns, 5), filled = numbers<Type>(rows * columns, 7);
    const std::vector<i64> places(static_cast<std::size_t>(rows), -7);
    const device_copy<Storage, Type> x_on(x), w_on(w);
    const auto sizes = si::extents_with<si::extents<dyn, Columns>>(si::shape{2, {rows, columns}});
    const auto length = si::extents_with<si::extents<Columns>>(si::shape{1, {columns}});
    const si::extents<dyn, 1> one_each(rows);
    const auto same = [&](const auto& formula) {
        std::vector<Type> y = filled;
        std::vector<i64> of_row = places;
        const device_copy<Storage, Type> y_on(filled);
        const device_copy<Storage, i64> of_row_on(places);
        const bool ran =
            si::try_run(si::reference, si::tie(si::view(y.data(), sizes), si::view(of_row.data(), one_each)) = formula(si::view(x.data(), sizes), si::view(w.data(), length))).ok() &&
            si::try_run(executor, si::tie(si::device_view(y_on.device, sizes), si::device_view(of_row_on.device, one_each)) =
                                      formula(si::device_view(static_cast<const Type*>(x_on.device), sizes), si::device_view(static_cast<const Type*>(w_on.device), length)))
                .ok();
        const std::vector<Type> found = y_on.read();
        check(name, rows, ran && std::memcmp(found.data(), y.data(), y.size() * sizeof(Type)) == 0 && of_row_on.read() == of_row);
    };
    same(norm_and_place);
    same(masked_and_sum);
    same(softmax_and_count);
    // In place: a group that has one row only must not take another's once more.
    std::vector<Type> y = x;
    const device_copy<Storage, Type> y_on(x);
    const auto here = si::view(y.data(), sizes);
    const auto there = si::device_view(y_on.device, sizes);
    const bool ran = si::try_run(si::reference, here = softmax(here * 4.0f)).ok() && si::try_run(executor, there = softmax(there * 4.0f)).ok();
    const std::vector<Type> found = y_on.read();
    check(name, -rows, ran && std::memcmp(found.data(), y.data(), y.size() * sizeof(Type)) == 0);
}
/// Everything; 0 if all is right.
template <class Storage, class Executor>
int check_all(const Executor& executor) {
    for (const i64 rows : {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 260, 1001}) {
        pairs<Storage, float, 128>("128 floats", rows, 128, executor);
        pairs<Storage, float, 20>("20 floats", rows, 20, executor);
        for (const i64 columns : {8, 64, 104, 128}) pairs<Storage, si::bf16, dyn>("16-bit floats of a length that the run knows", rows, columns, executor);
    }
    return tally();
}

}  // namespace row_pairs
