// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program behind scripts/quickstart: residual + RMSNorm + int8 rounding, as one fused kernel and as the chain of kernels that
// a library without fusion would run; on random numbers, or on a file that NumPy wrote.
#include "quickstart_formula.hpp"

#include <sinter/backend/cpu.hpp>
#include <sinter/explain.hpp>
#include <sinter/io/npy.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace si = sinter;
using si::i64;

using matrix = si::tensor_view<float, si::extents<si::dyn, si::dyn>>;
using code_matrix = si::tensor_view<si::i8, si::extents<si::dyn, si::dyn>>;
using vector_view = si::tensor_view<float, si::extents<si::dyn>>;
using column = si::tensor_view<float, si::extents<si::dyn, 1>>;

namespace {

// Memory that is touched once, aligned as vectors like it.
template <class Type>
struct buffer {
    explicit buffer(i64 count) : owner(count), values(owner.data()) {}
    si::tensor<Type, si::extents<si::dyn>> owner;
    Type* values;
};

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// The same chain with one kernel per operation; intermediate results go through memory.
void unfused(matrix x, matrix residual, vector_view weight, matrix h, matrix t, column m, code_matrix codes) {
    si::run(si::cpu, h = x + residual);
    si::run(si::cpu, t = h * h);
    si::run(si::cpu, m = mean(t, si::last_axis));
    si::run(si::cpu, m = m + epsilon);
    si::run(si::cpu, m = rsqrt(m));
    si::run(si::cpu, t = h * m);
    si::run(si::cpu, t = t * weight);
    si::run(si::cpu, t = t * steps);
    si::run(si::cpu, t = round(t));
    si::run(si::cpu, codes = si::cast<si::i8>(t));
}
constexpr int unfused_kernels = 10;

// Against float64: how far a code is from the exact value, in steps (rounding alone makes that up to 0.5), and how many codes
// differ from the rounded exact value, which happens where f32's error carries a value across a tie.
struct errors {
    double farthest = 0;
    i64 different = 0, saturated = 0, not_numbers = 0;
};
errors against_float64(const float* x, const float* residual, const float* weight, const si::i8* codes, i64 rows, i64 columns) {
    errors result;
    std::vector<double> h(static_cast<std::size_t>(columns));
    for (i64 row = 0; row < rows; ++row) {
        double squares = 0;
        for (i64 i = 0; i < columns; ++i) {
            const double value = double(x[row * columns + i]) + (residual ? double(residual[row * columns + i]) : 0.0);
            h[static_cast<std::size_t>(i)] = value;
            squares += value * value;
        }
        const double scale = steps / std::sqrt(squares / double(columns) + double(epsilon));
        for (i64 i = 0; i < columns; ++i) {
            const double exact = h[static_cast<std::size_t>(i)] * scale * (weight ? double(weight[i]) : 1.0);
            const int code = codes[row * columns + i];
            if (std::isnan(exact)) {
                ++result.not_numbers;
            } else if (exact > 127.5 || exact < -128.5) {
                ++result.saturated;
                if (code != (exact > 0 ? 127 : -128)) ++result.different;
            } else {
                result.farthest = (std::max)(result.farthest, std::fabs(exact - code));
                if (code != int((std::max)(-128.0, (std::min)(127.0, std::nearbyint(exact))))) ++result.different;
            }
        }
    }
    return result;
}
void print(const errors& found, i64 count) {
    std::printf("error against float64     codes lie within %.6f steps of the exact value (rounding alone: 0.5);\n"
                "                          %lld of %lld differ from its rounding\n",
                found.farthest, static_cast<long long>(found.different), static_cast<long long>(count));
    if (found.saturated) std::printf("                          %lld saturated\n", static_cast<long long>(found.saturated));
    if (found.not_numbers) std::printf("                          %lld had no value (NaN) and became 0\n", static_cast<long long>(found.not_numbers));
}

int fail(const std::string& message) {
    std::fprintf(stderr, "quickstart: %s\n", message.c_str());
    return 1;
}

int on_file(const std::string& input, const std::string& output) {
    si::npy_result file = si::read_npy(input);
    if (!file.ok()) return fail(file.status.message());
    auto values = si::npy_as<float, 2>(file.array);
    if (!values.ok()) return fail(values.status.message());
    const i64 rows = values.sizes[0], columns = values.sizes[1];
    buffer<float> residual(rows * columns), weight(columns);
    buffer<si::i8> codes(rows * columns);
    if (!residual.owner.ok() || !weight.owner.ok() || !codes.owner.ok()) return fail("not enough memory for " + input);
    std::fill(weight.values, weight.values + columns, 1.0f);

    matrix x(values.pointer, rows, columns), r(residual.values, rows, columns);
    code_matrix y(codes.values, rows, columns);
    const double begin = seconds();
    si::status done = si::try_run(si::cpu, y = residual_norm_int8(x, r, vector_view(weight.values, columns)));
    const double time = seconds() - begin;
    if (!done.ok()) return fail(done.message());
    auto written = si::write_npy(output, codes.values, {rows, columns});
    if (!written.ok()) return fail(written.message());
    std::printf("%s: %lld x %lld f32 -> %s: int8, RMSNorm (residual 0, weight 1) in steps of 1/%g, %.3f ms\n", input.c_str(),
                static_cast<long long>(rows), static_cast<long long>(columns), output.c_str(), double(steps), time * 1e3);
    print(against_float64(values.pointer, nullptr, nullptr, codes.values, rows, columns), rows * columns);
    return 0;
}

int measure(i64 rows, i64 columns, int repeats) {
    const i64 count = rows * columns;
    buffer<float> x(count), residual(count), weight(columns), h(count), t(count), m(rows);
    buffer<si::i8> codes(count), chain_codes(count);
    if (!x.owner.ok() || !residual.owner.ok() || !h.owner.ok() || !t.owner.ok() || !codes.owner.ok() || !chain_codes.owner.ok())
        return fail("not enough memory: try --rows 1024");
    random_numbers{}.fill(x.values, residual.values, weight.values, rows, columns);

    matrix vx(x.values, rows, columns), vr(residual.values, rows, columns), vh(h.values, rows, columns), vt(t.values, rows, columns);
    vector_view vw(weight.values, columns);
    column vm(m.values, rows);
    code_matrix vq(codes.values, rows, columns), vc(chain_codes.values, rows, columns);

    auto formula = residual_norm_int8(vx, vr, vw);
    static_assert(si::plan_of<decltype(formula)>.kernels == 1);
    std::printf("residual + RMSNorm + int8 rounding, %lld x %lld f32, one thread\n\n", static_cast<long long>(rows),
                static_cast<long long>(columns));
    si::explain(formula, si::cpu);
    // Both inputs and the weight once, the codes once: what any program must move, and what the plan says that this one does.
    const double least = double(count) * (4 + 4 + 1) + double(columns) * 4;
    const double moved = double(si::plan_of<decltype(formula)>.bytes(rows, columns));

    std::vector<double> copy_times, fused_times, chain_times;
    for (int i = 0; i <= repeats; ++i) {  // interleaved, so that a slow moment of the machine hits all three; the first is a warm-up
        double begin = seconds();
        std::memcpy(t.values, x.values, static_cast<std::size_t>(count) * sizeof(float));
        const double copy = seconds() - begin;
        begin = seconds();
        si::run(si::cpu, vq = formula);
        const double fused = seconds() - begin;
        begin = seconds();
        unfused(vx, vr, vw, vh, vt, vm, vc);
        const double chain = seconds() - begin;
        if (i == 0) continue;
        copy_times.push_back(copy);
        fused_times.push_back(fused);
        chain_times.push_back(chain);
    }
    const double copy_speed = 2.0 * 4.0 * double(count) / median(copy_times);
    const double fused_time = median(fused_times), chain_time = median(chain_times);
    const double fused_speed = moved / fused_time;
    std::printf("\nfused, 1 kernel           %8.3f ms   %.1f MB moved%s\n", fused_time * 1e3, moved * 1e-6,
                moved == least ? ": the least possible" : ", more than the least possible");
    std::printf("unfused, %d kernels       %8.3f ms   %.1f times as long\n", unfused_kernels, chain_time * 1e3, chain_time / fused_time);
    std::printf("copy speed of the machine %8.1f GB/s; the fused kernel moves %.1f GB/s: %.2f of it\n", copy_speed * 1e-9,
                fused_speed * 1e-9, fused_speed / copy_speed);
    print(against_float64(x.values, residual.values, weight.values, codes.values, rows, columns), count);
    const bool equal = std::memcmp(codes.values, chain_codes.values, static_cast<std::size_t>(count)) == 0;
    std::printf("fused and unfused         %s\n", equal ? "equal on every bit" : "DIFFERENT");
    return equal ? 0 : 1;
}

void usage() {
    std::puts("options: --rows N --columns N       size of the matrix (4096 x 4096)\n"
              "         --repeats N                measurements, of which the median is shown (7)\n"
              "         --input X.npy --output Y.npy   RMSNorm and int8 rounding of a matrix that NumPy wrote");
}

}  // namespace

int main(int count, char** arguments) {
    i64 rows = 4096, columns = 4096, repeats = 7;
    std::string input, output, of_measurement;
    for (int i = 1; i < count; ++i) {
        const std::string name = arguments[i];
        if (name == "--help" || name == "-h") return usage(), 0;
        if (i + 1 == count) return fail("unknown option or missing value: " + name + " (--help lists the options)");
        const char* const value = arguments[++i];
        if (name == "--input") input = value;
        else if (name == "--output") output = value;
        else if (name == "--rows" || name == "--columns" || name == "--repeats") {
            char* end = nullptr;
            const i64 number = std::strtoll(value, &end, 10);
            if (*end || number < 1 || number > (1 << 24)) return fail(name + " takes a number from 1 to 16777216, not " + value);
            (name == "--rows" ? rows : name == "--columns" ? columns : repeats) = number;
            of_measurement = name;
        } else return fail("unknown option " + name + " (--help lists the options)");
    }
    if (input.empty() != output.empty()) return fail("--input and --output belong together");
    if (!input.empty() && !of_measurement.empty()) return fail(of_measurement + " doesn't go with --input: the file has its size");
    return input.empty() ? measure(rows, columns, int(repeats)) : on_file(input, output);
}
