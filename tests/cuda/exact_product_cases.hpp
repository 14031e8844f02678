// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products that f32 holds exactly, on a device, `Storage` its memory (cuda_exact_product.cuh): 8-bit integers, f16 and bf16 in pairs, a vector
// that all rows share and a matrix. Numbers of every kind: products beyond the largest f32, next to 2^64 and 2^128, subnormal ones, zeros of
// both signs, infinities, NaN. Bits as the reference, any NaN equal to any NaN.
#pragma once

#include "device_copy.hpp"
#include "tally.hpp"

#include <sinter/sinter.hpp>

#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

/// Few rows here, and yet several for each block one after the other; and products that are kept for the outputs.
template <class Assignment>
struct sinter::cuda_tuning<Assignment, sinter::detail::device::compiled_arch> : sinter::cuda_table<sinter::detail::device::compiled_arch> {
    struct rows : sinter::cuda_table<sinter::detail::device::compiled_arch>::rows {
        static constexpr i64 least_turns = 0;
        static constexpr int alone_percent = 0, alone_percent_slow = 0;
        static constexpr int few_registers = 64, kept_cost = 1;
    };
};

namespace exact_products {

namespace si = sinter;
using si::dyn;
using si::i64;

inline constexpr int kinds = 6, positive = 6;
/// 0: moderate; 1: any bits without infinities and NaN; 2: in one lane a product below -2^127 and one above 2^128, which f32
/// doesn't hold but their sum; 3: one next to 2^64, the others moderate; 4: small and
/// subnormal, zeros; 5: with infinities or NaN. Integers are any, beside kind 2 positive.
template <class Type>
std::vector<Type> elements(i64 count, int kind, unsigned seed) {
    std::vector<Type> out;
    unsigned state = seed * 2654435761u + 12345u;
    for (i64 i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        const unsigned draw = state >> 8;
        if constexpr (si::is_float(si::dtype_of<Type>)) {
            float value = float(int(state)) * 0x1p-29f;
            if (kind == 2) value = i == 5 ? -0x1p121f : i == 5 + 128 ? 0x1.8p121f : 0.0f;
            if (kind == positive) value = 96.0f + float(draw % 32);
            if (kind == 3 && i % 1000 == 77) value = draw % 2 == 0 ? 0x1.fcp63f : 0x1p64f;
            if (kind == 4) value = draw % 5 == 0 ? -0.0f : value * 0x1p-130f;
            if (kind == 5 && i % 700 == 13) value = draw % 3 == 0 ? __builtin_nanf("") : draw % 3 == 1 ? __builtin_huge_valf() : -__builtin_huge_valf();
            Type element = si::convert<Type>(value);
            if (kind == 1 && sizeof(Type) == 2) {
                unsigned short bits = static_cast<unsigned short>(draw);
                const unsigned short exponent = std::is_same_v<Type, si::bf16> ? 0x7f80 : 0x7c00;
                if ((bits & exponent) == exponent) bits = 0x8001;
                std::memcpy(&element, &bits, 2);
            }
            out.push_back(element);
        } else {
            out.push_back(kind == positive ? Type(96 + draw % 32) : Type(draw));
        }
    }
    return out;
}

inline bool same_floats(const std::vector<float>& found, const std::vector<float>& wanted) {
    for (std::size_t i = 0; i < found.size(); ++i) {
        unsigned a, b;
        std::memcpy(&a, &found[i], 4), std::memcpy(&b, &wanted[i], 4);
        if (a != b && ((a & 0x7fffffffu) <= 0x7f800000u || (b & 0x7fffffffu) <= 0x7f800000u)) return false;
    }
    return true;
}

/// A vector of X and a matrix of Y, either one first in the product; Columns -1: known when run.
template <class Storage, class X, class Y, i64 Columns, class Executor>
void check_pair(const char* name, i64 rows, i64 columns, const Executor& executor) {
    const auto sizes = si::extents_with<si::extents<dyn, Columns>>(si::shape{2, {rows, columns}});
    const auto length = si::extents_with<si::extents<Columns>>(si::shape{1, {columns}});
    const si::extents<dyn, 1> one_each(rows);
    for (int kind = 0; kind < kinds; ++kind) {
        const std::vector<X> x = elements<X>(columns, kind, 3);
        const std::vector<Y> y = elements<Y>(rows * columns, kind == 2 ? positive : kind == 3 ? 0 : kind, 5);
        std::vector<float> wanted(static_cast<std::size_t>(rows), -7.0f);
        const device_copy<Storage, X> x_on(x);
        const device_copy<Storage, Y> y_on(y);
        const device_copy<Storage, float> out(wanted);
        const auto same = [&](const auto& formula) {
            const bool ran = si::try_run(si::reference, si::view(wanted.data(), one_each) = formula(si::view(x.data(), length), si::view(y.data(), sizes))).ok() &&
                             si::try_run(executor, si::device_view(out.device, one_each) = formula(si::device_view(static_cast<const X*>(x_on.device), length),
                                                                                                  si::device_view(static_cast<const Y*>(y_on.device), sizes)))
                                 .ok();
            const std::vector<float> found = out.read();
            const bool equal = ran && same_floats(found, wanted);
            check(name, columns, equal);
            if (!equal) std::printf("      numbers of kind %d%s\n", kind, ran ? "" : "; it did not run");
        };
        same(si::fused([](auto a, auto w) { return sum(si::cast<float>(w) * si::cast<float>(a), si::last_axis); }));
        same(si::fused([](auto a, auto w) { return relu(sum(si::cast<float>(a) * si::cast<float>(w), si::last_axis) * 0.5f + 1.0f); }));
        // One operand alone.
        if constexpr (sizeof(X) + sizeof(Y) == 3) same(si::fused([](auto, auto w) { return sum(si::cast<float>(w) * si::cast<float>(w), si::last_axis); }));
        if constexpr (sizeof(X) + sizeof(Y) == 3) {
            // Outputs of elements that need the products once more.
            const auto shares = si::fused([](auto a, auto w) {
                const auto product = si::cast<float>(w) * si::cast<float>(a);
                return product * reciprocal(sum(product, si::last_axis));
            });
            std::vector<float> share(static_cast<std::size_t>(rows * columns), -7.0f);
            const device_copy<Storage, float> share_on(share);
            const bool ran = si::try_run(si::reference, si::view(share.data(), sizes) = shares(si::view(x.data(), length), si::view(y.data(), sizes))).ok() &&
                             si::try_run(executor, si::device_view(share_on.device, sizes) = shares(si::device_view(static_cast<const X*>(x_on.device), length),
                                                                                                   si::device_view(static_cast<const Y*>(y_on.device), sizes)))
                                 .ok();
            check(name, -columns, ran && same_floats(share_on.read(), share));
        }
    }
}
template <class Storage, class X, class Y, class Executor>
void check_types(const char* name, const Executor& executor) {
    check_pair<Storage, X, Y, 2048>(name, 9, 2048, executor);
    check_pair<Storage, X, Y, 16384>(name, 3, 16384, executor);
    for (const i64 columns : {64, 1024, 1536, 3000}) check_pair<Storage, X, Y, dyn>(name, 5, columns, executor);
}
/// A vector that threads hold for all rows of their block: more rows than a block takes at once, values of the row in what follows the sum, a second
/// fold of the same pass, a vector with numbers that are too large for an exact product, of either sign, or NaN at its end.
template <class Storage, class X, class Y, i64 Columns, class Executor>
void check_products(const char* name, i64 rows, const Executor& executor) {
    const si::extents<dyn, Columns> sizes(rows);
    const si::extents<Columns> length{};
    const si::extents<dyn, 1> one_each(rows);
    for (int kind = 0; kind < 4; ++kind) {
        std::vector<X> x = elements<X>(Columns, 0, 11);
        if (kind == 2) x.back() = si::convert<X>(__builtin_nanf(""));
        if (kind == 1 || kind == 3) {  // in one lane, and the second product alone is beyond f32
            const float sign = kind == 1 ? 1.0f : -1.0f;
            for (X& element : x) element = X{};
            x[5] = si::convert<X>(sign * -0x1.fcp119f);
            x[5 + 128] = si::convert<X>(sign * 0x1.5ap121f);
        }
        const std::vector<Y> y = elements<Y>(rows * Columns, kind == 1 || kind == 3 ? positive : 0, 13);
        const std::vector<float> scale = elements<float>(rows, 0, 17), bias = elements<float>(rows, 0, 19);
        std::vector<float> wanted(static_cast<std::size_t>(rows), -7.0f), largest = wanted;
        const device_copy<Storage, X> x_on(x);
        const device_copy<Storage, Y> y_on(y);
        const device_copy<Storage, float> scale_on(scale), bias_on(bias), out(wanted), largest_on(largest);
        const auto layer = si::fused([](auto a, auto w, auto factor, auto offset) {
            const auto product = si::cast<float>(w) * si::cast<float>(a);
            return si::outputs(relu(sum(product, si::last_axis) * factor + offset), max(product, si::last_axis) - offset);
        });
        const auto sums = si::fused([](auto a, auto w, auto factor, auto offset) { return sum(si::cast<float>(a) * si::cast<float>(w), si::last_axis) * factor + offset; });
        const auto on = [&](const auto& column) { return si::device_view(static_cast<const float*>(column.device), one_each); };
        const auto x_view = si::device_view(static_cast<const X*>(x_on.device), length);
        const auto y_view = si::device_view(static_cast<const Y*>(y_on.device), sizes);
        const auto host = [&](const std::vector<float>& column) { return si::view(column.data(), one_each); };
        bool ran = si::try_run(si::reference, si::tie(si::view(wanted.data(), one_each), si::view(largest.data(), one_each)) =
                                                  layer(si::view(x.data(), length), si::view(y.data(), sizes), host(scale), host(bias)))
                       .ok() &&
                   si::try_run(executor, si::tie(si::device_view(out.device, one_each), si::device_view(largest_on.device, one_each)) = layer(x_view, y_view, on(scale_on), on(bias_on))).ok();
        check(name, rows, ran && same_floats(out.read(), wanted) && same_floats(largest_on.read(), largest));
        ran = si::try_run(si::reference, si::view(wanted.data(), one_each) = sums(si::view(x.data(), length), si::view(y.data(), sizes), host(scale), host(bias))).ok() &&
              si::try_run(executor, si::device_view(out.device, one_each) = sums(x_view, y_view, on(scale_on), on(bias_on))).ok();
        check(name, rows, ran && same_floats(out.read(), wanted));
    }
}
/// Squares of bf16, which a sum hides from 2^-100 on where they aren't exact. Rows of every kind: a lane's first element next to 2^-50 and the others too
/// small to be squared exactly, or the other way round; any magnitudes; zeros, NaN, infinities, the largest.
template <class X>
std::vector<X> square_rows(i64 rows, i64 columns, unsigned seed) {
    std::vector<X> out;
    unsigned state = seed * 2654435761u + 99u;
    const auto draw = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
    for (i64 r = 0; r < rows; ++r) {
        for (i64 i = 0; i < columns; ++i) {
            const bool first = i % 1024 < 128;
            const float fraction = 1.0f + float(draw() % 128) / 128.0f, sign = draw() % 2 == 0 ? 1.0f : -1.0f;
            const auto two_to = [](int exponent) { return __builtin_ldexpf(1.0f, exponent); };
            float value = fraction * sign * two_to(int(draw() % 3) - 1);
            switch (r % 10) {
                case 1: value = fraction * sign * two_to(first ? -50 : -76 + int(draw() % 14)); break;
                case 2: value = (first ? 1.0f : fraction) * sign * two_to(first ? draw() % 40 == 0 ? -51 : -50 : -70 + int(draw() % 8)); break;
                case 3: value = fraction * sign * two_to(first ? -75 + int(draw() % 10) : -66 + int(draw() % 20)); break;
                case 4: value = fraction * sign * two_to(-80 + int(draw() % 40)); break;
                case 5: value = draw() % 3 == 0 ? 0.0f : fraction * sign * two_to(-68 + int(draw() % 6)); break;
                case 6: value = fraction * sign * two_to(int(draw() % 4) + 61); break;
                case 7: value = i % 700 == 13 ? __builtin_nanf("") : i % 900 == 17 ? -__builtin_huge_valf() : value; break;
                case 8: value = i < 128 ? 0.0f : value * 0x1p-120f; break;
                case 9:  // half an ulp of subnormals, next to the sums of one thread, which see it
                    value = i % 128 < 8 && i < 1024 ? fraction * sign * two_to(first ? -63 + int(r / 10 % 5) : -68) : 0.0f;
                    break;
                default: break;
            }
            out.push_back(si::convert<X>(value));
        }
    }
    return out;
}
template <class Storage, class X, i64 Columns, class Executor>
void check_squares(const char* name, i64 rows, i64 columns, const Executor& executor) {
    const auto sizes = si::extents_with<si::extents<dyn, Columns>>(si::shape{2, {rows, columns}});
    const si::extents<dyn, 1> one_each(rows);
    const std::vector<X> x = square_rows<X>(rows, columns, unsigned(columns));
    const device_copy<Storage, X> x_on(x);
    std::vector<float> wanted(static_cast<std::size_t>(rows), -7.0f), all(x.size(), -7.0f);
    const device_copy<Storage, float> out(wanted), all_on(all);
    const auto here = si::view(x.data(), sizes);
    const auto there = si::device_view(static_cast<const X*>(x_on.device), sizes);
    const auto squares = si::fused([](auto a) { return sum(si::cast<float>(a) * si::cast<float>(a), si::last_axis); });
    bool ran = si::try_run(si::reference, si::view(wanted.data(), one_each) = squares(here)).ok() && si::try_run(executor, si::device_view(out.device, one_each) = squares(there)).ok();
    check(name, columns, ran && same_floats(out.read(), wanted));
    const auto norm = si::fused([](auto a) { return si::rms_norm(si::cast<float>(a), 0x1p-140f); });
    ran = si::try_run(si::reference, si::view(all.data(), sizes) = norm(here)).ok() && si::try_run(executor, si::device_view(all_on.device, sizes) = norm(there)).ok();
    check(name, -columns, ran && same_floats(all_on.read(), all));
}
/// Everything; 0 if all is right.
template <class Storage, class Executor>
int check_all(const Executor& executor) {
    check_types<Storage, si::bf16, si::i8>("bf16 and i8", executor);
    check_types<Storage, si::f16, si::i8>("f16 and i8", executor);
    check_types<Storage, si::bf16, si::u8>("bf16 and u8", executor);
    check_types<Storage, si::bf16, si::f16>("bf16 and f16", executor);
#if !defined(SINTER_CUDA_EMULATED)  // what is left out of the default tests for its compile time: the lines around have its like
    check_types<Storage, si::f16, si::bf16>("f16 and bf16", executor);
    check_pair<Storage, si::u8, si::i8, 36864>("u8 and i8", 3, 36864, executor);
    check_products<Storage, si::bf16, si::i8, 32768>("a vector of bf16 for many rows", 19, executor);
#endif
    check_types<Storage, si::f16, si::f16>("f16 and f16", executor);
    check_types<Storage, si::bf16, si::bf16>("bf16 and bf16", executor);
    check_types<Storage, si::u8, si::i8>("u8 and i8", executor);
    // 8-bit operands alone have 8 threads a segment: more segments than a warp merges would fit a block.
    check_pair<Storage, si::u8, si::i8, 32768>("u8 and i8", 3, 32768, executor);
    check_pair<Storage, si::u8, si::i8, 65536>("u8 and i8", 3, 65536, executor);
    for (const i64 columns : {32768, 33280, 65536, 70000}) check_pair<Storage, si::u8, si::i8, dyn>("u8 and i8", 3, columns, executor);
    for (const i64 rows : {1, 2, 37, 300}) {
        check_products<Storage, si::bf16, si::i8, 2048>("a vector of bf16 for many rows", rows, executor);
        check_products<Storage, si::bf16, si::u8, 3072>("a vector of bf16 for many rows", rows, executor);
        check_products<Storage, si::f16, si::i8, 4096>("a vector of f16 for many rows", rows, executor);
        check_products<Storage, float, si::i8, 4096>("a vector of f32 for many rows", rows, executor);
        check_products<Storage, si::u8, si::i8, 5120>("a vector of u8 for many rows", rows, executor);
    }
    check_products<Storage, si::bf16, si::i8, 16384>("a vector of bf16 for many rows", 19, executor);
    check_squares<Storage, si::bf16, 2048>("squares of bf16", 50, 2048, executor);
    check_squares<Storage, si::bf16, 16384>("squares of bf16", 20, 16384, executor);
    for (const i64 columns : {700, 1024, 3000}) check_squares<Storage, si::bf16, dyn>("squares of bf16", 30, columns, executor);
    check_squares<Storage, si::f16, 4096>("squares of f16", 30, 4096, executor);
    return tally();
}

}  // namespace exact_products
