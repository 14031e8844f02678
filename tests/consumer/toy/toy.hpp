// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A backend of somebody else's, written against docs/backend.md alone: lanes of four as plain arrays of the scalar lane, and an
// executor that runs on the calling thread. It is no faster than one lane; it shows that a backend needs no more than this, and
// that the bits of every operator and reduction don't depend on the lanes that compute them.
#pragma once

#include <sinter/drive_host.hpp>

namespace toy {

using sinter::i64;

// [lane]
/// Four elements. Deriving from lane::base gives it every operator and lets Sinter find the primitives below.
template <class Type>
struct quad : sinter::lane::base {
    using element = Type;
    using scalar = sinter::lane::scalar<Type>;
    static constexpr int width = 4;
    template <class Other>
    using rebind = quad<Other>;
    using mask = quad<bool>;

    scalar at[width];

    quad() = default;
    SINTER_INLINE explicit quad(Type value) : at{scalar(value), scalar(value), scalar(value), scalar(value)} {}

    // [/lane]
    // ---- primitives that take no lane: loads, and 0, 1, 2, 3
    template <class Storage>
    static SINTER_INLINE quad load(const Storage* from) {
        return load_first(from, width, 1);
    }
    template <class Storage>
    static SINTER_INLINE quad load_strided(const Storage* from, i64 stride) {
        return load_first(from, width, stride);
    }
    template <class Storage>
    static SINTER_INLINE quad load_first(const Storage* from, int count, i64 stride) {
        quad out(Type{});
        for (int l = 0; l < count; ++l) out.at[l] = scalar::load(from + l * stride);
        return out;
    }
    static SINTER_INLINE quad iota() {
        quad out;
        for (int l = 0; l < width; ++l) out.at[l] = scalar(static_cast<Type>(l));
        return out;
    }
};

// ---- primitives lane by lane

// [primitives]
/// A function of scalar lanes, applied to each lane of quads.
template <class Function, class... Quads>
SINTER_INLINE auto each(const Function& function, const Quads&... from) {
    quad<typename decltype(function(from.at[0]...))::element> out;
    for (int l = 0; l < out.width; ++l) out.at[l] = function(from.at[l]...);
    return out;
}

#define TOY_PRIMITIVE(name)                                                                      \
    template <class Type, class... More>                                                         \
    SINTER_INLINE auto name(quad<Type> operand, quad<More>... more) {                            \
        return each([](auto... scalars) { return name(scalars...); }, operand, more...);         \
    }
#define TOY_PRIMITIVE_OF(parameter, name)                                                        \
    template <parameter Given, class Type>                                                       \
    SINTER_INLINE auto name(quad<Type> operand) {                                                \
        return each([](auto scalar) { return name<Given>(scalar); }, operand);                   \
    }

TOY_PRIMITIVE(add)
TOY_PRIMITIVE(sub)
// [/primitives]
TOY_PRIMITIVE(mul)
TOY_PRIMITIVE(div)
TOY_PRIMITIVE(rem)
TOY_PRIMITIVE(fma)
TOY_PRIMITIVE(sqrt)
TOY_PRIMITIVE(round_even)
TOY_PRIMITIVE(less)
TOY_PRIMITIVE(less_equal)
TOY_PRIMITIVE(equal)
TOY_PRIMITIVE(select)
TOY_PRIMITIVE(min_raw)
TOY_PRIMITIVE(max_raw)
TOY_PRIMITIVE(bits)
TOY_PRIMITIVE_OF(class, from_bits)
TOY_PRIMITIVE(bit_and)
TOY_PRIMITIVE(bit_or)
TOY_PRIMITIVE(bit_xor)
TOY_PRIMITIVE(bit_not)
TOY_PRIMITIVE(shift_left)
TOY_PRIMITIVE(shift_right)
TOY_PRIMITIVE_OF(int, shift_left)
TOY_PRIMITIVE_OF(int, shift_right)
TOY_PRIMITIVE_OF(class, convert)
TOY_PRIMITIVE_OF(class, convert_wrap)
#undef TOY_PRIMITIVE
#undef TOY_PRIMITIVE_OF

// ---- primitives over memory and between lanes

template <class Storage, class Type>
SINTER_INLINE void store_first(Storage* to, quad<Type> value, int count, i64 stride) {
    for (int l = 0; l < count; ++l) store(to + l * stride, value.at[l]);
}
template <class Storage, class Type>
SINTER_INLINE void store(Storage* to, quad<Type> value) {
    store_first(to, value, value.width, 1);
}
template <class Storage, class Type>
SINTER_INLINE void store_strided(Storage* to, quad<Type> value, i64 stride) {
    store_first(to, value, value.width, stride);
}
template <class Type>
SINTER_INLINE Type first(quad<Type> value) {
    return value.at[0].value;
}
template <int Stride, class Type>
SINTER_INLINE quad<Type> exchange(quad<Type> value) {
    quad<Type> out;
    for (int l = 0; l < out.width; ++l) out.at[l] = value.at[l ^ Stride];
    return out;
}
SINTER_INLINE bool any(quad<bool> mask) { return first(mask) || mask.at[1].value || mask.at[2].value || mask.at[3].value; }
SINTER_INLINE bool all(quad<bool> mask) { return first(mask) && mask.at[1].value && mask.at[2].value && mask.at[3].value; }

// [executor]
struct family {
    template <class Type>
    using value = quad<Type>;
    static constexpr int width = 4;
};

struct executor {
    using memory_space = sinter::host_memory;
    template <class Assignment>
    sinter::status launch(const Assignment& assigned) const {
        return sinter::launch_on_host<family>(assigned);
    }
};
// [/executor]
}  // namespace toy
