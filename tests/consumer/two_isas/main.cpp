// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program: runs each library that this processor can run over the same numbers, hands views from one to the other, and compares
// every result with the reference on bits.
#include "formulas.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

namespace {
int passed = 0, failed = 0;
void expect(bool right, const char* library, const char* what) {
    ++(right ? passed : failed);
    if (!right) std::printf("FAIL  %s: %s\n", library, what);
}
template <class Type>
bool equal(const std::vector<Type>& left, const std::vector<Type>& right) {
    return left.size() == right.size() && std::memcmp(left.data(), right.data(), left.size() * sizeof(Type)) == 0;
}
std::vector<float> numbers(std::size_t count, si::u64 state) {
    std::vector<float> out(count);
    for (float& each : out) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        each = static_cast<float>(static_cast<double>(static_cast<si::i64>(state)) * 0x1p-61);
    }
    return out;
}

void compare(const library& one, const library& other, si::i64 rows, si::i64 columns) {
    const std::size_t count = static_cast<std::size_t>(rows * columns), height = static_cast<std::size_t>(rows), width = static_cast<std::size_t>(columns);
    const std::vector<float> x = numbers(count, 7), w = numbers(count, 11);
    const input in(x.data(), rows, columns), weight(w.data(), rows, columns);
    std::vector<float> y(count), truth(count), between(count), top(height), true_top(height), of_column(width), true_column(width);
    std::vector<si::i64> where(height), true_where(height);

    si::run(si::reference, matrix(truth.data(), rows, columns) = formulas::chain(in, weight));
    one.chain(in, weight, matrix(y.data(), rows, columns));
    expect(equal(y, truth), one.name, "pointwise");
    y.assign(count, 0);
    expect(one.by_reference(in, weight, matrix(y.data(), rows, columns)).ok() && equal(y, truth), one.name, "the reference inside");

    si::run(si::reference, matrix(y.data(), rows, columns) = formulas::chain(in, weight));
    si::run(si::reference, matrix(truth.data(), rows, columns) = formulas::chain(input(y.data(), rows, columns), weight));
    one.relay(other, in, weight, matrix(between.data(), rows, columns), matrix(y.data(), rows, columns));
    expect(equal(y, truth), one.name, other.name);

    si::run(si::reference, si::tie(matrix(truth.data(), rows, columns), per_row(true_top.data(), rows)) = formulas::norm(in, weight));
    one.norm(in, weight, matrix(y.data(), rows, columns), per_row(top.data(), rows));
    expect(equal(y, truth) && equal(top, true_top), one.name, "rows, two outputs");

    si::run(si::reference, si::tie(per_row(true_top.data(), rows), index_per_row(true_where.data(), rows)) = formulas::statistics(in));
    one.statistics(in, per_row(top.data(), rows), index_per_row(where.data(), rows));
    expect(equal(top, true_top) && equal(where, true_where), one.name, "variance and argmax");

    std::vector<si::bf16> narrow(count);
    for (std::size_t i = 0; i < count; ++i) narrow[i] = si::convert<si::bf16>(x[i]);
    const bf16_input rounded(narrow.data(), rows, columns);
    si::run(si::reference, per_column(true_column.data(), columns) = formulas::columns(rounded));
    one.columns(rounded, per_column(of_column.data(), columns));
    expect(equal(of_column, true_column), one.name, "columns of bf16");

    std::vector<si::f16> half(count), true_half(count);
    const strided_input transposed(x.data(), si::extents<si::dyn, si::dyn>(columns, rows), {1, columns});
    si::run(si::reference, half_matrix(true_half.data(), columns, rows) = si::cast<si::f16>(softmax(transposed)));
    one.halves(transposed, half_matrix(half.data(), columns, rows));
    expect(equal(half, true_half), one.name, "softmax of a transposed view into f16");

    const float total = one.total(in), true_total = si::eval(si::reference, sum(in * 0.5f));
    expect(std::memcmp(&total, &true_total, 4) == 0, one.name, "a scalar");
    const auto owner = one.doubled(in);
    const auto true_owner = si::eval(si::reference, in * 2.0f);
    expect(owner.count() == rows * columns && std::memcmp(owner.data(), true_owner.data(), count * 4) == 0, one.name, "an owner");
    expect(si::try_run(si::split(si::reference), matrix(truth.data(), rows, columns) = formulas::parts(in)).ok() &&
               one.split(in, matrix(y.data(), rows, columns)).ok() && equal(y, truth),
           one.name, "several kernels");

    const matrix too_low(y.data(), rows - 1, columns);
    expect(!one.wrong(in, too_low).ok(), one.name, "a status");
    expect(one.throws(in, too_low), one.name, "an exception");
    bool caught = false;
    try {
        one.throws_through(in, too_low);
    } catch (const si::run_error& error) {
        caught = !error.get_status().ok();
    }
    expect(caught, one.name, "an exception through the border");

    const std::vector<float> few = numbers(120, 5);
    std::vector<float> of_few(120), true_few(120);
    si::run(si::reference, small(true_few.data()) = gelu(const_small(few.data())) + 0.25f);
    one.fixed(const_small(few.data()), small(of_few.data()));
    expect(equal(of_few, true_few), one.name, "static sizes");

    static char text[1 << 16], true_text[1 << 16];
    const int length = one.says(in, text, int(sizeof(text)));
    expect(length > 0 && length == baseline.says(in, true_text, int(sizeof(true_text))) && std::strcmp(text, true_text) == 0, one.name, "texts");

    const int calibrated = one.calibrates(in, weight, matrix(y.data(), rows, columns), text, int(sizeof(text)));
    expect(calibrated > 1000 && calibrated < int(sizeof(text)) &&
               calibrated == baseline.calibrates(in, weight, matrix(y.data(), rows, columns), true_text, int(sizeof(true_text))) && std::strcmp(text, true_text) == 0,
           one.name, "calibration");
}
}  // namespace

int main() {
    std::vector<const library*> all{&baseline};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.push_back(&avx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) all.push_back(&avx512);
    for (const library* one : all)
        for (const library* other : all)
            for (const si::i64 columns : {1, 37, 2100}) compare(*one, *other, 5, columns);
    std::printf("%zu instruction sets ran\n%d passed, %d failed\n", all.size(), passed, failed);
    return failed != 0;
}
