// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small floats: every f16 (and the f64 just beside each tie) against the nearest of all values, found by looking at each of them; stores
// that keep what is there; casts in formulas on both backends.
#include <doctest/doctest.h>

#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <cmath>
#include <cstring>
#include <vector>

namespace si = sinter;

namespace {

/// The nearest finite value's code among all, ties to the even code; by its definition.
template <class Small>
int nearest(double magnitude) {
    int best = 0;
    double distance = -1;
    for (int code = 0; code <= int(Small::format.largest); ++code) {
        const double value = double(float(Small::from_bits(static_cast<si::u8>(code))));
        const double apart = std::fabs(value - magnitude);
        if (distance < 0 || apart < distance || (apart == distance && code % 2 == 0)) {
            best = code;
            distance = apart;
        }
    }
    return best;
}
template <class Small>
void rounds_to_the_nearest() {
    // From half a step beyond the largest value on, rounding leaves the format.
    const int largest = int(Small::format.largest);
    const double top = double(float(Small::from_bits(static_cast<si::u8>(largest))));
    const double step = top - double(float(Small::from_bits(static_cast<si::u8>(largest - 1))));
    int wrong = 0;
    for (int half = 0; half < 0x7c00; half += 3) {
        const double exact = double(float(si::f16::from_bits(static_cast<si::u16>(half))));
        for (const double x : {exact, exact * (1 + 0x1p-40), exact * (1 - 0x1p-40)}) {
            const int code = nearest<Small>(x);
            wrong += Small(x).bits != code;
            const int negative = Small(-x).bits;
            wrong += negative != (code == 0 && Small::format.unsigned_zero ? 0 : code | int(Small::format.sign));
            const bool beyond = x > top + step / 2 || (x == top + step / 2 && largest % 2 != 0);
            const int not_saturated = si::convert_no_saturate<Small>(static_cast<float>(exact)).bits;
            if (x == exact && Small::format.nan != 0)
                wrong += not_saturated != (beyond ? int(Small::format.infinity != 0 ? Small::format.infinity : Small::format.nan) : code);
        }
    }
    CHECK(wrong == 0);
}

template <class Small>
void formulas_agree() {
    std::vector<float> x;
    std::vector<double> wide;
    for (unsigned i = 0; i < 8192; ++i) x.push_back(__builtin_bit_cast(float, i << 19));
    for (const float value : x) wide.push_back(double(value) * (1 + 0x1p-30));
    const std::size_t count = x.size();
    std::vector<Small> stored(count), by_cast(count), from_wide(count), vectors(count), wide_vectors(count);
    si::run(si::reference, si::view(stored) = si::view(x) * 1.0f, si::view(by_cast) = si::cast<Small>(si::view(x)), si::view(from_wide) = si::cast<Small>(si::view(wide)));
    si::run(si::cpu, si::view(vectors) = si::view(x) * 1.0f, si::view(wide_vectors) = si::cast<Small>(si::view(wide)));
    int wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
        wrong += stored[i].bits != Small(x[i]).bits || by_cast[i].bits != stored[i].bits || vectors[i].bits != stored[i].bits;
        wrong += from_wide[i].bits != Small(wide[i]).bits || wide_vectors[i].bits != from_wide[i].bits;
    }
    CHECK(wrong == 0);
    std::vector<float> back(count), back_in_vectors(count);
    si::run(si::reference, si::view(back) = copy(si::view(stored)));
    si::run(si::cpu, si::view(back_in_vectors) = copy(si::view(stored)));
    for (std::size_t i = 0; i < count; ++i) {
        const float value = float(stored[i]);
        if (si::step::is_nan(value)) wrong += !si::step::is_nan(back[i]) || !si::step::is_nan(back_in_vectors[i]);
        else wrong += __builtin_bit_cast(si::u32, value) != __builtin_bit_cast(si::u32, back[i]) || __builtin_bit_cast(si::u32, value) != __builtin_bit_cast(si::u32, back_in_vectors[i]);
    }
    CHECK(wrong == 0);
}

}  // namespace

static_assert(si::f8_e4m3fn(464.0f).bits == 0x7e && si::convert_no_saturate<si::f8_e4m3fn>(464.0f).bits == 0x7e);
static_assert(si::convert_no_saturate<si::f8_e4m3fn>(465.0f).bits == 0x7f && si::f8_e5m2(1e9f).bits == 0x7b);
static_assert(si::f4_e2m1(100.0f).bits == 7 && si::f4_e2m1(-0.25f).bits == 8 && si::f4_e2m1(2.5f).bits == 4);
static_assert(si::f8_e8m0(1.0f).bits == 127 && si::f8_e8m0(1.1f).bits == 128 && si::f8_e8m0(0.0f).bits == 0 && si::f8_e8m0(-1.0f).bits == 255);
static_assert(si::power_of_two<si::scale_rounding::down>(1.99f).bits == 127 && si::power_of_two<si::scale_rounding::nearest>(1.5f).bits == 128);
static_assert(si::power_of_two<si::scale_rounding::nearest>(1.49f).bits == 127 && si::power_of_two<si::scale_rounding::up>(0x1p-140f).bits == 0);
static_assert(si::promote(si::dtype::f8_e4m3fn, si::dtype::f16) == si::dtype::f16 && si::promote(si::dtype::f8_e4m3fn, si::dtype::f8_e5m2) == si::dtype::f32);

TEST_CASE("a conversion is the nearest value, from f16 and from f64 beside it") {
    rounds_to_the_nearest<si::f8_e4m3fn>();
    rounds_to_the_nearest<si::f8_e5m2>();
    rounds_to_the_nearest<si::f8_e4m3fnuz>();
    rounds_to_the_nearest<si::f8_e5m2fnuz>();
    rounds_to_the_nearest<si::f4_e2m1>();
}
TEST_CASE("formulas: a store, a cast and the conversion are one thing on both backends") {
    formulas_agree<si::f8_e4m3fn>();
    formulas_agree<si::f8_e5m2>();
    formulas_agree<si::f8_e4m3fnuz>();
    formulas_agree<si::f8_e5m2fnuz>();
    formulas_agree<si::f4_e2m1>();
    formulas_agree<si::f8_e8m0>();
}
TEST_CASE("copies keep every code, infinities too") {
    si::f8_e5m2 all[256], out[256];
    for (int i = 0; i < 256; ++i) all[i].bits = static_cast<si::u8>(i);
    using view = si::tensor_view<si::f8_e5m2, si::extents<256>>;
    si::run(si::reference, view(out) = copy(view(all)));
    for (int i = 0; i < 256; ++i)
        if ((i & 0x7f) <= 0x7c) CHECK(out[i].bits == i);
    si::run(si::reference, view(out) = si::cast_no_saturate<si::f8_e5m2>(copy(view(all)) * 1e30f));
    CHECK(out[1].bits == 0x7c);
    si::run(si::reference, view(out) = copy(view(all)) * 1e30f);
    CHECK(out[1].bits == 0x7b);
}
