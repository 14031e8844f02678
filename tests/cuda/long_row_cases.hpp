// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Long rows of floats on a device, `Storage` its memory: folds that choose an element (cuda_choice.cuh) among equals, zeros of
// both signs, infinities and NaN; and blocks that take several rows one after the other, with and without outputs of elements, at lengths
// known to the compiler and not. Bits as the reference, any NaN equal to any NaN.
#pragma once

#include "tally.hpp"

#include <sinter/sinter.hpp>

#include <cstdio>
#include <vector>

/// Few rows here, and yet several for each block: on every architecture, for every formula of this file.
template <class Assignment>
struct sinter::cuda_tuning<Assignment, sinter::detail::device::compiled_arch> : sinter::cuda_table<sinter::detail::device::compiled_arch> {
    struct rows : sinter::cuda_table<sinter::detail::device::compiled_arch>::rows {
        static constexpr i64 least_turns = 0;
        static constexpr int alone_percent = 0, alone_percent_slow = 0;
    };
};

/// 1: bf16, 2: f16, 4: f32, and their sums.
#if !defined(LONG_ROWS_TYPES)
#define LONG_ROWS_TYPES 7
#endif

namespace long_rows {

namespace si = sinter;
using si::dyn;
using si::i64;

template <class Type>
bool is_nan(Type value) {
    const double wide = si::convert<double>(value);
    return wide != wide;
}
/// `kind` 0: numbers; 1: few different ones, zeros of both signs among the largest; 2: -inf but for one in a row; 3: a NaN in every second row; 4: far apart,
/// in some threads alone; 5: larger than 2^20, in every third row below -2^20, in every third with -inf among them.
constexpr int kinds = 6;
template <class Type>
std::vector<Type> elements(i64 rows, i64 length, int kind) {
    std::vector<Type> out;
    unsigned state = unsigned(length) * 4 + unsigned(kind);
    for (i64 r = 0; r < rows; ++r)
        for (i64 i = 0; i < length; ++i) {
            state = state * 1664525u + 1013904223u;
            float value = float(int(state)) * 0x1p-29f;
            if (kind == 1) value = state >> 31 ? -0.0f : (state >> 28 & 3) == 0 ? 0.0f : -float(state >> 28 & 3);
            if (kind == 2) value = i == (r * 7919 + 13) % length ? (r % 3 == 0 ? -__builtin_huge_valf() : -3.0f) : -__builtin_huge_valf();
            if (kind == 3 && r % 2 == 1 && (i == (r * 31 + 5) % length || i == length - 1)) value = __builtin_nanf("");
            if (kind == 4) value *= (i / 8) % 5 == r % 5 ? 40.0f : 4.0f;
            if (kind == 5) value = r % 3 == 2 && i % 9 == 4 ? -__builtin_huge_valf() : value * 0x1p4f + (r % 3 == 1 ? -0x1p21f : 0x1p21f);
            out.push_back(si::convert<Type>(value));
        }
    return out;
}
template <class Storage, class Type>
struct memory {
    std::vector<Type> host;
    Type* device;
    explicit memory(const std::vector<Type>& from) : host(from), device(Storage::template allocate<Type>(i64(from.size()))) { Storage::upload(device, host.data(), i64(host.size())); }
    memory(const memory&) = delete;
    ~memory() { Storage::release(device); }
};
template <class Type, class Extents>
auto on_host(Type* from, const Extents& sizes) {
    return si::tensor_view<Type, Extents>(from, sizes);
}
template <class Type, class Extents>
auto on_device(Type* from, const Extents& sizes) {
    return si::tensor_view<Type, Extents, si::row_major, si::device_memory>(from, sizes);
}

/// Every formula on one operand; a target for each row.
template <class Storage, class Type, class Sizes, class Executor>
struct cases {
    const Executor& executor;
    i64 rows, length;
    int kind;
    Sizes sizes;
    si::extents<dyn, 1> of_rows;
    memory<Storage, Type> x;
    std::vector<i64> targets_of(i64 classes) const {
        std::vector<i64> out;
        for (i64 r = 0; r < rows; ++r) out.push_back((r * 104729 + 3) % (classes + 1) - r % 2);  // also outside
        return out;
    }
    memory<Storage, i64> target;
    cases(const Executor& with, i64 count, i64 columns, int which, Sizes extents)
        : executor(with), rows(count), length(columns), kind(which), sizes(extents), of_rows(count), x(elements<Type>(count, columns, which)), target(targets_of(columns)) {}

    template <class Result, class Extents, class Formula>
    void same(const char* name, const Extents& shape, i64 count, const Formula& formula) {
        memory<Storage, Result> y(std::vector<Result>(std::size_t(count), Result{}));
        std::vector<Result> found(y.host.size());
        const bool ran = si::try_run(si::reference, on_host(y.host.data(), shape) = formula(on_host(static_cast<const Type*>(x.host.data()), sizes),
                                                                                         on_host(static_cast<const i64*>(target.host.data()), of_rows))).ok() &&
                         si::try_run(executor, on_device(y.device, shape) = formula(on_device(static_cast<const Type*>(x.device), sizes),
                                                                                  on_device(static_cast<const i64*>(target.device), of_rows))).ok();
        Storage::download(found.data(), y.device, i64(found.size()));
        bool equal = ran;
        for (std::size_t i = 0; i < found.size() && equal; ++i)
            equal = __builtin_memcmp(&found[i], &y.host[i], sizeof(Result)) == 0 || (is_nan(found[i]) && is_nan(y.host[i]));
        check(name, length, equal);
        if (!equal) std::printf("      %lld rows, numbers of kind %d%s\n", static_cast<long long>(rows), kind, ran ? "" : "; it did not run");
    }
    void run() {
        if constexpr (sizeof(Type) == 2) {
            same<float>("max", of_rows, rows, [](auto in, auto) { return max(in, si::last_axis); });
            same<Type>("min", of_rows, rows, [](auto in, auto) { return min(si::cast<float>(in), si::last_axis); });
            same<i64>("argmax", of_rows, rows, [](auto in, auto) { return argmax(in, si::last_axis); });
            same<i64>("argmin, the last", of_rows, rows, [](auto in, auto) { return si::argmin<si::pick::last>(in, si::last_axis); });
            same<Type>("softmax", sizes, rows * length, [](auto in, auto) { return softmax(in); });
        }
        same<float>("cross-entropy", of_rows, rows, [](auto in, auto at) { return si::cross_entropy(si::cast<float>(in), at); });
    }
    /// Tops that are a factor, or stand in two folds of a pass; what a loss finds beside an extreme.
    void run_together() {
        same<float>("logsumexp", of_rows, rows, [](auto in, auto) { return logsumexp(in, si::last_axis); });
        same<Type>("softmax of multiples", sizes, rows * length, [](auto in, auto) { return softmax(in * max(si::cast<float>(in), si::last_axis)); });
        same<float>("a top that something else reads", of_rows, rows, [](auto in, auto) {
            return si::fused([](auto x) {
                const auto top = max(si::cast<float>(x), si::last_axis);
                return sum(si::exp_below(si::cast<float>(x), top), si::last_axis) + sum(si::cast<float>(x) - top, si::last_axis);
            })(in);
        });
        same<float>("two exponentials of one top", of_rows, rows, [](auto in, auto) {
            return si::fused([](auto x) {
                const auto top = max(si::cast<float>(x), si::last_axis);
                return sum(si::exp_below(si::cast<float>(x), top), si::last_axis) + sum(si::exp_below(si::cast<float>(x) * 0.5f, top), si::last_axis);
            })(in);
        });
        same<float>("the smallest, the largest and the target's", of_rows, rows, [](auto in, auto at) {
            return si::fused([](auto x, auto t) {
                const auto picked = sum(where(si::iota<-1>(x) == t, si::cast<float>(x), 0.0f), si::last_axis);
                return where(max(x, si::last_axis) > 0.0f, picked - si::cast<float>(min(x, si::last_axis)), picked);
            })(in, at);
        });
    }
    /// Masks of which rows read a part only.
    void run_masked() {
        same<Type>("softmax of what is not behind", sizes, rows * length,
                   [](auto in, auto) { return softmax(si::cast<float>(in) * 0.125f, si::iota<-1>(in) <= si::iota<-2>(in)); });
        same<Type>("softmax of negated ones", sizes, rows * length, [](auto in, auto) { return softmax(si::cast<float>(in * -2.0f), si::iota<-1>(in) <= si::iota<-2>(in)); });
        same<float>("sum of what is before", of_rows, rows, [](auto in, auto) { return sum(where(si::iota<-1>(in) < si::iota<-2>(in), si::cast<float>(in), 0.0f), si::last_axis); });
    }
};
template <class Storage, class Type, class Executor>
void check_type(const Executor& executor, i64 longest) {
    using si::extents;
    for (const i64 length : {8, 128, 1000, 1032, 3000, 8192, 20480, 30000, 65536, 131072}) {
        if (length > longest) break;
        for (int kind = 0; kind < kinds; ++kind) cases<Storage, Type, extents<dyn, dyn>, Executor>(executor, length > 20000 ? 11 : 19, length, kind, extents<dyn, dyn>(length > 20000 ? 11 : 19, length)).run();
    }
    if constexpr (sizeof(Type) == 2) {
        for (const int kind : {0, 3, 4, 5}) {
            cases<Storage, Type, extents<dyn, dyn>, Executor>(executor, 300, 264, kind, extents<dyn, dyn>(300, 264)).run_masked();
            cases<Storage, Type, extents<dyn, 2048>, Executor>(executor, 1300, 2048, kind, extents<dyn, 2048>(1300)).run_masked();
        }
    }
    for (int kind = 0; kind < kinds; ++kind) {
        cases<Storage, Type, extents<dyn, 4096>, Executor>(executor, 19, 4096, kind, extents<dyn, 4096>(19)).run();
        cases<Storage, Type, extents<dyn, 4096>, Executor>(executor, 19, 4096, kind, extents<dyn, 4096>(19)).run_together();
        if constexpr (!__is_same(Type, si::f16)) cases<Storage, Type, extents<dyn, dyn>, Executor>(executor, 19, 5000, kind, extents<dyn, dyn>(19, 5000)).run_together();
        if constexpr (sizeof(Type) == 2) {
            cases<Storage, Type, extents<dyn, 3072>, Executor>(executor, 9, 3072, kind, extents<dyn, 3072>(9)).run();
#if !defined(SINTER_CUDA_EMULATED)  // its `longest` is less: they would be compiled and never run
            if (longest >= 32768) cases<Storage, Type, extents<dyn, 32768>, Executor>(executor, 17, 32768, kind, extents<dyn, 32768>(17)).run();
            if (longest >= 100352) cases<Storage, Type, extents<dyn, 100352>, Executor>(executor, 10, 100352, kind, extents<dyn, 100352>(10)).run();
#endif
        }
    }
}
/// Everything; 0 if all is right.
template <class Storage, class Executor>
int check_all(const Executor& executor, i64 longest) {
    if constexpr (LONG_ROWS_TYPES & 1) check_type<Storage, si::bf16>(executor, longest);
    if constexpr (LONG_ROWS_TYPES & 2) check_type<Storage, si::f16>(executor, longest < 70000 ? longest : 70000);
    if constexpr (LONG_ROWS_TYPES & 4) check_type<Storage, float>(executor, longest < 70000 ? longest : 70000);
    return tally();
}

}  // namespace long_rows
