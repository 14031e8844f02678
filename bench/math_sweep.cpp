// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sweeps the unary f32 functions of math.hpp over all 2^32 inputs against double, prints the largest error in ulp and
// where it is, and a hash of all results that must be the same in every build and on every backend. `scripts/sweep`
// builds and runs it.
//
//   math_sweep [--stride n] [--threads n] [function...]     exit status 1 if a bound is exceeded
//
// With SWEEP_FAST it sweeps the approximations of the CPU's policy `fast` instead, whose bits depend on the instruction set: results below
// 2^-125 count as zeros then, and zeros have no sign.
//
// Compiled by nvcc (-x cu) it runs the same sweep on the device. The references are double functions of the system's
// or the device's library; their own error, about 2^-29 ulp of f32, is not counted.
#include <sinter/math.hpp>
#if defined(SWEEP_FAST)
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>
#endif

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace lane = sinter::lane;
using sinter::u32;
using sinter::u64;

// ---- the functions and their references ----------------------------------------------------------------------------

#if SINTER_CUDA
#define SWEEP_FUNCTION __host__ __device__
#else
#define SWEEP_FUNCTION
#endif

// A case: the function, its reference, the bound, the inputs that it holds for, and whether it is absolute (in units
// of 2^-24).
#define SWEEP_CASE(type, label, bound_, low_, high_, absolute_, function, ...)                    \
  struct type {                                                                                   \
    static constexpr const char* name = label;                                                    \
    static constexpr float bound = bound_, low = low_, high = high_;                              \
    static constexpr bool absolute = absolute_;                                                   \
    static SWEEP_FUNCTION float value(float x) { return function(lane::scalar<float>(x)).value; } \
    static SWEEP_FUNCTION double reference(double x) { return __VA_ARGS__; }                      \
  };
#define SWEEP_ALL(function, bound, ...) \
  SWEEP_CASE(function##_case, #function, bound, -HUGE_VALF, HUGE_VALF, false, lane::function, __VA_ARGS__)

static SWEEP_FUNCTION double limited(double x, double tail) { return std::isinf(x) ? (x > 0 ? x : -0.0) : tail; }
static SWEEP_FUNCTION double mish_ratio(double e) { return e * (e + 2) / (e * (e + 2) + 2); }
static SWEEP_FUNCTION double gelu_reference(double x) {
  return limited(x, x * 0.5 * std::erfc(x * -0.70710678118654752440));
}
static SWEEP_FUNCTION double gelu_tanh_reference(double x) {
  return limited(x, x / (1 + std::exp(-1.5957691216057307117 * (x + 0.044715 * x * x * x))));
}

SWEEP_ALL(exp, 2, std::exp(x))
SWEEP_ALL(exp2, 2, std::exp2(x))
SWEEP_ALL(expm1, 2, std::expm1(x))
SWEEP_ALL(log, 2, std::log(x))
SWEEP_ALL(log2, 2, std::log2(x))
SWEEP_ALL(log10, 2, std::log10(x))
SWEEP_ALL(log1p, 2, std::log1p(x))
SWEEP_ALL(sigmoid, 2, 1 / (1 + std::exp(-x)))
SWEEP_ALL(tanh, 2, std::tanh(x))
SWEEP_ALL(erf, 2, std::erf(x))
SWEEP_ALL(rsqrt, 2, 1 / std::sqrt(x))
SWEEP_ALL(cbrt, 2, std::cbrt(x))
SWEEP_ALL(silu, 2, limited(x, x / (1 + std::exp(-x))))
SWEEP_ALL(softplus, 2, x > 40 ? x : std::log1p(std::exp(x)))
SWEEP_ALL(sin, 4, std::sin(x))
SWEEP_ALL(cos, 4, std::cos(x))
SWEEP_ALL(tan, 4, std::tan(x))
SWEEP_ALL(sinh, 4, std::sinh(x))
SWEEP_ALL(cosh, 4, std::cosh(x))
SWEEP_ALL(asin, 4, std::asin(x))
SWEEP_ALL(acos, 4, std::acos(x))
SWEEP_ALL(atan, 4, std::atan(x))
SWEEP_ALL(asinh, 4, std::asinh(x))
SWEEP_ALL(acosh, 4, std::acosh(x))
SWEEP_ALL(atanh, 4, std::atanh(x))
SWEEP_ALL(mish, 4, limited(x, x* mish_ratio(std::exp(x < 40 ? x : 40.0))))
SWEEP_ALL(elu, 4, x > 0 ? x : std::expm1(x))
SWEEP_CASE(gelu_case, "gelu", 4, -3.0f, HUGE_VALF, false, lane::gelu, gelu_reference(x))
SWEEP_CASE(gelu_low_case, "gelu, x < -3", 1, -HUGE_VALF, -3.0f, true, lane::gelu, gelu_reference(x))
SWEEP_CASE(gelu_tanh_case, "gelu_tanh", 4, -3.0f, HUGE_VALF, false, lane::gelu_tanh, gelu_tanh_reference(x))
SWEEP_CASE(gelu_tanh_low_case, "gelu_tanh, x < -3", 1, -HUGE_VALF, -3.0f, true, lane::gelu_tanh, gelu_tanh_reference(x))
SWEEP_CASE(erfc_case, "erfc", 4, -HUGE_VALF, 3.0f, false, lane::erfc, std::erfc(x))
SWEEP_CASE(erfc_high_case, "erfc, x > 3", 1, 3.0f, HUGE_VALF, true, lane::erfc, std::erfc(x))
SWEEP_CASE(erfc_all_case, "erfc, all x", 5, -HUGE_VALF, HUGE_VALF, false, lane::erfc, std::erfc(x))

#if defined(SWEEP_FAST)
/// The approximations, one element at a time.
namespace fast {
using value = sinter::backend::SINTER_ISA::vec<float, sinter::backend::SINTER_ISA::native_width>;
template <class Op>
static lane::scalar<float> apply(lane::scalar<float> x) {
  return lane::scalar<float>(first(sinter::backend::SINTER_ISA::approximation_of<Op>::type::apply(value(x.value))));
}
}  // namespace fast
#define SWEEP_FAST_CASE(op, label, bound, low, high, absolute, ...) \
  SWEEP_CASE(fast_##op##label, #op " " #label, bound, low, high, absolute, fast::apply<sinter::op##_op>, __VA_ARGS__)
SWEEP_FAST_CASE(exp, below_2, 4, -2.0f, 2.0f, false, std::exp(x))
SWEEP_FAST_CASE(exp, all, 68, -HUGE_VALF, HUGE_VALF, false, std::exp(x))
SWEEP_FAST_CASE(exp_below_zero, all, 68, -HUGE_VALF, 0.0f, false, std::exp(x))
SWEEP_FAST_CASE(exp2, all, 3, -HUGE_VALF, HUGE_VALF, false, std::exp2(x))
SWEEP_FAST_CASE(tanh, all, 6, -HUGE_VALF, HUGE_VALF, false, std::tanh(x))
SWEEP_FAST_CASE(sigmoid, from_minus_2, 5, -2.0f, HUGE_VALF, false, 1 / (1 + std::exp(-x)))
SWEEP_FAST_CASE(sigmoid, all, 68, -HUGE_VALF, HUGE_VALF, false, 1 / (1 + std::exp(-x)))
SWEEP_FAST_CASE(silu, from_minus_10, 12, -10.0f, HUGE_VALF, false, limited(x, x / (1 + std::exp(-x))))
SWEEP_FAST_CASE(silu, low, 0.01f, -HUGE_VALF, -10.0f, true, limited(x, x / (1 + std::exp(-x))))
SWEEP_FAST_CASE(gelu_tanh, from_minus_5, 32, -5.0f, HUGE_VALF, false, gelu_tanh_reference(x))
SWEEP_FAST_CASE(gelu_tanh, low, 0.01f, -HUGE_VALF, -5.0f, true, gelu_tanh_reference(x))
SWEEP_FAST_CASE(gelu, from_minus_3, 14, -3.0f, HUGE_VALF, false, gelu_reference(x))
SWEEP_FAST_CASE(gelu, low, 0.1f, -HUGE_VALF, -3.0f, true, gelu_reference(x))
SWEEP_FAST_CASE(log, all, 2, -HUGE_VALF, HUGE_VALF, false, std::log(x))
SWEEP_FAST_CASE(log2, all, 3, -HUGE_VALF, HUGE_VALF, false, std::log2(x))
SWEEP_FAST_CASE(log10, all, 3, -HUGE_VALF, HUGE_VALF, false, std::log10(x))
SWEEP_FAST_CASE(rsqrt, normal, 3, 0x1p-126f, HUGE_VALF, false, 1 / std::sqrt(x))
#endif

// ---- one input -----------------------------------------------------------------------------------------------------

static SWEEP_FUNCTION float float_of(u32 pattern) {
  float value;
  memcpy(&value, &pattern, sizeof value);
  return value;
}
static SWEEP_FUNCTION u32 bits_of(float value) {
  u32 pattern;
  memcpy(&pattern, &value, sizeof pattern);
  return pattern;
}
/// The last place of f32 at a value, 2^-149 at least.
static SWEEP_FUNCTION double last_place(double value) {
  u64 pattern;
  memcpy(&pattern, &value, sizeof pattern);
  int exponent = static_cast<int>(pattern >> 52 & 0x7ff) - 1023;
  exponent = exponent < -126 ? -126 : exponent > 127 ? 127 : exponent;
  return std::ldexp(1.0, exponent - 23);
}
/// In last places of f32, or units of 2^-24 when absolute. A wrong NaN, infinity or sign of zero is a million.
static SWEEP_FUNCTION float error_of(float got, double want, bool absolute) {
  const bool got_nan = (bits_of(got) & 0x7fffffffu) > 0x7f800000u;
  if (got_nan || want != want) { return got_nan && want != want ? 0.0f : 1e6f; }
  if (std::isinf(got) || std::isinf(want)) {
    const bool overflows = std::fabs(want) >= 0x1.ffffffp127;
    return std::isinf(got) && overflows && (got > 0) == (want > 0) ? 0.0f : 1e6f;
  }
#if defined(SWEEP_FAST)
  if (std::fabs(want) < 0x1p-125 && std::fabs(got) <= 0x1p-125f) { return 0.0f; }
#endif
  if (want == 0 && got == 0 && std::signbit(want) != std::signbit(got)) { return 1e6f; }
  const double difference = std::fabs(static_cast<double>(got) - want);
  return static_cast<float>(absolute ? difference * 0x1p24 : difference / last_place(want));
}
static SWEEP_FUNCTION u64 mix(u32 input, float result) {
  u32 pattern = bits_of(result);
  pattern = (pattern & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : pattern;
  u64 mixed = (static_cast<u64>(input) << 32 | pattern) * 0x9e3779b97f4a7c15u;
  mixed ^= mixed >> 29;
  return mixed * 0xbf58476d1ce4e5b9u;
}

struct outcome {
  u64 worst = 0;  // the error's bits above, the input's below: positive floats order like integers
  u64 hash = 0;
};
template <class Case>
SWEEP_FUNCTION void visit(u32 pattern, outcome& to) {
  const float x = float_of(pattern);
  if (x < Case::low || x > Case::high) { return; }
  const float got = Case::value(x);
  const u64 error =
      static_cast<u64>(bits_of(error_of(got, Case::reference(static_cast<double>(x)), Case::absolute))) << 32 | pattern;
  to.worst = error > to.worst ? error : to.worst;
  to.hash += mix(pattern, got);
}

// ---- all inputs ----------------------------------------------------------------------------------------------------

struct settings {
  u64 stride = 1;
  unsigned threads = 2;
};

#if SINTER_CUDA
template <class Case>
__global__ void sweep_kernel(u64 stride, unsigned long long* results) {
  outcome mine;
  const u64 step = stride * gridDim.x * blockDim.x;
  for (u64 input = stride * (u64{blockIdx.x} * blockDim.x + threadIdx.x); input < u64{1} << 32; input += step) {
    visit<Case>(static_cast<u32>(input), mine);
  }
  atomicMax(&results[0], static_cast<unsigned long long>(mine.worst));
  atomicAdd(&results[1], static_cast<unsigned long long>(mine.hash));
}
template <class Case>
outcome sweep(const settings& how) {
  unsigned long long results[2] = {0, 0}, *on_device = nullptr;
  cudaMalloc(&on_device, sizeof results);
  cudaMemset(on_device, 0, sizeof results);
  sweep_kernel<Case><<<2048, 256>>>(how.stride, on_device);
  if (cudaMemcpy(results, on_device, sizeof results, cudaMemcpyDeviceToHost) != cudaSuccess) {
    std::printf("%s: %s\n", Case::name, cudaGetErrorString(cudaGetLastError()));
    std::exit(2);
  }
  cudaFree(on_device);
  outcome all;
  all.worst = results[0];
  all.hash = results[1];
  return all;
}
#else
template <class Case>
outcome sweep(const settings& how) {
  constexpr unsigned most = 256;
  outcome parts[most];
  std::thread threads[most];
  const unsigned count = how.threads < most ? how.threads : most;
  for (unsigned part = 0; part < count; ++part) {
    threads[part] = std::thread([&how, &parts, part, count] {
      outcome mine;
      for (u64 input = how.stride * part; input < u64{1} << 32; input += how.stride * count) {
        visit<Case>(static_cast<u32>(input), mine);
      }
      parts[part] = mine;
    });
  }
  outcome all;
  for (unsigned part = 0; part < count; ++part) {
    threads[part].join();
    all.worst = parts[part].worst > all.worst ? parts[part].worst : all.worst;
    all.hash += parts[part].hash;
  }
  return all;
}
#endif

template <class Case>
bool report(const settings& how) {
  const outcome all = sweep<Case>(how);
  const float error = float_of(static_cast<u32>(all.worst >> 32)), x = float_of(static_cast<u32>(all.worst));
  const bool holds = error <= Case::bound;
  std::printf("%-18s %9.4f %s at %-16a (%.9g) gives %a for %a  hash %016llx%s\n", Case::name,
              static_cast<double>(error), Case::absolute ? "* 2^-24" : "ulp", static_cast<double>(x),
              static_cast<double>(x), static_cast<double>(Case::value(x)), Case::reference(static_cast<double>(x)),
              static_cast<unsigned long long>(all.hash), holds ? "" : "  EXCEEDS ITS BOUND");
  std::fflush(stdout);
  return holds;
}

template <class... Cases>
bool report_chosen(const settings& how, int count, char** names) {
  const auto chosen = [&](const char* name) {
    bool any = count == 0;
    for (int index = 0; index < count; ++index) {
      const size_t length = std::strlen(names[index]);
      any = any || (std::strncmp(name, names[index], length) == 0 && (name[length] == '\0' || name[length] == ','));
    }
    return any;
  };
  bool all_hold = true;
  ((all_hold = (!chosen(Cases::name) || report<Cases>(how)) && all_hold), ...);
  return all_hold;
}

int main(int count, char** arguments) {
  settings how;
  int first = 1;
  while (first + 1 < count && arguments[first][0] == '-') {
    const u64 number = std::strtoull(arguments[first + 1], nullptr, 10);
    if (std::strcmp(arguments[first], "--stride") == 0) {
      how.stride = number;
    } else if (std::strcmp(arguments[first], "--threads") == 0) {
      how.threads = static_cast<unsigned>(number);
    } else {
      std::printf("math_sweep [--stride n] [--threads n] [function...]\n");
      return 2;
    }
    first += 2;
  }
#if defined(SWEEP_FAST)
  return report_chosen<fast_expbelow_2, fast_expall, fast_exp_below_zeroall, fast_exp2all, fast_tanhall, fast_sigmoidfrom_minus_2, fast_sigmoidall,
                       fast_silufrom_minus_10, fast_silulow, fast_gelu_tanhfrom_minus_5, fast_gelu_tanhlow, fast_gelufrom_minus_3,
                       fast_gelulow, fast_logall,
                       fast_log2all, fast_log10all, fast_rsqrtnormal>(how, count - first, arguments + first)
             ? 0
             : 1;
#else
  return report_chosen<exp_case, exp2_case, expm1_case, log_case, log2_case, log10_case, log1p_case, sigmoid_case,
                       tanh_case, erf_case, rsqrt_case, cbrt_case, silu_case, softplus_case, sin_case, cos_case,
                       tan_case, sinh_case, cosh_case, asin_case, acos_case, atan_case, asinh_case, acosh_case,
                       atanh_case, mish_case, elu_case, gelu_case, gelu_low_case, gelu_tanh_case, gelu_tanh_low_case,
                       erfc_case, erfc_high_case, erfc_all_case>(how, count - first, arguments + first)
             ? 0
             : 1;
#endif
}
