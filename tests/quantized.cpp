// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters of quantized types, their literals and makers, and the two formulas on plain numbers, against double and against the
// numbers that other libraries publish. Nearly all of it while compiling.
#include <doctest/doctest.h>

#include <sinter/quantized.hpp>

#include "numbers.hpp"

namespace si = sinter;
using namespace sinter::literals;
using si::code_kind;
using si::qparams;

namespace {

constexpr float of_bits(si::u32 bits) { return __builtin_bit_cast(float, bits); }

// Literals: the decimal is rounded once; each of these bits was printed by another program's parser.
static_assert("0.05:3"_qp.scale_bits == 0x3d4ccccdu && "0.05:3"_qp.zero == 3);
static_assert("0.1"_qp.scale_bits == 0x3dcccccdu && "0.1"_qp.zero == 0);
static_assert("1"_qp.scale_bits == 0x3f800000u && "2.5e1:-128"_qp.scale_bits == 0x41c80000u && "2.5e1:-128"_qp.zero == -128);
static_assert("0.0021485486067831516"_qp.scale_bits == 0x3b0cceaau);
static_assert("1e-45"_qp.scale_bits == 1u && "2.802596928649634e-45"_qp.scale_bits == 2u);
static_assert("1.1754943508222875e-38"_qp.scale_bits == 0x00800000u && "3.4028234663852886e38"_qp.scale_bits == 0x7f7fffffu);
static_assert("16777217"_qp.scale_bits == 0x4b800000u && "16777219"_qp.scale_bits == 0x4b800002u);  // ties go to even
static_assert("0x3d4ccccd:3"_qp == "0.05:3"_qp);
static_assert(".5:-0"_qp == "5e-1"_qp && "5.E+0:7"_qp == "5:7"_qp);
// What is too large or too small is read, and refused by the type; what isn't a scale and a zero point isn't read.
static_assert("1e-400"_qp.scale_bits == 0 && "0e400"_qp.scale_bits == 0 && "1e400"_qp.scale_bits == 0x7f800000u && "1e99999999999"_qp.scale_bits == 0x7f800000u);
static_assert("1:99999999999999999999"_qp.zero == 2147483647 && "1:-2147483648"_qp.zero == -2147483647 - 1 && "1:-99999999999"_qp.zero == -2147483647 - 1);
static_assert(si::qp(1.0f, si::i64(1) << 40).zero == 2147483647 && si::qp_bits(0x3f800000u, -(si::i64(1) << 40)).zero == -2147483647 - 1);
using reading = si::detail::parameters_text;
template <std::size_t Size>
constexpr reading read(const char (&text)[Size]) {
    return si::detail::qparams_reader<int(Size) - 1>(text).read().is;
}
template <std::size_t... Size>
constexpr bool refused(const char (&... text)[Size]) {
    return ((read(text) == reading::not_parameters) && ...);
}
static_assert(refused("", ":", ".", "-", "e5", "1e", "1e+", "1e:3", "1.2.3", "+1", " 1", "1 ", "0.05f", "inf", "nan", "12345678901234567890"));
static_assert(refused("0.05:", "0.05:-", "0.05:+3", "0.05: 3", "0.05:3 ", "0.05:.5", "0.05:three", "0.05:3e1", "0.05:3.x", "0.05:3:4", "0.05:nan", "0.05:0x3"));
static_assert(refused("0x", "0x1", "0x1p-3", "0x3d4cccc", "0x3d4ccccd0", "0X3d4ccccd", "0x3d4ccccd:", "0x3d4ccccg"));
static_assert(read("0.05:3.5") == reading::zero_with_a_fraction && read("0x3d4ccccd:-0.25") == reading::zero_with_a_fraction);
static_assert(read("0.05:3") == reading::read);

// Makers against PyTorch's observers.
static_assert(si::affine_qp(-1.5f, 3.0f, 0, 255).scale_bits == 0x3c909091u && si::affine_qp(-1.5f, 3.0f, 0, 255).zero == 85);
static_assert(si::affine_qp(-4.0f, -2.0f, -128, 127).scale_bits == 0x3c808081u && si::affine_qp(-4.0f, -2.0f, -128, 127).zero == 127);
static_assert(si::affine_qp(0.0f, 0.0f, -128, 127).scale_bits == 0x34000000u && si::affine_qp(0.0f, 0.0f, -128, 127).zero == -128);
static_assert(si::affine_qp(-1.0f, 1.0f, -64, 63).scale_bits == 0x3c810204u && si::affine_qp(-1.0f, 1.0f, -64, 63).zero == 0);
static_assert(si::symmetric_qp(-1.5f, 3.0f, -128, 127).scale_bits == 0x3cc0c0c1u && si::symmetric_qp(-1.5f, 3.0f, 0, 255).zero == 128);
static_assert(si::absmax_qp(3.0f).scale_bits == 0x3cc18306u && si::absmax_qp(0.0f).scale() == 1.0f);

// What is refused.
constexpr si::qparams_violation wrong(qparams given, code_kind storage) { return si::violation_of(si::stored_as(given, storage)); }
static_assert(wrong("0.05:127"_qp, code_kind::i8) == si::qparams_violation::none);
static_assert(wrong("0.05:128"_qp, code_kind::i8) == si::qparams_violation::zero_point);
static_assert(wrong("0.05:-1"_qp, code_kind::u8) == si::qparams_violation::zero_point);
static_assert(wrong("0"_qp, code_kind::i8) == si::qparams_violation::scale && wrong("-0.5"_qp, code_kind::i8) == si::qparams_violation::scale);
static_assert(wrong(si::qp_bits(0x7f800000u), code_kind::i8) == si::qparams_violation::scale);
static_assert(wrong(si::qp_bits(0x7fc00000u), code_kind::i8) == si::qparams_violation::scale);
static_assert(wrong(si::narrow("0.05:1"_qp), code_kind::i8) == si::qparams_violation::asymmetric);
static_assert(wrong(si::symmetric("0.05:128"_qp), code_kind::u8) == si::qparams_violation::none);
static_assert(wrong(si::with_range("0.05"_qp, -200, 5), code_kind::i8) == si::qparams_violation::range);

// Types: the storage is the size, the value is rounded and saturated.
using activation = si::q8<"0.05:3"_qp>;
static_assert(sizeof(activation) == 1 && sizeof(si::qu16<"0.1:256"_qp>) == 2 && sizeof(si::q4x2<"1"_qp>) == 1 && sizeof(si::q32<"1"_qp>) == 4);
static_assert(activation(0.1f).code == 5 && float(activation(0.1f)) == 0.1f && activation(1e9f).code == 127 && activation(-1e9f).code == -128);
static_assert(activation(of_bits(0x7fc00000u)).code == -128 && si::q8<si::narrow("1"_qp)>(-500.0f).code == -127);
static_assert(si::qu8<"1:255"_qp>(1.0f).code == 255 && si::qu8<"1:255"_qp>(-255.0f).code == 0);
static_assert(si::is_scalar_v<activation> && si::dtype_of<activation> == si::dtype::q8 && si::is_quantized<activation>);
static_assert(si::dtype_of<si::q8<"0.05:3"_qp>> == si::dtype_of<si::q8<"0.07"_qp>>);
static_assert(si::q4x2<"1"_qp>(-9.0f, 7.5f).codes == 0x78 && si::q4x2<"1"_qp>(-8.0f, 3.0f).code(0) == -8 && si::qu4x2<"0.5:8"_qp>(-4.0f, 3.5f).value(1) == 3.5f);

// The double's quotient is a double: in f32 this one would be a tie.
static_assert(si::quantize_code(0.49999999999, si::stored_as("1"_qp, code_kind::i8)) == 0);
static_assert(si::quantize_code(1.50000000001, si::stored_as("1"_qp, code_kind::i8)) == 2 && si::quantize_code(2.4999999999, si::stored_as("1"_qp, code_kind::i8)) == 2);

// A reciprocal is used where it is proved, and only there.
static_assert(si::detail::uses_reciprocal<si::stored_as("0.25:7"_qp, code_kind::i8)>);
static_assert(!si::detail::uses_reciprocal<si::stored_as("0.0021485486067831516"_qp, code_kind::u8)>);  // 0.27393993735313416 would give 128

}  // namespace

TEST_CASE("a proved reciprocal gives the codes of the division on every float near a threshold") {
    int proved = 0, tried = 0;
    si::u32 seed = 12345;
    for (int s = 0; s < 60; ++s) {
        seed = seed * 1664525u + 1013904223u;
        qparams with = si::qp_bits(0x3a000000u + (seed >> 6) % 0x06000000u);
        with = si::stored_as(with, code_kind::i8);
        ++tried;
        if (!si::detail::reciprocal_is_exact(with)) continue;
        ++proved;
        const float inverse = si::step::div(1.0f, with.scale());
        for (int half = -257; half <= 257; half += 2)
            for (int step = -40; step <= 40; ++step) {
                const float x = of_bits(__builtin_bit_cast(si::u32, float(half) * 0.5f * with.scale()) + si::u32(step));
                const float product = si::step::mul(x, inverse);
                const int fast = int(si::step::round_even(product < -128 ? -128.0f : product > 127 ? 127.0f : product));
                REQUIRE(fast == si::quantize_code(x, with));
            }
    }
    MESSAGE(proved << " of " << tried << " random scales take the reciprocal");
    CHECK(proved > 0);
    CHECK(proved < tried);
}

// Where it isn't proved, the reciprocal in two floats is: for most scales of 8-bit codes.
static_assert(si::detail::uses_long_reciprocal<si::stored_as("0.05:3"_qp, code_kind::i8)> && si::detail::uses_long_reciprocal<si::stored_as("0.0773:-5"_qp, code_kind::i8)>);
static_assert(si::detail::uses_long_reciprocal<si::stored_as("0.0021485486067831516"_qp, code_kind::u8)>);
static_assert(!si::detail::uses_long_reciprocal<si::stored_as("0.05:3"_qp, code_kind::i16)> && !si::detail::uses_long_reciprocal<si::stored_as("0.25"_qp, code_kind::i8)>);
static_assert(!si::detail::uses_long_reciprocal<si::stored_as("1e-38:3"_qp, code_kind::i8)>);

TEST_CASE("products with a reciprocal in two floats give the codes of the division: near thresholds, at the ends, of infinities") {
    int proved = 0;
    si::u32 seed = 54321;
    for (int s = 0; s < 40; ++s) {
        seed = seed * 1664525u + 1013904223u;
        const qparams with = si::stored_as(si::qp_bits(0x38000000u + (seed >> 4) % 0x0a000000u, int(seed >> 24) - 128), code_kind::i8);
        if (!si::detail::long_reciprocal_is_exact(with)) continue;
        ++proved;
        const float scale = with.scale(), low = float(with.low - with.zero), high = float(with.high - with.zero);
        const si::detail::long_reciprocal inverse = si::detail::long_reciprocal_of(scale);
        REQUIRE(inverse.lower > 0);
        int wrong = 0;
        const auto look = [&](float x) {
            const float quotient = si::step::fma(x, inverse.upper, si::step::mul(x, inverse.lower));
            const float inside = si::step::min_raw(si::step::max_raw(quotient, low), high);
            wrong += int(si::step::round_even(inside)) + with.zero != si::quantize_code(x, with);
        };
        for (int half = -513; half <= 513; half += 2)
            for (int step = -40; step <= 40; ++step) look(of_bits(__builtin_bit_cast(si::u32, float(half) * 0.5f * scale) + si::u32(step)));
        const si::u32 ends[] = {0x7f800000u, 0x7f7fffffu, 0x7fc00000u, 0u, 1u, 0x00800000u, 0x7f000000u};
        for (si::u32 bits : ends) look(of_bits(bits)), look(of_bits(bits | 0x80000000u));
        CHECK(wrong == 0);
    }
    MESSAGE(proved << " of 40 random scales take the long reciprocal");
    CHECK(proved > 20);
}

TEST_CASE("both formulas at run time are those of the compiler, and of double arithmetic") {
    const qparams with = si::stored_as("0.1:3"_qp, code_kind::i8);
    for (int code = -128; code < 128; ++code) {
        const float real = si::dequantize_code(code, with);
        CHECK(real == static_cast<float>(static_cast<double>(code - 3) * static_cast<double>(with.scale())));
        CHECK(si::quantize_code(real, with) == code);
        CHECK(si::codec<si::q8<"0.1:3"_qp>>::decode(si::q8<"0.1:3"_qp>::from_code(static_cast<si::i8>(code))) == real);
    }
    CHECK(si::quantize_code(of_bits(0x7f800000u), with) == 127);
    CHECK(si::quantize_code(of_bits(0xff800000u), with) == -128);
    CHECK(si::quantize_code(of_bits(0x7fc00000u), with) == -128);
}
