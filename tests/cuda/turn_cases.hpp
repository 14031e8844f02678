// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows that blocks take in turn on a device, `Storage` its memory: the last ones alone, the others several one after the other, of which the next
// one is read into registers or on its way to shared memory (cuda_rows.cuh, cuda_row_copies.cuh). By a table of this file's own, so that few rows
// do. Codes of norms with a residual of 16, 8 and 32 bits, sums of exponentials, extremes; rows of one operand and of several, whose codes
// are covered by their row and not; results in place. Bits as the reference.
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
        static constexpr i64 least_turns = 0;
        static constexpr int alone_percent = 1, alone_percent_slow = 1, apart_percent = 20000;
        static constexpr i64 most_copied_bytes = 98304;  // also where no card has copies: they are loads and stores then
    };
};

namespace turns {

namespace si = sinter;
using si::bf16;
using si::dyn;
using si::i64;
using si::i8;

template <class Type>
bool same_bits(const std::vector<Type>& found, const std::vector<Type>& wanted) {
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (std::memcmp(&found[i], &wanted[i], sizeof(Type)) == 0) continue;
        if constexpr (si::is_float(si::dtype_of<Type>))
            if (const float one = si::convert<float>(found[i]), other = si::convert<float>(wanted[i]); one != one && other != other) continue;  // any NaN is any other
        return false;
    }
    return true;
}
/// Rows that their scales cover, others by far numbers, and some of zeros, of one value, with NaN or an infinity.
template <class Type>
std::vector<Type> rows_of(i64 rows, i64 length, unsigned seed) {
    std::vector<Type> out = numbers<Type>(rows * length, seed);
    if constexpr (si::is_float(si::dtype_of<Type>))
        for (i64 r = 0; r < rows; ++r) {
            Type* const row = out.data() + r * length;
            for (i64 i = 0; i < length; ++i) {
                if (r % 11 == 3) row[i] = si::convert<Type>(0.0f);
                if (r % 13 == 5) row[i] = si::convert<Type>(1.5f);
                if (r % 7 == 2) row[i] = si::convert<Type>(si::convert<float>(row[i]) * 0x1p-60f);
            }
            if (r % 17 == 9) row[length / 2] = si::convert<Type>(__builtin_nanf(""));
            if (r % 19 == 4) row[length - 1] = si::convert<Type>(-__builtin_huge_valf());
        }
    return out;
}

inline constexpr auto codes = si::fused([](auto x, auto, auto weight, auto) { return dynamic_quantize(si::rms_norm(x, weight, 1e-5f)); });
inline constexpr auto codes_of_rows = si::fused([](auto x, auto r, auto weight, auto) { return dynamic_quantize((x + si::cast<float>(r)) * weight); });
inline constexpr auto norm_codes = si::fused([](auto x, auto r, auto weight, auto) { return dynamic_quantize(si::rms_norm(x + si::cast<float>(r), weight, 1e-5f)); });
inline constexpr auto codes_of_multiples = si::fused([](auto x, auto r, auto weight, auto factor) {
    return dynamic_quantize(si::rms_norm(x * factor, weight, 1e-5f) * (factor + si::cast<float>(r)));
});
inline constexpr auto codes_of_scaled_norm = si::fused([](auto x, auto, auto weight, auto factor) { return dynamic_quantize(si::rms_norm(x, weight, 1e-5f) * factor); });
inline constexpr auto scaled_log_sum = si::fused([](auto x, auto, auto, auto factor) { return si::outputs(logsumexp(x * factor, si::last_axis), factor * 2.0f); });
inline constexpr auto log_sum = si::fused([](auto x, auto, auto, auto) { return si::outputs(logsumexp(x, si::last_axis), argmax(x, si::last_axis)); });
inline constexpr auto log_sum_of_half = si::fused([](auto x, auto, auto, auto) { return si::outputs(logsumexp(si::cast<float>(x), si::last_axis), argmax(x, si::last_axis)); });
inline constexpr auto sum_of_powers = si::fused([](auto x, auto r, auto, auto) {
    const auto h = si::cast<float>(x) * 0.5f + si::cast<float>(r);
    return si::outputs(sum(exp(h - max(h, si::last_axis)), si::last_axis), max(si::cast<float>(x), si::last_axis));
});
inline constexpr auto norm_and_place = si::fused([](auto x, auto, auto weight, auto) { return si::outputs(si::rms_norm(x, weight, 1e-5f), argmin(x, si::last_axis)); });
inline constexpr auto softmax_and_sum = si::fused([](auto x, auto r, auto, auto) { return si::outputs(softmax(x), sum(si::cast<float>(r), si::last_axis)); });

/// One formula on x, a residual, weights and a factor of each row; two results.
template <class Storage, class First, class Second, class X, class R, class Sizes, class Executor>
struct cases {
    const Executor& executor;
    const char* name;
    i64 rows;
    Sizes sizes;
    std::vector<X> x;
    std::vector<R> residual;
    std::vector<float> weight, factor;
    cases(const Executor& with, const char* of, i64 count, i64 length, Sizes extents)
        : executor(with), name(of), rows(count), sizes(extents), x(rows_of<X>(count, length, unsigned(count))), residual(rows_of<R>(count, length, 3)), weight(numbers<float>(length, 5)), factor(numbers<float>(count, 9)) {}

    /// `PerRow`: the first result has one element a row too. `agree`: of what was found and wanted, of the first result and of the second.
    template <bool PerRow, i64 Columns, class Formula, class Agree>
    void compare(const Formula& formula, const Agree& agree) {
        const i64 length = i64(weight.size());
        const device_copy<Storage, X> x_on(x);
        const device_copy<Storage, R> residual_on(residual);
        const device_copy<Storage, float> weight_on(weight), factor_on(factor);
        const auto columns = si::extents_with<si::extents<Columns>>(si::shape{1, {length}});
        const si::extents<dyn, 1> one_each(rows);
        const auto first_sizes = [&] {
            if constexpr (PerRow)
                return one_each;
            else
                return sizes;
        }();
        std::vector<First> first(std::size_t(PerRow ? rows : rows * length), First{});
        std::vector<Second> second(std::size_t(rows), Second{});
        const device_copy<Storage, First> first_on(first);
        const device_copy<Storage, Second> second_on(second);
        const bool ran =
            si::try_run(si::reference, si::tie(si::view(first.data(), first_sizes), si::view(second.data(), one_each)) =
                                           formula(si::view(x.data(), sizes), si::view(residual.data(), sizes), si::view(weight.data(), columns), si::view(factor.data(), one_each)))
                .ok() &&
            si::try_run(executor, si::tie(si::device_view(first_on.device, first_sizes), si::device_view(second_on.device, one_each)) =
                                      formula(si::device_view(static_cast<const X*>(x_on.device), sizes), si::device_view(static_cast<const R*>(residual_on.device), sizes),
                                              si::device_view(static_cast<const float*>(weight_on.device), columns), si::device_view(static_cast<const float*>(factor_on.device), one_each)))
                .ok();
        check(name, rows, ran && agree(first_on.read(), first, second_on.read(), second));
    }
    template <bool PerRow, i64 Columns, class Formula>
    void same(const Formula& formula) {
        compare<PerRow, Columns>(formula, [](const auto& first, const auto& first_wanted, const auto& second, const auto& second_wanted) {
            return same_bits(first, first_wanted) && same_bits(second, second_wanted);
        });
    }
};
template <class First, class Second, class X, class R, i64 Columns, bool PerRow, class Storage, class Formula, class Executor>
void check_formula(const char* name, i64 length, const Formula& formula, const Executor& executor) {
    using sizes = si::extents<dyn, Columns>;
    for (const i64 rows : {3, 16, 700})
        cases<Storage, First, Second, X, R, sizes, Executor>(executor, name, rows, length, si::extents_with<sizes>(si::shape{2, {rows, length}})).template same<PerRow, Columns>(formula);
}
/// A sum stored over its operand beside codes of it: also where a row isn't covered, so that its elements are read once more.
inline constexpr auto in_place_and_codes = si::fused([](auto x, auto weight) {
    const auto h = x * 0.75f;
    return si::outputs(h, dynamic_quantize(si::cast<float>(h) * weight));
});
template <i64 Columns, class Storage, class Executor>
void check_in_place(i64 rows, const Executor& executor) {
    const si::extents<dyn, Columns> sizes(rows);
    const si::extents<dyn, 1> one_each(rows);
    std::vector<bf16> x = rows_of<bf16>(rows, Columns, 11), weight = numbers<bf16>(Columns, 13);
    std::vector<i8> codes(x.size());
    std::vector<float> scale(static_cast<std::size_t>(rows));
    const device_copy<Storage, bf16> x_on(x), weight_on(weight);
    const device_copy<Storage, i8> codes_on(codes);
    const device_copy<Storage, float> scale_on(scale);
    const auto here = si::view(x.data(), sizes);
    const auto there = si::device_view(x_on.device, sizes);
    const bool ran =
        si::try_run(si::reference, si::tie(here, si::view(codes.data(), sizes), si::view(scale.data(), one_each)) = in_place_and_codes(here, si::view(weight.data(), si::extents<Columns>{}))).ok() &&
        si::try_run(executor, si::tie(there, si::device_view(codes_on.device, sizes), si::device_view(scale_on.device, one_each)) =
                                  in_place_and_codes(si::device_view(static_cast<const bf16*>(x_on.device), sizes), si::device_view(static_cast<const bf16*>(weight_on.device), si::extents<Columns>{})))
            .ok();
    check("codes beside a result in place", rows, ran && same_bits(x_on.read(), x) && same_bits(codes_on.read(), codes) && same_bits(scale_on.read(), scale));
}
/// Under `fast`, whose maximum stands beside the sum: scales nearly the reference's, codes off by one at most; where a scale is no number, it is none here.
inline bool nearly(const std::vector<i8>& codes, const std::vector<i8>& wanted, const std::vector<float>& scale, const std::vector<float>& wanted_scale) {
    const std::size_t length = codes.size() / scale.size();
    for (std::size_t r = 0; r < scale.size(); ++r) {
        const float off = scale[r] - wanted_scale[r], most = 1e-4f * wanted_scale[r];
        if (!(wanted_scale[r] < __builtin_huge_valf())) {
            if (scale[r] < __builtin_huge_valf()) return false;
            continue;
        }
        if (!(off <= most && -off <= most)) return false;
        for (std::size_t i = r * length; i < (r + 1) * length; ++i)
            if (codes[i] - wanted[i] > 1 || wanted[i] - codes[i] > 1) return false;
    }
    return true;
}
template <i64 Columns, class Storage, class Formula, class Executor>
void check_fast(const char* name, const Formula& formula, const Executor& executor) {
    using sizes = si::extents<dyn, Columns>;
    cases<Storage, i8, float, bf16, bf16, sizes, Executor>(executor, name, 700, Columns, sizes(700)).template compare<false, Columns>(formula, nearly);
}
/// Everything; 0 if all is right.
template <class Storage, class Executor, class Fast>
int check_all(const Executor& executor, const Fast& fast) {
    check_formula<i8, float, bf16, bf16, 2048, false, Storage>("codes of a norm of 2048 bf16", 2048, codes, executor);
    check_formula<i8, float, bf16, bf16, 4096, false, Storage>("codes of a norm of 4096 bf16", 4096, codes, executor);
    check_formula<i8, float, float, bf16, 3072, false, Storage>("codes of a norm of 3072 floats", 3072, codes, executor);
    check_formula<i8, float, bf16, bf16, 2048, false, Storage>("codes of a norm of a bf16 sum", 2048, norm_codes, executor);
    check_formula<i8, float, bf16, i8, 4096, false, Storage>("codes of a norm of bf16 and 8-bit numbers", 4096, norm_codes, executor);
    check_formula<i8, float, float, i8, 2048, false, Storage>("codes of rows of floats and 8-bit numbers", 2048, codes_of_rows, executor);
    check_formula<i8, float, bf16, bf16, dyn, false, Storage>("codes of a norm of a length that the run knows", 3072, codes, executor);
    check_formula<i8, float, bf16, bf16, 3072, false, Storage>("codes of norms of multiples of rows", 3072, codes_of_multiples, executor);
    for (const i64 rows : {1, 40, 300}) check_in_place<3072, Storage>(rows, executor);
    for (const i64 rows : {1, 300}) check_in_place<4096, Storage>(rows, executor);
    check_fast<2048, Storage>("fast codes of multiples of a norm of 2048", codes_of_scaled_norm, fast);
    check_fast<4096, Storage>("fast codes of a norm of 4096", codes, fast);
    check_fast<4096, Storage>("fast codes of multiples of a norm of 4096", codes_of_scaled_norm, fast);
    check_formula<float, float, float, i8, 4096, true, Storage>("logsumexp of multiples of rows", 4096, scaled_log_sum, executor);
    check_formula<float, i64, float, i8, 4096, true, Storage>("logsumexp of 4096 floats", 4096, log_sum, executor);
    check_formula<float, float, bf16, i8, 2048, true, Storage>("exponentials of a sum of 2048", 2048, sum_of_powers, executor);
    check_formula<float, float, bf16, bf16, 4096, true, Storage>("exponentials of a sum of 4096", 4096, sum_of_powers, executor);
    check_formula<float, i64, float, i8, dyn, true, Storage>("logsumexp of a length that the run knows", 2000, log_sum, executor);
    check_formula<float, i64, bf16, i8, dyn, true, Storage>("logsumexp of bf16 of a length that the run knows", 3000, log_sum_of_half, executor);
    check_formula<float, i64, float, i8, 2048, false, Storage>("a norm of 2048 floats", 2048, norm_and_place, executor);
    check_formula<bf16, i64, bf16, i8, 16384, false, Storage>("a norm of 16384 bf16", 16384, norm_and_place, executor);
    check_formula<bf16, float, bf16, i8, dyn, false, Storage>("softmax of a length that the run knows", 6144, softmax_and_sum, executor);
    return tally();
}

}  // namespace turns
