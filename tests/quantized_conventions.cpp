// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// quantized_conventions.hpp: what gemmlowp's, TensorFlow Lite's and ggml's own code gives for these inputs, and where it differs from the
// library's formulas.
#include <sinter/sinter.hpp>
#include <sinter/quantized_conventions.hpp>

#include <doctest/doctest.h>

namespace compatible {
namespace si = sinter;
namespace compat = si::compat;
using si::code_kind;

TEST_CASE("ties away from zero, and the reciprocal") {
    constexpr si::qparams plain = si::stored_as(si::qp(1.0f), code_kind::i8);
    const float x[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 126.5f, 127.5f, -127.5f, -128.5f};
    const int away[] = {1, 2, 3, -1, -2, -3, 127, 127, -128, -128}, even[] = {0, 2, 2, 0, -2, -2, 126, 127, -128, -128};
    for (int i = 0; i < 10; ++i) {
        CHECK(compat::quantize_ties_away(x[i], plain) == away[i]);
        CHECK(si::quantize_code(x[i], plain) == even[i]);
    }
    CHECK(compat::round_away(0.49999997f) == 0.0f);  // x + 0.5 would round to 1
    CHECK(compat::round_away(-0.49999997f) == 0.0f);
    CHECK(compat::round_away(8388607.5f) == 8388608.0f);
    CHECK(compat::quantize_ties_away(__builtin_nanf(""), plain) == -128);
    CHECK(compat::quantize_by_reciprocal(__builtin_huge_valf(), plain) == 127);
    constexpr si::qparams fine = si::stored_as(si::qp_bits(0x3b0cceaau), code_kind::u8);
    CHECK(si::quantize_code(__builtin_bit_cast(float, 0x3e8c41dbu), fine) == 127);
    CHECK(compat::quantize_by_reciprocal(__builtin_bit_cast(float, 0x3e8c41dbu), fine) == 128);
}
TEST_CASE("fixed-point multipliers") {
    static_assert(compat::quantize_multiplier(0.0014402703931141053) == compat::fixed_multiplier{1583594044, -9});
    static_assert(compat::quantize_multiplier(0.9999999998835847) == compat::fixed_multiplier{1073741824, 1});
    static_assert(compat::quantize_multiplier(0.5) == compat::fixed_multiplier{1073741824, 0});
    static_assert(compat::quantize_multiplier(1.5) == compat::fixed_multiplier{1610612736, 1});
    static_assert(compat::quantize_multiplier(0x1p-32) == compat::fixed_multiplier{1073741824, -31});
    static_assert(compat::quantize_multiplier(0x1p-33) == compat::fixed_multiplier{});
    static_assert(compat::quantize_multiplier(0.0) == compat::fixed_multiplier{});
    const struct {
        si::i32 x, mantissa;
        int shift;
        si::i32 single, twice;
    } rows[] = {{7984, 1583594044, -9, 11, 12}, {-7984, 1583594044, -9, -11, -12}, {1, 1073741824, -1, 0, 1}, {-1, 1073741824, -1, 0, 0},
                {3, 1073741824, 0, 2, 2},       {-3, 1073741824, 0, -1, -1},       {-1, 1073741824, 0, 0, 0}, {585, 1527099593, -6, 7, 7}};
    for (const auto& row : rows) {
        CHECK(compat::multiply_single_rounding(row.x, {row.mantissa, row.shift}) == row.single);
        CHECK(compat::multiply_double_rounding(row.x, {row.mantissa, row.shift}) == row.twice);
    }
    const int halves[] = {1, -1, 3, -3, 5, -5}, wanted[] = {1, -1, 2, -2, 3, -3};
    for (int i = 0; i < 6; ++i) CHECK(compat::rounding_divide_by_pot(halves[i], 1) == wanted[i]);
    constexpr si::i32 lowest = si::lowest_code(code_kind::i32);
    CHECK(compat::doubling_high_mul(lowest, lowest) == si::highest_code(code_kind::i32));
    CHECK(compat::rounding_divide_by_pot(lowest, 0) == lowest);
}
TEST_CASE("ggml's blocks") {
    const float x[32] = {127.0f, 0.5f,  1.5f,  2.5f,   -0.5f,  -1.5f,  -2.5f,  -127.0f, 0.25f,  1.25f,  2.25f,  3.25f,  4.25f,  5.25f,  6.25f,  7.25f,
                         8.25f,  9.25f, 10.25f, 11.25f, 12.25f, 13.25f, 14.25f, 15.25f,  16.25f, 17.25f, 18.25f, 19.25f, 20.25f, 21.25f, 22.25f, 23.25f};
    const compat::ggml_q8_0 block = compat::quantize_q8_0(x);
    CHECK(block.d.bits == 0x3c00);
    const int first[] = {127, 1, 2, 3, -1, -2, -3, -127, 0, 1};
    for (int i = 0; i < 10; ++i) CHECK(int(block.qs[i]) == first[i]);
    CHECK(compat::value_of(block, 31) == 23.0f);
    const compat::ggml_q8_1 summed = compat::quantize_q8_1(x);
    CHECK(summed.d.bits == 0x3c00);
    CHECK(summed.s.bits == 0x5c50);  // 276
    const float y[32] = {-8.0f, 7.5f, 0.5f, -0.5f, 7.0f, -7.0f, 1.49f, 1.5f, 0, 0, 0, 0, 0, 0, 0, 0, 3.0f, -3.0f, 2.5f, -2.5f, 6.0f, -6.0f, 0.25f, -0.25f, 1, 1, 1, 1, 1, 1, 1, 1};
    const compat::ggml_q4_0 nibbles = compat::quantize_q4_0(y);
    CHECK(nibbles.d.bits == 0x3c00);
    const int bytes[16] = {0xb0, 0x5f, 0xb9, 0x68, 0xef, 0x21, 0x89, 0x8a, 0x98, 0x98, 0x98, 0x98, 0x98, 0x98, 0x98, 0x98};
    for (int i = 0; i < 16; ++i) CHECK(int(nibbles.qs[i]) == bytes[i]);
    CHECK(compat::value_of(nibbles, 0) == -8.0f);
    CHECK(compat::value_of(nibbles, 17) == -3.0f);
    const float zeros[32] = {};
    CHECK(compat::quantize_q8_0(zeros).d.bits == 0);
    CHECK(compat::value_of(compat::quantize_q4_0(zeros), 5) == 0.0f);
}
TEST_CASE("packed words") {
    for (int i = 0; i < 8; ++i) {
        CHECK(compat::gptq_value(0x76543210u, i, 0.5f, compat::gptq_v1_zero(7, 0)) == float(i - 8) * 0.5f);
        CHECK(compat::gptq_value(0x76543210u, i, 0.5f, compat::gptq_v2_zero(8, 0)) == float(i - 8) * 0.5f);
    }
    const si::i8 codes[8] = {-8, -7, -1, 0, 1, 2, 6, 7};
    const si::u32 word = compat::compressed_tensors_pack(codes);
    CHECK(word == 0xfea98710u);
    for (int i = 0; i < 8; ++i) CHECK(compat::compressed_tensors_code(word, i) == codes[i]);
}
}  // namespace compatible
