// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands with interleaved channels on a device, `Storage` its memory: two to four channels of 1, 2, 4 and 8 bytes to planes of other
// types, beside operands that lie in planes, with loops around and cut out of larger images, aligned or not. Bits as the reference, and
// what lies beside an output stays as it was.
#pragma once

#include "device_copy.hpp"
#include "numbers.hpp"
#include "tally.hpp"

#include <sinter/sinter.hpp>

#include <cstring>
#include <vector>

namespace channels_of_device {

namespace si = sinter;
using si::dyn;
using si::i64;

template <class Type>
bool equal(const std::vector<Type>& a, const std::vector<Type>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(Type)) == 0;
}
template <class Type>
std::vector<Type> numbers_or_codes(i64 count, unsigned state) {
    if constexpr (si::detail::is_float_v<Type>) {
        return numbers<Type>(count, state);
    } else {
        std::vector<Type> out;
        for (i64 i = 0; i < count; ++i) out.push_back(Type(i * 37 + i / 11 + state));
        return out;
    }
}

/// An image of `images` x height x width x Channels, its first element `shift` elements into its memory, and rows of `pitch` pixels.
template <class Storage, i64 Channels, class From, class To, class Executor>
void to_planes(const char* name, i64 images, i64 height, i64 width, i64 shift, i64 pitch, const Executor& executor) {
    const auto formula = si::fused([](auto v, auto m, auto add) {
        return si::cast<To>(si::cast<float>(si::permute<0, 3, 1, 2>(v)) * 0.25f - m + si::cast<float>(add) + si::cast<float>(si::iota<1>(add)) * 8.0f);
    });
    const i64 count = images * height * width * Channels, guard = 64;
    const std::vector<From> x = numbers_or_codes<From>(images * height * pitch * Channels + shift, 1);
    const std::vector<float> m = numbers<float>(Channels, 2);
    const std::vector<To> other = numbers_or_codes<To>(count, 3);
    std::vector<To> wanted(std::size_t(count + guard), To{});
    const si::extents<dyn, dyn, dyn, Channels> from(images, height, width);
    const si::extents<dyn, Channels, dyn, dyn> to(images, height, width);
    const si::extents<Channels, 1, 1> channel;
    const si::array<i64, 4> steps{{height * pitch * Channels, pitch * Channels, Channels, 1}};
    const device_copy<Storage, From> x_on(x);
    const device_copy<Storage, float> m_on(m);
    const device_copy<Storage, To> other_on(other), found_on(wanted);
    bool ran;
    if (pitch == width)
        ran = si::try_run(executor, si::device_view(found_on.device, to) = formula(si::device_view(static_cast<const From*>(x_on.device) + shift, from), si::device_view(static_cast<const float*>(m_on.device), channel),
                                                                                   si::device_view(static_cast<const To*>(other_on.device), to))).ok();
    else
        ran = si::try_run(executor, si::device_view(found_on.device, to) = formula(si::device_view(static_cast<const From*>(x_on.device) + shift, from, steps), si::device_view(static_cast<const float*>(m_on.device), channel),
                                                                                   si::device_view(static_cast<const To*>(other_on.device), to))).ok();
    ran = ran && si::try_run(si::reference, si::view(wanted.data(), to) = formula(si::view(x.data() + shift, from, steps), si::view(m.data(), channel), si::view(other.data(), to))).ok();
    check(name, Channels * 1000000 + height * 1000 + width, ran && equal(found_on.read(), wanted));
}
template <class Storage, i64 Channels, class From, class To, class Executor>
void sizes(const char* name, const Executor& executor) {
    to_planes<Storage, Channels, From, To>(name, 2, 4, 16, 0, 16, executor);     // one pack or few
    to_planes<Storage, Channels, From, To>(name, 3, 37, 64, 0, 64, executor);    // several blocks, the last one not full
    to_planes<Storage, Channels, From, To>(name, 2, 5, 48, 0, 64, executor);     // cut out of a wider one: rows are a loop
    to_planes<Storage, Channels, From, To>(name, 2, 9, 64, 1, 64, executor);     // not aligned
    to_planes<Storage, Channels, From, To>(name, 2, 3, 21, 0, 21, executor);     // no whole packs
    to_planes<Storage, Channels, From, To>(name, 2, 5, 48, 0, 49, executor);     // rows not aligned
    to_planes<Storage, Channels, From, To>(name, 1, 130, 512, 0, 512, executor);
}
template <class Storage, class Executor>
int check_all(const Executor& executor) {
    sizes<Storage, 2, si::u8, float>("u8 to f32", executor);
    sizes<Storage, 3, si::u8, float>("u8 to f32", executor);
    sizes<Storage, 4, si::u8, float>("u8 to f32", executor);
    sizes<Storage, 3, si::u8, si::bf16>("u8 to bf16", executor);
    sizes<Storage, 3, si::u8, si::i8>("u8 to i8", executor);
    sizes<Storage, 2, si::bf16, float>("bf16 to f32", executor);
    sizes<Storage, 3, si::bf16, float>("bf16 to f32", executor);
    sizes<Storage, 3, float, si::bf16>("f32 to bf16", executor);
    sizes<Storage, 3, double, float>("f64 to f32", executor);
    return tally();
}

}  // namespace channels_of_device
