// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Codes as wide as i32: f32 can't count them, and beside a zero point neither a bound nor a difference need be an i32. Every way to such
// a code and back, on both backends and for single numbers, against 80-bit floats.
#include <doctest/doctest.h>

#include <sinter/backend/cpu.hpp>
#include <sinter/ops/quantized_view.hpp>
#include <sinter/ops/requantize.hpp>
#include <sinter/sinter.hpp>

#include "support.hpp"

#include <cmath>
#include <vector>

namespace si = sinter;
using si::code_kind;
using si::i32;
using si::i64;
using mode = si::requantization;

namespace {

constexpr i32 lowest = -2147483647 - 1, highest = 2147483647;

/// zero + steps rounded half to even, within the codes; a NaN gives the lowest. 64 bits hold every sum here.
template <class Real>
i32 code_of(Real steps, const si::qparams& with) {
    if (support::not_a_number(steps)) return with.low;  // told by bits: under -ffast-math the compiler knows no NaN
    const long double code = std::nearbyint(static_cast<long double>(steps)) + with.zero;
    return code <= with.low ? with.low : code >= with.high ? with.high : i32(code);
}
template <class Real>
i32 code_of_number(Real x, const si::qparams& with) {
    return code_of(si::step::div(x, si::convert<Real>(with.scale())), with);
}
float value_of(i32 code, const si::qparams& with) { return si::step::mul(float(i64(code) - with.zero), with.scale()); }

/// Zeros, ones, ties, and what lies around +-2^24, +-2^31 and their kin times the scale, whose codes the zero point moves over an end.
template <class Real>
std::vector<Real> numbers(float scale) {
    std::vector<Real> out{Real(0), -Real(0), Real(NAN), Real(INFINITY), -Real(INFINITY), Real(1e30), -Real(1e30), Real(1e-40)};
    for (const double center : {0.0, 1.0, 127.0, 16777216.0, 33554432.0, 1073741824.0, 2147483648.0, 4294967296.0, 3e9})
        for (const double beside : {-300.0, -5.0, -1.5, -1.0, -0.5, 0.0, 0.25, 0.5, 1.5, 5.0, 128.0, 256.0})
            for (const double sign : {-1.0, 1.0}) out.push_back(Real(sign * (center + beside) * double(scale)));
    return out;
}
std::vector<i32> integers() {
    std::vector<i32> out;
    for (const i64 center : {i64(lowest), i64(-1) << 24, i64(0), i64(1) << 24, i64(1) << 30, i64(highest)})
        for (i64 beside = -9; beside <= 9; ++beside)
            if (center + beside >= lowest && center + beside <= highest) out.push_back(i32(center + beside));
    return out;
}
template <si::qparams Parameters, class Real, class Executor>
void from_numbers(const Executor& executor) {
    const std::vector<Real> x = numbers<Real>(Parameters.scale());
    std::vector<i32> codes(x.size());
    std::vector<float> nearest(x.size()), chosen(x.size());
    si::run(executor, si::view(codes) = si::quantize<Parameters>(si::view(x)));
    si::run(executor, si::view(nearest) = si::fake_quantize<Parameters>(si::view(x)));
    si::run(executor, si::view(chosen) = si::fake_quantize<Parameters.low, Parameters.high>(si::view(x), Parameters.scale(), Parameters.zero));
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const i32 code = code_of_number(x[i], Parameters);
        const float value = value_of(code, Parameters);
        wrong += codes[i] != code || nearest[i] != value || si::quantize_code(x[i], Parameters) != code;
        if (Parameters.zero >= Parameters.low && Parameters.zero <= Parameters.high) wrong += chosen[i] != value;
    }
    if constexpr (std::is_same_v<Real, float>) {
        std::vector<si::q32<Parameters>> stored(x.size());
        si::run(executor, si::view(stored) = si::copy(si::view(x)));
        for (std::size_t i = 0; i < x.size(); ++i) wrong += stored[i].code != codes[i] || si::q32<Parameters>(x[i]).code != codes[i];
    }
    CHECK(wrong == 0);
}
template <si::qparams Parameters, class Executor>
void from_integers(const Executor& executor) {
    const std::vector<i32> x = integers();
    std::vector<i32> codes(x.size());
    std::vector<si::q32<Parameters>> stored;
    for (const i32 code : x) stored.push_back(si::q32<Parameters>::from_code(code));
    std::vector<float> values(x.size()), loaded(x.size());
    si::run(executor, si::view(values) = si::dequantize<Parameters>(si::view(x)));
    si::run(executor, si::view(loaded) = si::dequantize(si::view(stored)));
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const float value = value_of(x[i], Parameters);
        wrong += values[i] != value || loaded[i] != value || float(stored[i]) != value;
    }
    CHECK(wrong == 0);
    for (const float multiplier : {1.0f, 0.5f, -3.0f, 0.3f}) {
        si::run(executor, si::view(codes) = si::requantize<Parameters>(si::view(x), multiplier));
        for (std::size_t i = 0; i < x.size(); ++i) wrong += codes[i] != code_of(si::step::mul(float(x[i]), multiplier), Parameters);
    }
    CHECK(wrong == 0);
    for (const double factor : {0.5, 0.999}) {
        const si::fixed_multiplier by = si::quantize_multiplier(factor);
        si::run(executor, si::view(codes) = si::requantize<Parameters, mode::tflite_single>(si::view(x), by.mantissa, by.shift));
        for (std::size_t i = 0; i < x.size(); ++i) wrong += codes[i] != code_of(si::compat::multiply_single_rounding(x[i], by), Parameters);
    }
    CHECK(wrong == 0);
    // What rounds by other rules saturates by the same.
    for (const float number : numbers<float>(Parameters.scale())) {
        const float steps = si::step::div(number, Parameters.scale());
        wrong += si::compat::quantize_ties_away(number, Parameters) != code_of(std::round(steps), Parameters);
        wrong += si::compat::quantize_by_reciprocal(number, Parameters) !=
                 code_of(si::step::mul(number, si::step::div(1.0f, Parameters.scale())), Parameters);
    }
    CHECK(wrong == 0);
}
template <si::qparams Given>
void both_ways() {
    constexpr si::qparams with = si::stored_as(Given, code_kind::i32);
    from_numbers<with, float>(si::reference);
    from_numbers<with, double>(si::reference);
    from_numbers<with, float>(si::cpu);
    from_numbers<with, double>(si::cpu);
    from_integers<with>(si::reference);
    from_integers<with>(si::cpu);
}

}  // namespace

TEST_CASE("32-bit codes saturate to the end that was passed, for every zero point") {
    both_ways<si::qp(1.0f)>();
    both_ways<si::qp(1.0f, 5)>();
    both_ways<si::qp(0.5f, -5)>();
    both_ways<si::qp(0.3f, 16777217)>();
}
TEST_CASE("32-bit codes with a zero point at an end, or a range of their own") {
    both_ways<si::qp(1.0f, lowest)>();
    both_ways<si::qp(3e-5f, highest)>();
    both_ways<si::with_range(si::qp(1.0f, -7), -100, 100)>();
    both_ways<si::with_range(si::qp(0.7f, 3), -20000000, 2000000000)>();
}
