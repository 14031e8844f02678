// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of math.hpp on the scalar lane: bounds on samples of all magnitudes, edges, reported faults of other
// libraries, NumPy's accuracy sets when SINTER_DATA names a folder that holds them, and a hash that pins the bits of
// every function. bench/math_sweep proves the bounds over all inputs.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <sinter/math.hpp>

#include "numbers.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lane = sinter::lane;
using lane::scalar;
using sinter::i32;
using sinter::i64;
using sinter::u32;
using sinter::u64;
using sinter::u8;

namespace {

const char* data_folder = nullptr;

// Tests of NaN, infinity and sign by bits: this file is compiled with -ffast-math too.
u32 bits_of(float value) { return __builtin_bit_cast(u32, value); }
u64 bits_of(double value) { return __builtin_bit_cast(u64, value); }
float float_of(u32 pattern) { return __builtin_bit_cast(float, pattern); }
bool is_nan(float value) { return (bits_of(value) & 0x7fffffffu) > 0x7f800000u; }
bool is_nan(double value) { return (bits_of(value) & 0x7fffffffffffffffu) > 0x7ff0000000000000u; }
bool is_inf(float value) { return (bits_of(value) & 0x7fffffffu) == 0x7f800000u; }
// Not a literal: -ffast-math takes -0 and 0 for the same constant.
volatile u32 sign_pattern = 0x80000000u;
const float minus_zero = float_of(sign_pattern);
const float infinite = float_of(0x7f800000u), nan_f32 = float_of(0x7fc00000u);

/// Equal bits: the same bits, or both NaN.
bool same(float left, float right) { return bits_of(left) == bits_of(right) || (is_nan(left) && is_nan(right)); }
bool same(double left, double right) { return bits_of(left) == bits_of(right) || (is_nan(left) && is_nan(right)); }
#define CHECK_SAME(left, right)     \
  do {                              \
    const auto left_value = (left); \
    CAPTURE(left_value);            \
    CAPTURE(right);                 \
    CHECK(same(left_value, right)); \
  } while (false)

/// The last place of f32 at a value.
double last_place(double value) {
  const int exponent = static_cast<int>(bits_of(value) >> 52 & 0x7ff) - 1023;
  return std::ldexp(1.0, (exponent < -126 ? -126 : exponent > 127 ? 127 : exponent) - 23);
}
/// Error in ulp; overflow where it is due is none. `want` is finite or overflows f32.
double error_of(float got, double want) {
  if (is_nan(got)) { return 1e9; }
  if (is_inf(got)) { return std::fabs(want) >= 0x1.ffffffp127 && (got > 0) == (want > 0) ? 0 : 1e9; }
  return std::fabs(static_cast<double>(got) - want) / last_place(want);
}

using test_numbers::generator;

// Through volatile, so that calls aren't folded together either.
#define FUNCTION_1(name)                            \
  float name(float x) {                             \
    volatile float hidden = x;                      \
    return lane::name(scalar<float>(hidden)).value; \
  }
#define FUNCTION_2(name)                                                       \
  float name(float x, float y) {                                               \
    volatile float hidden_x = x, hidden_y = y;                                 \
    return lane::name(scalar<float>(hidden_x), scalar<float>(hidden_y)).value; \
  }
namespace f {
FUNCTION_1(exp)
FUNCTION_1(exp2)
FUNCTION_1(expm1)
FUNCTION_1(log)
FUNCTION_1(log2)
FUNCTION_1(log10)
FUNCTION_1(log1p)
FUNCTION_1(sigmoid)
FUNCTION_1(tanh)
FUNCTION_1(erf)
FUNCTION_1(erfc)
FUNCTION_1(rsqrt)
FUNCTION_1(sqrt)
FUNCTION_1(cbrt)
FUNCTION_1(sin)
FUNCTION_1(cos)
FUNCTION_1(tan)
FUNCTION_1(sinh)
FUNCTION_1(cosh)
FUNCTION_1(asin)
FUNCTION_1(acos)
FUNCTION_1(atan)
FUNCTION_1(asinh)
FUNCTION_1(acosh)
FUNCTION_1(atanh)
FUNCTION_1(silu)
FUNCTION_1(softplus)
FUNCTION_1(mish)
FUNCTION_1(elu)
FUNCTION_1(gelu)
FUNCTION_1(gelu_tanh)
FUNCTION_2(atan2)
FUNCTION_2(pow)
FUNCTION_2(hypot)
FUNCTION_2(logaddexp)
FUNCTION_2(fmod)
FUNCTION_2(remainder)
FUNCTION_2(floor_divide)
}  // namespace f

namespace reference {
double softplus(double x) { return x > 40 ? x : std::log1p(std::exp(x)); }
double mish(double x) {
  const double e = std::exp(x < 40 ? x : 40), n = e * (e + 2);
  return x * (n / (n + 2));
}
double gelu(double x) { return x * 0.5 * std::erfc(x * -0.70710678118654752440); }
double gelu_tanh(double x) { return x / (1 + std::exp(-1.5957691216057307117 * (x + 0.044715 * x * x * x))); }
}  // namespace reference

struct function {
  const char* name;
  float (*value)(float);
  double (*reference)(double);
  double bound, low, high;
  u64 hash;  // of the results at the samples: these bits are the contract
};
// clang-format off
const function functions[] = {
    {"exp", f::exp, std::exp, 2, -104, 89, 0x3ad777907e689a9cu},
    {"exp2", f::exp2, std::exp2, 2, -150, 129, 0x1c354e54353833d5u},
    {"expm1", f::expm1, std::expm1, 2, -20, 89, 0x7af5e56bdc33a55fu},
    {"log", f::log, std::log, 2, 0, 4e38, 0x5fb9cee7af3ed221u},
    {"log2", f::log2, std::log2, 2, 0, 4e38, 0x28d6a1a8afa8bdddu},
    {"log10", f::log10, std::log10, 2, 0, 4e38, 0x26227e11b38a08e2u},
    {"log1p", f::log1p, std::log1p, 2, -1, 4e38, 0x7409b3203ecf89c4u},
    {"sigmoid", f::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 2, -104, 100, 0x1bfc2334bc5ef228u},
    {"tanh", f::tanh, std::tanh, 2, -12, 12, 0xb4f3b85733a36f62u},
    {"erf", f::erf, std::erf, 2, -5, 5, 0xb2644ec88404d9fau},
    {"erfc", f::erfc, std::erfc, 4, -5, 3, 0x5dfb7394c7b58f4au},
    {"rsqrt", f::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 2, 0, 4e38, 0x8f739c30eaba0dd0u},
    {"cbrt", f::cbrt, std::cbrt, 2, -4e38, 4e38, 0x5bcceffa80fa193u},
    {"sin", f::sin, std::sin, 4, -4e38, 4e38, 0x704b230df91ece3u},
    {"cos", f::cos, std::cos, 4, -4e38, 4e38, 0x77a50d6865d3e561u},
    {"tan", f::tan, std::tan, 4, -4e38, 4e38, 0xffee1809ae2242a6u},
    {"sinh", f::sinh, std::sinh, 4, -90, 90, 0x6f124b1ec67d5d43u},
    {"cosh", f::cosh, std::cosh, 4, -90, 90, 0xffde1824c21dbb2au},
    {"asin", f::asin, std::asin, 4, -1, 1, 0xf5e9b82ae9d5307eu},
    {"acos", f::acos, std::acos, 4, -1, 1, 0xc5842af7c0f2e40bu},
    {"atan", f::atan, std::atan, 4, -4e38, 4e38, 0x20dd6b206d80c4e7u},
    {"asinh", f::asinh, std::asinh, 4, -4e38, 4e38, 0x61acf22c9bea2ec0u},
    {"acosh", f::acosh, std::acosh, 4, 1, 4e38, 0xd07cd555e35df34cu},
    {"atanh", f::atanh, std::atanh, 4, -1, 1, 0xe930c92b9e0c0c2du},
    {"silu", f::silu, [](double x) { return x / (1 + std::exp(-x)); }, 2, -120, 4e38, 0x77cf41291de677d9u},
    {"softplus", f::softplus, reference::softplus, 2, -104, 4e38, 0xc16bb8c5a3bd3b63u},
    {"mish", f::mish, reference::mish, 4, -120, 4e38, 0x5dda63e66e47cc80u},
    {"elu", f::elu, [](double x) { return x > 0 ? x : std::expm1(x); }, 4, -20, 4e38, 0xd8876d77fcaddfe9u},
    {"gelu", f::gelu, reference::gelu, 4, -3, 4e38, 0xc011ea6534945279u},
    {"gelu_tanh", f::gelu_tanh, reference::gelu_tanh, 4, -3, 1e12, 0x7dc8981c9104aea3u},
};
// clang-format on

/// Sample number n of [low, high]: moderate values and any exponent by turns. Exact steps only, so that no flag moves
/// a sample.
float sample(generator& random, int index, double low, double high) {
  for (;;) {
    const u64 draw = random();
    const float moderate = static_cast<float>(static_cast<i32>(draw >> 40) - 0x800000) *
                           float_of(0x37800000u - static_cast<u32>(draw % 8) * 0x800000u);
    const float x = index % 2 == 0 ? moderate : float_of(static_cast<u32>(draw >> 32));
    if (!is_nan(x) && !is_inf(x) && x >= low && x <= high) { return x; }
  }
}

}  // namespace

TEST_CASE("exponentials of what isn't positive have the bits of exp") {
  int checked = 0;
  for (std::uint32_t bits = 0x80000000u; bits <= 0xff800000u; bits += 9973) {
    const scalar<float> x(__builtin_bit_cast(float, bits));
    const std::uint32_t wanted = __builtin_bit_cast(std::uint32_t, lane::exp(x).value);
    CHECK_MESSAGE(__builtin_bit_cast(std::uint32_t, lane::exp_nonpositive(x).value) == wanted, x.value);
    ++checked;
  }
  CHECK(checked > 200000);
}

TEST_CASE("exponentials of differences, below the top 0: bound, short form, edges, bits") {
  int checked = 0;
  double worst = 0;
  u64 hash = 0xcbf29ce484222325u;
  for (u32 pattern = 0x80000000u; pattern <= 0xff800000u; pattern += 9973) {
    const scalar<float> x(float_of(pattern));
    const float result = lane::exp_below_zero(x).value;
    CHECK_MESSAGE(bits_of(result) == bits_of(lane::exp_below(x, scalar<float>(0.0f)).value), x.value);
    if (x.value >= -86.0f) CHECK_MESSAGE(bits_of(result) == bits_of(lane::exp_below_normal(x).value), x.value);
    const long double wanted = expl(static_cast<long double>(x.value));
    if (wanted >= 0x1p-126L) {
      const double error = static_cast<double>(fabsl(result - wanted) / wanted * 0x1p24L) + 0.226 * static_cast<double>(x.value);
      worst = error > worst ? error : worst;
    } else {
      CHECK(fabsl(result - wanted) <= wanted * 0x1p-19L + 0x1p-149L);
    }
    hash = (hash ^ bits_of(result)) * 0x100000001b3u;
    ++checked;
  }
  CHECK(checked > 200000);
  CHECK(worst < 1.9);
  CHECK(hash == 15829410245499651966u);
  CHECK(lane::exp_below_zero(scalar<float>(0.0f)).value == 1.0f);
  CHECK(lane::exp_below_normal(scalar<float>(0.0f)).value == 1.0f);
  CHECK(lane::exp_below_normal(scalar<float>(-86.0f)).value == lane::exp_below_zero(scalar<float>(-86.0f)).value);
  CHECK(bits_of(lane::exp_below_zero(scalar<float>(-infinite)).value) == 0);
  CHECK(is_nan(lane::exp_below_zero(scalar<float>(nan_f32)).value));
  CHECK(lane::exp_below_zero(scalar<double>(-5.0)).value == lane::exp(scalar<double>(-5.0)).value);
}

TEST_CASE("exponentials below a top: bound, short form, edges, bits") {
  const auto below = [](float x, float top) { return lane::exp_below(scalar<float>(x), scalar<float>(top)).value; };
  generator random;
  u64 hash = 0xcbf29ce484222325u;
  int checked = 0, short_forms = 0;
  double worst = 0;
  for (int i = 0; i < 400; ++i) {
    const float top = i % 4 == 3 ? sample(random, 1, -3e38, 3e38) : sample(random, 0, -1.2e6, 1.2e6) * (i % 4 == 0 ? 1.0f : 0x1p-10f);
    const float scale = below(top, top);
    CHECK((scale >= 0.7f && scale <= 1.42f));
    if (std::fabs(top) >= 0x1p20f) CHECK(scale == 1.0f);
    for (int j = 0; j < 400; ++j) {
      const float distance = std::fabs(sample(random, 0, -110, 110)), x = top - distance < top ? top - distance : top;
      const float result = below(x, top);
      const long double wanted = expl(static_cast<long double>(x) - static_cast<long double>(top)) * scale;
      hash = (hash ^ bits_of(result)) * 0x100000001b3u;
      ++checked;
      if (wanted >= 0x1p-126L) {
        const double error = static_cast<double>(fabsl(result - wanted) / wanted * 0x1p24L) - 0.226 * (static_cast<double>(top) - static_cast<double>(x));
        worst = error > worst ? error : worst;
      } else {
        CHECK(fabsl(result - wanted) <= wanted * 0x1p-19L + 0x1p-149L);
      }
      if (std::fabs(top) < 0x1p20f && x >= top - 86.0f) {
        const float in_short = lane::exp_below_normal(scalar<float>(x), lane::exp_below_base(scalar<float>(top))).value;
        CHECK(bits_of(in_short) == bits_of(result));
        ++short_forms;
      }
    }
    CHECK(bits_of(below(-infinite, top)) == 0);
    CHECK(is_nan(below(nan_f32, top)));
  }
  CHECK(checked == 160000);
  CHECK(short_forms > 60000);
  CHECK(worst < 3.0);
  CHECK(is_nan(below(infinite, infinite)));
  CHECK(is_nan(below(0.0f, infinite)));
  CHECK(is_nan(below(-infinite, -infinite)));
  CHECK(is_nan(below(0.0f, nan_f32)));
  CHECK_MESSAGE(hash == 6365751821632326843u, "the bits of exp_below: ", hash);
  // f64 is e^(x - top) itself.
  CHECK(lane::exp_below(scalar<double>(-3.0), scalar<double>(2.0)).value == lane::exp(scalar<double>(-5.0)).value);
}

TEST_CASE("bounds and bits on samples") {
  for (const function& it : functions) {
    generator random;
    double worst = 0;
    float worst_at = 0;
    u64 hash = 0;
    for (int index = 0; index < 20000; ++index) {
      const float x = sample(random, index, it.low, it.high), got = it.value(x);
      const double want = it.reference(static_cast<double>(x));
      const double error = want == 0 && got == 0 ? 0 : error_of(got, want);
      if (error > worst) { worst = error, worst_at = x; }
      hash = (hash ^ bits_of(got)) * 0x9e3779b97f4a7c15u;
    }
    INFO(doctest::String(it.name));
    CAPTURE(worst_at);
    CHECK(worst <= it.bound);
    CHECK(hash == it.hash);
  }
}

TEST_CASE("two arguments: bounds on samples") {
  generator random;
  double pow_worst = 0, hypot_worst = 0, atan2_worst = 0, add_worst = 0;
  for (int index = 0; index < 40000; ++index) {
    const float base = static_cast<float>(std::exp2(random.in(-1, 1) * (index % 3 == 0 ? 1 : 126)));
    const float power = static_cast<float>(random.in(-1, 1) * 150 / std::fabs(std::log2(static_cast<double>(base))));
    const double want_pow = std::pow(static_cast<double>(base), static_cast<double>(power));
    pow_worst = std::fmax(pow_worst, error_of(f::pow(base, power), want_pow));

    const float x = sample(random, index, -4e38, 4e38);
    const u32 exponent_jitter = static_cast<u32>(random()) & 0x81ffffffu;  // y near x in magnitude, by turns
    const float y =
        index % 2 == 0 ? sample(random, index, -4e38, 4e38) : float_of((bits_of(x) & 0x7e000000u) | exponent_jitter);
    if (is_nan(y) || is_inf(y)) { continue; }
    const double wide_x = static_cast<double>(x), wide_y = static_cast<double>(y);
    hypot_worst = std::fmax(hypot_worst, error_of(f::hypot(x, y), std::hypot(wide_x, wide_y)));
    atan2_worst = std::fmax(atan2_worst, error_of(f::atan2(y, x), std::atan2(wide_y, wide_x)));

    const double a = random.in(0, 90), b = random.in(-90, 90);  // a sum that doesn't cancel
    const float a32 = static_cast<float>(a), b32 = static_cast<float>(b);
    const double larger = std::fmax(static_cast<double>(a32), static_cast<double>(b32));
    const double gap = std::fabs(static_cast<double>(a32) - static_cast<double>(b32));
    add_worst = std::fmax(add_worst, error_of(f::logaddexp(a32, b32), larger + std::log1p(std::exp(-gap))));
  }
  CHECK(pow_worst <= 1);
  CHECK(hypot_worst <= 2);
  CHECK(atan2_worst <= 3);
  CHECK(add_worst <= 2);
}

TEST_CASE("logaddexp: 4 ulp from 1/4 on, nearer to 0 an absolute error of 2^-23") {
  generator random;
  double worst = 0, worst_near_zero = 0;
  for (int index = 0; index < 400000; ++index) {
    // The result first, near 0 by turns; then one argument below it, and the other that completes it.
    const double wanted = random.in(-1, 1) * std::ldexp(1.0, index % 3 == 0 ? 0 : -(index % 30));
    const double first = wanted - random.in(0.001, 1) * (index % 2 == 0 ? 1 : 20);
    const float x = static_cast<float>(first), y = static_cast<float>(std::log(std::exp(wanted) - std::exp(first)));
    const long double wide_x = x, wide_y = y, larger = std::fmax(wide_x, wide_y);
    const long double truth = larger + std::log1p(std::exp(-std::fabs(wide_x - wide_y)));
    const float one = f::logaddexp(x, y);
    CHECK_SAME(f::logaddexp(y, x), one);
    if (std::fabs(truth) >= 0.25L)
      worst = std::fmax(worst, error_of(one, static_cast<double>(truth)));
    else
      worst_near_zero = std::fmax(worst_near_zero, static_cast<double>(std::fabs(static_cast<long double>(one) - truth)));
  }
  CHECK(worst <= 4);
  CHECK(worst_near_zero <= 0x1p-23);
  CHECK(worst_near_zero > 0x1p-25);  // the bound is the formula's, not the samples'
}

TEST_CASE("f64: at most 4 ulp against long double") {
  const auto error = [](double got, long double want) {
    const int exponent = std::ilogb(static_cast<double>(want));
    const long double place = std::ldexp(1.0L, (exponent < -1022 ? -1022 : exponent) - 52);
    return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / place);
  };
  generator random;
  double exp_worst = 0, log_worst = 0, tanh_worst = 0, sigmoid_worst = 0, rsqrt_worst = 0;
  for (int index = 0; index < 40000; ++index) {
    const double x = index % 2 == 0 ? random.in(-20, 20) : random.in(-745, 709.7);
    const long double wide = static_cast<long double>(x);
    exp_worst = std::fmax(exp_worst, error(lane::exp(scalar<double>(x)).value, std::exp(wide)));
    sigmoid_worst = std::fmax(sigmoid_worst, error(lane::sigmoid(scalar<double>(x)).value, 1 / (1 + std::exp(-wide))));
    tanh_worst = std::fmax(
        tanh_worst, error(lane::tanh(scalar<double>(x / 20)).value, std::tanh(static_cast<long double>(x / 20))));
    const double positive = index % 2 == 0 ? random.in(0, 3) : std::ldexp(random.in(1, 2), static_cast<int>(x * 1.44));
    const long double wide_positive = static_cast<long double>(positive);
    log_worst = std::fmax(log_worst, error(lane::log(scalar<double>(positive)).value, std::log(wide_positive)));
    rsqrt_worst =
        std::fmax(rsqrt_worst, error(lane::rsqrt(scalar<double>(positive)).value, 1 / std::sqrt(wide_positive)));
  }
  CHECK(exp_worst <= 2);
  CHECK(log_worst <= 2);
  CHECK(tanh_worst <= 2);
  CHECK(sigmoid_worst <= 2);
  CHECK(rsqrt_worst <= 2);
  const double wide_inf = __builtin_bit_cast(double, u64{0x7ff0000000000000});
  CHECK_SAME(lane::exp(scalar<double>(-wide_inf)).value, 0.0);
  CHECK_SAME(lane::exp(scalar<double>(710.0)).value, wide_inf);
  CHECK_SAME(lane::exp(scalar<double>(-745.0)).value, 0x1p-1074);
  CHECK_SAME(lane::log(scalar<double>(0x1p-1074)).value, std::log(0x1p-1074));
  CHECK_SAME(lane::log(scalar<double>(0.0)).value, -wide_inf);
  CHECK(is_nan(lane::log(scalar<double>(-1.0)).value));
  CHECK_SAME(lane::tanh(scalar<double>(-wide_inf)).value, -1.0);
  CHECK_SAME(lane::sigmoid(scalar<double>(-wide_inf)).value, 0.0);
  // tanh on [0.63, 0.8) went wrong elsewhere
  CHECK(lane::tanh(scalar<double>(0.63)).value == doctest::Approx(0.55805222).epsilon(1e-8));
  CHECK(lane::tanh(scalar<double>(0.69)).value == doctest::Approx(0.59798200).epsilon(1e-8));
  CHECK(lane::tanh(scalar<double>(0.8)).value == doctest::Approx(0.66403677).epsilon(1e-8));
}

TEST_CASE("NaN stays NaN, in every payload and sign") {
  const u32 patterns[] = {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u, 0x7fffffffu, 0xffffffffu};
  for (const function& it : functions) {
    for (const u32 pattern : patterns) {
      INFO(doctest::String(it.name));
      CAPTURE(pattern);
      CHECK(is_nan(it.value(float_of(pattern))));
    }
  }
  for (const u32 pattern : patterns) {
    const float x = float_of(pattern);
    float (*const binary[])(float, float) = {f::atan2, f::hypot, f::logaddexp, f::fmod, f::remainder, f::floor_divide};
    for (const auto value : binary) {
      CHECK(is_nan(value(x, 1.5f)));
      CHECK(is_nan(value(1.5f, x)));
    }
    CHECK(is_nan(f::pow(x, 1.5f)));
    CHECK(is_nan(f::pow(1.5f, x)));
    CHECK_SAME(f::hypot(x, infinite), infinite);
  }
  CHECK(is_nan(f::sin(f::atan(nan_f32))));
}

TEST_CASE("edges of unary functions") {
  const float inf = infinite, nan = nan_f32;
  struct edge {
    float (*value)(float);
    float x, want;
  };
  const edge edges[] = {
      {f::exp, -inf, 0.0f},
      {f::exp, inf, inf},
      {f::exp, 0.0f, 1.0f},
      {f::exp, -104.0f, 0.0f},
      {f::exp, 88.8f, inf},
      {f::exp, -103.2f, 0x1p-149f},
      {f::exp2, -149.0f, 0x1p-149f},
      {f::exp2, 127.0f, 0x1p127f},
      {f::exp2, 128.0f, inf},
      {f::exp2, -inf, 0.0f},
      {f::exp2, 10.0f, 1024.0f},
      {f::expm1, -inf, -1.0f},
      {f::expm1, inf, inf},
      {f::expm1, minus_zero, minus_zero},
      {f::expm1, 0x1p-149f, 0x1p-149f},
      {f::expm1, 89.0f, inf},
      {f::log, 0.0f, -inf},
      {f::log, minus_zero, -inf},
      {f::log, -1.0f, nan},
      {f::log, -inf, nan},
      {f::log, inf, inf},
      {f::log, 1.0f, 0.0f},
      {f::log2, 0.0f, -inf},
      {f::log2, -1.0f, nan},
      {f::log2, inf, inf},
      {f::log2, 0x1p-149f, -149.0f},
      {f::log2, 0x1p127f, 127.0f},
      {f::log10, 0.0f, -inf},
      {f::log10, -1.0f, nan},
      {f::log10, inf, inf},
      {f::log10, 1000.0f, 3.0f},
      {f::log10, 1e10f, 10.0f},
      {f::log1p, -1.0f, -inf},
      {f::log1p, -1.5f, nan},
      {f::log1p, inf, inf},
      {f::log1p, minus_zero, minus_zero},
      {f::log1p, -inf, nan},
      {f::log1p, 0x1p-149f, 0x1p-149f},
      {f::sigmoid, inf, 1.0f},
      {f::sigmoid, -inf, 0.0f},
      {f::sigmoid, 0.0f, 0.5f},
      {f::sigmoid, 88.0f, 1.0f},
      {f::sigmoid, 200.0f, 1.0f},
      {f::sigmoid, -104.0f, 0.0f},
      {f::tanh, inf, 1.0f},
      {f::tanh, -inf, -1.0f},
      {f::tanh, minus_zero, minus_zero},
      {f::tanh, 44.0f, 1.0f},
      {f::tanh, 45.0f, 1.0f},
      {f::tanh, 88.8f, 1.0f},
      {f::tanh, -100.0f, -1.0f},
      {f::tanh, 1e30f, 1.0f},
      {f::tanh, 0x1p-149f, 0x1p-149f},
      {f::erf, inf, 1.0f},
      {f::erf, -inf, -1.0f},
      {f::erf, minus_zero, minus_zero},
      {f::erfc, inf, 0.0f},
      {f::erfc, -inf, 2.0f},
      {f::erfc, 0.0f, 1.0f},
      {f::rsqrt, 0.0f, inf},
      {f::rsqrt, minus_zero, -inf},
      {f::rsqrt, inf, 0.0f},
      {f::rsqrt, 4.0f, 0.5f},
      {f::rsqrt, -1.0f, nan},
      {f::sqrt, 0.0f, 0.0f},
      {f::sqrt, minus_zero, minus_zero},
      {f::sqrt, inf, inf},
      {f::sqrt, 4.0f, 2.0f},
      {f::sqrt, -1.0f, nan},
      {f::cbrt, minus_zero, minus_zero},
      {f::cbrt, inf, inf},
      {f::cbrt, -inf, -inf},
      {f::cbrt, -27.0f, -3.0f},
      {f::cbrt, 0x1p-147f, 0x1p-49f},
      {f::sin, inf, nan},
      {f::sin, -inf, nan},
      {f::sin, minus_zero, minus_zero},
      {f::cos, inf, nan},
      {f::cos, 0.0f, 1.0f},
      {f::tan, inf, nan},
      {f::tan, minus_zero, minus_zero},
      {f::sin, 0x1p-149f, 0x1p-149f},
      {f::sinh, inf, inf},
      {f::sinh, -inf, -inf},
      {f::sinh, minus_zero, minus_zero},
      {f::sinh, 89.5f, inf},
      {f::sinh, 0x1p-149f, 0x1p-149f},
      {f::cosh, inf, inf},
      {f::cosh, -inf, inf},
      {f::cosh, 0.0f, 1.0f},
      {f::cosh, -89.5f, inf},
      {f::asin, 1.5f, nan},
      {f::asin, minus_zero, minus_zero},
      {f::asin, 1.0f, 0x1.921fb6p+0f},
      {f::acos, 1.0f, 0.0f},
      {f::acos, -1.5f, nan},
      {f::acos, -1.0f, 0x1.921fb6p+1f},
      {f::atan, inf, 0x1.921fb6p+0f},
      {f::atan, -inf, -0x1.921fb6p+0f},
      {f::atan, minus_zero, minus_zero},
      {f::asinh, inf, inf},
      {f::asinh, -inf, -inf},
      {f::asinh, minus_zero, minus_zero},
      {f::acosh, 1.0f, 0.0f},
      {f::acosh, 0.5f, nan},
      {f::acosh, -inf, nan},
      {f::acosh, -1e20f, nan},
      {f::acosh, inf, inf},
      {f::atanh, 1.0f, inf},
      {f::atanh, -1.0f, -inf},
      {f::atanh, 1.5f, nan},
      {f::atanh, -inf, nan},
      {f::atanh, minus_zero, minus_zero},
      {f::silu, inf, inf},
      {f::silu, -inf, minus_zero},
      {f::silu, -1e30f, minus_zero},
      {f::silu, 1e30f, 1e30f},
      {f::gelu, inf, inf},
      {f::gelu, -inf, minus_zero},
      {f::gelu, 1e30f, 1e30f},
      {f::gelu, -1e30f, minus_zero},
      {f::gelu, minus_zero, minus_zero},
      {f::gelu_tanh, inf, inf},
      {f::gelu_tanh, -inf, minus_zero},
      {f::gelu_tanh, 1e30f, 1e30f},
      {f::gelu_tanh, -1e30f, minus_zero},
      {f::mish, inf, inf},
      {f::mish, -inf, minus_zero},
      {f::mish, 0x1.fffffep127f, 0x1.fffffep127f},
      {f::elu, inf, inf},
      {f::elu, -inf, -1.0f},
      {f::elu, minus_zero, minus_zero},
      {f::softplus, inf, inf},
      {f::softplus, -inf, 0.0f},
  };
  int index = 0;
  for (const edge& it : edges) {
    CAPTURE(index++);
    CAPTURE(it.x);
    CHECK_SAME(it.value(it.x), it.want);
  }
}

TEST_CASE("reported faults of other libraries") {
  const auto near_value = [](float got, double want) {
    return std::fabs(static_cast<double>(got) - want) <= 1e-6 * std::fabs(want);
  };
  // gelu near -5.53: the sign, and better than erf allows
  CHECK(std::fabs(static_cast<double>(f::gelu(-5.533906936645508f)) + 8.66541e-8) < 1e-12);
  CHECK(f::gelu(-5.531643390655518f) < 0);
  CHECK(f::gelu(-13.0f) < 0);
  // subnormal arguments
  CHECK(near_value(f::log(1.17549421e-38f), -87.336545));
  CHECK(near_value(f::log(1e-40f), -92.1034037));
  CHECK(near_value(f::log(0x1p-149f), -103.278929));
  CHECK(near_value(f::rsqrt(1.17549421e-38f), 9.2233726e18));
  CHECK(near_value(f::rsqrt(1e-40f), 1.0000027e20));
  CHECK(near_value(f::rsqrt(0x1p-149f), 2.6713739e22));
  CHECK_SAME(f::sqrt(0x1p-148f), 0x1p-74f);
  // erfc at four points of one vector
  CHECK(error_of(f::erfc(0.5f), 0.47950012218695346) <= 2);
  CHECK(error_of(f::erfc(0.6f), std::erfc(static_cast<double>(0.6f))) <= 2);
  CHECK(error_of(f::erfc(0.7f), std::erfc(static_cast<double>(0.7f))) <= 2);
  CHECK(error_of(f::erfc(0.8f), std::erfc(static_cast<double>(0.8f))) <= 2);
  // sigmoid far below zero
  CHECK(error_of(f::sigmoid(-90.0f), 8.194012623990515e-40) <= 1);
  CHECK(near_value(f::sigmoid(10.0f), 0.9999546021));
  CHECK(near_value(f::sin(f::atan(1.0f)), 0.70710678));
  CHECK_SAME(f::sin(f::atan(0.0f)), 0.0f);
}

TEST_CASE("pow: edges of the array API") {
  const float inf = infinite, nan = nan_f32;
  struct edge {
    float x, y, want;
  };
  const edge edges[] = {
      {0.0f, -1.0f, inf},
      {minus_zero, -1.0f, -inf},
      {minus_zero, -2.0f, inf},
      {-2.0f, 3.0f, -8.0f},
      {-8.0f, 1.0f / 3, nan},
      {0.0f, 0.0f, 1.0f},
      {nan, 0.0f, 1.0f},
      {nan, minus_zero, 1.0f},
      {1.0f, nan, 1.0f},
      {-1.0f, inf, 1.0f},
      {-1.0f, -inf, 1.0f},
      {1.0f, inf, 1.0f},
      {2.0f, inf, inf},
      {2.0f, -inf, 0.0f},
      {0.5f, inf, 0.0f},
      {0.5f, -inf, inf},
      {-0.5f, -inf, inf},
      {0.0f, inf, 0.0f},
      {minus_zero, -inf, inf},
      {inf, 2.0f, inf},
      {inf, -2.0f, 0.0f},
      {inf, inf, inf},
      {inf, -inf, 0.0f},
      {-inf, 3.0f, -inf},
      {-inf, 2.0f, inf},
      {-inf, 2.5f, inf},
      {-inf, -3.0f, minus_zero},
      {-inf, -2.0f, 0.0f},
      {-inf, inf, inf},
      {minus_zero, 3.0f, minus_zero},
      {minus_zero, 2.0f, 0.0f},
      {minus_zero, 0.5f, 0.0f},
      {-2.0f, 0x1p24f, inf},
      {-2.0f, -0x1p24f, 0.0f},
      {-1.0f, 0x1.fffffep23f, -1.0f},
      {-1.0f, 0x1.fffffep24f, 1.0f},
      {2.0f, -149.0f, 0x1p-149f},
      {2.0f, -150.0f, 0.0f},
      {2.0f, 128.0f, inf},
      {2.0f, 0x1p-149f, 1.0f},
      {0x1p-149f, 1.0f, 0x1p-149f},
      {0x1.fffffep127f, 1.0f, 0x1.fffffep127f},
      {0x1.000002p0f, 0x1.fffffep127f, inf},
      {0x1.fffffep-1f, 0x1.fffffep127f, 0.0f},
  };
  for (const edge& it : edges) {
    CAPTURE(it.x);
    CAPTURE(it.y);
    CHECK_SAME(f::pow(it.x, it.y), it.want);
  }
}

TEST_CASE("pow is exact where the result is an integer") {
  int cases = 0, wrong = 0;
  for (int base = 2; base < 5000; ++base) {
    long double want = 1;
    for (int power = 1; power <= 128; ++power) {
      want *= base;  // exact in long double as long as the odd part has 24 bits
      if (want > 3.4e38L) { break; }
      const float rounded = static_cast<float>(want);
      if (static_cast<long double>(rounded) != want) { continue; }
      cases += 1;
      wrong += !same(f::pow(static_cast<float>(base), static_cast<float>(power)), rounded);
      wrong += !same(f::pow(static_cast<float>(-base), static_cast<float>(power)), power % 2 == 0 ? rounded : -rounded);
      if (power <= 4 && rounded < 0x1p24f) {
        wrong += power != 3 && !same(f::pow(rounded, 1.0f / static_cast<float>(power)), static_cast<float>(base));
      }
    }
  }
  CHECK(cases > 6000);
  CHECK(wrong == 0);
  CHECK_SAME(f::pow(10.0f, 10.0f), 1e10f);
  CHECK_SAME(f::pow(25.0f, 1.5f), 125.0f);
}

TEST_CASE("atan2, hypot, logaddexp: edges") {
  const float inf = infinite, pi = 0x1.921fb6p+1f;
  CHECK_SAME(f::atan2(0.0f, 0.0f), 0.0f);
  CHECK_SAME(f::atan2(minus_zero, 0.0f), minus_zero);
  CHECK_SAME(f::atan2(0.0f, minus_zero), pi);
  CHECK_SAME(f::atan2(minus_zero, minus_zero), -pi);
  CHECK_SAME(f::atan2(0.0f, -1.0f), pi);
  CHECK_SAME(f::atan2(minus_zero, 1.0f), minus_zero);
  CHECK_SAME(f::atan2(1.0f, 0.0f), pi / 2);
  CHECK_SAME(f::atan2(-1.0f, minus_zero), -pi / 2);
  CHECK_SAME(f::atan2(inf, inf), pi / 4);
  CHECK_SAME(f::atan2(-inf, inf), -pi / 4);
  CHECK(error_of(f::atan2(inf, -inf), 2.356194490192345) <= 1);
  CHECK_SAME(f::atan2(1.0f, inf), 0.0f);
  CHECK_SAME(f::atan2(-1.0f, -inf), -pi);
  CHECK_SAME(f::atan2(inf, 1.0f), pi / 2);
  CHECK_SAME(f::hypot(3.0f, -4.0f), 5.0f);
  CHECK_SAME(f::hypot(3e38f, 3e38f), inf);
  CHECK_SAME(f::hypot(0x1.8p-148f, 0x1p-147f), 0x1.4p-147f);
  CHECK_SAME(f::hypot(0.0f, minus_zero), 0.0f);
  CHECK_SAME(f::logaddexp(-inf, -inf), -inf);
  CHECK_SAME(f::logaddexp(inf, inf), inf);
  CHECK_SAME(f::logaddexp(inf, -inf), inf);
  CHECK_SAME(f::logaddexp(-inf, 2.0f), 2.0f);
}

TEST_CASE("remainders and floored division of floats are exact") {
  const float inf = infinite;
  CHECK_SAME(f::remainder(-1.0f, 1.0f), 0.0f);
  CHECK_SAME(f::remainder(2.0f, -1.0f), minus_zero);
  CHECK_SAME(f::fmod(-1.0f, 1.0f), minus_zero);
  CHECK_SAME(f::fmod(1.0f, -1.0f), 0.0f);
  CHECK_SAME(f::fmod(5.0f, inf), 5.0f);
  CHECK_SAME(f::remainder(-5.0f, inf), inf);
  CHECK(is_nan(f::fmod(inf, 1.0f)));
  CHECK(is_nan(f::fmod(1.0f, 0.0f)));
  CHECK(is_nan(f::floor_divide(inf, 1.0f)));
  CHECK(is_nan(f::floor_divide(-inf, 1.0f)));
  CHECK_SAME(f::floor_divide(1.0f, 0.0f), inf);
  CHECK(is_nan(f::floor_divide(0.0f, 0.0f)));
  CHECK_SAME(f::floor_divide(1.0f, inf), 0.0f);
  CHECK_SAME(f::floor_divide(-1.0f, inf), -1.0f);
  CHECK_SAME(f::floor_divide(1.0f, 0.1f), 9.0f);  // 0.1f is above 1/10
  CHECK_SAME(f::floor_divide(1e38f, 1e-38f), inf);
  CHECK_SAME(f::fmod(0x1.fffffep127f, 0x1.8p-148f), std::fmod(0x1.fffffep127f, 0x1.8p-148f));
  generator random;
  int wrong = 0;
  for (int index = 0; index < 20000; ++index) {
    const float x = sample(random, index, -4e38, 4e38), y = sample(random, index / 2, -4e38, 4e38);
    if (y == 0) { continue; }
    const float exact = std::fmod(x, y);
    wrong += !same(f::fmod(x, y), exact);
    const float floored = exact == 0 ? std::copysign(0.0f, y) : (exact < 0) != (y < 0) ? exact + y : exact;
    wrong += !same(f::remainder(x, y), floored);
    const double wide = std::fmod(static_cast<double>(x), static_cast<double>(y));
    const double step = (static_cast<double>(x) - wide) / static_cast<double>(y);  // exact where it is below 2^53
    if (std::fabs(step) < 0x1p50) {
      const double down = wide != 0 && (wide < 0) != (y < 0) ? std::nearbyint(step) - 1 : std::nearbyint(step);
      wrong += f::floor_divide(x, y) != static_cast<float>(down);
    }
    const double big = std::ldexp(static_cast<double>(x), index % 200);  // f64 too
    wrong += !same(lane::fmod(scalar<double>(big), scalar<double>(static_cast<double>(y))).value,
                   std::fmod(big, static_cast<double>(y)));
  }
  CHECK(wrong == 0);
  const double wide_inf = __builtin_bit_cast(double, u64{0x7ff0000000000000});
  CHECK(is_nan(lane::floor_divide(scalar<double>(wide_inf), scalar<double>(1.0)).value));
}

TEST_CASE("integers: floored division, remainders, powers") {
  const auto divide = [](i32 x, i32 y) { return lane::floor_divide(scalar<i32>(x), scalar<i32>(y)).value; };
  const auto remains = [](i32 x, i32 y) { return lane::remainder(scalar<i32>(x), scalar<i32>(y)).value; };
  const auto power = [](i32 x, i32 y) { return lane::pow(scalar<i32>(x), scalar<i32>(y)).value; };
  const i32 least = -2147483647 - 1;
  CHECK(divide(7, 2) == 3);
  CHECK(divide(-7, 2) == -4);
  CHECK(divide(7, -2) == -4);
  CHECK(divide(-7, -2) == 3);
  CHECK(divide(least, -1) == least);
  for (const i32 x : {0, 1, -1, 100, -100}) { CHECK(divide(x, 0) == 0); }
  CHECK(remains(-1, 3) == 2);
  CHECK(remains(-2, 3) == 1);
  CHECK(remains(1, -3) == -2);
  CHECK(remains(5, 0) == 0);
  CHECK(lane::fmod(scalar<i32>(-2), scalar<i32>(3)).value == -2);
  CHECK(lane::floor_divide(scalar<i64>(-9223372036854775807 - 1), scalar<i64>(-1)).value == -9223372036854775807 - 1);
  CHECK(lane::floor_divide(scalar<u8>(200), scalar<u8>(7)).value == 28);
  CHECK(power(0, 64) == 0);
  CHECK(power(0, 0) == 1);
  CHECK(power(3, 4) == 81);
  CHECK(power(-2, 3) == -8);
  CHECK(power(2, 33) == 0);
  CHECK(power(7, -1) == 0);
  CHECK(power(0, -1) == 0);
  CHECK(power(1, -5) == 1);
  CHECK(power(-1, -5) == -1);
  CHECK(power(-1, least) == 1);
  CHECK(lane::pow(scalar<u8>(3), scalar<u8>(5)).value == 243);
  CHECK(lane::pow(scalar<u8>(3), scalar<u8>(6)).value == 217);  // 729 mod 256
}

TEST_CASE("constants fold to the same bits") {
  constexpr float folded[] = {
      lane::exp(scalar<float>(1.25f)).value,  lane::log(scalar<float>(3.0f)).value,
      lane::tanh(scalar<float>(0.7f)).value,  lane::sin(scalar<float>(1e6f)).value,
      lane::gelu(scalar<float>(-1.0f)).value, lane::pow(scalar<float>(3.0f), scalar<float>(0.3f)).value,
  };
  volatile float one_and_quarter = 1.25f, three = 3.0f, other = 0.7f, million = 1e6f, minus_one = -1.0f, third = 0.3f;
  CHECK_SAME(f::exp(one_and_quarter), folded[0]);
  CHECK_SAME(f::log(three), folded[1]);
  CHECK_SAME(f::tanh(other), folded[2]);
  CHECK_SAME(f::sin(million), folded[3]);
  CHECK_SAME(f::gelu(minus_one), folded[4]);
  CHECK_SAME(f::pow(three, third), folded[5]);
}

TEST_CASE("NumPy's accuracy sets") {
  const struct {
    const char* file;
    float (*value)(float);
  } sets[] = {
      {"arccos", f::acos},   {"arccosh", f::acosh}, {"arcsin", f::asin}, {"arcsinh", f::asinh}, {"arctan", f::atan},
      {"arctanh", f::atanh}, {"cbrt", f::cbrt},     {"cos", f::cos},     {"cosh", f::cosh},     {"exp", f::exp},
      {"exp2", f::exp2},     {"expm1", f::expm1},   {"log", f::log},     {"log10", f::log10},   {"log1p", f::log1p},
      {"log2", f::log2},     {"sin", f::sin},       {"sinh", f::sinh},   {"tan", f::tan},       {"tanh", f::tanh},
  };
  if (data_folder == nullptr) {
    MESSAGE("skipped: no SINTER_DATA and no --data");
    return;
  }
  int read = 0;
  for (const auto& set : sets) {
    char path[512];
    std::snprintf(path, sizeof path, "%s/accuracy/umath-validation-set-%s.csv", data_folder, set.file);
    std::FILE* const file = std::fopen(path, "r");
    if (file == nullptr) {
      MESSAGE(doctest::String("skipped: no "), doctest::String(path));
      continue;
    }
    char line[256];
    while (std::fgets(line, sizeof line, file) != nullptr) {
      unsigned input = 0, output = 0, bound = 0;
      if (std::sscanf(line, "np.float32,0x%x,0x%x,%u", &input, &output, &bound) != 3) { continue; }
      read += 1;
      const float x = float_of(input), want = float_of(output), got = set.value(x);
      // units between the two results, both signs on one line
      const auto order = [](float value) {
        const i32 pattern = static_cast<i32>(bits_of(value));
        return static_cast<i64>(pattern < 0 ? static_cast<i32>(0x80000000u) - pattern : pattern);
      };
      const i64 distance = order(got) - order(want);
      if (!same(got, want) &&
          (is_nan(got) || is_nan(want) || distance > static_cast<i64>(bound) || -distance > static_cast<i64>(bound))) {
        INFO(doctest::String(set.file));
        CAPTURE(x);
        CAPTURE(got);
        CHECK(want == got);
      }
    }
    std::fclose(file);
  }
  MESSAGE(read << " values");
}

int main(int count, char** arguments) {
  data_folder = std::getenv("SINTER_DATA");
  for (int index = 1; index + 1 < count; ++index) {
    if (std::strcmp(arguments[index], "--data") == 0) { data_folder = arguments[index + 1]; }
  }
  doctest::Context context(count, arguments);
  return context.run();
}
