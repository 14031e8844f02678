// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantized numbers as storage: their parameters (scale, zero point, range of codes) as an aggregate of integer bits that a type
// can carry, the makers and the literal of such parameters, the element types, and the two formulas, written once over any lane:
//
//     quantize(x)   = zero + round_half_even(clamp(x / scale, low - zero, high - zero)); a NaN gives low
//     dequantize(q) = (q - zero) * scale
//
// An element of such a type is its real value, an f32, in every expression. Formulas over tensors are in ops/quantize.hpp, the
// small floats (fp8 and their kin) in small_float.hpp.
#pragma once

#include "diagnose.hpp"
#include "lane.hpp"

namespace sinter {

// g++ takes scoped enumerators for shadows of the aliases of the same name.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
/// What memory holds of a quantized number. i4 and u4 lie two in a byte, the first one in the low half.
enum class code_kind : u8 { unset, i8, u8, i16, u16, i32, i4, u4 };
#pragma GCC diagnostic pop

/// The parameters of a quantized type. An aggregate of integers, so that it can be a template argument and two builds name the same
/// type alike. `low == high` leaves the range to the type that takes the parameters: all codes of its storage.
struct qparams {
    u32 scale_bits = 0x3f800000u;  ///< an f32
    i32 zero = 0;                  ///< the code of the real number 0
    i32 low = 0, high = 0;         ///< codes in use
    code_kind storage = code_kind::unset;
    bool symmetric = false;        ///< promises a zero point of 0 (of the middle code, for unsigned codes)

    SINTER_INLINE float scale() const { return __builtin_bit_cast(float, scale_bits); }
    SINTER_INLINE bool operator==(const qparams& other) const {
        return scale_bits == other.scale_bits && zero == other.zero && low == other.low && high == other.high && storage == other.storage &&
               symmetric == other.symmetric;
    }
};

/// All of the parameters as one number, for hashes.
SINTER_INLINE u64 fingerprint(const qparams& of) {
    u64 all = of.scale_bits;
    const i64 numbers[] = {of.zero, of.low, of.high, i64(of.storage), of.symmetric};
    for (i64 number : numbers) all = (all ^ all >> 29 ^ static_cast<u64>(number)) * 0x9e3779b97f4a7c15u;
    return all;
}

// ---- ranges -----------------------------------------------------------------------------------------------------------------

/// The least and the greatest code of a storage; i32 stops short of where an f32 can't count.
SINTER_INLINE i32 lowest_code(code_kind storage) {
    switch (storage) {
        case code_kind::i8: return -128;
        case code_kind::i16: return -32768;
        case code_kind::i32: return i32(-2147483647 - 1);
        case code_kind::i4: return -8;
        default: return 0;
    }
}
SINTER_INLINE i32 highest_code(code_kind storage) {
    switch (storage) {
        case code_kind::i8: return 127;
        case code_kind::u8: return 255;
        case code_kind::i16: return 32767;
        case code_kind::u16: return 65535;
        case code_kind::i32: return 2147483647;
        case code_kind::i4: return 7;
        case code_kind::u4: return 15;
        default: return 0;
    }
}
SINTER_INLINE bool has_signed_codes(code_kind storage) { return lowest_code(storage) < 0; }

/// The parameters with a storage, and all of its codes as the range where none was given.
SINTER_INLINE qparams stored_as(qparams from, code_kind storage) {
    from.storage = storage;
    if (from.low == from.high) {
        from.low = lowest_code(storage);
        from.high = highest_code(storage);
    }
    return from;
}

enum class qparams_violation : u8 { none, scale, zero_point, asymmetric, range };
/// What is wrong with complete parameters.
SINTER_INLINE qparams_violation violation_of(const qparams& given) {
    if (given.scale_bits == 0 || given.scale_bits >= 0x7f800000u) return qparams_violation::scale;  // zero, negative, infinite or NaN
    if (given.low >= given.high || given.low < lowest_code(given.storage) || given.high > highest_code(given.storage))
        return qparams_violation::range;
    if (given.zero < lowest_code(given.storage) || given.zero > highest_code(given.storage)) return qparams_violation::zero_point;
    const i32 middle = has_signed_codes(given.storage) ? 0 : (highest_code(given.storage) + 1) / 2;
    if (given.symmetric && given.zero != middle) return qparams_violation::asymmetric;
    return qparams_violation::none;
}

/// The least and the greatest step, a code less its zero point.
struct code_range {
    i64 low, high;
};
/// All that codes with these parameters can be.
SINTER_INLINE code_range range_of(const qparams& given) { return {i64(given.low) - given.zero, i64(given.high) - given.zero}; }
/// Is every step an f32, and every sum with the zero point an i32? Codes of 16 bits always are.
SINTER_INLINE bool counts_in_f32(code_range steps) { return steps.low >= -(1 << 24) && steps.high <= 1 << 24; }

// ---- makers -----------------------------------------------------------------------------------------------------------------

namespace detail {
/// Is it a number, or a value of a formula, that could have a fraction?
template <class Type>
inline constexpr bool is_fractional = is_same<Type, long double>;
template <class Type>
    requires is_scalar_v<Type>
inline constexpr bool is_fractional<Type> = is_float(dtype_of<Type>) || is_quantized_type(dtype_of<Type>);
/// How parameters print in a message.
template <u32 ScaleBits, i32 Zero>
struct scale_and_zero {};
}  // namespace detail
/// Parameters from the bits of a scale, as a generated header holds them, and a zero point. What is wrong with them is said by the type that
/// takes them.
SINTER_INLINE qparams qp_bits(u32 scale_bits, i64 zero = 0) {
    qparams out;
    out.scale_bits = scale_bits;
    out.zero = zero > 2147483647 ? 2147483647 : zero < -2147483648LL ? -2147483647 - 1 : i32(zero);  // still no code of fewer bits
    return out;
}
/// The same from the scale.
SINTER_INLINE qparams qp(float scale, i64 zero = 0) { return qp_bits(__builtin_bit_cast(u32, scale), zero); }
/// A zero point with a fraction would lose it. (Said in the body: these calls are template arguments, where clang would go on after a
/// mistake of theirs.)
template <class Scale, class Zero>
    requires detail::is_fractional<Zero>
SINTER_INLINE qparams qp(Scale, Zero) {
    static_assert(dependent_false<Zero>, SINTER_ZERO_IS_A_CODE);
    return {};
}
template <class Bits, class Zero>
    requires detail::is_fractional<Zero>
SINTER_INLINE qparams qp_bits(Bits, Zero) {
    static_assert(dependent_false<Zero>, SINTER_ZERO_IS_A_CODE);
    return {};
}
/// With a range of codes.
SINTER_INLINE qparams with_range(qparams from, i32 low, i32 high) {
    from.low = low;
    from.high = high;
    return from;
}
/// Symmetric parameters: the zero point is 0 for signed codes, the middle one (128) for unsigned ones.
SINTER_INLINE qparams symmetric(qparams from) {
    from.symmetric = true;
    return from;
}
/// The narrow range of symmetric weights: -127 to 127 for 8 bits, so that no code lacks its negative.
SINTER_INLINE qparams narrow(qparams from) {
    from.symmetric = true;
    from.low = -127;
    from.high = 127;
    return from;
}
/// The parameters as another storage holds them: `unset` for a type that chooses.
SINTER_INLINE qparams narrow(qparams from, code_kind storage) {
    from = stored_as(from, storage);
    from.symmetric = true;
    from.low = -highest_code(storage);
    return from;
}

/// What observers make of a range, by PyTorch's formula: affine(min, max) over codes [low, high]. The range is stretched to hold 0;
/// scale = (max - min) / (high - low), at least `least`; zero = low - round(min / scale), clamped to the codes.
SINTER_INLINE qparams affine_qp(float least_value, float greatest_value, i32 low, i32 high, float least = 0x1p-23f) {
    const float bottom = step::less(least_value, 0.0f) ? least_value : 0.0f;
    const float top = step::less(0.0f, greatest_value) ? greatest_value : 0.0f;
    // A span of more than 2^128 overflows: half of it by half the steps is the same quotient.
    const float half_span = step::sub(step::mul(top, 0.5f), step::mul(bottom, 0.5f));
    const float quotient = step::less(half_span, 0x1p127f) ? step::div(step::sub(top, bottom), float(high - low)) : step::div(half_span, step::mul(float(high - low), 0.5f));
    const float scale = step::less(quotient, least) ? least : quotient;
    // Rounded to an integer in float: the quotient of a huge range by a tiny scale leaves 32 bits.
    const float steps = step::round_even(step::div(bottom, scale));
    const float place = step::sub(float(low), steps);
    const i32 zero = step::less(place, float(low)) ? low : step::less(float(high), place) ? high : i32(place);
    qparams out = qp(scale, zero);
    out.low = low;
    out.high = high;
    return out;
}
/// PyTorch's symmetric formula: scale = max(|min|, |max|) / ((high - low) / 2), which is 127.5 for all 8-bit codes; the zero point is
/// 0 for signed codes, the middle code for unsigned ones.
SINTER_INLINE qparams symmetric_qp(float least_value, float greatest_value, i32 low, i32 high, float least = 0x1p-23f) {
    const float below = step::less(least_value, 0.0f) ? -least_value : 0.0f;
    const float above = step::less(0.0f, greatest_value) ? greatest_value : 0.0f;
    const float reach = step::less(below, above) ? above : below;
    const float quotient = step::div(reach, step::mul(float(high - low), 0.5f));
    qparams out = qp(step::less(quotient, least) ? least : quotient, low < 0 ? 0 : (low + high + 1) / 2);
    out.low = low;
    out.high = high;
    out.symmetric = true;
    return out;
}
/// Symmetric by the largest magnitude: scale = absmax / high, 1 where that rounds to 0; zero point 0. TensorRT, vLLM and the
/// row-dynamic scales of this library do so.
SINTER_INLINE qparams absmax_qp(float absmax, i32 low = -127, i32 high = 127) {
    const float quotient = step::div(absmax, float(high));
    qparams out = qp(__builtin_bit_cast(u32, quotient) << 1 == 0 ? 1.0f : quotient, 0);
    out.low = low;
    out.high = high;
    out.symmetric = true;
    return out;
}

namespace detail {
/// The text of a literal as a template argument.
template <std::size_t Size>
struct literal_text {
    char text[Size];
    constexpr literal_text(const char (&from)[Size]) {
        for (std::size_t i = 0; i < Size; ++i) text[i] = from[i];
    }
    static constexpr int size = int(Size) - 1;
};
/// An integer of 512 bits, for reading decimal numbers while compiling.
struct wide_integer {
    static constexpr int count = 16;
    u32 part[count]{};
    constexpr void multiply_add(u32 factor, u32 addend) {
        u64 carry = addend;
        for (u32& one : part) {
            carry += u64(one) * factor;
            one = u32(carry);
            carry >>= 32;
        }
    }
    constexpr void double_it() {
        u32 carry = 0;
        for (u32& one : part) {
            const u32 next = one >> 31;
            one = one << 1 | carry;
            carry = next;
        }
    }
    constexpr bool less(const wide_integer& other) const {
        for (int i = count - 1; i >= 0; --i)
            if (part[i] != other.part[i]) return part[i] < other.part[i];
        return false;
    }
    constexpr void subtract(const wide_integer& other) {
        i64 borrow = 0;
        for (int i = 0; i < count; ++i) {
            borrow += i64(part[i]) - i64(other.part[i]);
            part[i] = u32(borrow);
            borrow >>= 32;
        }
    }
    constexpr bool is_zero() const {
        for (u32 one : part)
            if (one != 0) return false;
        return true;
    }
};
/// digits * 10^exponent as the nearest f32, half to even. Up to 19 digits; the decimal exponent within [-70, 60].
constexpr u32 f32_from_decimal(u64 digits, int exponent) {
    if (digits == 0) return 0;
    wide_integer above, below;
    above.part[0] = u32(digits);
    above.part[1] = u32(digits >> 32);
    below.part[0] = 1;
    for (int i = 0; i < exponent; ++i) above.multiply_add(10, 0);
    for (int i = 0; i > exponent; --i) below.multiply_add(10, 0);
    int binary = 0;  // above / below * 2^binary is the number, and 1 <= above / below < 2
    while (above.less(below)) {
        above.double_it();
        --binary;
    }
    for (wide_integer twice = below;;) {
        twice.double_it();
        if (above.less(twice)) break;
        below = twice;
        ++binary;
    }
    if (binary > 127) return 0x7f800000u;
    const int places = binary >= -126 ? 24 : 24 - (-126 - binary);  // significant bits of the result
    u32 significand = 0;
    for (int i = 0; i < places; ++i) {
        significand <<= 1;
        if (!above.less(below)) {
            significand |= 1;
            above.subtract(below);
        }
        above.double_it();
    }
    if (places < 0) return 0;
    const bool tie_or_more = !above.less(below);
    if (tie_or_more) {
        above.subtract(below);
        if (!above.is_zero() || (significand & 1) != 0) ++significand;  // above half, or a tie to even
    }
    return binary >= -126 ? significand + (u32(binary + 126) << 23) : significand;
}
/// What a text of parameters is, or why it is none.
enum class parameters_text : u8 { read, not_parameters, zero_with_a_fraction };
struct parsed_qparams {
    qparams value{};
    parameters_text is = parameters_text::not_parameters;
};
/// SCALE or SCALE:ZERO, the scale decimal ("0.05", "1e-3") or the 8 hexadecimal digits of an f32's bits ("0x3d4ccccd"). A scale or a zero
/// point that is too large or too small is read: the type that takes the parameters says so.
template <int Size>
class qparams_reader {
public:
    constexpr explicit qparams_reader(const char* text) : text_(text) {}
    constexpr parsed_qparams read() {
        parsed_qparams out;
        const bool bits = letter() == '0' && size_ > 2 && text_[1] == 'x';
        if (!(bits ? read_bits(out.value.scale_bits) : read_decimal(out.value.scale_bits))) return out;
        if (at_ < size_) {
            const bool minus = take(':') && take('-');
            i64 zero = 0;
            if (text_[at_ - 1] != ':' && !minus) return out;
            if (!read_number(zero, i64(1) << 32)) return out;
            if (at_ < size_) {
                i64 ignored = 0;
                if (take('.') && (at_ == size_ || read_number(ignored, 9)) && at_ == size_) out.is = parameters_text::zero_with_a_fraction;
                return out;
            }
            out.value = qp_bits(out.value.scale_bits, minus ? -zero : zero);
        }
        out.is = parameters_text::read;
        return out;
    }

private:
    constexpr char letter() const { return at_ < size_ ? text_[at_] : '\0'; }
    constexpr bool is_digit() const { return letter() >= '0' && letter() <= '9'; }
    constexpr bool take(char wanted) {
        const bool here = at_ < size_ && text_[at_] == wanted;
        at_ += here;
        return here;
    }
    /// At least one digit; `most` for a number above it.
    constexpr bool read_number(i64& out, i64 most) {
        const int start = at_;
        for (out = 0; is_digit(); ++at_)
            if (out <= most) out = out * 10 + (text_[at_] - '0');
        if (out > most) out = most;
        return at_ > start;
    }
    constexpr bool read_bits(u32& out) {
        out = 0;
        for (at_ = 2; at_ < 10; ++at_) {
            const char c = letter();
            const int digit = is_digit() ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
            if (digit == 16) return false;
            out = out << 4 | u32(digit);
        }
        return true;
    }
    constexpr bool read_decimal(u32& out) {
        const bool minus = take('-');
        bool any = false, point = false;
        int significant = 0;
        i64 exponent = 0, written = 0;
        u64 digits = 0;
        for (; is_digit() || (letter() == '.' && !point); ++at_) {
            if (letter() == '.') {
                point = true;
                continue;
            }
            any = true;
            if (digits != 0 || letter() != '0') ++significant;
            if (significant > 19) return false;
            digits = digits * 10 + u64(letter() - '0');
            if (point) --exponent;
        }
        if (take('e') || take('E')) {
            const bool down = take('-');
            if (!down) take('+');
            if (!read_number(written, 1000000)) return false;
            exponent += down ? -written : written;
        }
        // 19 digits: beyond these bounds the number rounds to 0, and to infinity.
        const bool none = digits == 0 || exponent < -70;
        out = (none ? 0 : exponent > 60 ? 0x7f800000u : f32_from_decimal(digits, int(exponent))) | (minus ? 0x80000000u : 0u);
        return any;
    }

    static constexpr int size_ = Size;
    const char* text_;
    int at_ = 0;
};
}  // namespace detail

inline namespace literals {
/// "0.05:3"_qp: scale and zero point, the decimal scale rounded once to f32. "0.05"_qp has zero point 0; "0x3d4ccccd:3"_qp names bits.
template <detail::literal_text Text>
consteval qparams operator""_qp() {
    constexpr detail::parsed_qparams parsed = detail::qparams_reader<Text.size>(Text.text).read();
    static_assert(parsed.is != detail::parameters_text::zero_with_a_fraction, SINTER_ZERO_IS_A_CODE);
    static_assert(parsed.is != detail::parameters_text::not_parameters,
                  "[SINTER-Q010] this isn't SCALE or SCALE:ZERO. Hint: \"0.05:3\"_qp, \"1e-3\"_qp (up to 19 digits), or the bits \"0x3d4ccccd:3\"_qp.");
    return parsed.value;
}
}  // namespace literals

// ---- the formulas, over any lane ----------------------------------------------------------------------------------------------

namespace lane {

/// A float that is an integer in the range of i32, or rounds there: half to even. (One instruction where a backend has it.)
template <lane_value Value>
SINTER_INLINE auto round_to_i32(Value x) {
#if SINTER_DEVICE_PASS
    if constexpr (__is_same(Value, scalar<float>)) {
        if (!SINTER_CONSTANT_EVALUATED) {
            i32 result;
            asm("cvt.rni.s32.f32 %0, %1;" : "=r"(result) : "f"(x.value));
            return scalar<i32>(result);
        }
    }
#endif
    return convert<i32>(round_even(x));
}
/// i32 lanes that are in the range of `To`. (Nothing to do where a backend keeps narrow integers in wide cells.)
template <class To, lane_value Value>
SINTER_INLINE auto convert_in_range(Value x) {
    return convert<To>(x);
}

/// Has a lane an instruction that multiplies and adds?
template <lane_value Value>
SINTER_INLINE bool multiplies_and_adds() {
    if constexpr (requires { Value::has_fma; })
        return Value::has_fma;
    else
        return SINTER_DEVICE_PASS != 0;
}

/// x between two bounds; a NaN gives `low`, and the sign of a zero is either's.
template <lane_value Value>
SINTER_INLINE Value within(Value x, Value low, Value high) {
    return min_raw(max_raw(x, low), high);  // the raw maximum has its second operand for a NaN
}
#if SINTER_DEVICE_PASS
/// An instruction each; as comparisons and choices they are two.
SINTER_INLINE scalar<float> within(scalar<float> x, scalar<float> low, scalar<float> high) {
    if (SINTER_CONSTANT_EVALUATED) return within<scalar<float>>(x, low, high);
    float result;
    asm("max.f32 %0, %1, %2;" : "=f"(result) : "f"(x.value), "f"(low.value));
    asm("min.f32 %0, %1, %2;" : "=f"(result) : "f"(result), "f"(high.value));
    return scalar<float>(result);
}
#endif

/// The quotient x / scale as code minus zero point, an i32 lane: clamped to [low, high] first, so that any x can be converted. A NaN
/// gives `low`.
template <lane_value Value>
SINTER_INLINE auto clamp_round(Value quotient, typename Value::element low, typename Value::element high) {
    return round_to_i32(within(quotient, Value(low), Value(high)));
}
/// The same with bounds that differ by lane.
template <lane_value Value>
SINTER_INLINE auto clamp_round(Value quotient, Value low, Value high) {
    return round_to_i32(within(quotient, low, high));
}

}  // namespace lane
namespace lane_names {
using lane::convert_in_range, lane::round_to_i32;
}

namespace detail {

/// What is tried: codes of at most 8 bits, and scales whose quotients near thresholds, and reciprocals, are normal numbers.
constexpr bool may_multiply(const qparams& given, u32 greatest_exponent) {
    const u32 exponent = given.scale_bits >> 23;
    return i64(given.high) - given.low <= 255 && exponent >= 24 && exponent <= greatest_exponent;
}
/// Does a substitute for x / scale give the codes of the division? Proved by trying: both rise with x, so they agree everywhere if around
/// each threshold between neighbouring codes they cross it between the same two floats. The divisions here neither overflow nor leave
/// the normal numbers, so that any compiler takes them as constants: as constants they are the language's own operators (emulated, a
/// proof would cost thousands of steps each), at run time steps that no flag touches.
template <class Substitute>
constexpr bool gives_same_codes(const qparams& given, const Substitute& substitute) {
    const auto times = [](float a, float b) { return SINTER_CONSTANT_EVALUATED ? a * b : step::mul(a, b); };
    const auto over = [](float a, float b) { return SINTER_CONSTANT_EVALUATED ? a / b : step::div(a, b); };
    const float scale = given.scale();
    const code_range steps = range_of(given);
    for (i64 code = steps.low; code < steps.high; ++code) {
        const float half = float(code) + 0.5f;  // rounds up to code + 1 when code is odd
        const bool tie_rises = (code & 1) != 0;
        const float threshold = times(half, scale);  // (within the next expression it is an internal error of nvcc 13.0)
        const u32 middle = __builtin_bit_cast(u32, threshold);
        for (int near_by = -3; near_by <= 3; ++near_by) {
            const float x = __builtin_bit_cast(float, u32(i64(middle) + near_by));
            const float quotient = over(x, scale), other = substitute(x);
            const bool exact = quotient > half || (quotient == half && tie_rises);
            const bool fast = other > half || (other == half && tie_rises);
            if (exact != fast) return false;
            if (near_by == -3 && exact != (half < 0)) return false;  // the threshold must lie between the ends
            if (near_by == 3 && exact != (half > 0)) return false;
        }
    }
    return true;
}
/// x / scale gives the same codes as x * (1 / scale)?
constexpr bool reciprocal_is_exact(const qparams& given) {
    const u32 exponent = given.scale_bits >> 23;
    if ((given.scale_bits & 0x7fffffu) == 0 && exponent >= 1 && exponent <= 252) return true;  // a power of two, its reciprocal normal
    if (!may_multiply(given, 230)) return false;
    const float scale = given.scale(), inverse = SINTER_CONSTANT_EVALUATED ? 1.0f / scale : step::div(1.0f, scale);
    return gives_same_codes(given, [inverse](float x) { return SINTER_CONSTANT_EVALUATED ? x * inverse : step::mul(x, inverse); });
}
template <qparams Parameters>
inline constexpr bool uses_reciprocal = reciprocal_is_exact(Parameters);

/// 1 / scale to 48 bits in two floats. The lower one is positive, so that an infinity times both is that infinity.
struct long_reciprocal {
    float upper, lower;
};
constexpr long_reciprocal long_reciprocal_of(float scale) {
    const double exact = SINTER_CONSTANT_EVALUATED ? 1.0 / double(scale) : step::div(1.0, step::widen(scale));
    float upper = SINTER_CONSTANT_EVALUATED ? static_cast<float>(exact) : step::narrow(exact);
    if (double(upper) > exact) upper = __builtin_bit_cast(float, __builtin_bit_cast(u32, upper) - 1);
    const double rest = SINTER_CONSTANT_EVALUATED ? exact - double(upper) : step::sub(exact, step::widen(upper));
    return {upper, SINTER_CONSTANT_EVALUATED ? static_cast<float>(rest) : step::narrow(rest)};
}
/// a b + c, rounded once, as a constant; `sure` becomes false where the sum in f64 doesn't tell which way. For normal numbers.
constexpr float multiply_add(float a, float b, float c, bool& sure) {
    const double product = double(a) * double(b), addend = double(c), sum = product + addend;
    const double back = sum - product, rest = (product - (sum - back)) + (addend - back);
    if ((__builtin_bit_cast(u64, sum) & 0x1fffffffu) == 0x10000000u && rest != 0) sure = false;
    return static_cast<float>(sum);
}
/// x / scale gives the same codes as x * upper + x * lower, the first product not rounded (Brisebarre, Muller, Raina, "Accelerating
/// correctly rounded floating-point division when the divisor is known in advance", 2004)? Nearly always.
constexpr bool long_reciprocal_is_exact(const qparams& given) {
    if (!may_multiply(given, 200)) return false;  // above, the lower part would lose bits
    const long_reciprocal inverse = long_reciprocal_of(given.scale());
    bool sure = true;
    const bool same = gives_same_codes(given, [&](float x) {
        return SINTER_CONSTANT_EVALUATED ? multiply_add(x, inverse.upper, x * inverse.lower, sure)
                                         : step::fma(x, inverse.upper, step::mul(x, inverse.lower));
    });
    return same && sure;
}
template <qparams Parameters>
inline constexpr long_reciprocal long_reciprocal_for = long_reciprocal_of(Parameters.scale());
template <qparams Parameters>
inline constexpr bool uses_long_reciprocal = !uses_reciprocal<Parameters> && long_reciprocal_is_exact(Parameters);

template <code_kind Kind>
struct code_type;
// clang-format off
template <> struct code_type<code_kind::i8> { using type = i8; static constexpr dtype value = dtype::q8; };
template <> struct code_type<code_kind::u8> { using type = u8; static constexpr dtype value = dtype::qu8; };
template <> struct code_type<code_kind::i16> { using type = i16; static constexpr dtype value = dtype::q16; };
template <> struct code_type<code_kind::u16> { using type = u16; static constexpr dtype value = dtype::qu16; };
template <> struct code_type<code_kind::i32> { using type = i32; static constexpr dtype value = dtype::q32; };
template <> struct code_type<code_kind::i4> { using type = u8; };
template <> struct code_type<code_kind::u4> { using type = u8; };
// clang-format on
}  // namespace detail

namespace lane {

/// What `x + lift` is quantized with instead of x where steps on subnormal numbers are slow: 150 cycles each on many CPUs. From scale / 4 up
/// the sum is x, for the lift, scale 2^-40 at most, is less than a quarter of what x's last bit counts; below, both have the code of 0.
/// And no quotient of the sum is subnormal, nor what makes it, unless the scale itself is next to that. For f32: a double counts finer.
template <lane_value Value>
    requires is_same<typename Value::element, float>
SINTER_INLINE Value code_lift(Value scale) {
    return min_raw(max_raw(mul(scale, Value(0x1p-40f)), Value(-1.0f)), Value(1.0f));  // finite, for a scale that isn't
}
/// x / scale of static parameters, or what rounds and saturates to the same codes: a NaN stays one, an infinity too.
template <qparams Parameters, lane_value Value>
SINTER_INLINE Value code_quotient(Value x) {
    using element = typename Value::element;
    if constexpr (Value::width > 1 && is_same<element, float> && Parameters.scale_bits >> 23 > 64) x = add(x, Value(Parameters.scale() * 0x1p-40f));
    if constexpr (is_same<element, float> && sinter::detail::uses_reciprocal<Parameters>) {
        constexpr float inverse = 1.0f / Parameters.scale();
        return mul(x, Value(inverse));
    } else if constexpr (is_same<element, float> && multiplies_and_adds<Value>() && sinter::detail::uses_long_reciprocal<Parameters>) {
        // A division is as long as ten such steps.
        constexpr float upper = sinter::detail::long_reciprocal_for<Parameters>.upper, lower = sinter::detail::long_reciprocal_for<Parameters>.lower;
        return fma(x, Value(upper), mul(x, Value(lower)));
    } else {
        return div(x, Value(element(Parameters.scale())));
    }
}
/// zero + the quotient x / scale rounded half to even, within the codes: an i32 lane. Clamped before it is converted; a NaN gives the
/// lowest code. Steps that f32 can't count, as those of i32 codes, are counted in f64, where adding the zero point is exact and can't wrap.
template <qparams Parameters, lane_value Value>
SINTER_INLINE auto code_of_quotient(Value quotient) {
    constexpr code_range steps = range_of(Parameters);
    if constexpr (counts_in_f32(steps)) {
        using element = typename Value::element;
        const auto step = clamp_round(quotient, element(steps.low), element(steps.high));
        if constexpr (Parameters.zero == 0)
            return step;
        else
            return add(step, remove_cvref<decltype(step)>(Parameters.zero));
    } else {
        using wide = typename Value::template rebind<double>;
        const wide step = within(round_even(convert<double>(quotient)), wide(double(steps.low)), wide(double(steps.high)));
        return convert<i32>(add(step, wide(double(Parameters.zero))));
    }
}
/// Codes of static parameters from f32 or f64 lanes: an i32 lane.
template <qparams Parameters, lane_value Value>
SINTER_INLINE auto quantize_to_i32(Value x) {
    return code_of_quotient<Parameters>(code_quotient<Parameters>(x));
}
/// Real values of steps, codes less their zero point, as f32 lanes.
template <qparams Parameters, lane_value Value>
SINTER_INLINE Value real_of_steps(Value steps) {
    if constexpr (Parameters.scale_bits == 0x3f800000u)
        return steps;
    else
        return mul(steps, Value(Parameters.scale()));
}
/// Real values, f32 lanes, of codes that are lanes of any integer type.
template <qparams Parameters, lane_value Value>
SINTER_INLINE auto dequantize_codes(Value codes) {
    if constexpr (Parameters.storage == code_kind::i32 && Parameters.zero != 0) {
        using wide = typename Value::template rebind<double>;  // in i32 the difference may wrap
        return real_of_steps<Parameters>(convert<float>(sub(convert<double>(codes), wide(double(Parameters.zero)))));
    } else {
        auto steps = convert<i32>(codes);
        if constexpr (Parameters.zero != 0) steps = sub(steps, decltype(steps)(Parameters.zero));
        return real_of_steps<Parameters>(convert<float>(steps));
    }
}

}  // namespace lane

namespace detail {
/// zero + steps rounded half to even, within the codes; a NaN gives the lowest one. f64 holds every sum of an i32 code and a zero point.
SINTER_INLINE i32 code_of_steps(double steps, const qparams& with) {
    const code_range range = range_of(with);
    return i32(i64(step::min_raw(step::max_raw(step::round_even(steps), double(range.low)), double(range.high))) + with.zero);
}
}  // namespace detail
/// One code of real x. A constant expression, on host and device.
SINTER_INLINE i32 quantize_code(float x, const qparams& with) { return detail::code_of_steps(step::widen(step::div(x, with.scale())), with); }
/// The same for a double: the division in f64.
SINTER_INLINE i32 quantize_code(double x, const qparams& with) { return detail::code_of_steps(step::div(x, step::widen(with.scale())), with); }
/// The real value of a code.
SINTER_INLINE float dequantize_code(i32 code, const qparams& with) {
    return step::mul(static_cast<float>(i64(code) - with.zero), with.scale());
}

// ---- element types ------------------------------------------------------------------------------------------------------------

/// An element whose memory is a code and whose value is real: (code - zero) * scale. Its parameters are complete: `q8<"0.05:3"_qp>` and
/// its kin make them so. Conversions from a number round and saturate.
template <qparams Parameters>
struct quantized_element {
    static constexpr qparams parameters = Parameters;
    using code_type = typename detail::code_type<Parameters.storage>::type;
    static_assert(violation_of(Parameters) != qparams_violation::scale, SINTER_SCALE_IS_POSITIVE);
    static_assert(violation_of(Parameters) != qparams_violation::zero_point, SINTER_ZERO_IN_STORAGE);
    static_assert(violation_of(Parameters) != qparams_violation::asymmetric, SINTER_SYMMETRIC_ZERO);
    static_assert(violation_of(Parameters) != qparams_violation::range, SINTER_RANGE_IN_STORAGE);
    code_type code;

    quantized_element() = default;
    SINTER_INLINE explicit quantized_element(float x) : code(static_cast<code_type>(quantize_code(x, Parameters))) {}
    SINTER_INLINE explicit operator float() const { return dequantize_code(i32(code), Parameters); }
    static SINTER_INLINE quantized_element from_code(code_type code_value) {
        quantized_element result{};
        result.code = code_value;
        return result;
    }
};

/// Two quantized numbers in a byte, the first one in the low half: a storage unit, not an element. `packed(pointer, extents)`
/// makes an operand and an output of them.
template <qparams Parameters>
struct quantized_pair {
    static constexpr qparams parameters = Parameters;
    static_assert(violation_of(Parameters) != qparams_violation::scale, SINTER_SCALE_IS_POSITIVE);
    static_assert(violation_of(Parameters) != qparams_violation::zero_point, SINTER_ZERO_IN_STORAGE);
    static_assert(violation_of(Parameters) != qparams_violation::asymmetric, SINTER_SYMMETRIC_ZERO);
    static_assert(violation_of(Parameters) != qparams_violation::range, SINTER_RANGE_IN_STORAGE);
    u8 codes;

    quantized_pair() = default;
    SINTER_INLINE quantized_pair(float first, float second)
        : codes(static_cast<u8>((quantize_code(first, Parameters) & 15) | (quantize_code(second, Parameters) & 15) << 4)) {}
    static SINTER_INLINE quantized_pair from_codes(u8 both) {
        quantized_pair result{};
        result.codes = both;
        return result;
    }
    /// The code of the first (0) or the second (1) number.
    SINTER_INLINE i32 code(int which) const {
        const i32 nibble = codes >> 4 * which & 15;
        return Parameters.storage == code_kind::i4 && nibble > 7 ? nibble - 16 : nibble;
    }
    SINTER_INLINE float value(int which) const { return dequantize_code(code(which), Parameters); }
};

template <qparams Parameters>
using q8 = quantized_element<stored_as(Parameters, code_kind::i8)>;
template <qparams Parameters>
using qu8 = quantized_element<stored_as(Parameters, code_kind::u8)>;
template <qparams Parameters>
using q16 = quantized_element<stored_as(Parameters, code_kind::i16)>;
template <qparams Parameters>
using qu16 = quantized_element<stored_as(Parameters, code_kind::u16)>;
/// 32-bit codes: biases and accumulators. Codes beyond 2^24 are rounded where they become an f32.
template <qparams Parameters>
using q32 = quantized_element<stored_as(Parameters, code_kind::i32)>;
template <qparams Parameters>
using q4x2 = quantized_pair<stored_as(Parameters, code_kind::i4)>;
template <qparams Parameters>
using qu4x2 = quantized_pair<stored_as(Parameters, code_kind::u4)>;

template <class Type>
inline constexpr bool is_quantized = false;
template <qparams Parameters>
inline constexpr bool is_quantized<quantized_element<Parameters>> = true;

template <qparams Parameters>
inline constexpr u64 element_parameters<quantized_element<Parameters>> = fingerprint(Parameters);
template <qparams Parameters>
inline constexpr u64 element_parameters<quantized_pair<Parameters>> = fingerprint(Parameters);

template <qparams Parameters>
struct dtype_tag<quantized_element<Parameters>> : detail::dtype_tag_of<detail::code_type<Parameters.storage>::value> {};

/// A codec over the lanes of an integer: a backend loads and stores lanes of `code`, and the formulas between are the same everywhere.
template <qparams Parameters>
struct codec<quantized_element<Parameters>> {
    using compute = float;
    using code = typename quantized_element<Parameters>::code_type;
    static constexpr bool identity = false;
    template <class Lane>
    static SINTER_INLINE auto from_codes(Lane codes) {
        return lane::dequantize_codes<Parameters>(codes);
    }
    template <class Lane>
    static SINTER_INLINE auto to_codes(Lane real) {
        using namespace lane_names;
        return convert_in_range<code>(lane::quantize_to_i32<Parameters>(real));
    }
    static SINTER_INLINE float decode(quantized_element<Parameters> from) { return from_codes(lane::scalar<code>(from.code)).value; }
    template <class Number>
    static SINTER_INLINE quantized_element<Parameters> encode(Number x) {
        if constexpr (detail::is_float_v<Number>)
            return quantized_element<Parameters>::from_code(to_codes(lane::scalar<Number>(x)).value);
        else
            return encode(sinter::convert<float>(x));
    }
};

}  // namespace sinter
