// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the value tests share: rows of literals, comparison by bits (any NaN equals any NaN) or within a relative error, and
// deterministic numbers.
#pragma once

#include <sinter/backend/reference.hpp>
#include <sinter/ops/nn.hpp>

#include "numbers.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <type_traits>

namespace support {

namespace si = sinter;
using si::bf16;
using si::dyn;
using si::f16;
using si::i16;
using si::i32;
using si::i64;
using si::i8;
using si::u16;
using si::u32;
using si::u64;
using si::u8;

inline constexpr float infinity = __builtin_huge_valf();
inline constexpr float nan = __builtin_nanf("");

/// May be handed over in registers and to a kernel byte by byte. (Views have a deleted assignment; clang therefore doesn't call
/// what holds them trivially copyable, which g++ does.)
template <class Type>
constexpr bool is_passed_by_bytes = std::is_trivially_copy_constructible_v<Type> && std::is_trivially_destructible_v<Type>;

template <class Type>
using row_of = si::tensor<Type, si::extents<dyn>>;

/// Memory that lives as long as the program, so that a row of literals can be written where it is used.
class keeper {
public:
    keeper() = default;
    keeper(const keeper&) = delete;
    keeper& operator=(const keeper&) = delete;
    ~keeper() {
        while (newest_) {
            block* const older = newest_->older;
            std::free(newest_);
            newest_ = older;
        }
    }
    template <class Type>
    Type* take(i64 count) {
        block* const made = static_cast<block*>(std::malloc(sizeof(block) + static_cast<std::size_t>(count) * sizeof(Type)));
        made->older = newest_;
        newest_ = made;
        return reinterpret_cast<Type*>(made + 1);
    }

private:
    struct alignas(16) block {
        block* older;
    };
    block* newest_ = nullptr;
};
inline keeper row_memory;

/// A literal of any kind, so that a list may mix 1 and 0.5f.
struct number {
    double floating = 0;
    i64 integer = 0;
    bool is_integer = false;
    template <class Type>
        requires(si::is_scalar_v<Type>)
    constexpr number(Type value) {
        if constexpr (si::is_float(si::dtype_of<Type>)) {
            floating = si::convert<double>(value);
        } else {
            integer = static_cast<i64>(value);
            is_integer = true;
        }
    }
    template <class Type>
    constexpr Type as() const {
        return is_integer ? si::convert<Type>(integer) : si::convert<Type>(floating);
    }
};
using numbers = std::initializer_list<number>;

/// A view of rank 1 over values of any number type, converted by Sinter's rule. Its memory stays.
template <class Type>
si::tensor_view<Type, si::extents<dyn>> row(numbers values) {
    Type* const data = row_memory.take<Type>(static_cast<i64>(values.size()));
    i64 next = 0;
    for (const number& value : values) data[next++] = value.as<Type>();
    return si::tensor_view<Type, si::extents<dyn>>(data, static_cast<i64>(values.size()));
}
/// The same under any static shape, in row-major order.
template <class Type, i64... Sizes>
si::tensor_view<Type, si::extents<Sizes...>> grid(const si::extents<Sizes...>& sizes, numbers values) {
    return si::tensor_view<Type, si::extents<Sizes...>>(row<Type>(values).data(), sizes);
}
template <class Type, class From>
si::tensor_view<Type, si::extents<dyn>> repeated(i64 count, From value) {
    Type* const data = row_memory.take<Type>(count);
    for (i64 i = 0; i < count; ++i) data[i] = si::convert<Type>(value);
    return si::tensor_view<Type, si::extents<dyn>>(data, count);
}
/// `count` values of a function of the index.
template <class Type, class Make>
si::tensor_view<Type, si::extents<dyn>> generated(i64 count, const Make& make) {
    Type* const data = row_memory.take<Type>(count);
    for (i64 i = 0; i < count; ++i) data[i] = si::convert<Type>(make(i));
    return si::tensor_view<Type, si::extents<dyn>>(data, count);
}
template <class Type>
u64 bits_of(const Type& value) {
    u64 out = 0;
    std::memcpy(&out, &value, sizeof(Type));
    return out;
}
template <class Type>
bool not_a_number(const Type& value) {
    if constexpr (si::is_float(si::dtype_of<Type>)) {
        const u64 bits = bits_of(si::convert<double>(value));
        return (bits & ~(u64(1) << 63)) > 0x7ff0000000000000u;
    } else {
        return false;
    }
}
template <class Type>
bool same(const Type& found, const Type& expected) {
    return bits_of(found) == bits_of(expected) || (not_a_number(found) && not_a_number(expected));
}
template <class Type>
void complain(i64 index, const Type& found, const Type& expected) {
    std::printf("element %lld: found %.17g (%#llx), expected %.17g (%#llx)\n", static_cast<long long>(index),
                si::convert<double>(found), static_cast<unsigned long long>(bits_of(found)), si::convert<double>(expected),
                static_cast<unsigned long long>(bits_of(expected)));
}
/// Equal bits of a whole tensor and a list.
template <class Type, class Extents>
bool same(const si::tensor<Type, Extents>& found, numbers expected) {
    if (found.count() != static_cast<i64>(expected.size())) {
        std::printf("found %lld elements, expected %lld\n", static_cast<long long>(found.count()),
                    static_cast<long long>(expected.size()));
        return false;
    }
    bool all = true;
    i64 next = 0;
    for (const number& value : expected) {
        const Type wanted = value.as<Type>();
        if (!same(found[next], wanted)) {
            complain(next, found[next], wanted);
            all = false;
        }
        ++next;
    }
    return all;
}
/// Equal bits of a whole tensor and what a function of the index gives.
template <class Type, class Extents, class Oracle>
    requires std::is_invocable_v<Oracle, i64>
bool same(const si::tensor<Type, Extents>& found, const Oracle& expected) {
    i64 faults = 0;
    for (i64 i = 0; i < found.count(); ++i)
        if (!same(found[i], static_cast<Type>(expected(i))) && faults++ < 3) complain(i, found[i], static_cast<Type>(expected(i)));
    return faults == 0;
}
/// NaN where NaN is expected, equal infinities, else within a relative error.
inline bool close(double found, double expected, double relative) {
    if (not_a_number(found) || not_a_number(expected)) return not_a_number(found) && not_a_number(expected);
    if (found == expected) return true;
    const double error = found > expected ? found - expected : expected - found;
    return error <= relative * (expected < 0 ? -expected : expected);
}
template <class Type, class Extents>
bool close(const si::tensor<Type, Extents>& found, numbers expected, double relative) {
    if (found.count() != static_cast<i64>(expected.size())) return false;
    bool all = true;
    i64 next = 0;
    for (const number& value : expected) {
        if (!close(si::convert<double>(found[next]), value.as<double>(), relative)) {
            complain(next, si::convert<double>(found[next]), value.as<double>());
            all = false;
        }
        ++next;
    }
    return all;
}

using test_numbers::generator;

/// The lengths of the public faults: 1 to 65, 255 to 257 and 1000.
inline constexpr int length_count = 69;
constexpr i64 length(int index) { return index < 65 ? index + 1 : index < 68 ? 255 + index - 65 : 1000; }

}  // namespace support
