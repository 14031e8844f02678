// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operands that don't lie side by side: elements two to five places apart, taken apart in registers; rows of any short length
// beside one row, whose block comes again; blocks of which only some slots are packed. Memories end exactly where the last element does, so
// that a sanitizer sees what is read beyond; around outputs lie canaries.
#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <cstring>
#include <vector>

#include <doctest/doctest.h>

namespace si = sinter;
using si::dyn;
using si::i64;

namespace {

template <class Type>
std::vector<Type> numbers(i64 count, int seed) {
    std::vector<Type> out(std::size_t(count), Type(0));
    for (i64 i = 0; i < count; ++i) out[std::size_t(i)] = static_cast<Type>((i * 7919 + seed * 31) % 251);
    return out;
}
constexpr i64 edge = 80;  ///< elements of canaries on both sides

/// Every `step`th element beside others: as loops say.
template <class Type>
int wrong_in_steps(i64 step, i64 count) {
    int wrong = 0;
    for (i64 first = 0; first < step; ++first) {
        const std::vector<Type> x = numbers<Type>((count - 1) * step + first + 1, int(count)), z = numbers<Type>(count, 7);
        std::vector<Type> y(std::size_t(count + 2 * edge), Type(77));
        using strided = si::tensor_view<const Type, si::extents<dyn>, si::strided>;
        const strided spaced(x.data() + first, si::extents<dyn>(count), {step});
        si::run(si::cpu, si::view(y.data() + edge, si::extents<dyn>(count)) = spaced + si::view(z.data(), si::extents<dyn>(count)));
        for (i64 i = -edge; i < count + edge; ++i) {
            const bool inside = i >= 0 && i < count;
            const Type expected = inside ? static_cast<Type>(x[std::size_t(first + i * step)] + z[std::size_t(i)]) : Type(77);
            wrong += y[std::size_t(i + edge)] != expected;
        }
    }
    return wrong;
}
/// Rows beside one row; the operand or the output has gaps between rows, or neither has.
int wrong_beside(i64 rows, i64 columns, i64 gap_in, i64 gap_out) {
    const i64 step_in = columns + gap_in, step_out = columns + gap_out;
    const std::vector<float> x = numbers<float>((rows - 1) * step_in + columns, 1), b = numbers<float>(columns, 2);
    std::vector<float> y(std::size_t((rows - 1) * step_out + columns + 2 * edge), 77.0f);
    using in = si::tensor_view<const float, si::extents<dyn, dyn>, si::strided>;
    using out = si::tensor_view<float, si::extents<dyn, dyn>, si::strided>;
    const si::extents<dyn, dyn> sizes(rows, columns);
    si::run(si::cpu, out(y.data() + edge, sizes, {step_out, 1}) = in(x.data(), sizes, {step_in, 1}) * 2.0f + si::view(b.data(), si::extents<dyn>(columns)));
    std::vector<float> expected(y.size(), 77.0f);
    for (i64 r = 0; r < rows; ++r)
        for (i64 c = 0; c < columns; ++c) expected[std::size_t(edge + r * step_out + c)] = x[std::size_t(r * step_in + c)] * 2.0f + b[std::size_t(c)];
    return std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)) != 0;
}

}  // namespace

TEST_CASE_TEMPLATE("elements some places apart", Type, unsigned char, si::i16, si::i32, si::i64) {
    for (i64 step = 2; step <= 5; ++step)
        for (const i64 count : {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 34, 47, 48, 49, 63, 64, 65, 100, 255, 256, 257, 300, 511, 512, 513, 529, 1000, 1553}) {
            CAPTURE(step);
            CAPTURE(count);
            CHECK(wrong_in_steps<Type>(step, count) == 0);
        }
}
TEST_CASE("short rows beside one row") {
    for (i64 columns = 1; columns <= 140; columns += columns < 36 ? 1 : 13)
        for (const i64 rows : {1, 2, 3, 17, 64, 301})
            for (int gaps = 0; gaps < 4; ++gaps) {
                CAPTURE(columns);
                CAPTURE(rows);
                CHECK(wrong_beside(rows, columns, gaps & 1 ? 3 : 0, gaps & 2 ? 5 : 0) == 0);
            }
}
TEST_CASE("several slots of a block, in place") {
    for (const i64 rows : {5, 90, 700}) {
        std::vector<float> y = numbers<float>(rows * 7, 3);
        const std::vector<float> before = y, b = numbers<float>(7, 4), apart = numbers<float>(rows * 21 - 2, 5);
        std::vector<si::i32> z(std::size_t(rows * 7), 0);
        using spaced = si::tensor_view<const float, si::extents<dyn, 7>, si::strided>;
        const auto all = si::view(y.data(), si::extents<dyn, 7>(rows));
        const spaced third(apart.data(), si::extents<dyn, 7>(rows), {21, 3});
        const auto sum = all + si::view(b.data(), si::extents<7>{}) * third;
        si::run(si::cpu, all = sum, si::view(z.data(), si::extents<dyn, 7>(rows)) = si::cast<si::i32>(sum) + si::cast<si::i32>(si::iota<1>(all)));
        int wrong = 0;
        for (i64 i = 0; i < rows * 7; ++i) {
            const float expected = before[std::size_t(i)] + b[std::size_t(i % 7)] * apart[std::size_t(3 * i)];
            wrong += y[std::size_t(i)] != expected || z[std::size_t(i)] != si::i32(expected) + si::i32(i % 7);
        }
        CHECK(wrong == 0);
    }
}
TEST_CASE("places that fit no 32 bits, or some of a vector don't, as floats") {  // (the reference would store them all)
    constexpr i64 limit = i64(1) << 31, far = i64(1) << 53, step = i64(1) << 33;
    const auto places = si::iota<0>(si::extents<(i64(1) << 60)>{});
    const auto near_edge = si::slice<0, limit - 150, limit + 150>(places);
    const auto beyond = si::slice<0, far, far + 300>(places);
    const auto apart = si::slice<0, 5, 5 + 300 * step, step>(places);
    std::vector<float> y(300, 0.0f), z(300, 0.0f), w(300, 0.0f);
    std::vector<double> v(300, 0.0);
    const si::extents<300> all{};
    si::run(si::cpu, si::view(y.data(), all) = si::cast<float>(near_edge), si::view(z.data(), all) = si::cast<float>(si::flip<0>(near_edge)) + 1.0f,
            si::view(w.data(), all) = si::cast<float>(beyond), si::view(v.data(), all) = si::cast<double>(apart));
    int wrong = 0;
    for (i64 i = 0; i < 300; ++i) {
        const std::size_t at = std::size_t(i);
        wrong += y[at] != float(limit - 150 + i) || z[at] != float(limit + 149 - i) + 1.0f || w[at] != float(far + i) || v[at] != double(5 + i * step);
    }
    CHECK(wrong == 0);
}
