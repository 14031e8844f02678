// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of a matrix of codes and some vectors on a device, `Storage` its memory: every sign and zero point, rows that whole packs fill
// and others, one vector to many, what follows the sum, codes as results. Bits as the reference.
#pragma once

#include "tally.hpp"

#include <sinter/sinter.hpp>

#include <cstdio>
#include <vector>

namespace products {

namespace si = sinter;
using namespace sinter::literals;
using si::i64;

template <class Storage, class Type>
struct memory {
    std::vector<Type> host;
    Type* device;
    memory(i64 count, unsigned seed) : host(static_cast<std::size_t>(count)), device(Storage::template allocate<Type>(count)) {
        for (Type& one : host) {
            seed = seed * 1664525u + 1013904223u;
            if constexpr (sizeof(Type) == 1)
                reinterpret_cast<unsigned char&>(one) = static_cast<unsigned char>(seed % 29 == 0 ? 128 : seed >> 24);
            else
                one = static_cast<Type>(float(seed >> 24) * 0.03125f - 4.0f);
        }
        Storage::upload(device, host.data(), count);
    }
    memory(const memory&) = delete;
    ~memory() { Storage::release(device); }
};
template <class Type, class Extents>
auto host_view(Type* from, const Extents& sizes) {
    return si::tensor_view<Type, Extents>(from, sizes);
}
template <class Type, class Extents>
auto device_view(Type* from, const Extents& sizes) {
    return si::tensor_view<Type, Extents, si::row_major, si::device_memory>(from, sizes);
}

template <i64 Inner, class Left, class Right, class Result, class Storage, class Executor>
void check(const char* name, i64 vectors, i64 rows, const Executor& executor) {
    memory<Storage, Left> x(vectors * Inner, 1);
    memory<Storage, Right> w(rows * Inner, 2);
    memory<Storage, float> scale(rows, 3), bias(rows, 4);
    memory<Storage, Result> y(vectors * rows, 5);
    std::vector<Result> found(y.host.size());
    const si::extents<si::dyn, 1, Inner> of_x(vectors);
    const si::extents<1, si::dyn, Inner> of_w(rows);
    const si::extents<1, si::dyn, 1> of_row(rows);
    const si::extents<si::dyn, si::dyn, 1> of_y(vectors, rows);
    const auto formula = [](const auto& left, const auto& right, const auto& factor, const auto& addend) {
        return relu(si::dot_codes(left, right, si::axes<-1>) * factor * 0.01f + addend);
    };
    const bool ran = si::try_run(si::reference, host_view(y.host.data(), of_y) = formula(host_view(static_cast<const Left*>(x.host.data()), of_x),
                                                    host_view(static_cast<const Right*>(w.host.data()), of_w), host_view(scale.host.data(), of_row),
                                                    host_view(bias.host.data(), of_row))).ok() &&
                     si::try_run(executor, device_view(y.device, of_y) = formula(device_view(static_cast<const Left*>(x.device), of_x),
                                               device_view(static_cast<const Right*>(w.device), of_w), device_view(scale.device, of_row),
                                               device_view(bias.device, of_row))).ok();
    Storage::download(found.data(), y.device, i64(found.size()));
    const bool equal = ran && __builtin_memcmp(found.data(), y.host.data(), found.size() * sizeof(Result)) == 0;
    char text[128];
    std::snprintf(text, sizeof text, "%s, %lld vectors, rows of %lld", name, static_cast<long long>(vectors), static_cast<long long>(Inner));
    ::check(text, rows, equal);
}
template <i64 Inner, class Storage, class Executor>
void check_types(i64 vectors, i64 rows, const Executor& executor) {
    using image = si::qu8<"0.5:131"_qp>;
    using weight = si::q8<"0.25:-7"_qp>;
    check<Inner, si::i8, si::i8, float, Storage>("i8 by i8", vectors, rows, executor);
    check<Inner, si::u8, si::i8, float, Storage>("u8 by i8", vectors, rows, executor);
    check<Inner, image, weight, si::q8<"0.37:4"_qp>, Storage>("with zero points, to codes", vectors, rows, executor);
}
/// Everything; 0 if all is right.
template <class Storage, class Executor>
int check_all(const Executor& executor) {
    for (const i64 vectors : {1, 3, 16, 37})
        for (const i64 rows : {1, 5, 70}) {
            check_types<16, Storage>(vectors, rows, executor);
            check_types<528, Storage>(vectors, rows, executor);
            check_types<4096, Storage>(vectors, rows, executor);
            check_types<100, Storage>(vectors, rows, executor);  // no whole packs: the general kernel
        }
    check<8208, si::i8, si::u8, float, Storage>("i8 by u8", 2, 9, executor);
    check<8208, si::u8, si::u8, float, Storage>("u8 by u8", 2, 9, executor);
    return tally();
}

}  // namespace products
