// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures the constants of the canonical order of reductions on this processor (docs/order.md): lanes, segment, column segment
// and the direction of the tree, by hand and in the library, and the two candidate definitions of softmax with their errors.
// All candidates of a table run in turns in one process.
//     order_<isa> [turns [rows of the large matrices [part of a title]]]
#include <sinter/sinter.hpp>

#include "../harness.hpp"
#include "fold.hpp"
#include "library.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

using namespace order_bench;

#if defined(ORDER_WITH_LIBRARY)
extern const library_variant w64, w128, w256, s512, s2048, r32, r128;
static const library_variant* const variants[] = {&w128, &w64, &w256, &s512, &s2048, &r32, &r128};
#endif

namespace {
struct entry {
    std::string name;
    std::function<void()> call;
};
int rounds = 15;
const char* wanted = "";  // only tables whose title has this in it

/// One table: seconds as GB/s (or elements), each beside the first entry's time.
void table(const char* title, double bytes, const std::vector<entry>& entries) {
    if (!std::strstr(title, wanted)) return;
    std::vector<std::function<void()>> calls;
    for (const entry& each : entries) calls.push_back(each.call);
    double best[32];
    bench::in_turns(calls.data(), int(calls.size()), rounds, 2e-3, best);
    std::printf("\n%s\n", title);
    for (std::size_t i = 0; i < entries.size(); ++i)
        std::printf("  %-34s %8.2f GB/s   %+6.1f %% time\n", entries[i].name.c_str(), bytes / best[i] * 1e-9, (best[i] / best[0] - 1) * 100);
}

volatile float sink;
float* memory(std::size_t count, float scale) {
    float* const out = static_cast<float*>(std::aligned_alloc(4096, (count * 4 + 4095) / 4096 * 4096));
    unsigned long long state = 88172645463325252ull;
    for (std::size_t i = 0; i < count; ++i) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        out[i] = float(double(static_cast<long long>(state)) * 0x1p-63) * scale;
    }
    return out;
}

template <int Lanes, int Segment, bool Down, int Sweep>
entry squares(const char* name, const float* x, i64 rows, i64 n) {
    return {name, [=] {
                float total = 0;
                for (i64 r = 0; r < rows; ++r) total += sum_square<Lanes, Segment, Down, Sweep>(x + r * n, n);
                sink = total;
            }};
}
template <int Lanes, int Segment, bool Down>
entry softmax_i(const char* name, const float* x, float* y, i64 rows, i64 n) {
    return {name, [=] { for (i64 r = 0; r < rows; ++r) softmax_by_max<Lanes, Segment, Down>(x + r * n, y + r * n, n); }};
}
template <int Lanes, int Segment, bool Down>
entry softmax_i_negative(const char* name, const float* x, float* y, i64 rows, i64 n) {
    return {name, [=] { for (i64 r = 0; r < rows; ++r) softmax_by_max<Lanes, Segment, Down, true>(x + r * n, y + r * n, n); }};
}
template <int Lanes, int Segment, bool Down>
entry softmax_ii(const char* name, const float* x, float* y, i64 rows, i64 n) {
    return {name, [=] { for (i64 r = 0; r < rows; ++r) softmax_by_power<Lanes, Segment, Down>(x + r * n, y + r * n, n); }};
}
void squares_table(const char* title, const float* x, i64 rows, i64 n) {
    table(title, double(rows * n) * 4,
          {squares<128, 1024, true, 64>("W 128 S 1024 down", x, rows, n), squares<128, 1024, true, 8>("W 128, 8 registers a sweep", x, rows, n),
           squares<64, 1024, true, 64>("W 64", x, rows, n), squares<256, 1024, true, 64>("W 256", x, rows, n),
           squares<256, 1024, true, 8>("W 256, 8 registers a sweep", x, rows, n), squares<128, 512, true, 64>("S 512", x, rows, n),
           squares<128, 2048, true, 64>("S 2048", x, rows, n), squares<128, 1024, false, 64>("tree up", x, rows, n),
           squares<64, 1024, false, 64>("W 64, tree up", x, rows, n)});
}
void columns_table(const char* title, const float* x, float* y, i64 rows, i64 n) {
    table(title, double(rows * n) * 4,
          {{"R 64", [=] { column_sum<64>(x, y, rows, n); }}, {"R 32", [=] { column_sum<32>(x, y, rows, n); }},
           {"R 128", [=] { column_sum<128>(x, y, rows, n); }}});
}
void softmax_table(const char* title, const float* x, float* y, i64 rows, i64 n) {
    table(title, double(rows * n) * 8,
          {softmax_i<128, 1024, true>("(i)  W 128 S 1024 down", x, y, rows, n), softmax_i_negative<128, 1024, true>("(i)  the same, exp for x <= 0 alone", x, y, rows, n),
           softmax_ii<128, 1024, true>("(ii) W 128 S 1024 down", x, y, rows, n),
           softmax_i<64, 1024, true>("(i)  W 64", x, y, rows, n), softmax_i<256, 1024, true>("(i)  W 256", x, y, rows, n),
           softmax_i<128, 512, true>("(i)  S 512", x, y, rows, n), softmax_i<128, 2048, true>("(i)  S 2048", x, y, rows, n),
           softmax_i<128, 1024, false>("(i)  tree up", x, y, rows, n)});
}
#if defined(ORDER_WITH_LIBRARY)
void library_table(const char* title, void (*library_variant::*member)(const float*, float*, order_long, order_long), const float* x, float* y, i64 rows,
                   i64 n, double bytes) {
    std::vector<entry> entries;
    for (const library_variant* const each : variants) entries.push_back({each->name, [=] { (each->*member)(x, y, rows, n); }});
    table(title, bytes, entries);
}
#endif

// ---- errors of the two definitions of softmax
double ulp_of(long double truth) {
    int exponent;
    std::frexp(double(truth), &exponent);
    return std::ldexp(1.0, (exponent < -125 ? -125 : exponent) - 24);
}
double gauss(unsigned long long& state) {
    double total = 0;
    for (int i = 0; i < 12; ++i) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        total += double(state >> 11) * 0x1p-53;
    }
    return total - 6;
}
struct errors {
    double of_large = 0, of_all = 0, absolute = 0;  // ulp of results above 2^-24 of the largest; of all normal ones; absolute
    int wrong = 0;                                  // zero, NaN or infinite where the truth isn't
    void take(const float* y, const std::vector<long double>& truth) {
        long double top = 0;
        for (const long double each : truth) top = each > top ? each : top;
        for (std::size_t i = 0; i < truth.size(); ++i) {
            const double off = std::fabs(double((long double)y[i] - truth[i]));
            if (!(off < 1e30) || (y[i] == 0 && truth[i] >= 0x1p-126L)) {
                ++wrong;
                continue;
            }
            const double ulps = off / ulp_of(truth[i]);
            if (off > absolute) absolute = off;
            if (truth[i] >= top * 0x1p-24L && ulps > of_large) of_large = ulps;
            if (truth[i] >= 0x1p-126L && ulps > of_all) of_all = ulps;
        }
    }
};
void error_table() {
    constexpr i64 n = 4096;
    std::printf("\nsoftmax, errors against long double, 200 rows of 4096 each: ulp of results above 2^-24 of the row's largest | of all normal "
                "results | largest absolute | results that are 0, NaN or inf and shouldn't be\n");
    struct kind {
        const char* name;
        double mean, deviation;
        int special;
    };
    const kind kinds[] = {{"mean 0, deviation 0.1", 0, 0.1, 0},   {"mean 0, deviation 1", 0, 1, 0},       {"mean 0, deviation 10", 0, 10, 0},
                          {"mean 0, deviation 100", 0, 100, 0},   {"mean 1000, deviation 1", 1000, 1, 0}, {"mean -1000, deviation 10", -1000, 10, 0},
                          {"mean 1e5, deviation 5", 1e5, 5, 0},   {"mean 1e7, deviation 10", 1e7, 10, 0}, {"every 3rd -inf, deviation 3", 0, 3, 1},
                          {"one of 200 in a row of 0", 0, 0, 2}};
    std::vector<float> x(n), y(n);
    namespace si = sinter;
    const si::tensor_view<const float, si::extents<n>> in(x.data(), {});
    const si::tensor_view<float, si::extents<n>> out(y.data(), {});
    for (const kind& of : kinds) {
        errors by_max, by_power, library;
        double logarithm = 0, in_ulp = 0;  // error of logsumexp, absolute and in ulp of the result
        unsigned long long state = 123456789;
        for (int row = 0; row < 200; ++row) {
            for (i64 i = 0; i < n; ++i) x[std::size_t(i)] = float(of.mean + of.deviation * gauss(state));
            if (of.special == 1)
                for (i64 i = row % 3; i < n; i += 3) x[std::size_t(i)] = -__builtin_huge_valf();
            if (of.special == 2) x[std::size_t(row * 20)] = 200;
            std::vector<long double> truth(n);
            long double top = -HUGE_VALL, sum = 0;
            for (const float each : x) top = each > top ? (long double)each : top;
            for (i64 i = 0; i < n; ++i) sum += truth[std::size_t(i)] = std::exp((long double)x[std::size_t(i)] - top);
            for (long double& each : truth) each /= sum;
            const long double wanted = top + std::log(sum);
            const double off = std::fabs(double((long double)si::eval(si::reference, logsumexp(in)) - wanted)), ulps = off / ulp_of(wanted);
            logarithm = off > logarithm ? off : logarithm;
            in_ulp = ulps > in_ulp ? ulps : in_ulp;
            si::run(si::reference, out = si::softmax(in));
            library.take(y.data(), truth);
            softmax_by_max<128, 1024, true>(x.data(), y.data(), n);
            by_max.take(y.data(), truth);
            softmax_by_power<128, 1024, true>(x.data(), y.data(), n);
            by_power.take(y.data(), truth);
        }
        const auto said = [](const char* name, const errors& made) {
            std::printf("  %s %6.2f | %7.2f | %.1e | %d", name, made.of_large, made.of_all, made.absolute, made.wrong);
        };
        std::printf("  %-28s", of.name);
        said("(i)", by_max);
        said("  (ii)", by_power);
        said("  library", library);
        std::printf("  its logsumexp %.1e, %.2f ulp\n", logarithm, in_ulp);
    }
    int different = 0;
    i64 compared = 0;
    for (sinter::u32 b = 0x80000000u; b < 0xff900000u; b += 8 * 37) {  // every 37th x <= 0, -inf and NaN
        alignas(64) float in[width], out[width], other[width];
        for (int l = 0; l < width; ++l) in[l] = __builtin_bit_cast(float, b + sinter::u32(l));
        store(out, exp(lanes::load(in)));
        store(other, exp_of_negative(lanes::load(in)));
        for (int l = 0; l < width; ++l, ++compared) different += out[l] == out[l] ? std::memcmp(out + l, other + l, 4) != 0 : other[l] == other[l];
    }
    std::printf("  exp for x <= 0 alone: %lld compared with exp, %d different\n", static_cast<long long>(compared), different);
    // corners: what a row gives
    const float inf = __builtin_huge_valf(), nan = __builtin_nanf("");
    const auto corner = [&](const char* name, float value, float other) {
        for (float& each : x) each = value;
        x[7] = other;
        softmax_by_max<128, 1024, true>(x.data(), y.data(), n);
        std::printf("  %-28s (i) y[0] %-12g y[7] %-12g ", name, double(y[0]), double(y[7]));
        softmax_by_power<128, 1024, true>(x.data(), y.data(), n);
        std::printf("(ii) y[0] %-12g y[7] %g\n", double(y[0]), double(y[7]));
    };
    corner("all -inf", -inf, -inf);
    corner("all -inf but one", -inf, 1);
    corner("a NaN", 1, nan);
    corner("a +inf", 1, inf);
    corner("all 3e38", 3e38f, 3e38f);
    corner("all 3e6 but one 1 more", 3e6f, 3e6f + 1);
    corner("all 3e7 but one 2 more", 3e7f, 3e7f + 2);
}
}  // namespace

/// A title with the size in it.
std::string titled(const char* what, i64 rows, i64 columns) {
    return std::string(what) + ", " + std::to_string(rows) + " x " + std::to_string(columns) + " (" + std::to_string(rows * columns / 256) + " KiB)";
}

int main(int count, char** argument) {
    if (count > 1) rounds = std::atoi(argument[1]);
    const i64 many = count > 2 ? std::atoi(argument[2]) : 4096;  // rows of 4096 that no cache holds
    if (count > 3) wanted = argument[3];
    std::printf("%d lanes of f32 in a register\n", width);
    float* const x = memory(std::size_t(many) * 4096, 4.0f);
    float* const y = memory(std::size_t(many) * 4096, 1.0f);
    const i64 squares_of[][2] = {{64, 256}, {32, 2048}, {16, 4096}, {many, 4096}};
    for (const auto& of : squares_of) squares_table(titled("sum of squares", of[0], of[1]).c_str(), x, of[0], of[1]);
    const i64 softmax_of[][2] = {{64, 256}, {8, 4096}, {many, 4096}, {many / 16, 65536}};
    for (const auto& of : softmax_of) softmax_table(titled("softmax", of[0], of[1]).c_str(), x, y, of[0], of[1]);
    const i64 columns_of[][2] = {{256, 256}, {many * 16, 256}, {many, 4096}};
    for (const auto& of : columns_of) columns_table(titled("column sum", of[0], of[1]).c_str(), x, y, of[0], of[1]);
#if defined(ORDER_WITH_LIBRARY)
    for (const i64 rows : {i64(16), many}) library_table(titled("library: sum of squares", rows, 4096).c_str(), &library_variant::sum_square, x, y, rows, 4096, double(rows) * 4096 * 4);
    for (const i64 rows : {i64(8), many}) library_table(titled("library: softmax", rows, 4096).c_str(), &library_variant::softmax, x, y, rows, 4096, double(rows) * 4096 * 8);
    for (const i64 rows : {i64(256), many * 16}) library_table(titled("library: column sum", rows, 256).c_str(), &library_variant::column_sum, x, y, rows, 256, double(rows) * 256 * 4);
#endif
    error_table();
}
