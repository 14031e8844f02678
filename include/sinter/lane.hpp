// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one step computes on. A lane value type is a register's worth of elements: `scalar<Type>` here (the reference,
// constant evaluation, one CUDA thread), a SIMD struct in a CPU backend. This header holds the scalar lane's primitives and
// all that is written once over any lane: operators, NaN tests, minimum and maximum, floor. It holds no transcendental.
//
// To write a backend, derive a trivially copyable `Value` from `lane::base` with `element`, `width`, `rebind<Other>`, `mask`
// (= rebind<bool>), a default constructor and an explicit one from an element (splat), and supply
//   as static members   load(p) load_strided(p, stride) load_first(p, count, stride) iota(): no argument is a lane
//   as free functions   everything below marked "primitive", found by argument-dependent lookup.
// An overload for one's own lane type also replaces anything of the second half of this header, where an instruction does it.
#pragma once

#include "config.hpp"
#include "diagnose.hpp"
#include "float_step.hpp"
#include "scalar.hpp"

namespace sinter::lane {

/// The base of every lane value type; it makes operators and primitives visible to argument-dependent lookup.
struct base {
    /// `mask ? a : b`. (In the base, which is no template: every lane type would say it anew.)
    template <class Condition>
        requires is_same<Condition, bool>
    SINTER_HOST_DEVICE constexpr explicit operator Condition() const {
        static_assert(dependent_false<Condition>, SINTER_BRANCH_OVER_LANES);
        return false;
    }
};

template <class Value>
concept lane_value = __is_base_of(base, Value);

namespace detail {
// clang-format off
template <int Bytes> struct integer_of;
template <> struct integer_of<1> { using natural = u8; using whole = i8; };
template <> struct integer_of<2> { using natural = u16; using whole = i16; };
template <> struct integer_of<4> { using natural = u32; using whole = i32; };
template <> struct integer_of<8> { using natural = u64; using whole = i64; };
// clang-format on
}  // namespace detail

template <class Type>
using unsigned_like = typename detail::integer_of<sizeof(Type)>::natural;
template <class Type>
using signed_like = typename detail::integer_of<sizeof(Type)>::whole;
template <class Type>
inline constexpr bool is_float_element = __is_same(Type, float) || __is_same(Type, double);

/// The lane of width 1. Its mask is scalar<bool>. Narrow integers stay in their own type.
template <class Type>
struct scalar : base {
    using element = Type;
    static constexpr int width = 1;
    template <class Other>
    using rebind = scalar<Other>;
    using mask = scalar<bool>;

    Type value;

    scalar() = default;
    SINTER_INLINE explicit scalar(Type element_value) : value(element_value) {}

    template <class Storage>
    static SINTER_INLINE scalar load(const Storage* from) {
        static_assert(__is_same(compute_of<Storage>, Type), "a lane loads its own element type, or a storage type of it");
        if constexpr (__is_same(Type, bool)) {
            if (!SINTER_CONSTANT_EVALUATED) {
                return scalar(*reinterpret_cast<const unsigned char*>(from) != 0);  // any byte but 0 is true
            }
        }
        return scalar(decode(*from));
    }
    template <class Storage>
    static SINTER_INLINE scalar load_strided(const Storage* from, i64) {
        return load(from);
    }
    template <class Storage>
    static SINTER_INLINE scalar load_first(const Storage* from, int count, i64) {
        return count > 0 ? load(from) : scalar(Type{});
    }
    static SINTER_INLINE scalar iota() { return scalar(Type{}); }
};

namespace detail {

/// The unsigned type in which an integer's arithmetic wraps: narrow ones in 32 bits, since int would overflow.
template <class Integer>
using wrapping = unsigned_like<decltype(Integer{} + 0u)>;

template <class Integer>
inline constexpr bool has_sign = static_cast<Integer>(-1) < static_cast<Integer>(1);

}  // namespace detail

// ---- primitives: arithmetic -------------------------------------------------------------------------------------------------
// Floats are IEEE, rounded once, never contracted. Integers wrap in their own type; x / 0 = x % 0 = 0, MIN / -1 = MIN.

template <class Type>
SINTER_INLINE scalar<Type> add(scalar<Type> left, scalar<Type> right) {
    if constexpr (is_float_element<Type>) {
        return scalar<Type>(step::add(left.value, right.value));
    } else {
        using Wide = detail::wrapping<Type>;
        return scalar<Type>(static_cast<Type>(static_cast<Wide>(left.value) + static_cast<Wide>(right.value)));
    }
}

template <class Type>
SINTER_INLINE scalar<Type> sub(scalar<Type> left, scalar<Type> right) {
    if constexpr (is_float_element<Type>) {
        return scalar<Type>(step::sub(left.value, right.value));
    } else {
        using Wide = detail::wrapping<Type>;
        return scalar<Type>(static_cast<Type>(static_cast<Wide>(left.value) - static_cast<Wide>(right.value)));
    }
}

template <class Type>
SINTER_INLINE scalar<Type> mul(scalar<Type> left, scalar<Type> right) {
    if constexpr (is_float_element<Type>) {
        return scalar<Type>(step::mul(left.value, right.value));
    } else {
        using Wide = detail::wrapping<Type>;
        return scalar<Type>(static_cast<Type>(static_cast<Wide>(left.value) * static_cast<Wide>(right.value)));
    }
}

template <class Type>
SINTER_INLINE scalar<Type> div(scalar<Type> left, scalar<Type> right) {
    if constexpr (is_float_element<Type>) {
        return scalar<Type>(step::div(left.value, right.value));
    } else {
        if (right.value == 0) {
            return scalar<Type>(0);
        }
        if constexpr (detail::has_sign<Type>) {
            if (right.value == -1) {
                return sub(scalar<Type>(0), left);  // MIN / -1 traps in hardware
            }
        }
        return scalar<Type>(static_cast<Type>(left.value / right.value));
    }
}

template <class Type>
SINTER_INLINE scalar<Type> rem(scalar<Type> left, scalar<Type> right) {
    static_assert(!is_float_element<Type>, "rem is for integers");
    if (right.value == 0) {
        return scalar<Type>(0);
    }
    if constexpr (detail::has_sign<Type>) {
        if (right.value == -1) {
            return scalar<Type>(0);
        }
    }
    return scalar<Type>(static_cast<Type>(left.value % right.value));
}

template <class Type>
SINTER_INLINE scalar<Type> fma(scalar<Type> left, scalar<Type> right, scalar<Type> addend) {
    return scalar<Type>(step::fma(left.value, right.value, addend.value));
}
template <class Type>
SINTER_INLINE scalar<Type> sqrt(scalar<Type> operand) {
    return scalar<Type>(step::sqrt(operand.value));
}
/// To an integer, halves to even.
template <class Type>
SINTER_INLINE scalar<Type> round_even(scalar<Type> operand) {
    return scalar<Type>(step::round_even(operand.value));
}

// ---- primitives: comparison, selection --------------------------------------------------------------------------------------

template <class Type>
SINTER_INLINE scalar<bool> less(scalar<Type> left, scalar<Type> right) {
    if constexpr (is_float_element<Type>) {
        return scalar<bool>(step::less(left.value, right.value));
    } else {
        return scalar<bool>(left.value < right.value);
    }
}
template <class Type>
SINTER_INLINE scalar<bool> less_equal(scalar<Type> left, scalar<Type> right) {
    if constexpr (is_float_element<Type>) {
        return scalar<bool>(step::less_equal(left.value, right.value));
    } else {
        return scalar<bool>(left.value <= right.value);
    }
}
template <class Type>
SINTER_INLINE scalar<bool> equal(scalar<Type> left, scalar<Type> right) {
    if constexpr (is_float_element<Type>) {
        return scalar<bool>(step::equal(left.value, right.value));
    } else {
        return scalar<bool>(left.value == right.value);
    }
}

/// mask ? left : right; the other one doesn't leak, whatever it is.
template <class Type>
SINTER_INLINE scalar<Type> select(scalar<bool> mask, scalar<Type> left, scalar<Type> right) {
    if constexpr (is_float_element<Type>) {
        return scalar<Type>(mask.value ? step::opaque(left.value) : step::opaque(right.value));
    } else {
        return scalar<Type>(mask.value ? left.value : right.value);
    }
}

/// left < right ? left : right: the second one when unordered or equal.
template <class Type>
SINTER_INLINE scalar<Type> min_raw(scalar<Type> left, scalar<Type> right) {
    if constexpr (is_float_element<Type>) {
        return scalar<Type>(step::min_raw(left.value, right.value));
    } else {
        return left.value < right.value ? left : right;
    }
}
/// left > right ? left : right: the second one when unordered or equal.
template <class Type>
SINTER_INLINE scalar<Type> max_raw(scalar<Type> left, scalar<Type> right) {
    if constexpr (is_float_element<Type>) {
        return scalar<Type>(step::max_raw(left.value, right.value));
    } else {
        return left.value > right.value ? left : right;
    }
}

SINTER_INLINE bool any(scalar<bool> mask) { return mask.value; }
SINTER_INLINE bool all(scalar<bool> mask) { return mask.value; }

// ---- primitives: bits -------------------------------------------------------------------------------------------------------

template <class Type>
SINTER_INLINE scalar<unsigned_like<Type>> bits(scalar<Type> operand) {
    return scalar<unsigned_like<Type>>(__builtin_bit_cast(unsigned_like<Type>, operand.value));
}
template <class Type, class Unsigned>
SINTER_INLINE scalar<Type> from_bits(scalar<Unsigned> operand) {
    static_assert(sizeof(Type) == sizeof(Unsigned), "from_bits keeps the size");
    return scalar<Type>(__builtin_bit_cast(Type, operand.value));
}

template <class Type>
SINTER_INLINE scalar<Type> bit_and(scalar<Type> left, scalar<Type> right) {
    return scalar<Type>(static_cast<Type>(left.value & right.value));
}
template <class Type>
SINTER_INLINE scalar<Type> bit_or(scalar<Type> left, scalar<Type> right) {
    return scalar<Type>(static_cast<Type>(left.value | right.value));
}
template <class Type>
SINTER_INLINE scalar<Type> bit_xor(scalar<Type> left, scalar<Type> right) {
    return scalar<Type>(static_cast<Type>(left.value ^ right.value));
}
template <class Type>
SINTER_INLINE scalar<Type> bit_not(scalar<Type> operand) {
    if constexpr (__is_same(Type, bool)) {
        return scalar<bool>(!operand.value);
    } else {
        return scalar<Type>(static_cast<Type>(~operand.value));
    }
}

/// A negative count, or one of the width or more, shifts everything out.
template <class Type>
SINTER_INLINE scalar<Type> shift_left(scalar<Type> operand, scalar<Type> count) {
    using Wide = detail::wrapping<Type>;
    const Wide places = static_cast<Wide>(count.value);  // a negative count becomes a huge one
    return scalar<Type>(places < 8 * sizeof(Type) ? static_cast<Type>(static_cast<Wide>(operand.value) << places) : Type{0});
}
/// Signed types fill with the sign; so does a count out of range.
template <class Type>
SINTER_INLINE scalar<Type> shift_right(scalar<Type> operand, scalar<Type> count) {
    const auto places = static_cast<detail::wrapping<Type>>(count.value);
    if (places < 8 * sizeof(Type)) {
        return scalar<Type>(static_cast<Type>(operand.value >> places));
    }
    if constexpr (detail::has_sign<Type>) {
        return scalar<Type>(static_cast<Type>(operand.value < 0 ? -1 : 0));
    } else {
        return scalar<Type>(Type{0});
    }
}
template <int Count, class Type>
SINTER_INLINE scalar<Type> shift_left(scalar<Type> operand) {
    static_assert(Count >= 0 && Count < 8 * static_cast<int>(sizeof(Type)), "a constant shift count lies within the type");
    return scalar<Type>(static_cast<Type>(static_cast<detail::wrapping<Type>>(operand.value) << Count));
}
template <int Count, class Type>
SINTER_INLINE scalar<Type> shift_right(scalar<Type> operand) {
    static_assert(Count >= 0 && Count < 8 * static_cast<int>(sizeof(Type)), "a constant shift count lies within the type");
    return scalar<Type>(static_cast<Type>(operand.value >> Count));
}

// ---- primitives: conversion, memory, lanes ----------------------------------------------------------------------------------

template <class To, class From>
SINTER_INLINE scalar<To> convert(scalar<From> operand) {
#if SINTER_DEVICE_PASS
    // Of 8 and 16 bits, exactly, by the additions of an integer and a float: a conversion has a fraction of their rate.
    if constexpr (__is_same(To, float) && !is_float_element<From> && !__is_same(From, bool) && sizeof(From) <= 2) {
        if (!SINTER_CONSTANT_EVALUATED) {
            const float shifted = __builtin_bit_cast(float, 0x4b400000u + static_cast<u32>(static_cast<i32>(operand.value)));
            return scalar<To>(step::sub(shifted, 0x1.8p23f));
        }
    }
#endif
    return scalar<To>(sinter::convert<To>(operand.value));
}
template <class To, class From>
SINTER_INLINE scalar<To> convert_wrap(scalar<From> operand) {
    return scalar<To>(sinter::convert_wrap<To>(operand.value));
}

template <class Storage, class Type>
SINTER_INLINE void store(Storage* to, scalar<Type> operand) {
    static_assert(__is_same(compute_of<Storage>, Type), "a lane stores its own element type, or a storage type of it");
    if constexpr (requires { codec<Storage>::stored(operand); }) {
        *to = codec<Storage>::stored(operand);
    } else {
        *to = encode<Storage>(operand.value);
    }
}
template <class Storage, class Type>
SINTER_INLINE void store_strided(Storage* to, scalar<Type> operand, i64) {
    store(to, operand);
}
template <class Storage, class Type>
SINTER_INLINE void store_first(Storage* to, scalar<Type> operand, int count, i64) {
    if (count > 0) {
        store(to, operand);
    }
}

/// The element of lane 0.
template <class Type>
SINTER_INLINE Type first(scalar<Type> operand) {
    return operand.value;
}
/// Lane l receives lane l ^ Stride.
template <int Stride, class Type>
SINTER_INLINE scalar<Type> exchange(scalar<Type> operand) {
    static_assert(Stride < 0, "a lane of width 1 has no other lane");
    return operand;
}

// ---- over every lane: producers ---------------------------------------------------------------------------------------------

/// Value::width elements, from p on, or `stride` elements apart.
template <lane_value Value, class Storage>
SINTER_INLINE Value load(const Storage* from) {
    return Value::load(from);
}
template <lane_value Value, class Storage>
SINTER_INLINE Value load_strided(const Storage* from, i64 stride) {
    return Value::load_strided(from, stride);
}
/// The first `count` lanes; the others are zero, and memory past them isn't touched.
template <lane_value Value, class Storage>
SINTER_INLINE Value load_first(const Storage* from, int count, i64 stride) {
    return Value::load_first(from, count, stride);
}
/// 0, 1, 2, ...
template <lane_value Value>
SINTER_INLINE Value iota() {
    return Value::iota();
}

// ---- over every lane: operators ---------------------------------------------------------------------------------------------
// Between lane values, and with a plain element on either side (`x * 0.5f`).

#define SINTER_LANE_OPERATOR(symbol, result, expression)                               \
    template <lane_value Value>                                                        \
    SINTER_INLINE result operator symbol(Value left, Value right) {                    \
        return expression;                                                             \
    }                                                                                  \
    template <lane_value Value>                                                        \
    SINTER_INLINE result operator symbol(Value left, typename Value::element element) { \
        const Value right(element);                                                    \
        return expression;                                                             \
    }                                                                                  \
    template <lane_value Value>                                                        \
    SINTER_INLINE result operator symbol(typename Value::element element, Value right) { \
        const Value left(element);                                                     \
        return expression;                                                             \
    }

SINTER_LANE_OPERATOR(+, Value, add(left, right))
SINTER_LANE_OPERATOR(-, Value, sub(left, right))
SINTER_LANE_OPERATOR(*, Value, mul(left, right))
SINTER_LANE_OPERATOR(/, Value, div(left, right))
SINTER_LANE_OPERATOR(%, Value, rem(left, right))
SINTER_LANE_OPERATOR(&, Value, bit_and(left, right))
SINTER_LANE_OPERATOR(|, Value, bit_or(left, right))
SINTER_LANE_OPERATOR(^, Value, bit_xor(left, right))
SINTER_LANE_OPERATOR(<<, Value, shift_left(left, right))
SINTER_LANE_OPERATOR(>>, Value, shift_right(left, right))
SINTER_LANE_OPERATOR(<, typename Value::mask, less(left, right))
SINTER_LANE_OPERATOR(<=, typename Value::mask, less_equal(left, right))
SINTER_LANE_OPERATOR(>, typename Value::mask, less(right, left))
SINTER_LANE_OPERATOR(>=, typename Value::mask, less_equal(right, left))
SINTER_LANE_OPERATOR(==, typename Value::mask, equal(left, right))
SINTER_LANE_OPERATOR(!=, typename Value::mask, bit_not(equal(left, right)))
#undef SINTER_LANE_OPERATOR
#define SINTER_LANE_COMPOUND(compound, symbol)                       \
    template <lane_value Value, class Right>                         \
    SINTER_INLINE Value& operator compound(Value& left, Right right) { \
        return left = left symbol right;                             \
    }
SINTER_LANE_COMPOUND(+=, +)
SINTER_LANE_COMPOUND(-=, -)
SINTER_LANE_COMPOUND(*=, *)
SINTER_LANE_COMPOUND(/=, /)
#undef SINTER_LANE_COMPOUND

/// 1 / x, rounded once.
template <lane_value Value>
SINTER_INLINE Value reciprocal(Value x) {
    return typename Value::element(1) / x;
}
template <class Type>
SINTER_INLINE scalar<Type> reciprocal(scalar<Type> x) {
    return scalar<Type>(step::reciprocal(x.value));
}

template <lane_value Value>
SINTER_INLINE Value operator~(Value operand) {
    return bit_not(operand);
}
template <lane_value Value>
SINTER_INLINE Value operator!(Value operand) {
    static_assert(__is_same(typename Value::element, bool), "! is for masks");
    return bit_not(operand);
}

// ---- over every lane: products of short numbers ------------------------------------------------------------------------------

/// x * y for i32 lanes whose values lie in [-32768, 32767], as codes less their zero points do. A backend may have an instruction that
/// is cheaper than the product of any two. `LeftCounts`: the left values are at least 0.
template <bool LeftCounts, lane_value Value>
SINTER_INLINE Value mul_short(Value left, Value right) {
    return mul(left, right);
}

// ---- over every lane: signs and kinds of number -----------------------------------------------------------------------------

namespace detail {
template <class Value>
using format = typename soft::format_of<typename Value::element>::type;
template <class Value>
using unsigned_lane = typename Value::template rebind<unsigned_like<typename Value::element>>;
template <class Value>
SINTER_INLINE unsigned_lane<Value> splat_bits(u64 pattern) {
    return unsigned_lane<Value>(static_cast<typename unsigned_lane<Value>::element>(pattern));
}
template <class Value>
inline constexpr bool is_float_lane = is_float_element<typename Value::element>;
}  // namespace detail

/// By bits: no flag lets a compiler assume the answer.
template <lane_value Value>
SINTER_INLINE typename Value::mask is_nan(Value operand) {
    using Format = detail::format<Value>;
    using Signed = signed_like<typename Value::element>;
    const auto magnitude = bit_and(bits(operand), detail::splat_bits<Value>(Format::sign - 1));
    return less(typename Value::template rebind<Signed>(static_cast<Signed>(Format::infinity)), from_bits<Signed>(magnitude));
}
/// Not a NaN.
template <lane_value Value>
SINTER_INLINE typename Value::mask is_number(Value operand) {
    return bit_not(is_nan(operand));
}
#if SINTER_DEVICE_PASS
SINTER_INLINE scalar<bool> is_number(scalar<float> operand) { return equal(operand, operand); }  // one instruction, whatever the flags
#endif
template <lane_value Value>
SINTER_INLINE typename Value::mask is_inf(Value operand) {
    using Format = detail::format<Value>;
    const auto magnitude = bit_and(bits(operand), detail::splat_bits<Value>(Format::sign - 1));
    return equal(magnitude, detail::splat_bits<Value>(Format::infinity));
}
template <lane_value Value>
SINTER_INLINE typename Value::mask is_finite(Value operand) {
    const auto infinity = detail::splat_bits<Value>(detail::format<Value>::infinity);
    return bit_not(equal(bit_and(bits(operand), infinity), infinity));
}
/// The sign bit, a NaN's and a zero's too.
template <lane_value Value>
SINTER_INLINE typename Value::mask sign_bit(Value operand) {
    using Signed = signed_like<typename Value::element>;
    return less(from_bits<Signed>(bits(operand)), typename Value::template rebind<Signed>(Signed{0}));
}

/// Floats flip the sign bit; integers wrap, so neg(MIN) = MIN.
template <lane_value Value>
SINTER_INLINE Value neg(Value operand) {
    if constexpr (detail::is_float_lane<Value>) {
        const auto sign = detail::splat_bits<Value>(detail::format<Value>::sign);
        return from_bits<typename Value::element>(bit_xor(bits(operand), sign));
    } else {
        return sub(Value(typename Value::element{0}), operand);
    }
}
template <lane_value Value>
SINTER_INLINE Value operator-(Value operand) {
    return neg(operand);
}

/// abs(MIN) = MIN.
template <lane_value Value>
SINTER_INLINE Value abs(Value operand) {
    using Type = typename Value::element;
    if constexpr (detail::is_float_lane<Value>) {
        return from_bits<Type>(bit_and(bits(operand), detail::splat_bits<Value>(detail::format<Value>::sign - 1)));
    } else if constexpr (detail::has_sign<Type>) {
        return select(less(operand, Value(Type{0})), neg(operand), operand);
    } else {
        return operand;
    }
}

#if SINTER_DEVICE_PASS
/// Mostly no instruction at all: the one that takes it reads a magnitude.
SINTER_INLINE scalar<float> abs(scalar<float> operand) {
    if (SINTER_CONSTANT_EVALUATED) return abs<scalar<float>>(operand);
    float result;
    asm("abs.f32 %0, %1;" : "=f"(result) : "f"(operand.value));
    return scalar<float>(result);
}
#endif

/// The magnitude of the first with the sign of the second.
template <lane_value Value>
SINTER_INLINE Value copysign(Value magnitude, Value sign) {
    using Format = detail::format<Value>;
    const auto kept = bit_and(bits(magnitude), detail::splat_bits<Value>(Format::sign - 1));
    return from_bits<typename Value::element>(bit_or(kept, bit_and(bits(sign), detail::splat_bits<Value>(Format::sign))));
}

/// -1, 0 or 1; of a zero +0, of a NaN NaN.
template <lane_value Value>
SINTER_INLINE Value sign(Value operand) {
    using Type = typename Value::element;
    const Value zero(Type{0});
    Value result = select(less(zero, operand), Value(Type{1}), zero);
    if constexpr (detail::is_float_lane<Value>) {
        result = select(is_nan(operand), operand, result);
    }
    if constexpr (detail::has_sign<Type>) {
        result = select(less(operand, zero), Value(static_cast<Type>(-1)), result);
    }
    return result;
}

// ---- over every lane: accumulation --------------------------------------------------------------------------------------------

/// into = add(into, term). A backend may do it in place: a compiler's register allocator copies around asm with three operands.
template <lane_value Value>
SINTER_INLINE void accumulate(Value& into, Value term) {
    into = add(into, term);
}

// ---- over every lane: streaming stores -----------------------------------------------------------------------------------------

/// A store past the caches, for outputs that exceed them; `to` is aligned to the lanes' size. The same as `store` where a backend
/// has nothing better.
template <class Storage, lane_value Value>
SINTER_INLINE void store_streaming(Storage* to, Value value) {
    store(to, value);
}

// ---- over every lane: minimum and maximum -----------------------------------------------------------------------------------

/// NaN if any operand is NaN; -0 < +0. Both orders of the raw minimum agree but for zeros and NaN: there `or` keeps the
/// sign of a zero and makes a NaN of a NaN with anything.
template <lane_value Value>
SINTER_INLINE Value minimum(Value left, Value right) {
    if constexpr (__is_same(typename Value::element, bool)) {
        return bit_and(left, right);
    } else if constexpr (detail::is_float_lane<Value>) {
        return from_bits<typename Value::element>(bit_or(bits(min_raw(left, right)), bits(min_raw(right, left))));
    } else {
        return min_raw(left, right);
    }
}
/// NaN if any operand is NaN; -0 < +0. One of two unlike zeros leaves -0 in both `or` and `xor`, and -0 - -0 is +0; equal
/// bits leave x - 0; a NaN stays in `or`.
template <lane_value Value>
SINTER_INLINE Value maximum(Value left, Value right) {
    using Type = typename Value::element;
    if constexpr (__is_same(Type, bool)) {
        return bit_or(left, right);
    } else if constexpr (detail::is_float_lane<Value>) {
        const auto one = bits(max_raw(left, right));
        const auto other = bits(max_raw(right, left));
        return sub(from_bits<Type>(bit_or(one, other)), from_bits<Type>(bit_xor(one, other)));
    } else {
        return max_raw(left, right);
    }
}

/// ordered = ordered and neither is NaN. A processor compares the two with each other.
template <lane_value Value>
SINTER_INLINE void keep_ordered(typename Value::mask& ordered, Value left, Value right) {
    ordered = bit_and(ordered, bit_not(bit_or(is_nan(left), is_nan(right))));
}

/// left * right - subtrahend, rounded once: what a product lost.
template <lane_value Value>
    requires detail::is_float_lane<Value>
SINTER_INLINE Value fms(Value left, Value right, Value subtrahend) {
    return fma(left, right, -subtrahend);
}

/// A float no less, or no more, than a number other than 0; a NaN goes through.
template <lane_value Value>
    requires detail::is_float_lane<Value>
SINTER_INLINE Value at_least(Value operand, typename Value::element bound) {
    return max_raw(Value(bound), operand);
}
/// No less than a bound of the lane's own; of zeros either one. A NaN in the bound may be passed over.
template <lane_value Value>
    requires detail::is_float_lane<Value>
SINTER_INLINE Value at_least(Value operand, Value bound) {
    return max_raw(bound, operand);
}
template <lane_value Value>
    requires detail::is_float_lane<Value>
SINTER_INLINE Value at_most(Value operand, typename Value::element bound) {
    return min_raw(Value(bound), operand);
}

#if SINTER_DEVICE_PASS && __CUDA_ARCH__ >= 800
// One instruction, with the same rules for NaN and zeros.
SINTER_INLINE scalar<float> minimum(scalar<float> left, scalar<float> right) {
    if (SINTER_CONSTANT_EVALUATED) {
        return minimum<scalar<float>>(left, right);
    }
    float result;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(left.value), "f"(right.value));
    return scalar<float>(result);
}
SINTER_INLINE scalar<float> maximum(scalar<float> left, scalar<float> right) {
    if (SINTER_CONSTANT_EVALUATED) {
        return maximum<scalar<float>>(left, right);
    }
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(left.value), "f"(right.value));
    return scalar<float>(result);
}
SINTER_INLINE scalar<float> at_least(scalar<float> operand, float bound) { return maximum(operand, scalar<float>(bound)); }
SINTER_INLINE scalar<float> at_least(scalar<float> operand, scalar<float> bound) { return maximum(operand, bound); }
SINTER_INLINE scalar<float> at_most(scalar<float> operand, float bound) { return minimum(operand, scalar<float>(bound)); }
#endif

/// Ignores a NaN beside a number; zeros as in `minimum`.
template <lane_value Value>
SINTER_INLINE Value fmin(Value left, Value right) {
    if constexpr (detail::is_float_lane<Value>) {
        return select(is_nan(left), right, select(is_nan(right), left, minimum(left, right)));
    } else {
        return minimum(left, right);
    }
}
template <lane_value Value>
SINTER_INLINE Value fmax(Value left, Value right) {
    if constexpr (detail::is_float_lane<Value>) {
        return select(is_nan(left), right, select(is_nan(right), left, maximum(left, right)));
    } else {
        return maximum(left, right);
    }
}
/// `high` if low > high.
template <lane_value Value>
SINTER_INLINE Value clamp(Value operand, Value low, Value high) {
    return minimum(maximum(operand, low), high);
}

// ---- over every lane: rounding to integers ----------------------------------------------------------------------------------
// Of floats; an integer is its own floor.

/// Half to even.
template <lane_value Value>
SINTER_INLINE Value round(Value operand) {
    if constexpr (detail::is_float_lane<Value>) {
        return round_even(operand);
    } else {
        return operand;
    }
}
template <lane_value Value>
SINTER_INLINE Value floor(Value operand) {
    if constexpr (detail::is_float_lane<Value>) {
        const Value nearest = round_even(operand);
        return select(less(operand, nearest), sub(nearest, Value(1)), nearest);
    } else {
        return operand;
    }
}
template <lane_value Value>
SINTER_INLINE Value ceil(Value operand) {
    if constexpr (detail::is_float_lane<Value>) {
        const Value nearest = round_even(operand);
        // -0.7 rounds to -1, and -1 + 1 is +0: the sign comes back from the operand.
        return copysign(select(less(nearest, operand), add(nearest, Value(1)), nearest), operand);
    } else {
        return operand;
    }
}
template <lane_value Value>
SINTER_INLINE Value trunc(Value operand) {
    if constexpr (detail::is_float_lane<Value>) {
        return copysign(floor(abs(operand)), operand);
    } else {
        return operand;
    }
}

}  // namespace sinter::lane

// Loops, monoids and backends call these by plain names, and lookup by argument finds a backend's. Ordinary lookup ends here: what a user
// calls `first` or `exchange` in the global namespace is never reached. (No members of `sinter`: there they would be in the way of names of a user's
// own who writes `using namespace sinter`. Operations, which are members of it, say `using namespace lane_names` where they call.)
namespace sinter::lane_names {
using lane::accumulate, lane::add, lane::bit_and, lane::bit_not, lane::bit_or, lane::bit_xor, lane::bits, lane::div, lane::equal, lane::exchange;
using lane::first, lane::from_bits, lane::keep_ordered, lane::less, lane::less_equal, lane::max_raw, lane::min_raw, lane::mul, lane::neg, lane::rem;
using lane::round_even, lane::select, lane::shift_left, lane::shift_right, lane::store, lane::store_first, lane::store_streaming, lane::store_strided;
using lane::sub;
void lower_lanes();  // a backend's alone
void upper_lanes();
}  // namespace sinter::lane_names
namespace sinter::detail {
using namespace lane_names;
}
namespace sinter::backend {
using namespace lane_names;
}
