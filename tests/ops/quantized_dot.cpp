// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact sums of products of codes: the proven lengths, the longest one at its worst, and matrix products against 64-bit integers.
#include <doctest/doctest.h>

#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;
using namespace sinter::literals;
using si::extents;

static_assert(si::exact_dot_length({-128, 127}, {-128, 127}) == 131071);
static_assert(si::exact_dot_length({-127, 127}, {-127, 127}) == 133144);
static_assert(si::exact_dot_length({0, 255}, {-128, 127}) == 65793);
static_assert(si::exact_dot_length({-255, 255}, {-255, 255}) == 33025);
static_assert(si::exact_dot_length(si::range_of(si::stored_as("1:5"_qp, si::code_kind::u8)), {0, 0}) == 2147483647);

TEST_CASE("the longest exact sum at its worst") {
    constexpr int length = 131071;
    const std::vector<si::i8> worst(length, -128);
    si::i32 sum = 0;
    const auto x = si::view(worst, extents<length>{});
    si::run(si::cpu, si::tensor_view<si::i32, extents<>>(&sum) = si::dot_codes(x, x, si::axes<0>, si::drop));
    CHECK(sum == 131071 * 16384);
    const std::vector<si::u8> bytes(65793, 255);
    const std::vector<si::i8> low(65793, -128);
    si::run(si::cpu, si::tensor_view<si::i32, extents<>>(&sum) = si::dot_codes(si::view(bytes, extents<65793>{}), si::view(low, extents<65793>{}), si::axes<0>, si::drop));
    CHECK(sum == -65793 * 32640);
}
TEST_CASE("matrix products with zero points, as integers and as real numbers") {
    constexpr int rows = 5, inner = 67, columns = 9;
    using left = si::qu8<"0.02:42"_qp>;
    using right = si::q8<"0.5:-26"_qp>;
    std::vector<left> a(rows * inner);
    std::vector<right> b(inner * columns);
    for (std::size_t i = 0; i < a.size(); ++i) a[i].code = static_cast<si::u8>(i * 7919 % 256);
    for (std::size_t i = 0; i < b.size(); ++i) b[i].code = static_cast<si::i8>(i * 6007 % 256);
    std::vector<si::i32> wanted(rows * columns), found(rows * columns);
    std::vector<float> real(rows * columns), vectors(rows * columns);
    const auto x = si::view(a, extents<rows, inner, 1>{});
    const auto w = si::view(b, extents<1, inner, columns>{});
    const auto sizes = extents<rows, columns>{};
    si::run(si::reference, si::view(wanted, sizes) = si::dot_codes(x, w, si::axes<1>, si::drop));
    si::run(si::cpu, si::view(found, sizes) = si::dot_codes(x, w, si::axes<1>, si::drop));
    si::run(si::reference, si::view(real, sizes) = si::dot(x, w, si::axes<1>, si::drop));
    si::run(si::cpu, si::view(vectors, sizes) = si::dot(x, w, si::axes<1>, si::drop));
    const float scale = 0.02f * 0.5f;
    int wrong = 0;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) {
            si::i64 sum = 0;
            for (int k = 0; k < inner; ++k) sum += (si::i64(a[std::size_t(r * inner + k)].code) - 42) * (si::i64(b[std::size_t(k * columns + c)].code) + 26);
            const std::size_t i = std::size_t(r * columns + c);
            wrong += wanted[i] != sum || found[i] != sum || real[i] != static_cast<float>(sum) * scale || vectors[i] != real[i];
        }
    CHECK(wrong == 0);
    // With an epilogue: bias, relu, and codes of a third scale, still one kernel.
    std::vector<si::q8<"0.9:3"_qp>> y(rows * columns), z(rows * columns);
    std::vector<float> bias(columns, 1.5f);
    const auto layer = [&](auto& out) { return si::view(out, sizes) = relu(si::dot(x, w, si::axes<1>, si::drop) + si::view(bias, extents<columns>{})); };
    static_assert(si::plan_of<decltype(layer(y))>.kernels == 1);
    si::run(si::reference, layer(y));
    si::run(si::cpu, layer(z));
    for (std::size_t i = 0; i < y.size(); ++i) wrong += y[i].code != z[i].code || y[i].code != si::q8<"0.9:3"_qp>(real[i] + 1.5f < 0 ? 0.0f : real[i] + 1.5f).code;
    CHECK(wrong == 0);
}
TEST_CASE("16-bit codes, and bytes along rows of every tail") {
    std::vector<si::i16> a(300);
    std::vector<si::i8> b(300);
    std::vector<si::u8> c(300);
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<si::i16>(i % 7 == 0 ? -32768 : int(i * 7919 % 65536) - 32768);
        b[i] = static_cast<si::i8>(i % 5 == 0 ? -128 : int(i * 6007 % 256) - 128);
        c[i] = static_cast<si::u8>(i * 4001 % 256);
    }
    const auto check = [&](auto length) {
        constexpr int count = decltype(length)::rank == 1 ? int(decltype(length)::static_shape.size[0]) : 0;
        si::i32 sums[3] = {};
        const auto x = si::view(a.data(), length);
        const auto y = si::view(b.data(), length);
        const auto z = si::view(c.data(), length);
        si::run(si::cpu, si::tensor_view<si::i32, extents<>>(sums) = si::dot_codes(x, y, si::axes<0>, si::drop));
        si::run(si::cpu, si::tensor_view<si::i32, extents<>>(sums + 1) = si::dot_codes(z, y, si::axes<0>, si::drop));
        si::run(si::cpu, si::tensor_view<si::i32, extents<>>(sums + 2) = si::dot_codes(y, z, si::axes<0>, si::drop));
        si::i64 wanted[2] = {};
        for (std::size_t i = 0; i < std::size_t(count); ++i) {
            wanted[0] += si::i64(a[i]) * b[i];
            wanted[1] += si::i64(c[i]) * b[i];
        }
        CHECK(sums[0] == wanted[0]);
        CHECK(sums[1] == wanted[1]);
        CHECK(sums[2] == wanted[1]);
    };
    check(extents<1>{});
    check(extents<7>{});
    check(extents<64>{});
    check(extents<131>{});
    check(extents<300>{});
}
