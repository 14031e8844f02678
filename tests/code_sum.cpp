// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of two operands of codes: which formulas are, that a form that is proved gives the rules' code for every pair of codes, whatever
// the scales, and that what is computed by it has the reference's bits, at any length and address, in place, in rows with gaps, by threads.
#include <doctest/doctest.h>

#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <cmath>
#include <vector>

namespace si = sinter;
using namespace sinter::literals;
using si::extents;
using si::i32;
using si::i64;
using si::i8;
using si::u32;
using si::u64;
using si::u8;

namespace {

using image = si::q8<"0.05:3"_qp>;
using residual = si::qu8<"0.013:7"_qp>;
using result = si::q8<"0.0773:-5"_qp>;
using unsigned_result = si::qu8<"0.031:128"_qp>;
using half = si::q8<"0.5"_qp>;
using quarter = si::q8<"0.25:1"_qp>;

template <class Assignment>
constexpr bool recognised = si::detail::code_sum_facts<si::kernel<Assignment>>::possible;

/// Every pair of codes, and lengths around whole steps, at addresses that are aligned and not.
template <class Left, class Right, class To, class Formula>
void check(const Formula& formula, bool proved = true) {
    using left_line = si::tensor_view<const Left, extents<si::dyn>>;
    using right_line = si::tensor_view<const Right, extents<si::dyn>>;
    using to_line = si::tensor_view<To, extents<si::dyn>>;
    using assignment = decltype(to_line(nullptr, 1) = formula(left_line(nullptr, 1), right_line(nullptr, 1)));
    CHECK(recognised<assignment> == proved);
    CHECK(si::plan_of<assignment>.code_sum == proved);
    for (const int count : {65536 + 77, 100, 255, 256, 511, 512, 513, 1000}) {
        const std::size_t length = std::size_t(count);
        std::vector<Left> a(length + 3);
        std::vector<Right> b(length + 3);
        for (std::size_t i = 0; i < length + 3; ++i) {
            a[i] = Left::from_code(static_cast<typename Left::code_type>(i & 255));
            b[i] = Right::from_code(static_cast<typename Right::code_type>(i >> 8 & 255));
        }
        for (const int shift : {0, 1, 3}) {
            std::vector<To> y(length + 4), z(length + 4);
            si::run(si::reference, to_line(y.data() + shift, count) = formula(left_line(a.data() + shift / 2, count), right_line(b.data() + shift, count)));
            si::run(si::cpu, to_line(z.data() + shift, count) = formula(left_line(a.data() + shift / 2, count), right_line(b.data() + shift, count)));
            CHECK(__builtin_memcmp(y.data(), z.data(), length + 4) == 0);
        }
    }
}

}  // namespace

TEST_CASE("all pairs of codes") {
    check<image, residual, result>([](auto a, auto b) { return relu(a + b); });
    check<image, residual, result>([](auto a, auto b) { return a + b; });
    check<image, residual, result>([](auto a, auto b) { return a - b; });
    check<residual, image, unsigned_result>([](auto a, auto b) { return relu(a - b); });
    check<residual, residual, unsigned_result>([](auto a, auto b) { return a + b; });
    check<image, image, image>([](auto a, auto b) { return relu(a + b); });
}
TEST_CASE("halves between two codes go to the even one") {
    check<half, half, si::q8<"1.0"_qp>>([](auto a, auto b) { return a + b; });
    check<half, quarter, si::q8<"1.0:3"_qp>>([](auto a, auto b) { return a - b; });
    check<quarter, half, si::qu8<"0.5:127"_qp>>([](auto a, auto b) { return relu(a + b); });
}
TEST_CASE("what isn't a sum of codes, or not a proved one, is computed as it is written") {
    check<image, residual, result>([](auto a, auto b) { return a * b; }, false);
    check<image, residual, result>([](auto a, auto b) { return a + b * 2.0f; }, false);
    check<image, residual, result>([](auto a, auto b) { return abs(a + b); }, false);
    check<image, residual, si::q8<si::narrow("0.0773"_qp)>>([](auto a, auto b) { return a + b; }, false);  // its packing would give -128
    check<image, si::q16<"0.013:7"_qp>, result>([](auto a, auto b) { return a + b; }, false);
    check<image, residual, si::q8<"1e-9"_qp>>([](auto a, auto b) { return a + b; }, false);  // two hundred million steps
}
TEST_CASE("a proved form is right for all pairs, whatever the scales") {
    u64 state = 1;
    const auto random = [&] { return static_cast<u32>((state = state * 6364136223846793005u + 1442695040888963407u) >> 33); };
    int proved = 0;
    long wrong = 0;
    constexpr int tries = 120;
    for (int t = 0; t < tries; ++t) {
        const auto scale = [&] { return 0.004f + float(random() % 100000) * 1e-6f; };
        const float left = scale(), right = scale();  // and a result that saturates for some of the sums, or none
        const auto result_scale = [&] { return (left + right) * (0.4f + float(random() % 1000) * 0.0012f); };
        const bool counts = t % 3 == 0;
        const si::detail::code_sum_scales of{si::stored_as(si::qp(left, i32(random() % 256) - 128), si::code_kind::i8),
                                             si::stored_as(si::qp(right, i32(random() % 256)), si::code_kind::u8),
                                             counts ? si::stored_as(si::qp(result_scale(), i32(random() % 256)), si::code_kind::u8)
                                                    : si::stored_as(si::qp(result_scale(), i32(random() % 256) - 128), si::code_kind::i8),
                                             t % 2 == 0};
        const si::detail::code_sum_form form = si::detail::code_sum_proof::find(of);
        if (!form.proved) continue;
        ++proved;
        for (i32 a = -128; a < 128; ++a)
            for (i32 b = 0; b < 256; ++b) {
                const float one = si::dequantize_code(a, of.left), two = si::dequantize_code(b, of.right);
                const i32 wanted = si::quantize_code(of.subtracts ? one - two : one + two, of.result);
                const i32 found = static_cast<i32>(std::nearbyint(std::fma(float(a), form.left, std::fma(float(b), form.right, form.offset)))) + of.result.zero;
                wrong += wanted != (found < of.result.low ? of.result.low : found > of.result.high ? of.result.high : found);
            }
    }
    CHECK(wrong == 0);
    CHECK(proved > tries * 9 / 10);
    MESSAGE(proved << " of " << tries << " proved");
}
TEST_CASE("in place, rows with gaps, beyond the caches, threads") {
    constexpr i64 rows = 5, columns = 1700003;
    std::vector<image> a(std::size_t(rows * (columns + 5)));
    std::vector<residual> b(std::size_t(rows * columns));
    for (std::size_t i = 0; i < a.size(); ++i) a[i].code = static_cast<i8>(i * 31 + i / 77);
    for (std::size_t i = 0; i < b.size(); ++i) b[i].code = static_cast<u8>(i * 7 + i / 331);
    std::vector<result> y(b.size()), z(b.size());
    const auto gaps = si::view(a.data(), extents<rows, columns>{}, si::array<i64, 2>{{columns + 5, 1}});
    const auto other = si::view(b.data(), extents<rows, columns>{});
    si::run(si::reference, si::view(y.data(), extents<rows, columns>{}) = relu(gaps + other));
    si::run(si::cpu, si::view(z.data(), extents<rows, columns>{}) = relu(gaps + other));
    CHECK(__builtin_memcmp(y.data(), z.data(), y.size()) == 0);
    const auto hook = [](int count, auto&& part) {
        for (int i = 0; i < count; ++i) part(i);
    };
    for (const int threads : {2, 3, 30}) {
        z.assign(z.size(), result{});
        si::run(si::cpu.parallel(hook, threads), si::view(z.data(), extents<rows, columns>{}) = relu(gaps + other));
        CHECK(__builtin_memcmp(y.data(), z.data(), y.size()) == 0);
    }
    std::vector<image> wanted(a.size());
    si::run(si::reference, si::view(wanted.data(), extents<rows, columns>{}, si::array<i64, 2>{{columns + 5, 1}}) = gaps - other);
    si::run(si::cpu, gaps = gaps - other);
    long differ = 0;
    for (i64 r = 0; r < rows; ++r)
        for (i64 i = 0; i < columns; ++i) differ += a[std::size_t(r * (columns + 5) + i)].code != wanted[std::size_t(r * (columns + 5) + i)].code;
    CHECK(differ == 0);
}
