// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conventions of other systems, by name and bit for bit, where they differ from numerics Q1 and Q2: TensorFlow Lite's and gemmlowp's fixed
// point, ties away from zero, PyTorch's reciprocal, the blocks of ggml, packed words of GPTQ and compressed-tensors. Each rule stands once,
// over any lane, and is a function of plain numbers by a lane of one; blocks and words have functions of their own. Usable in constant
// evaluation; never a default of anything. As operations of a formula: ops/requantize.hpp.
#pragma once

#include "quantized.hpp"
#include "scalar.hpp"

namespace sinter {

// g++ takes scoped enumerators for shadows of the aliases of the same name.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
/// How an i32 accumulator becomes a code.
enum class requantization : u8 {
    f32,            ///< a float multiply, half to even (the default)
    tflite_single,  ///< TensorFlow Lite with a single rounding: (x * mantissa + half) >> shift
    tflite_double,  ///< TensorFlow Lite's reference and gemmlowp: a rounding doubling high product, then a rounding shift
    rndnu,          ///< XNNPACK: as tflite_single with the 24 bits of an f32 as the mantissa
};
#pragma GCC diagnostic pop

// ---- the rules, over any lane ---------------------------------------------------------------------------------------------------

namespace lane {
/// gemmlowp's RoundingDivideByPOT: x / 2^exponent, halves away from zero.
template <lane_value Whole>
SINTER_INLINE Whole divide_by_power_of_two(Whole x, Whole exponent) {
    const Whole one(1), zero(0);
    const Whole mask = sub(shift_left(one, exponent), one);
    const Whole rest = bit_and(x, mask);
    const Whole threshold = add(shift_right(mask, one), select(less(x, zero), one, zero));
    return add(shift_right(x, exponent), select(less(threshold, rest), one, zero));
}
/// gemmlowp's SaturatingRoundingDoublingHighMul: round(x y / 2^31), ties towards +infinity; MIN by MIN saturates.
template <lane_value Whole>
SINTER_INLINE Whole doubling_high_product(Whole x, Whole y) {
    using wide = typename Whole::template rebind<i64>;
    const wide product = mul(convert<i64>(x), convert<i64>(y));
    const wide nudge = select(less(product, wide(i64(0))), wide(i64(1) - (i64(1) << 30)), wide(i64(1) << 30));
    const wide sum = add(product, nudge);
    // Division truncates: a negative sum rounds up.
    const wide rounded = add(sum, select(less(sum, wide(i64(0))), wide((i64(1) << 31) - 1), wide(i64(0))));
    const Whole high = convert<i32>(shift_right<31>(rounded));
    const Whole lowest(-2147483647 - 1);
    return select(bit_and(equal(x, lowest), equal(y, lowest)), Whole(2147483647), high);
}
/// x * mantissa * 2^(shift - 31) in the rounding that `Mode` names.
template <requantization Mode, lane_value Whole>
SINTER_INLINE Whole fixed_product(Whole x, Whole mantissa, Whole shift) {
    const Whole zero(0);
    if constexpr (Mode == requantization::tflite_double) {
        const Whole left = select(less(zero, shift), shift, zero), right = select(less(shift, zero), sub(zero, shift), zero);
        return divide_by_power_of_two(doubling_high_product(shift_left(x, left), mantissa), right);
    } else {
        using wide = typename Whole::template rebind<i64>;
        const wide places = sub(wide(i64(31)), convert<i64>(shift));
        const wide half = shift_left(wide(i64(1)), sub(places, wide(i64(1))));
        return convert<i32>(shift_right(add(mul(convert<i64>(x), convert<i64>(mantissa)), half), places));
    }
}
/// Nearest integer, halves away from zero (C's round).
template <lane_value Real>
SINTER_INLINE Real round_away(Real x) {
    using element = typename Real::element;
    const Real nearest = round_even(x);
    const auto short_of_half = equal(sub(x, nearest), copysign(Real(element(0.5)), x));
    return select(short_of_half, add(nearest, copysign(Real(element(1)), x)), nearest);
}
}  // namespace lane

namespace compat {

// ---- rounding

/// Half away from zero, as C's roundf.
SINTER_INLINE float round_away(float x) { return lane::round_away(lane::scalar<float>(x)).value; }
/// TensorFlow Lite's reference: round(x / scale) half away from zero, then the zero point.
SINTER_INLINE i32 quantize_ties_away(float x, const qparams& with) {
    return sinter::detail::code_of_steps(step::widen(round_away(step::div(x, with.scale()))), with);
}
/// PyTorch on CPUs and FBGEMM: x times the f32 reciprocal of the scale, half to even.
SINTER_INLINE i32 quantize_by_reciprocal(float x, const qparams& with) {
    return sinter::detail::code_of_steps(step::widen(step::mul(x, step::div(1.0f, with.scale()))), with);
}

// ---- fixed-point multipliers

/// mantissa 2^(shift - 31), the mantissa 0 or in [2^30, 2^31).
struct fixed_multiplier {
    i32 mantissa = 0;
    int shift = 0;
    SINTER_INLINE bool operator==(const fixed_multiplier& other) const { return mantissa == other.mantissa && shift == other.shift; }
};
/// TensorFlow Lite's QuantizeMultiplier, for finite multipliers >= 0: the mantissa is rounded half away from zero; below 2^-32 it is 0.
SINTER_INLINE fixed_multiplier quantize_multiplier(double multiplier) {
    const u64 bits = __builtin_bit_cast(u64, multiplier);
    const int exponent = int(bits >> 52 & 0x7ff);
    if (exponent == 0) return {};  // zero, or a subnormal, which is far below 2^-32
    int shift = exponent - 1022;
    i64 mantissa = i64((bits & 0xfffffffffffffu) | u64(1) << 52);  // 53 bits for [0.5, 1)
    mantissa = (mantissa + (i64(1) << 21)) >> 22;
    if (mantissa == i64(1) << 31) mantissa >>= 1, ++shift;
    if (shift < -31) return {};
    return {i32(mantissa), shift};
}
/// gemmlowp's RoundingDivideByPOT: x / 2^exponent, half away from zero. Exponent 0 to 31.
SINTER_INLINE i32 rounding_divide_by_pot(i32 x, int exponent) { return lane::divide_by_power_of_two(lane::scalar<i32>(x), lane::scalar<i32>(exponent)).value; }
/// gemmlowp's SaturatingRoundingDoublingHighMul: round(x y / 2^31), ties towards +infinity; MIN by MIN saturates.
SINTER_INLINE i32 doubling_high_mul(i32 x, i32 y) { return lane::doubling_high_product(lane::scalar<i32>(x), lane::scalar<i32>(y)).value; }
/// x by a fixed multiplier in the rounding that `Mode` names; what exceeds an i32 wraps.
template <requantization Mode>
SINTER_INLINE i32 multiply(i32 x, const fixed_multiplier& by) {
    return lane::fixed_product<Mode>(lane::scalar<i32>(x), lane::scalar<i32>(by.mantissa), lane::scalar<i32>(by.shift)).value;
}
/// One rounding, ties towards +infinity: TFLITE_SINGLE_ROUNDING.
SINTER_INLINE i32 multiply_single_rounding(i32 x, const fixed_multiplier& by) { return multiply<requantization::tflite_single>(x, by); }
/// Two roundings: the default of TensorFlow Lite and of gemmlowp.
SINTER_INLINE i32 multiply_double_rounding(i32 x, const fixed_multiplier& by) { return multiply<requantization::tflite_double>(x, by); }

// ---- ggml's blocks of 32 (the reference quantizers of ggml-quants.c)

/// 8-bit codes, d = absmax / 127, codes x (1 / d) half away from zero.
struct ggml_q8_0 {
    f16 d;
    i8 qs[32];
};
/// The same with s = d times the sum of the codes.
struct ggml_q8_1 {
    f16 d, s;
    i8 qs[32];
};
/// 4-bit codes, d = (the value of greatest magnitude) / -8, codes trunc(x (1 / d) + 8.5) up to 15; elements j and j + 16 share a byte.
struct ggml_q4_0 {
    f16 d;
    u8 qs[16];
};
static_assert(sizeof(ggml_q8_0) == 34 && sizeof(ggml_q8_1) == 36 && sizeof(ggml_q4_0) == 18);

namespace detail {
/// Codes of a block; returns d before it is rounded to f16.
SINTER_INLINE float q8_codes(const float* x, i8* codes) {
    float absmax = 0;
    for (int i = 0; i < 32; ++i) {
        const float magnitude = step::less(x[i], 0.0f) ? -x[i] : x[i];
        if (step::less(absmax, magnitude)) absmax = magnitude;
    }
    const float d = step::div(absmax, 127.0f);
    const float inverse = step::less(0.0f, d) ? step::div(1.0f, d) : 0.0f;
    for (int i = 0; i < 32; ++i) codes[i] = i8(round_away(step::mul(x[i], inverse)));
    return d;
}
}  // namespace detail
/// 32 finite values.
SINTER_INLINE ggml_q8_0 quantize_q8_0(const float* x) {
    ggml_q8_0 out{};
    out.d = convert<f16>(detail::q8_codes(x, out.qs));
    return out;
}
SINTER_INLINE ggml_q8_1 quantize_q8_1(const float* x) {
    ggml_q8_1 out{};
    const float d = detail::q8_codes(x, out.qs);
    int sum = 0;
    for (const i8 one : out.qs) sum += one;
    out.d = convert<f16>(d);
    out.s = convert<f16>(step::mul(float(sum), d));
    return out;
}
SINTER_INLINE ggml_q4_0 quantize_q4_0(const float* x) {
    float absmax = 0, greatest = 0;
    for (int i = 0; i < 32; ++i) {
        const float magnitude = step::less(x[i], 0.0f) ? -x[i] : x[i];
        if (step::less(absmax, magnitude)) absmax = magnitude, greatest = x[i];
    }
    const float d = step::div(greatest, -8.0f);
    const bool zero = !step::less(d, 0.0f) && !step::less(0.0f, d);
    const float inverse = zero ? 0.0f : step::div(1.0f, d);
    ggml_q4_0 out{};
    out.d = convert<f16>(d);
    const auto code = [&](int i) {
        const int truncated = int(step::add(step::mul(x[i], inverse), 8.5f));
        return truncated > 15 ? 15 : truncated;
    };
    for (int i = 0; i < 16; ++i) out.qs[i] = u8(code(i) | code(i + 16) << 4);
    return out;
}
/// Element i of a block.
SINTER_INLINE float value_of(const ggml_q8_0& block, int i) { return step::mul(float(block.qs[i]), convert<float>(block.d)); }
SINTER_INLINE float value_of(const ggml_q8_1& block, int i) { return step::mul(float(block.qs[i]), convert<float>(block.d)); }
SINTER_INLINE float value_of(const ggml_q4_0& block, int i) {
    return step::mul(float((i < 16 ? block.qs[i] & 15 : block.qs[i - 16] >> 4) - 8), convert<float>(block.d));
}

// ---- packed words: eight 4-bit numbers in a u32, the first one in the lowest bits

SINTER_INLINE i32 packed_nibble(u32 word, int i) { return i32(word >> 4 * i & 15); }
/// GPTQ's zero points: version 1 stores zero - 1, version 2 the zero itself.
SINTER_INLINE i32 gptq_v1_zero(u32 word, int i) { return packed_nibble(word, i) + 1; }
SINTER_INLINE i32 gptq_v2_zero(u32 word, int i) { return packed_nibble(word, i); }
/// (code - zero) scale.
SINTER_INLINE float gptq_value(u32 word, int i, float scale, i32 zero) { return step::mul(float(packed_nibble(word, i) - zero), scale); }
/// compressed-tensors "pack-quantized": signed codes are stored plus 8.
SINTER_INLINE i32 compressed_tensors_code(u32 word, int i) { return packed_nibble(word, i) - 8; }
SINTER_INLINE u32 compressed_tensors_pack(const i8 (&codes)[8]) {
    u32 word = 0;
    for (int i = 0; i < 8; ++i) word |= u32((codes[i] + 8) & 15) << 4 * i;
    return word;
}

}  // namespace compat
}  // namespace sinter
