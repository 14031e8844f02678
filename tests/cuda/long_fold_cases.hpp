// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One fold of few long rows on a device, `Storage` its memory: whole packs and not, a last segment that isn't whole, more parts than a block
// has threads, several rows, several operands, values of 4, 8 and 16 bits, states of several numbers. Bits as the reference.
#pragma once

#include "device_copy.hpp"
#include "tally.hpp"

#include <sinter/sinter.hpp>

#include <cstring>
#include <vector>

namespace long_folds {

namespace si = sinter;
using si::dyn;
using si::i64;

template <class Storage, class Executor>
struct cases {
    Executor executor;
    template <class Type, class Extents>
    static auto on_device(Type* at, const Extents& sizes) {
        return si::tensor_view<Type, Extents, si::row_major, si::device_memory>(at, sizes);
    }
    template <class Type>
    static std::vector<Type> numbers(i64 count) {
        std::vector<Type> out;
        unsigned state = 1;
        for (i64 i = 0; i < count; ++i) {
            state = state * 1664525u + 1013904223u;
            if constexpr (si::detail::is_float_v<Type> || sizeof(Type) == 2)
                out.push_back(si::convert<Type>(float(int(state)) * 0x1p-28f));
            else
                out.push_back(static_cast<Type>(state >> 24));
        }
        return out;
    }
    /// x and y of `rows` rows of `length`; `skip`: elements before them, so that packs aren't aligned.
    template <class Type, class Result, class Formula>
    void same(const char* name, i64 rows, i64 length, i64 skip, const Formula& formula) {
        const si::extents<dyn, dyn> sizes(rows, length);
        const si::extents<dyn, 1> column(rows);
        std::vector<Type> x = numbers<Type>(rows * length + skip), y(x.rbegin(), x.rend());
        std::vector<Result> wanted(static_cast<std::size_t>(rows));
        const device_copy<Storage, Type> x_on(x), y_on(y);
        const device_copy<Storage, Result> found_on(wanted);
        const bool ran = si::try_run(executor, on_device(found_on.device, column) = formula(on_device(x_on.device + skip, sizes), on_device(y_on.device + skip, sizes))).ok() &&
                         si::try_run(si::reference, si::view(wanted.data(), column) = formula(si::view(x.data() + skip, sizes), si::view(y.data() + skip, sizes))).ok();
        const std::vector<Result> found = found_on.read();
        check(name, length, ran && std::memcmp(found.data(), wanted.data(), found.size() * sizeof(Result)) == 0);
    }
    void check_length(i64 rows, i64 length, i64 skip) {
        same<float, float>("sum", rows, length, skip, [](auto x, auto) { return sum(x, si::last_axis); });
        same<float, float>("dot", rows, length, skip, [](auto x, auto y) { return sum(x * y, si::last_axis); });
        same<float, float>("sum and largest", rows, length, skip, si::fused([](auto x, auto y) { return sum(x, si::last_axis) + max(abs(y), si::last_axis); }));
        same<float, i64>("index", rows, length, skip, [](auto x, auto) { return argmax(x, si::last_axis); });
        same<si::bf16, float>("sum of bf16", rows, length, skip, si::fused([](auto x, auto) { return sum(si::cast<float>(x), si::last_axis); }));
        same<si::u8, i64>("sum of bytes", rows, length, skip, si::fused([](auto x, auto y) { return si::cast<i64>(sum(x, si::last_axis) + si::cast<si::u64>(max(y, si::last_axis))); }));
    }
};

template <class Storage, class Executor>
int check_all(const Executor& executor, i64 longest) {
    cases<Storage, Executor> all{executor};
    all.check_length(1, 131072, 0);
    all.check_length(1, 150008, 0);
    all.check_length(1, 150009, 0);
    all.check_length(1, 150008, 1);
    all.check_length(3, 160016, 0);
    all.check_length(1, longest, 0);
    return tally();
}

}  // namespace long_folds
