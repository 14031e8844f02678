// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running: statuses of wrong calls, nothing written before an error, zero sizes, no heap on static shapes, noexcept, errors as
// exceptions. This file keeps exceptions: it tests what run throws.
#include <doctest/doctest.h>

#include "support.hpp"

#include <cstring>

using namespace support;
using si::error;
using si::reference;

namespace {
using rows_view = si::tensor_view<float, si::extents<dyn, dyn>>;
using assignment_type = decltype(rows_view(nullptr, 0, 0) = rows_view(nullptr, 0, 0) + 1);
static_assert(noexcept(si::try_run(reference, static_cast<const assignment_type&>(*static_cast<assignment_type*>(nullptr)))));
// An error leaves `run` as an exception here, of static shapes too: a null pointer, an overlap.
static_assert(!noexcept(si::run(reference, static_cast<const assignment_type&>(*static_cast<assignment_type*>(nullptr)))));
static_assert(__is_trivially_copyable(si::status) && sizeof(si::reference) == 1);
}  // namespace

TEST_CASE("sizes that don't agree: which operand, which axis, which sizes") {
    float data[64]{};
    const rows_view x(data, 3, 4), y(data + 16, 3, 5), out(data + 32, 3, 4);
    const si::status wrong = si::try_run(reference, out = x + y);
    CHECK(wrong.code() == error::size_mismatch);
    CHECK(wrong.operand == 1);
    CHECK(wrong.axis == 1);
    CHECK(wrong.expected == 4);
    CHECK(wrong.found == 5);
    CHECK(std::strstr(wrong.message(), "SINTER-R001") != nullptr);
    CHECK(si::try_run(reference, out = x + 1).ok());
    CHECK(data[32] == 1);
    CHECK(data[0] == 0);
    const rows_view other(data + 32, 4, 3);
    CHECK(si::try_run(reference, other = x + 1).code() == error::size_mismatch);
    // A run-time output isn't stretched, and doesn't stretch: a size that is 1 by chance must agree too.
    const rows_view single(data + 48, 3, 1);
    data[49] = data[50] = data[51] = 77;
    CHECK(si::try_run(reference, single = x + 1).code() == error::size_mismatch);
    CHECK(data[51] == 77);
}
TEST_CASE("a size that the output alone has is the output's mistake, not an operand's") {
    float data[64]{};
    const rows_view x(data, 4, 6), z(data + 24, 4, 6), shorter(data + 24, 4, 5), sums(data + 48, 4, 1);
    const auto is_output = [](const si::status& said, int operand, int axis, si::i64 expected, si::i64 found) {
        return said.code() == error::size_mismatch && said.operand == operand && said.output == 0 && said.axis == axis && said.expected == expected && said.found == found;
    };
    CHECK(is_output(si::try_run(reference, sums = sum(x, si::last_axis)), 1, 1, 6, 1));
    CHECK(is_output(si::try_run(reference, si::transpose(rows_view(data + 48, 1, 4)) = sum(si::flip<1>(x) * z, si::last_axis)), 2, 1, 6, 1));
    CHECK(is_output(si::try_run(reference, shorter = x * 2.0f), 2, 1, 6, 5));  // (the number is an operand, too)
    CHECK(is_output(si::try_run(reference, shorter = x + x), 2, 1, 6, 5));
    const si::status said = si::try_run(reference, z = x + shorter);  // two against one
    CHECK(said.operand == 1);
    CHECK(said.output == -1);
    const si::status first = si::try_run(reference, z = shorter + x);
    CHECK(first.operand == 0);
    CHECK(first.expected == 6);
    CHECK(first.found == 5);
}
TEST_CASE("named sizes are numbers when run, and must agree") {
    using si::operator""_d;
    float data[32]{};
    const si::tensor_view<float, si::extents<"n"_d>> x(data, 4), y(data + 8, 5), out(data + 16, 4);
    CHECK(si::try_run(reference, out = x + y).code() == error::size_mismatch);
    CHECK(si::try_run(reference, out = x + x).ok());

    float more[20]{};
    // Also where they don't meet: in one view, across, in two outputs, behind a reduction, and in the output alone.
    const si::tensor_view<float, si::extents<dyn, dyn>> any(data, 3, 4), wide(more, 4, 5);
    const si::status twice = si::try_run(reference, any = si::tensor_view<float, si::extents<"n"_d, "n"_d>>(data, 3, 4) + 1);
    CHECK(twice.code() == error::size_mismatch);
    CHECK((twice.operand == 0 && twice.axis == 1 && twice.expected == 3 && twice.found == 4));
    CHECK(si::try_run(reference, si::view(data, si::extents<dyn, dyn>(4, 4)) = si::tensor_view<float, si::extents<"n"_d, "n"_d>>(data, 4, 4) + 1).ok());
    const si::tensor_view<float, si::extents<"n"_d, 1>> column(data, 4);
    const si::tensor_view<float, si::extents<1, "n"_d>> row(data, 5);
    CHECK(si::try_run(reference, wide = column * row).code() == error::size_mismatch);
    CHECK(si::try_run(reference, wide = column * si::tensor_view<float, si::extents<1, "m"_d>>(data, 5)).ok());
    const si::tensor_view<float, si::extents<dyn>> four(data + 16, 4);
    CHECK(si::try_run(reference, four = x + sum(y)).code() == error::size_mismatch);
    const si::tensor_view<float, si::extents<>> one(data + 30), other(data + 31);
    const si::status outputs = si::try_run(reference, one = sum(x), other = sum(y));
    CHECK(outputs.operand == 1);
    CHECK(outputs.found == 5);
    const si::tensor_view<float, si::extents<"n"_d>> too_long(data + 16, 5);
    const si::status output = si::try_run(reference, too_long = x + 1);
    CHECK(output.code() == error::size_mismatch);
    CHECK((output.output == 0 && output.expected == 4 && output.found == 5));
    CHECK(si::try_run(reference, si::view(data + 16, si::extents<dyn>(4)) = x + 1).ok());
}
TEST_CASE("a number computed from numbers meets a tensor as that number") {
    si::u8 x[2] = {1, 2}, y[2] = {7, 7};
    const auto twice = [](auto v, auto k) { return v + k * 2; };
    const si::status said = si::try_run(reference, si::view(y) = si::let(si::view(x), 200, twice));
    CHECK(said.code() == error::number_out_of_range);
    CHECK((said.operand == -1 && said.expected == 255 && said.found == 400));
    CHECK(si::try_run(reference, si::view(y) = si::let(si::view(x), 3, [](auto v, auto k) { return v + (k - 4); })).found == -1);
    CHECK(si::try_run(reference, si::view(y) = si::let(si::view(x), 200, [](auto v, auto k) { return where(v > 9, k * 2, v); })).code() == error::number_out_of_range);
    CHECK(y[0] == 7);
    CHECK(si::try_run(reference, si::view(y) = si::let(si::view(x), 100, twice)).ok());
    CHECK(y[1] == 202);
    CHECK(si::try_run(reference, si::view(y) = si::let(si::view(x), 200, [](auto v, auto k) { return v + si::cast_wrap<si::u8>(k * 2); })).ok());
    CHECK(y[0] == 145);
    const float real[2] = {0.5f, 1};
    float out[2];
    CHECK(si::try_run(reference, si::view(out) = si::let(si::view(real), 200, twice)).ok());
    CHECK(out[0] == 400.5f);
}
TEST_CASE("numbers that bools choose between meet a tensor as each of them") {
    si::u8 x[4] = {1, 2, 30, 250}, y[4] = {7, 7, 7, 7};
    const auto v = si::view(x);
    const auto out = si::view(y);
    const int large = 300, small = 7;
    const auto refused = [&](const si::status& said) { return said.code() == error::number_out_of_range && y[0] == 7 && y[3] == 7; };
    const auto of = [&](auto body, auto first, auto second) { return si::try_run(reference, out = si::fused(body)(v, first, second)); };
    // A tensor chooses.
    CHECK(refused(si::try_run(reference, out = where(v > 9, large, 1))));
    CHECK(refused(si::try_run(reference, out = v + where(v > 9, large, 1))));
    CHECK(refused(si::try_run(reference, out = minimum(v, where(v > 9, 1000, 100)))));
    CHECK(refused(si::try_run(reference, out = v + where(v > 9, where(v > 100, 5, 600), 1))));
    CHECK(refused(si::try_run(reference, out = v + (where(v > 9, 200, 1) + 100))));
    CHECK(refused(si::try_run(reference, out = si::let(v, [](auto in) { return in + where(in > 9, 300, 1); }))));
    CHECK(refused(si::try_run(reference, out = si::let(v, [](auto in) { return in % where(in > 9, 256, 3); }))));
    si::i8 narrow[4] = {1, 2, 3, 4};
    bool found[4];
    CHECK(si::try_run(reference, si::view(found) = si::view(narrow) > where(si::view(narrow) > 0, 200, 0)).code() == error::number_out_of_range);
    // Numbers choose, or are bools.
    CHECK(refused(of([](auto in, auto k, auto) { return in + where(k > 3, k * 2, 1); }, 200, 0)));
    CHECK(refused(of([](auto in, auto a, auto b) { return in + where(a > b, a - b, b - a); }, 700, 100)));
    CHECK(refused(of([](auto in, auto a, auto) { return clamp(in, 0, where(a > 9, a, 9)); }, 300, 0)));
    CHECK(refused(of([](auto in, auto b, auto) { return in + b * 300; }, true, 0)));
    CHECK(refused(of([](auto in, auto k, auto) { return in + (k > 3) * 300; }, 5, 0)));
    CHECK(refused(of([](auto in, auto k, auto) { return in + si::expand<4>(k * 2); }, 200, 0)));
    // What fits passes, and so does what isn't chosen by a number.
    CHECK(of([](auto in, auto k, auto) { return in + where(k > 3, 1, k); }, 300, 0).ok());
    CHECK(of([](auto in, auto a, auto b) { return in + where(a > b, a - b, b - a); }, 300, 100).ok());
    CHECK(of([](auto in, auto b, auto) { return in + b * 300; }, false, 0).ok());
    CHECK(of([](auto in, auto k, auto) { return in + (k > 3) * 100; }, 5, 0).ok());
    CHECK(of([](auto in, auto k, auto) { return in + si::expand<4>(k * 2); }, 100, 0).ok());
    CHECK(si::try_run(reference, out = v + (where(v > 9, 100, 1) + 100)).ok());
    CHECK(si::try_run(reference, out = si::cast<si::u8>(where(v > 9, 1000, 1))).ok());
    float real[4];
    CHECK(si::try_run(reference, si::view(real) = where(v > 9, 1000, 1)).ok());
    CHECK((real[0] == 1 && real[3] == 1000));
    CHECK(si::try_run(reference, out = v + where(v > 9, small, 1)).ok());
    CHECK((y[0] == 2 && y[2] == 37));
    // Many choices, each value twice in the next one.
    const auto chain = [](auto in, auto k, auto) {
        auto value = k;
        for (int i = 0; i < 40; ++i) value = where(in > i + 1, value + 1, value);
        return in + value;
    };
    CHECK(of(chain, 200, 0).ok());
    CHECK((y[0] == 201 && y[2] == 0x03));  // 30 + 200 + 29, in bytes
    CHECK(of(chain, 216, 0).code() == error::number_out_of_range);
    CHECK(y[0] == 201);
}
TEST_CASE("a number is itself behind an index map") {
    const float data[4] = {1, 2, 3, 4};
    const auto x = si::view(data, si::extents<4>{});
    const auto row = si::view(data, si::extents<dyn>(4));
    float y[4], z[8];
    const auto out = si::view(y, si::extents<4>{});
    CHECK(si::try_run(reference, out = si::let(x, 2.0f, [](auto v, auto k) { return v + si::expand<4>(k); })).ok());
    CHECK(y[3] == 6);
    CHECK(si::try_run(reference, out = si::let(row, 2.0f, [](auto v, auto k) { return v * si::unsqueeze<0>(k); })).ok());
    CHECK(y[3] == 8);
    CHECK(si::try_run(reference, out = si::let(row, 3.0f, [](auto v, auto k) { return v * si::reshape<1>(k); })).ok());
    CHECK(y[3] == 12);
    CHECK(si::try_run(reference, out = si::fused([](auto k) { return si::expand<4>(k); })(7.0f)).ok());
    CHECK(y[3] == 7);
    CHECK(si::try_run(reference, si::view(z, si::extents<2, 4>{}) = si::let(x, 2.0f, [](auto v, auto k) { return v + sum(si::expand<4>(k) * v, si::last_axis); })).ok());
    CHECK((z[0] == 21 && z[7] == 24));
}
TEST_CASE("null pointers, negative sizes, bad views") {
    float data[8]{};
    const si::tensor_view<float, si::extents<dyn>> none(nullptr, 4), some(data, 4), empty(nullptr, 0);
    CHECK(si::try_run(reference, some = none + 1).code() == error::null_pointer);
    CHECK(si::try_run(reference, none = some + 1).code() == error::null_pointer);
    CHECK(si::try_run(reference, empty = empty + 1).ok());
    const si::tensor_view<float, si::extents<dyn>> negative(data, -3);
    CHECK(si::try_run(reference, some = negative + 1).code() == error::bad_view);
    using namespace si::literals;
    const si::tensor_view<float, si::extents<"n"_d>> named(data, 4), no_size(data, -2);
    CHECK(si::try_run(reference, named = no_size + 1).code() == error::bad_view);  // not that their names differ
    CHECK(si::try_run(reference, negative = some + 1).code() == error::bad_view);
    for (float x : data) CHECK(x == 0);
}
TEST_CASE("coordinates of a shape that run-time sizes don't form are refused") {
    float left[4] = {}, right[4] = {}, out[4] = {};
    using line = si::tensor_view<float, si::extents<dyn>>;
    const line three(left, 3), four(right, 4), y(out, 3);
    CHECK(!si::try_run(reference, y = (three + four) * si::iota<0>(three + four)).ok());
    CHECK(!si::try_run(reference, y = three * si::iota<0>(three + four)).ok());
    const si::tensor_view<float, si::extents<4, dyn>> block(out, 1);
    CHECK(si::try_run(reference, block = si::cast<float>(si::iota<1>(si::unflatten<0, 4>(three * 2.0f)))).code() == error::bad_view);
}
TEST_CASE("an output with stride 0 would overlap itself") {
    float data[8]{};
    const auto out = si::view(data, si::extents<4>{}, si::array<i64, 1>{{0}});
    CHECK(si::try_run(reference, out = 3.0f * si::cast<float>(si::iota<0>(si::extents<4>{}))).code() == error::overlap);
    CHECK(data[0] == 0);
    const auto one = si::view(data, si::extents<1>{}, si::array<i64, 1>{{0}});
    CHECK(si::try_run(reference, one = 3).ok());
    CHECK(data[0] == 3);
}
TEST_CASE("zero sizes: nothing to do, or reductions of nothing") {
    float data[8] = {7, 7, 7, 7, 7, 7, 7, 7};
    CHECK(si::try_run(reference, rows_view(data, 0, 4) = rows_view(data, 0, 4) * 2).ok());
    CHECK(si::try_run(reference, rows_view(data, 4, 0) = rows_view(data, 4, 0) * 2).ok());
    CHECK(data[0] == 7);
    const si::tensor_view<float, si::extents<dyn, 1>> sums(data, 3);
    CHECK(si::try_run(reference, sums = sum(rows_view(data + 4, 3, 0), si::last_axis)).ok());
    CHECK(data[2] == 0);
    CHECK(data[3] == 7);
}
TEST_CASE("outputs in one buffer are refused if, and only if, they share a byte") {
    // Two strided tensors of different element sizes at random places; what they share is counted byte for byte.
    using wide = si::tensor_view<float, si::extents<dyn, dyn, dyn>, si::strided>;
    using narrow = si::tensor_view<si::u8, si::extents<dyn, dyn, dyn>, si::strided>;
    alignas(16) static unsigned char memory[1 << 12];
    unsigned state = 1;
    const auto random = [&](int below) { return int((state = state * 1664525u + 1013904223u) >> 8) % below; };
    int together = 0, separate = 0;
    for (int round = 0; round < 20000; ++round) {
        // Nested steps with room between: what slices, halves and channels are. Signs and the order of the axes vary.
        const auto layout = [&](si::i64* size, si::i64* stride, int unit) {
            si::i64 step = unit * (1 + random(3));
            for (int i = 0; i < 3; ++i) {
                const int axis = (i + round) % 3;
                size[axis] = 1 + random(4);
                stride[axis] = random(4) ? step : -step;
                step *= size[axis] + random(3);
            }
        };
        si::i64 size[2][3], stride[2][3];
        layout(size[0], stride[0], 1);
        layout(size[1], stride[1], random(2) ? 4 : 1);
        if (random(2))
            for (int i = 0; i < 3; ++i) size[1][i] = size[0][i], stride[1][i] = 4 * stride[0][i];
        unsigned char* const first = memory + 2048 + 4 * random(16);
        unsigned char* const second = memory + 2048 + random(64);
        const wide a(reinterpret_cast<float*>(first), si::extents<dyn, dyn, dyn>(size[0][0], size[0][1], size[0][2]),
                     {{stride[0][0], stride[0][1], stride[0][2]}});
        const narrow b(second, si::extents<dyn, dyn, dyn>(size[1][0], size[1][1], size[1][2]), {{stride[1][0], stride[1][1], stride[1][2]}});
        static bool touched[1 << 12];
        for (bool& one : touched) one = false;
        const auto each = [](const si::i64* sizes, const si::i64* strides, auto&& what) {
            for (si::i64 i = 0; i < sizes[0]; ++i)
                for (si::i64 j = 0; j < sizes[1]; ++j)
                    for (si::i64 k = 0; k < sizes[2]; ++k) what(i * strides[0] + j * strides[1] + k * strides[2]);
        };
        each(size[0], stride[0], [&](si::i64 at) {
            for (int byte = 0; byte < 4; ++byte) touched[first - memory + 4 * at + byte] = true;
        });
        bool share = false;
        each(size[1], stride[1], [&](si::i64 at) { share = share || touched[second - memory + at]; });
        if (!si::try_run(reference, a = 1.0f).ok() || !si::try_run(reference, b = 1).ok()) continue;  // one that meets itself
        if (size[0][0] != size[1][0] || size[0][1] != size[1][1] || size[0][2] != size[1][2]) continue;
        (share ? together : separate)++;
        CHECK((si::try_run(reference, a = 1.0f, b = 1).code() == error::overlap) == share);
        CHECK((si::try_run(reference, a = si::cast<float>(b)).code() == error::overlap) == share);  // as input and output
    }
    CHECK(together > 1000);
    CHECK(separate > 1000);
}
TEST_CASE("a wrong run throws run_error with the status") {
    float data[16]{};
    const si::tensor_view<float, si::extents<dyn>> x(data, 4), y(data + 8, 5);
    bool caught = false;
    try {
        si::run(reference, y = x + 1);
    } catch (const si::run_error& problem) {
        caught = true;
        CHECK(std::strstr(problem.what(), "SINTER-R001") != nullptr);
        CHECK(std::strstr(problem.what(), " Operand 2 (output 0), axis 0: 4 expected, 5 found.") != nullptr);
        CHECK(problem.get_status().code() == error::size_mismatch);
    }
    CHECK(caught);
    CHECK_THROWS_AS(si::eval(reference, x + y), std::exception);
    try {
        si::eval(reference, x + y);
    } catch (const std::exception& said) {  // of the operand, and not of the result that has no sizes of its own
        CHECK(std::strstr(said.what(), "Operand 1") != nullptr);
    }
}
TEST_CASE("eval gives a tensor of the expression's shape and type, or a scalar") {
    const auto x = grid<i8>(si::extents<2, 2>{}, {1, 2, 3, 4});
    static_assert(si::is_same<decltype(si::eval(reference, x + 1)), si::tensor<i8, si::extents<2, 2>>>);
    static_assert(si::is_same<decltype(si::eval(reference, sum(x))), i64>);
    static_assert(si::is_same<decltype(si::eval(reference, x)), si::tensor<i8, si::extents<2, 2>>>);
    CHECK(si::eval(reference, sum(x)) == 10);
    CHECK(same(si::eval(reference, x), {1, 2, 3, 4}));
    const auto dynamic = si::eval(reference, si::unsqueeze<0>(row<float>({1, 2, 3})) + 1);
    static_assert(si::is_same<si::remove_cvref<decltype(dynamic)>, si::tensor<float, si::extents<1, dyn>>>);
    CHECK(dynamic.count() == 3);
    CHECK(same(si::eval(reference, mean(row<float>({1, 2, 6}), si::axes<0>, si::drop)), 3.0f));
}
TEST_CASE("the sizes of a value that many ways lead to are found once, and the file compiles in a second") {
    float data[6] = {1, 1, 1, 2, 2, 2}, result[6]{};
    const rows_view x(data, 2, 3), y(result, 2, 3);
    const auto twice_each = si::fused([](auto v) {
        for (int i = 0; i < 40; ++i) v = (v + v) * 0.5f + v * 0.0f;  // 3^40 ways
        return v - sum(v, si::last_axis) + cast<float>(iota<1>(v + v));
    });
    si::run(reference, y = twice_each(x));
    const auto value = si::eval(reference, twice_each(x));
    CHECK(same(value, {-2, -1, 0, -4, -3, -2}));
    CHECK(std::memcmp(value.data(), result, sizeof result) == 0);
}
TEST_CASE_TEMPLATE("the other names of integers: char, long and long long are elements", Type, char, long, unsigned long, long long, unsigned long long) {
    Type x[3] = {100, 3, 7}, y[3] = {};
    const auto in = si::view(x, si::extents<3>{}), out = si::view(y, si::extents<3>{});
    si::run(reference, out = in + in);
    CHECK(y[0] == static_cast<Type>(200));
    CHECK(y[2] == 14);
    CHECK(si::eval(reference, sum(in)) == 110);
    CHECK(si::eval(reference, max(in)) == 100);
    si::run(reference, out = si::cast<Type>(in * 0.5f));
    CHECK(y[2] == 3);
}
TEST_CASE("assignments of one run read everything before they write") {
    float a[2] = {1, 2}, b[2] = {10, 20};
    const auto x = si::view(a, si::extents<2>{}), y = si::view(b, si::extents<2>{});
    si::run(reference, y = x + 1, x = y + 1);
    CHECK(b[1] == 3);
    CHECK(a[1] == 21);
}
