// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The policy `fast` on the CPU: each approximation within its bound and sensible at its edges, products contracted where they are used
// once, reductions near the exact ones in any shape, and everything that isn't f32 with the portable bits.
#include <doctest/doctest.h>

#include <sinter/sinter.hpp>
#include <sinter/split.hpp>
#include <sinter/backend/cpu.hpp>

#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "support.hpp"

using namespace support;

namespace {

using in_view = si::tensor_view<const float, si::extents<dyn>>;
using out_view = si::tensor_view<float, si::extents<dyn>>;
using in_rows = si::tensor_view<const float, si::extents<dyn, dyn>>;
using out_rows = si::tensor_view<float, si::extents<dyn, dyn>>;
using a_row = si::tensor_view<float, si::extents<dyn>>;
using a_column = si::tensor_view<float, si::extents<dyn, 1>>;
constexpr bool has_fma = si::backend::SINTER_ISA::vec<float, 4>::has_fma;

// By bits: flags like -ffast-math have no opinion on them.
constexpr u32 bits_of(float x) { return __builtin_bit_cast(u32, x) & 0x7fffffffu; }
constexpr u64 bits_of(double x) { return __builtin_bit_cast(u64, x) & 0x7fffffffffffffffu; }
constexpr bool is_nan(float x) { return bits_of(x) > 0x7f800000u; }
constexpr bool is_nan(double x) { return bits_of(x) > 0x7ff0000000000000u; }
constexpr bool is_infinite(float x) { return bits_of(x) == 0x7f800000u; }
constexpr bool is_infinite(double x) { return bits_of(x) == 0x7ff0000000000000u; }
constexpr bool is_finite(float x) { return bits_of(x) < 0x7f800000u; }
constexpr bool is_negative(double x) { return __builtin_bit_cast(u64, x) >> 63 != 0; }

/// In last places of the wanted value; results below 2^-125 count as zeros, and zeros have no sign. A wrong NaN or infinity is a million.
double ulps(float got, double want) {
    if (is_nan(want) || is_nan(got)) return is_nan(want) && is_nan(got) ? 0 : 1e6;
    if (is_infinite(got) || is_infinite(want))
        return is_infinite(got) && bits_of(want) >= bits_of(0x1.ffffffp127) && is_negative(double(got)) == is_negative(want) ? 0 : 1e6;
    if (std::fabs(want) < 0x1p-125 && std::fabs(got) <= 0x1p-125f) return 0;
    int exponent;
    std::frexp(want, &exponent);
    return std::fabs(double(got) - want) / std::ldexp(1.0, exponent - 24);
}
/// Every 4099th float between two, and numbers near the edges.
std::vector<float> sweep(float low, float high) {
    std::vector<float> out;
    for (u64 pattern = 0; pattern < u64(1) << 32; pattern += 4099) {
        const float x = __builtin_bit_cast(float, u32(pattern));
        if (x >= low && x <= high) out.push_back(x);
    }
    for (float x : {0.0f, -0.0f, 1.0f, -1.0f, 0x1p-126f, 0x1p-149f, -0x1p-149f, 0x1.fffffep127f, -0x1.fffffep127f, 88.72f, 88.73f, -87.3f, -87.4f, -103.9f, 128.0f,
                    -126.0f, 127.99f, infinity, -infinity})
        if (x >= low && x <= high) out.push_back(x);
    out.push_back(support::nan);
    return out;
}
template <class Function, class Reference>
void within(const char* name, double bound, float low, float high, const Function& function, const Reference& reference) {
    const std::vector<float> x = sweep(low, high);
    std::vector<float> y(x.size());
    si::run(si::fast(si::cpu), out_view(y.data(), i64(x.size())) = function(in_view(x.data(), i64(x.size()))));
    double worst = 0;
    float where = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double off = ulps(y[i], reference(double(x[i])));
        if (!(off <= worst)) worst = off, where = x[i];
    }
    INFO(name << " at " << where << ": " << worst << " ulp");
    CHECK(worst <= bound);
}
double power(double x) { return is_nan(x) ? x : is_infinite(x) ? (is_negative(x) ? 0 : double(infinity)) : std::exp(x); }
double logistic(double x) { return is_infinite(x) ? (is_negative(x) ? 0 : 1) : 1 / (1 + power(-x)); }
double times_logistic(double x, double t) { return is_infinite(x) ? (x > 0 ? x : -0.0) : x / (1 + std::exp(-t)); }
double gelu_tanh_of(double x) { return times_logistic(x, 1.5957691216057307117 * (x + 0.044715 * x * x * x)); }
double gelu_of(double x) { return is_infinite(x) ? (x > 0 ? x : -0.0) : x * 0.5 * std::erfc(x * -0.70710678118654752440); }

std::vector<float> random_values(i64 count, float scale = 1, float shift = 0) {
    std::vector<float> out;
    unsigned state = 7;
    for (i64 i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        out.push_back(float(int(state)) * 0x1p-31f * scale + shift);
    }
    return out;
}
template <class Type>
bool same_bits(const std::vector<Type>& a, const std::vector<Type>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Type)) == 0;
}

}  // namespace

TEST_CASE("each approximation is within its bound") {
    within("exp", 4, -2, 2, [](auto x) { return exp(x); }, [](double x) { return std::exp(x); });
    within("exp", 68, -infinity, infinity, [](auto x) { return exp(x); }, [](double x) { return std::exp(x); });
    within("exp_below_zero", 68, -infinity, 0, [](auto x) { return exp_below_zero(x); }, [](double x) { return std::exp(x); });
    within("exp2", 3, -infinity, infinity, [](auto x) { return exp2(x); }, [](double x) { return std::exp2(x); });
    within("tanh", 6, -infinity, infinity, [](auto x) { return tanh(x); }, [](double x) { return std::tanh(x); });
    within("sigmoid", 5, -2, infinity, [](auto x) { return sigmoid(x); }, logistic);
    within("sigmoid", 68, -infinity, infinity, [](auto x) { return sigmoid(x); }, logistic);
    within("silu", 12, -10, infinity, [](auto x) { return silu(x); }, [](double x) { return times_logistic(x, x); });
    within("gelu_tanh", 32, -5, infinity, [](auto x) { return gelu_tanh(x); }, gelu_tanh_of);
    within("gelu", 14, -3, infinity, [](auto x) { return gelu(x); }, gelu_of);
    within("log", 2, -infinity, infinity, [](auto x) { return log(x); }, [](double x) { return std::log(x); });
    within("log2", 3, -infinity, infinity, [](auto x) { return log2(x); }, [](double x) { return std::log2(x); });
    within("log10", 3, -infinity, infinity, [](auto x) { return log10(x); }, [](double x) { return std::log10(x); });
    within("rsqrt", 3, 0x1p-126f, infinity, [](auto x) { return rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); });
}
TEST_CASE("the low ends are near 0") {
    const std::vector<float> x = sweep(-infinity, -3);
    const i64 count = i64(x.size());
    std::vector<float> y(x.size());
    const auto check = [&](auto formula, auto reference, float from, double bound) {
        si::run(si::fast(si::cpu), out_view(y.data(), count) = formula(in_view(x.data(), count)));
        double worst = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (x[i] <= from) {
                const double off = std::fabs(double(y[i]) - reference(double(x[i])));
                if (!(off <= worst)) worst = off;
            }
        CHECK(worst <= bound);
    };
    check([](auto v) { return silu(v); }, [](double v) { return times_logistic(v, v); }, -10, 0x1p-30);
    check([](auto v) { return gelu_tanh(v); }, gelu_tanh_of, -5, 0x1p-30);
    check([](auto v) { return gelu(v); }, gelu_of, -3, 0x1p-27);
}
TEST_CASE("edges of the roots") {
    const float x[] = {0.0f, -0.0f, infinity, -1.0f, -infinity, support::nan, 4.0f};
    float y[7];
    si::run(si::cpu.fast(), out_view(y, 7) = rsqrt(in_view(x, 7)));
    CHECK(is_infinite(y[0]));
    CHECK(is_infinite(y[1]));
    CHECK(y[2] == 0);
    CHECK(is_nan(y[3]));
    CHECK(is_nan(y[4]));
    CHECK(is_nan(y[5]));
    CHECK(std::fabs(y[6] - 0.5f) < 1e-6f);
}
TEST_CASE("a product is contracted into the sum that alone uses it") {
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: the last term is lost unless contracted. Lengths with and without whole vectors.
    for (i64 count : {1, 3, 64, 77}) {
        const std::vector<float> a(std::size_t(count), 1 + 0x1p-12f);
        std::vector<float> y(a.size()), z(a.size());
        const in_view x(a.data(), count);
        const out_view out(y.data(), count), other(z.data(), count);
        const float tail = has_fma ? 0x1p-24f : 0.0f, most = 1 + 0x1p-11f;
        const auto all = [&](const std::vector<float>& values, float wanted) {
            for (float value : values)
                if (value != wanted) return false;
            return true;
        };
        si::run(si::fast(si::cpu), out = x * x - most);
        CHECK(all(y, tail));
        si::run(si::fast(si::cpu), out = most - x * x);
        CHECK(all(y, -tail));
        si::run(si::fast(si::cpu), out = x * x + -most);
        CHECK(all(y, tail));
        si::run(si::fast(si::cpu), out = -most + x * x);
        CHECK(all(y, tail));
        si::run(si::cpu, out = x * x - most);
        CHECK(all(y, 0));
        // Used twice, or stored as well, it is rounded once for both.
        si::run(si::fast(si::cpu), out = si::let(x * x, [](auto p) { return (p - (1 + 0x1p-11f)) * p; }));
        CHECK(all(y, 0));
        si::run(si::fast(si::cpu), si::tie(out, other) = si::let(x * x, [](auto p) { return si::outputs(p - (1 + 0x1p-11f), p); }));
        CHECK(all(y, 0));
        CHECK(all(z, most));
        // Of two products one is contracted.
        si::run(si::fast(si::cpu), out = x * x - x * most);
        const float factor = 1 + 0x1p-12f, second = factor * most;
        CHECK(all(y, has_fma ? std::fma(factor, factor, -second) : factor * factor - second));
    }
}
TEST_CASE("an element shifted and scaled by its row is one fma from a term of the row") {
    // Against double: off by the rounding of m s, and of the result. Lengths with and without whole vectors; with and without folds.
    const i64 rows = 3;
    double worst = 0;
    bool contracted = true;
    for (i64 length : {1, 5, 16, 64, 77, 1030}) {
        const std::vector<float> x = random_values(rows * length, 2, 3), m{1000.7f, -3.3f, 0.1f}, s{1.3f, -7e-3f, 300.1f};
        std::vector<float> y(x.size());
        const in_rows in(x.data(), rows, length);
        const out_rows out(y.data(), rows, length);
        const si::tensor_view<const float, si::extents<dyn, 1>> shift(m.data(), rows), scale(s.data(), rows);
        const auto check = [&](double sign, auto formula) {
            si::run(si::fast(si::cpu), out = formula());
            for (i64 r = 0; r < rows; ++r) {
                const float term = float(sign) * m[std::size_t(r)] * s[std::size_t(r)];
                for (std::size_t i = std::size_t(r * length); i < std::size_t((r + 1) * length); ++i) {
                    const double wanted = (double(x[i]) + sign * double(m[std::size_t(r)])) * double(s[std::size_t(r)]);
                    const double off = std::fabs(double(y[i]) - wanted) / (0x1p-24 * std::fabs(has_fma ? double(term) : wanted) + 0x1p-24 * std::fabs(wanted));
                    if (!(off <= worst)) worst = off;
                    if (length >= 16) contracted = contracted && y[i] == std::fma(x[i], s[std::size_t(r)], term);
                }
            }
        };
        check(-1, [&] { return (in - shift) * scale; });
        check(-1, [&] { return scale * (in - shift); });
        check(1, [&] { return (in + shift) * scale; });
        check(1, [&] { return scale * (shift + in); });
        // The difference is needed twice: no term is made.
        const auto twice = [&](const auto& executor, std::vector<float>& to) {
            si::run(executor, out_rows(to.data(), rows, length) = si::let(in, shift, scale, [](auto a, auto b, auto c) { auto d = a - b; return d * c / d; }));
        };
        std::vector<float> wanted(x.size());
        twice(si::fast(si::cpu), y);
        twice(si::cpu, wanted);
        CHECK(same_bits(y, wanted));
    }
    CHECK(worst <= 1.001);
    if (has_fma) CHECK(contracted);
    // Normalised rows far from zero: beside what the mean is off by, its distance from zero in standard deviations, rounded.
    for (const float base : {0.0f, 100.0f, 1e4f}) {
        const std::vector<float> x = random_values(4096, 1, base);
        std::vector<float> y(x.size()), mean_of(1);
        si::run(si::fast(si::cpu), si::tie(out_rows(y.data(), 1, 4096), a_column(mean_of.data(), 1)) = si::let(in_rows(x.data(), 1, 4096), [](auto a) {
                                       return si::outputs(si::layer_norm(a, 1e-5f), mean(a, si::last_axis));
                                   }));
        double total = 0, deviations = 0, off = 0;
        for (float v : x) total += double(v);
        for (float v : x) deviations += (double(v) - total / 4096) * (double(v) - total / 4096);
        const double scale = 1 / std::sqrt(deviations / 4096 + 1e-5);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double e = std::fabs(double(y[i]) - (double(x[i]) - total / 4096) * scale);
            off = e > off ? e : off;
        }
        const double mean_off = std::fabs(double(mean_of[0]) - total / 4096) * scale;
        INFO("base " << base << ", off by " << off << ", of which the mean " << mean_off);
        CHECK(off <= mean_off + 0x1p-24 * std::fabs(double(base) * scale) + 1e-5);
    }
}
TEST_CASE("long rows far from zero: additions that all round the same way, within the bounds of docs/numerics") {
    for (const float base : {0.0f, 1e4f, 1e6f})
        for (const float first : {0.0f, 10.0f, 30.0f})
            for (i64 length : {8192, 20000, 65536, 131072}) {
                std::vector<float> x = random_values(length, 1.7f, base);
                x[0] = base + first;
                double sum_of = 0, deviations = 0;
                for (float v : x) sum_of += double(v);
                const double mean = sum_of / double(length);
                for (float v : x) deviations += (double(v) - mean) * (double(v) - mean);
                const double wanted = deviations / double(length), distance = (double(x[0]) - mean) * (double(x[0]) - mean) / wanted;
                const in_rows in(x.data(), 1, length);
                std::vector<float> v(1), s(1);
                si::run(si::fast(si::cpu), a_column(v.data(), 1) = variance(in, si::last_axis), a_column(s.data(), 1) = sum(in, si::last_axis));
                INFO("base " << base << ", first " << first << ", length " << length);
                CHECK(std::fabs(double(v[0]) - wanted) <= 0x1p-17 * wanted * (distance > 1 ? distance : 1));
                CHECK(std::fabs(double(s[0]) - sum_of) <= 0x1p-16 * (std::fabs(sum_of) + double(length)));
            }
}
TEST_CASE("the reciprocal root of what isn't a normal number is no NaN") {
    const std::vector<float> x{0.0f, 1e-40f, 0x1p-149f, 0x1.fffffcp-127f, infinity, 4.0f};
    std::vector<float> y(x.size());
    si::run(si::fast(si::cpu), out_view(y.data(), 6) = rsqrt(in_view(x.data(), 6)));
    CHECK(y[0] == infinity);
    for (int i = 1; i < 4; ++i) CHECK(y[std::size_t(i)] > 1e18f);
    CHECK(y[4] == 0.0f);
    CHECK(std::fabs(y[5] - 0.5f) < 1e-6f);
}
TEST_CASE("sums and variances of rows, in any order") {
    for (i64 length : {1, 7, 16, 63, 64, 127, 128, 129, 1000, 1024, 4096, 4133, 70001, 131072 + 77}) {
        const i64 rows = length > 10000 ? 2 : 5;
        const std::vector<float> x = random_values(rows * length, 3, 2);
        std::vector<float> y(x.size()), s(std::size_t(rows), 0.0f), q(std::size_t(rows), 0.0f), v(std::size_t(rows), 0.0f), m(std::size_t(rows), 0.0f);
        const in_rows in(x.data(), rows, length);
        const auto column = [&](std::vector<float>& of) { return a_column(of.data(), rows); };
        // Several folds of one row: a sum, a sum of products, a maximum.
        si::run(si::fast(si::cpu), si::tie(column(s), column(q), column(m)) = si::let(in, [](auto a) {
                                       return si::outputs(sum(a, si::last_axis), sum(a * a, si::last_axis), (si::max)(a, si::last_axis));
                                   }));
        si::run(si::fast(si::cpu), column(v) = variance(in, si::last_axis));
        si::run(si::fast(si::cpu), out_rows(y.data(), rows, length) = si::layer_norm(in, 1e-5f));
        bool close = true;
        double off_norm = 0;
        for (i64 r = 0; r < rows; ++r) {
            const float* const row = x.data() + r * length;
            double sum_of = 0, squares = 0, deviations = 0, magnitude = 0;
            float top = row[0];
            for (i64 i = 0; i < length; ++i) {
                sum_of += double(row[i]), squares += double(row[i]) * double(row[i]), magnitude += std::fabs(double(row[i]));
                top = row[i] > top ? row[i] : top;
            }
            const double mean = sum_of / double(length);
            for (i64 i = 0; i < length; ++i) deviations += (double(row[i]) - mean) * (double(row[i]) - mean);
            const std::size_t at = std::size_t(r);
            close = close && std::fabs(double(s[at]) - sum_of) <= 2e-6 * magnitude && std::fabs(double(q[at]) - squares) <= 2e-6 * squares;
            close = close && m[at] == top && std::fabs(double(v[at]) - deviations / double(length)) <= 1e-5 * deviations / double(length) + 1e-12;
            for (i64 i = 0; i < length; ++i) {
                const double scale = 1 / std::sqrt(deviations / double(length) + 1e-5), wanted = (double(row[i]) - mean) * scale;
                const double off = std::fabs(double(y[std::size_t(r * length + i)]) - wanted) - 0x1p-24 * std::fabs(mean) * scale;  // (mean scale is rounded)
                off_norm = off > off_norm ? off : off_norm;
            }
        }
        INFO("length " << length << ", off by " << off_norm);
        CHECK(close);
        CHECK(off_norm < 2e-5);
    }
}
TEST_CASE("softmax, strided rows, columns, short rows, f16, bf16") {
    const i64 rows = 6, length = 517;
    const std::vector<float> x = random_values(rows * length * 2, 20);
    const auto compare = [&](auto formula, auto out_of, i64 count, double tolerance) {
        std::vector<float> fast(std::size_t(count), 0.0f), portable(std::size_t(count), 0.0f);
        si::run(si::fast(si::cpu), out_of(fast.data()) = formula());
        si::run(si::cpu, out_of(portable.data()) = formula());
        double worst = 0;
        for (i64 i = 0; i < count; ++i) {
            const double off = std::fabs(double(fast[std::size_t(i)]) - double(portable[std::size_t(i)])) / (std::fabs(double(portable[std::size_t(i)])) + 1);
            if (!(off <= worst)) worst = off;
        }
        CHECK(worst <= tolerance);
    };
    const auto matrix = [&](float* at) { return out_rows(at, rows, length); };
    const in_rows in(x.data(), rows, length);
    compare([&] { return softmax(in); }, matrix, rows * length, 2e-6);
    using strided = si::tensor_view<const float, si::extents<dyn, dyn>, si::strided>;
    const strided every_second(x.data(), si::extents<dyn, dyn>(rows, length), {2 * length, 2});
    compare([&] { return softmax(every_second); }, matrix, rows * length, 2e-6);
    compare([&] { return sum(every_second * every_second, si::last_axis); }, [&](float* at) { return a_column(at, rows); }, rows, 2e-6);
    compare([&] { return variance(in, si::axes<0>); }, [&](float* at) { return si::tensor_view<float, si::extents<1, dyn>>(at, length); }, length, 1e-5);
    compare([&] { return sum(in * in, si::axes<0>); }, [&](float* at) { return si::tensor_view<float, si::extents<1, dyn>>(at, length); }, length, 2e-6);
    const si::tensor_view<const float, si::extents<dyn, 10>> ten(x.data(), 100);
    compare([&] { return softmax(ten); }, [&](float* at) { return si::tensor_view<float, si::extents<dyn, 10>>(at, 100); }, 1000, 2e-6);
    compare([&] { return si::layer_norm(ten, 1e-5f); }, [&](float* at) { return si::tensor_view<float, si::extents<dyn, 10>>(at, 100); }, 1000, 1e-5);

    const std::size_t many = std::size_t(length);
    std::vector<f16> half(many), half_fast(half.size()), half_portable(half.size());
    std::vector<bf16> brain(half.size()), brain_fast(half.size());
    for (std::size_t i = 0; i < half.size(); ++i) half[i] = f16(x[i] * 0.25f), brain[i] = bf16(x[i] * 0.25f);
    si::run(si::fast(si::cpu), si::view(half_fast.data(), si::extents<dyn>(length)) = gelu_tanh(si::view(half.data(), si::extents<dyn>(length))));
    si::run(si::cpu, si::view(half_portable.data(), si::extents<dyn>(length)) = gelu_tanh(si::view(half.data(), si::extents<dyn>(length))));
    si::run(si::fast(si::cpu), si::view(brain_fast.data(), si::extents<dyn>(length)) = silu(si::view(brain.data(), si::extents<dyn>(length))));
    bool close = true;
    for (std::size_t i = 0; i < half.size(); ++i) {
        close = close && std::fabs(float(half_fast[i]) - float(half_portable[i])) <= 1e-3f * (std::fabs(float(half_portable[i])) + 1e-3f);
        const double t = double(float(brain[i]));
        close = close && std::fabs(double(float(brain_fast[i])) - times_logistic(t, t)) <= 4e-3 * (std::fabs(times_logistic(t, t)) + 1e-3);
    }
    CHECK(close);
}
TEST_CASE("not a number and infinities in rows") {
    std::vector<float> x = random_values(3 * 1024), y(x.size()), s(3);
    x[100] = support::nan;
    x[1024 + 5] = infinity;
    const in_rows in(x.data(), 3, 1024);
    si::run(si::fast(si::cpu), a_column(s.data(), 3) = sum(in, si::last_axis));
    CHECK(is_nan(s[0]));
    CHECK(is_infinite(s[1]));
    CHECK(is_finite(s[2]));
    si::run(si::fast(si::cpu), a_column(s.data(), 3) = variance(in, si::last_axis));
    CHECK(is_nan(s[0]));
    CHECK(is_nan(s[1]));
    CHECK(is_finite(s[2]));
    si::run(si::fast(si::cpu), out_rows(y.data(), 3, 1024) = softmax(in));
    CHECK(is_nan(y[0]));
    CHECK(is_nan(y[1024 + 5]));
    CHECK(is_finite(y[2048]));
    const std::vector<float> same(2048, 1234.5f);
    si::run(si::fast(si::cpu), a_column(s.data(), 1) = variance(in_rows(same.data(), 1, 2048), si::last_axis));
    CHECK(s[0] == 0);
}
TEST_CASE("integers, doubles, indices and codes have the portable bits") {
    const i64 count = 777;
    const std::vector<float> x = random_values(count, 4), w = random_values(count + 3, 2);
    const in_view in(x.data(), count), weight(w.data() + 3, count);
    const auto equal = [&]<class Type>(Type, auto formula, i64 many) {
        std::vector<Type> fast(std::size_t(many), Type{}), portable(fast);
        si::run(si::fast(si::cpu), si::view(fast.data(), si::extents<dyn>(many)) = formula());
        si::run(si::cpu, si::view(portable.data(), si::extents<dyn>(many)) = formula());
        CHECK(same_bits(fast, portable));
    };
    std::vector<i32> integers;
    std::vector<double> doubles;
    for (float v : x) integers.push_back(i32(v * 0x1p28f)), doubles.push_back(double(v) * 1.1);
    const auto whole = si::view(static_cast<const i32*>(integers.data()), si::extents<dyn>(count));
    const auto wide = si::view(static_cast<const double*>(doubles.data()), si::extents<dyn>(count));
    equal(i32{}, [&] { return whole * whole + whole / 3; }, count);
    equal(double{}, [&] { return exp(wide) * wide + wide; }, count);
    equal(double{}, [&] { return tanh(wide) - wide * wide; }, count);
    equal(i32{}, [&] { return si::cast<i32>(exp(in) * weight + in); }, count);
    equal(i8{}, [&] { return si::quantize<i8>(gelu_tanh(in) * weight + in, 0.05f); }, count);
    equal(float{}, [&] { return maximum(in, weight); }, count);
    double total[2] = {}, expected = 0;
    si::run(si::fast(si::cpu), si::view(total, si::extents<>{}) = sum(wide * wide));
    si::run(si::cpu, si::view(&expected, si::extents<>{}) = sum(wide * wide));
    CHECK(total[0] == expected);
}
TEST_CASE("codes with a scale that the kernel finds: those of the portable form, or the next ones near a tie") {
    const i64 rows = 4;
    i64 moved = 0, all = 0;
    for (i64 length : {1, 7, 16, 77, 512, 4096 + 13}) {
        const std::vector<float> x = random_values(rows * length, 3, 0.5f), w = random_values(length, 1, 1.5f);
        const in_rows in(x.data(), rows, length);
        const in_view weight(w.data(), length);
        std::vector<i8> codes(x.size()), wanted(x.size());
        std::vector<float> scales(4), wanted_scales(4);
        const auto check = [&](auto value) {  // `value`: of a row, what is quantized
            const auto run = [&](const auto& executor, std::vector<i8>& to, std::vector<float>& scale) {
                si::run(executor, si::tie(si::tensor_view<i8, si::extents<dyn, dyn>>(to.data(), rows, length), a_column(scale.data(), rows)) =
                                      si::let(in, weight, [](auto a, auto b) { return dynamic_quantize(decltype(value){}(a, b)); }));
            };
            run(si::fast(si::cpu), codes, scales);
            run(si::cpu, wanted, wanted_scales);
            std::vector<float> values(x.size());
            si::run(si::cpu, out_rows(values.data(), rows, length) = si::let(in, weight, decltype(value){}));
            bool close = true;
            for (std::size_t i = 0; i < x.size(); ++i) {
                const std::size_t row = i / std::size_t(length);
                close = close && std::fabs(scales[row] - wanted_scales[row]) <= 2e-6f * wanted_scales[row];
                if (codes[i] == wanted[i]) continue;
                const double quotient = std::fabs(double(values[i]) / double(wanted_scales[row])), beyond = quotient - std::floor(quotient);
                close = close && std::abs(codes[i] - wanted[i]) == 1 && std::fabs(beyond - 0.5) < 127 * 4e-6;
                ++moved;
            }
            all += rows * length;
            CHECK(close);
        };
        check([](auto a, auto) { return a; });
        check([](auto a, auto b) { return a * b; });
        check([](auto a, auto b) { return si::rms_norm(a, b, 1e-5f); });
        check([](auto a, auto b) { return b * (rsqrt(mean(a * a, si::last_axis)) * a); });
        check([](auto a, auto) { return a * rsqrt(mean(a * a, si::last_axis) + 1e-5f); });
    }
    CHECK(moved * 1000 < all);
    // NaN, infinity, nothing but zeros, numbers below 2^-127, whose scale's reciprocal is infinite.
    std::vector<float> x(5 * 64, 0.0f);
    for (std::size_t i = 0; i < 64; ++i) x[i] = x[64 + i] = float(i) - 30, x[192 + i] = (float(i) - 30) * 0x1p-135f, x[256 + i] = float(i) - 30;
    x[3] = support::nan, x[64 + 5] = -infinity;
    std::vector<i8> codes(x.size()), wanted(x.size());
    std::vector<float> scales(5), wanted_scales(5);
    const auto run = [&](const auto& executor, std::vector<i8>& to, std::vector<float>& scale) {
        si::run(executor, si::tie(si::tensor_view<i8, si::extents<dyn, dyn>>(to.data(), 5, 64), a_column(scale.data(), 5)) = dynamic_quantize(in_rows(x.data(), 5, 64)));
    };
    run(si::fast(si::cpu), codes, scales);
    run(si::cpu, wanted, wanted_scales);
    for (std::size_t i = 0; i < x.size(); ++i)
        if (i / 64 != 3) CHECK(codes[i] == wanted[i]);
        else CHECK((codes[i] == 0 || (codes[i] < 0) == (wanted[i] < 0)));
    CHECK(codes[192 + 30] == 0);
    for (std::size_t r = 0; r < 5; ++r) CHECK((is_nan(wanted_scales[r]) ? is_nan(scales[r]) : scales[r] == wanted_scales[r]));
    // A scale that is an operand leaves the kernel portable.
    const std::vector<float> given{0.1f, 0.2f, 0.03f, 1.0f, 7.0f};
    const auto by_operand = [&](const auto& executor, std::vector<i8>& to) {
        si::run(executor, si::tensor_view<i8, si::extents<dyn, dyn>>(to.data(), 5, 64) =
                              si::quantize<i8>(in_rows(x.data(), 5, 64) * 0.37f, si::tensor_view<const float, si::extents<dyn, 1>>(given.data(), 5)));
    };
    by_operand(si::fast(si::cpu), codes);
    by_operand(si::cpu, wanted);
    CHECK(same_bits(codes, wanted));
}
TEST_CASE("threads split as for the portable form, and the policy keeps the hook") {
    const auto hook = [](int count, const auto& part) {
        std::vector<std::thread> threads;
        for (int i = 0; i < count; ++i) threads.emplace_back([&part, i] { part(i); });
        for (std::thread& each : threads) each.join();
    };
    const std::vector<float> x = random_values(16 * 1111);
    std::vector<float> alone(x.size()), together(x.size()), other(x.size());
    const in_rows in(x.data(), 16, 1111);
    si::run(si::fast(si::cpu), out_rows(alone.data(), 16, 1111) = softmax(in));
    si::run(si::fast(si::cpu.parallel(hook, 3)), out_rows(together.data(), 16, 1111) = softmax(in));
    si::run(si::cpu.fast().parallel(hook, 5), out_rows(other.data(), 16, 1111) = softmax(in));
    CHECK(same_bits(alone, together));
    CHECK(same_bits(alone, other));
}
namespace {
using plain = si::remove_cvref<decltype(si::cpu)>;
using approximate = si::remove_cvref<decltype(si::cpu.fast())>;
static_assert(!si::is_same<plain, approximate>);
static_assert(si::is_same<plain::target, approximate::target>);
static_assert(si::is_same<si::remove_cvref<decltype(si::fast(si::cpu))>, approximate>);
static_assert(si::is_same<si::remove_cvref<decltype(si::cpu.fast().fast())>, approximate>);
using formula = decltype(si::layer_norm(in_rows(nullptr, 0, 0), 1e-5f));
static_assert(si::plan_of<formula, approximate::target>.kernels == 1);
static_assert(si::plan_of<formula, approximate::target>.loads == si::plan_of<formula, plain::target>.loads);
}  // namespace

TEST_CASE("split: what one kernel leaves for the next means the same, whichever of them has a fast form") {
    // The double keeps one of the stages portable, and so does an index.
    const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const auto in = si::view(x, si::extents<2, 4>{});
    const auto both = si::fused([](auto v) { return si::cast<double>(v) - logsumexp(v, si::axes<0>) - logsumexp(v, si::axes<1>); });
    const auto beside = si::fused([](auto v) { return v - logsumexp(v, si::axes<0>) + 0.0f * si::cast<float>(argmax(v, si::axes<0>)) - logsumexp(v, si::axes<1>); });
    double wide[8], narrow[8];
    si::run(si::split(si::reference), si::view(wide, si::extents<2, 4>{}) = both(in));
    si::run(si::split(si::fast(si::cpu)), si::view(narrow, si::extents<2, 4>{}) = both(in));
    float wanted[8], found[8];
    si::run(si::split(si::reference), si::view(wanted, si::extents<2, 4>{}) = beside(in));
    si::run(si::split(si::fast(si::cpu)), si::view(found, si::extents<2, 4>{}) = beside(in));
    for (int i = 0; i < 8; ++i) {
        CHECK(std::abs(narrow[i] - wide[i]) < 1e-5);
        CHECK(std::abs(found[i] - wanted[i]) < 1e-5f);
    }
}
TEST_CASE("split: a number over all rows fills a value of each, all sizes known") {
    const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    float each[2] = {}, fast[2] = {};
    const auto total = sum(max(si::view(x, si::extents<2, 4>{}), si::last_axis));
    si::run(si::split(si::cpu), si::view(each, si::extents<2, 1>{}) = total);
    si::run(si::split(si::fast(si::cpu)), si::view(fast, si::extents<2, 1>{}) = total);
    for (int i = 0; i < 2; ++i) {
        CHECK(each[i] == 12);
        CHECK(fast[i] == 12);
    }
}
