// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Under `fast` on a device, `Storage` its memory: maxima of 16-bit floats and the exponentials below them in one walk (cuda_one_walk.cuh). Rows
// of a group of threads, a block and a cluster, also several one after the other, by a table of this file's own; rows that a block walks along; rows
// whose ends or whose places aren't those of packs; all elements. Maxima that come first, last, grow and shrink; far numbers, infinities, NaN. The reference's numbers but
// for what approximations may lose, and its bits under the portable policy; no workspace, as the portable kernel needs none.
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
        static constexpr i64 least_turns = 0, least_turns_slow = 0;
        static constexpr int alone_percent = 1, alone_percent_slow = 1;
        static constexpr int walk_threads = 64, walking_threads = 64;  // so that few rows fill the card
    };
};

namespace one_walk {

namespace si = sinter;
using si::bf16;
using si::dyn;
using si::f16;
using si::i64;

inline constexpr auto log_sum = si::fused([](auto x, auto) { return logsumexp(si::cast<float>(x), si::last_axis); });
inline constexpr auto entropy = si::fused([](auto x, auto target) { return si::cross_entropy(si::cast<float>(x), target); });
inline constexpr auto of_columns = si::fused([](auto x, auto) { return logsumexp(si::cast<float>(x), si::axes<0>); });
inline constexpr auto of_all = si::fused([](auto x, auto) { return logsumexp(si::cast<float>(x), si::axes<0, 1>); });
inline constexpr auto beside_others = si::fused([](auto x, auto target) {
    const auto wide = si::cast<float>(x);
    return si::outputs(logsumexp(wide, si::last_axis) - min(wide, si::last_axis) + si::cast<float>(target), argmax(wide, si::last_axis));
});

/// Beside a fold of another kind, which needs all lanes: no block walks along its rows.
inline constexpr auto beside_a_sum = si::fused([](auto x, auto target) {
    const auto wide = si::cast<float>(x);
    return logsumexp(wide, si::last_axis) + 0.0f * sum(where(wide < 3e38f && wide > -3e38f, wide, 0.0f), si::last_axis) + 0.0f * si::cast<float>(target);
});
/// Without the test for infinity that logsumexp has: a sum of terms with +inf is NaN, wherever that stands.
inline constexpr auto bare = si::fused([](auto x, auto) {
    const auto wide = si::cast<float>(x), top = max(wide, si::last_axis), shift = where(is_finite(top), top, 0.0f);
    return over_exp_below(sum(exp_below(wide, shift), si::last_axis), shift);
});

// Which formulas are written anew: the row's numbers have 16 bits and nothing but the row's values is stored.
template <class Type, class Formula, class Results = si::extents<dyn, 1>>
constexpr bool is_walked_once(const Formula& formula, const Results& results = Results(1)) {
    const si::extents<dyn, 1> one_each(1);
    const Type* const x = nullptr;
    const i64* const target = nullptr;
    float* const y = nullptr;
    using assignment = decltype(si::device_view(y, results) = formula(si::device_view(x, si::extents<dyn, 2048>(1)), si::device_view(target, one_each)));
    return si::detail::device::one_walk_facts<assignment>::possible;
}
inline constexpr auto twice_the_power = si::fused([](auto x, auto) {
    const auto wide = si::cast<float>(x), top = max(wide, si::last_axis), shift = where(is_finite(top), top, 0.0f);
    return sum(exp_below(wide, shift), si::last_axis) + max(exp_below(wide, shift), si::last_axis);
});
inline constexpr auto another_maximum = si::fused([](auto x, auto) {
    const auto wide = si::cast<float>(x), top = min(wide, si::last_axis), shift = where(is_finite(top), top, 0.0f);
    return sum(exp_below(wide, shift), si::last_axis);
});
inline constexpr auto below_another = si::fused([](auto x, auto) {
    const auto wide = si::cast<float>(x), top = max(wide * wide, si::last_axis), shift = where(is_finite(top), top, 0.0f);
    return sum(exp_below(wide, shift), si::last_axis);
});
inline constexpr auto below_itself = si::fused([](auto x, auto) {
    const auto wide = si::cast<float>(x), top = max(wide, si::last_axis);
    return sum(exp_below(wide, where(is_finite(top), top, top)), si::last_axis);
});
inline constexpr auto below_one = si::fused([](auto x, auto) {
    const auto wide = si::cast<float>(x), top = max(wide, si::last_axis);
    return sum(exp_below(wide, where(is_finite(top), top, 1.0f)), si::last_axis);
});
inline constexpr auto a_product = si::fused([](auto x, auto) {
    const auto wide = si::cast<float>(x), top = max(wide, si::last_axis), shift = where(is_finite(top), top, 0.0f);
    return prod(exp_below(wide, shift), si::last_axis);
});
static_assert(is_walked_once<bf16>(bare) && is_walked_once<bf16>(log_sum) && is_walked_once<f16>(log_sum) && is_walked_once<bf16>(entropy));
static_assert(!is_walked_once<float>(log_sum) && !is_walked_once<si::i16>(log_sum) && !is_walked_once<bf16>(twice_the_power) &&
              !is_walked_once<bf16>(another_maximum) && !is_walked_once<bf16>(below_another) && !is_walked_once<bf16>(below_itself) && !is_walked_once<bf16>(below_one) &&
              !is_walked_once<bf16>(of_columns, si::extents<1, 2048>{}) && !is_walked_once<bf16>(a_product));

/// Rows of many kinds.
template <class Type>
std::vector<Type> rows_of(i64 rows, i64 length, unsigned seed) {
    const float infinity = __builtin_huge_valf();
    std::vector<float> wide = numbers<float>(rows * length, seed);
    for (i64 r = 0; r < rows; ++r) {
        float* const row = wide.data() + r * length;
        for (i64 i = 0; i < length; ++i) {
            const float place = float(i) / float(length);
            row[i] = r % 8 == 1 ? row[i] + 60.0f * place : r % 8 == 2 ? row[i] - 60.0f * place : r % 8 == 3 ? row[i] * 20.0f : row[i];
            if (r % 8 == 4 && i % 3 == 0) row[i] = -infinity;
            if (r % 16 == 5 || (r % 16 == 12 && i < length / 2)) row[i] = -infinity;
            if (r % 16 == 13) row[i] *= r % 32 == 13 ? 0x1p+14f : 0x1p+110f;
        }
        if (r % 8 == 6) row[(r * 37) % length] = infinity;
        if (r % 16 == 7) row[length - 1] = __builtin_nanf("");
        if (r % 16 == 15) row[length / 2] = 30.0f;
    }
    std::vector<Type> out;
    for (const float x : wide) out.push_back(si::convert<Type>(x));
    return out;
}
inline bool is_close(float found, float wanted) {
    if (found == wanted || (found != found && wanted != wanted)) return true;
    const float size = wanted < 0.0f ? -wanted : wanted, off = found < wanted ? wanted - found : found - wanted;
    return off <= 4e-6f * (size > 1.0f ? size : 1.0f);
}
/// `count` results; the operand begins `shift` elements behind an aligned place.
template <class Storage, class Type, i64 Columns, class Results, class Formula, class Executor>
void check_one(const char* name, const Formula& formula, i64 rows, i64 length, const Results& results, i64 count, i64 shift, const Executor& executor) {
    const auto sizes = si::extents_with<si::extents<dyn, Columns>>(si::shape{2, {rows, length}});
    const std::vector<Type> of_rows = rows_of<Type>(rows, length, unsigned(length));
    std::vector<Type> x(static_cast<std::size_t>(shift), si::convert<Type>(9.0f));
    x.insert(x.end(), of_rows.begin(), of_rows.end());
    std::vector<i64> target;
    for (i64 r = 0; r < rows; ++r) target.push_back(r % 5 == 4 ? length - 1 : r * 131 % length);
    std::vector<float> wanted(static_cast<std::size_t>(count), -7.0f);
    const device_copy<Storage, Type> x_on(x);
    const device_copy<Storage, i64> target_on(target);
    const device_copy<Storage, float> y_on(wanted);
    const si::extents<dyn, 1> one_each(rows);
    const auto on_device = si::device_view(y_on.device, results) = formula(si::device_view(static_cast<const Type*>(x_on.device + shift), sizes),
                                                                          si::device_view(static_cast<const i64*>(target_on.device), one_each));
    bool right = si::try_run(si::reference, si::view(wanted.data(), results) = formula(si::view(x.data() + shift, sizes), si::view(target.data(), one_each))).ok() &&
                 si::try_run(executor, on_device).ok();
    const std::vector<float> found = y_on.read();
    // The portable kernel beside it: the reference's bits. (Of bf16 on an emulated device long_rows_emulated.cpp has it; here it would take as long again to compile.)
#if defined(SINTER_CUDA_EMULATED)
    constexpr bool has_portable = !__is_same(Type, bf16);
#else
    constexpr bool has_portable = true;
#endif
    if constexpr (has_portable) {
        right = right && si::try_run(si::cuda(), on_device).ok();
        const std::vector<float> portable = y_on.read();
        for (std::size_t i = 0; i < found.size(); ++i)
            right = right && (std::memcmp(&portable[i], &wanted[i], 4) == 0 || (portable[i] != portable[i] && wanted[i] != wanted[i]));
    }
    for (std::size_t i = 0; i < found.size(); ++i) right = right && is_close(found[i], wanted[i]);
    check(name, length, right);
}
template <class Storage, class Type, i64 Columns, class Executor>
void check_rows(const char* name, i64 rows, i64 columns, const Executor& executor) {
    const si::extents<dyn, 1> one_each(rows);
    check_one<Storage, Type, Columns>(name, log_sum, rows, columns, one_each, rows, 0, executor);
    check_one<Storage, Type, Columns>(name, entropy, rows, columns, one_each, rows, 0, executor);
    check_one<Storage, Type, Columns>(name, bare, rows, columns, one_each, rows, 0, executor);
    if (Columns == dyn) check_one<Storage, Type, Columns>(name, entropy, rows, columns, one_each, rows, 1, executor);
}
/// A sum beside other folds, of which one gives indices.
template <class Storage, class Type, i64 Columns, class Executor>
void check_beside_others(i64 rows, const Executor& executor) {
    std::vector<Type> x = rows_of<Type>(rows, Columns, 3);
    for (Type& one : x)
        if (const float wide = si::convert<float>(one); !(wide < 1e4f && wide > -1e4f)) one = si::convert<Type>(0.0f);
    const si::extents<dyn, Columns> sizes(rows);
    const si::extents<dyn, 1> one_each(rows);
    std::vector<float> wanted(static_cast<std::size_t>(rows));
    std::vector<i64> place(wanted.size()), target(wanted.size(), 3);
    const device_copy<Storage, Type> x_on(x);
    const device_copy<Storage, i64> target_on(target), place_on(place);
    const device_copy<Storage, float> y_on(wanted);
    bool right = si::try_run(si::reference, si::tie(si::view(wanted.data(), one_each), si::view(place.data(), one_each)) =
                                                beside_others(si::view(x.data(), sizes), si::view(target.data(), one_each)))
                     .ok() &&
                 si::try_run(executor, si::tie(si::device_view(y_on.device, one_each), si::device_view(place_on.device, one_each)) =
                                           beside_others(si::device_view(static_cast<const Type*>(x_on.device), sizes), si::device_view(static_cast<const i64*>(target_on.device), one_each)))
                     .ok();
    const std::vector<float> found = y_on.read();
    for (std::size_t i = 0; i < found.size(); ++i) right = right && is_close(found[i], wanted[i]);
    check("beside a minimum and an index", Columns, right && place_on.read() == place);
}
/// Everything; 0 if all is right.
template <class Storage, class Executor>
int check_all(const Executor& executor) {
    check_rows<Storage, bf16, 128>("128 bf16", 33, 128, executor);
    check_rows<Storage, f16, 1000>("1000 f16", 20, 1000, executor);
    check_rows<Storage, bf16, 1024>("1024 bf16", 33, 1024, executor);
    check_rows<Storage, bf16, 4096>("4096 bf16", 300, 4096, executor);
    check_rows<Storage, bf16, 5000>("5000 bf16", 300, 5000, executor);
    check_rows<Storage, f16, 32768>("32768 f16", 40, 32768, executor);
    check_rows<Storage, bf16, 128256>("128256 bf16", 24, 128256, executor);
    // So many rows that they fill the card once.
    constexpr i64 together = si::cuda_table<si::detail::device::compiled_arch>::card.multiprocessors;
    check_rows<Storage, bf16, 36864>("36864 bf16, walked along", together, 36864, executor);
    check_one<Storage, f16, 33288>("33288 f16, walked along", entropy, together, 33288, si::extents<dyn, 1>(together), together, 0, executor);
    check_beside_others<Storage, bf16, 33800>(together, executor);
    check_one<Storage, bf16, 33800>("33800 bf16 beside a sum", beside_a_sum, 9, 33800, si::extents<dyn, 1>(9), 9, 0, executor);
    for (const i64 columns : {1, 7, 8, 120, 136, 1016, 1032, 3000, 20000, 66000}) check_rows<Storage, bf16, dyn>("bf16 of a length that the run knows", 24, columns, executor);
    check_rows<Storage, bf16, dyn>("few long rows", 2, 1100000, executor);
    check_beside_others<Storage, bf16, 2048>(200, executor);
    check_beside_others<Storage, f16, 640>(50, executor);
    for (const i64 columns : {5, 64, 1030}) {
        check_one<Storage, bf16, dyn>("columns", of_columns, 300, columns, si::extents<1, dyn>(columns), columns, 0, executor);
        check_one<Storage, f16, dyn>("all elements", of_all, 300, columns, si::extents<1, 1>{}, 1, 0, executor);
    }
    return tally();
}

}  // namespace one_walk
