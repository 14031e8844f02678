// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views that hold their parameters: per tensor, row, axis and block, as operands and outputs, against the scalar formulas on both
// backends; 4-bit codes two in a byte.
#include <doctest/doctest.h>

#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <cmath>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace si = sinter;
using namespace sinter::literals;
using si::axes;
using si::extents;

namespace {

constexpr int rows = 6, columns = 70;
const auto sizes = extents<rows, columns>{};

struct data {
    std::vector<float> x, scale, found, wanted;
    std::vector<si::i8> q, other, zero;
    data() : x(rows * columns), scale(rows * columns), found(rows * columns), wanted(rows * columns), q(rows * columns), other(rows * columns), zero(rows * columns) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = float(int(i * 7919 % 2003) - 1000) * 0.013f;
            scale[i] = 0.01f + 0.003f * float(i % 37);
            zero[i] = static_cast<si::i8>(i * 5 % 256);
        }
    }
    /// Stores x through `view_of(codes)` and reads it back, on both backends; `at(row, column)` is the index of the parameters.
    template <class ViewOf, class At>
    void round_trip(const ViewOf& view_of, const At& at) {
        si::run(si::reference, view_of(si::view(q, sizes)) = si::view(x, sizes) * 1.0f);
        si::run(si::cpu, view_of(si::view(other, sizes)) = si::view(x, sizes) * 1.0f);
        si::run(si::reference, si::view(wanted, sizes) = view_of(si::view(q, sizes)) * 1.0f);
        si::run(si::cpu, si::view(found, sizes) = view_of(si::view(q, sizes)) * 1.0f);
        int wrong = 0;
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) {
                const std::size_t i = std::size_t(r * columns + c), p = std::size_t(at(r, c));
                const si::qparams with = si::stored_as(si::qp(scale[p], zero[p]), si::code_kind::i8);
                wrong += q[i] != si::quantize_code(x[i], with) || other[i] != q[i];
                wrong += wanted[i] != si::dequantize_code(q[i], with) || found[i] != wanted[i];
            }
        CHECK(wrong == 0);
    }
};

}  // namespace

// Deleted, as of plain views: std::variant and std::optional would drop the assignment that they were given.
using viewed = decltype(si::quantized(si::view(static_cast<si::i8*>(nullptr), si::extents<2, 4>{}), 0.5f));
static_assert(!std::is_assignable_v<viewed&, viewed> && !std::is_assignable_v<const viewed&, const viewed&>);

TEST_CASE("per tensor, numbers") {
    data d;
    d.round_trip([&](auto codes) { return si::quantized(codes, d.scale[0], d.zero[0]); }, [](int, int) { return 0; });
    d.zero[0] = 0;
    d.round_trip([&](auto codes) { return si::quantized(codes, d.scale[0]); }, [](int, int) { return 0; });
}
TEST_CASE("per row, as parameters that broadcast") {
    data d;
    const auto column = extents<rows, 1>{};
    d.round_trip([&](auto codes) { return si::quantized(codes, si::view(d.scale.data(), column), si::view(d.zero.data(), column)); }, [](int r, int) { return r; });
}
TEST_CASE("per axis, either one") {
    data d;
    const auto first = extents<rows>{};
    const auto last = extents<columns>{};
    d.round_trip([&](auto codes) { return si::quantized(codes, axes<0>, si::view(d.scale.data(), first), si::view(d.zero.data(), first)); },
                 [](int r, int) { return r; });
    d.round_trip([&](auto codes) { return si::quantized(codes, axes<-1>, si::view(d.scale.data(), last), si::view(d.zero.data(), last)); },
                 [](int, int c) { return c; });
}
TEST_CASE("per axis of sizes that are known only when run") {
    data d;
    using dynamic = si::tensor_view<float, extents<si::dyn, si::dyn>>;
    const dynamic x(d.x.data(), rows, columns), y(d.found.data(), rows, columns);
    const si::tensor_view<si::i8, extents<si::dyn, si::dyn>> q(d.q.data(), rows, columns);
    const si::tensor_view<float, extents<si::dyn>> scale(d.scale.data(), rows), short_one(d.scale.data(), rows - 1);
    si::run(si::cpu, si::quantized(q, axes<0>, scale) = x * 1.0f);
    si::run(si::cpu, y = si::quantized(q, axes<0>, scale) * 1.0f);
    CHECK(d.q[columns] == si::quantize_code(d.x[columns], si::stored_as(si::qp(d.scale[1]), si::code_kind::i8)));
    CHECK(si::try_run(si::cpu, y = si::quantized(q, axes<0>, short_one) * 1.0f).code() == si::error::size_mismatch);
}
// A size of 1 stretches in formulas; a count of parameters doesn't.
TEST_CASE("per axis, one parameter is for an axis of one, and no other number is") {
    si::i8 codes[40]{};
    float numbers[5]{1, 2, 3, 4, 5}, out[40]{};
    for (int i = 0; i < 40; ++i) codes[i] = si::i8(i - 20);
    const auto one_row = si::view(codes, si::extents<1, 8>{});
    const auto five_rows = si::view(codes, si::extents<si::dyn, 8>(5));
    const si::tensor_view<float, si::extents<si::dyn>> five(numbers, 5), one(numbers, 1);
    const si::tensor_view<float, si::extents<1>> always_one(numbers);
    const si::tensor_view<float, si::extents<si::dyn, 8>> y(out, 5), first(out, 1);
    const si::tensor_view<float, si::extents<1, 8>> row(out);

    const auto refused = [&](auto assignment) {
        for (float& at : out) at = -77.0f;
        bool untouched = si::try_run(si::reference, assignment).code() != si::error::none && si::try_run(si::cpu, assignment).code() != si::error::none;
        for (const float at : out) untouched = untouched && at == -77.0f;
        return untouched;
    };
    CHECK(refused(row = si::quantized(one_row, axes<0>, five) * 1.0f));
    CHECK(refused(y = si::quantized(five_rows, axes<0>, always_one) * 1.0f));
    CHECK(refused(y = si::quantized(five_rows, axes<0>, one) * 1.0f));
    CHECK(refused(row = si::quantized(si::view(codes, si::extents<1, 8>{}), axes<1>, five) * 1.0f));

    CHECK(si::try_run(si::cpu, row = si::quantized(one_row, axes<0>, one) * 1.0f).ok());
    CHECK(out[0] == -20.0f);
    CHECK(si::try_run(si::cpu, first = si::quantized(si::view(codes, si::extents<si::dyn, 8>(1)), axes<0>, always_one) * 1.0f).ok());
    CHECK(out[7] == -13.0f);
    CHECK(si::try_run(si::cpu, y = si::quantized(five_rows, axes<0>, five) * 1.0f).ok());
    CHECK(out[39] == 95.0f);
    codes[3] = 0;
    CHECK(si::try_run(si::cpu, si::quantized(one_row, axes<0>, one) = row * 0.5f).ok());  // as an output, too
    CHECK(codes[3] == si::i8(out[3] * 0.5f));
    codes[3] = 99;
    CHECK(!si::try_run(si::cpu, si::quantized(one_row, axes<0>, five) = row * 0.5f).ok());
    CHECK(codes[3] == 99);
}

TEST_CASE("per block along either axis, a shorter last one, blocks that aren't a power of two") {
    data d;
    const auto wide = extents<rows, 3>{};
    d.round_trip([&](auto codes) { return si::quantized(codes, si::partial_block<1, 32>, si::view(d.scale.data(), wide), si::view(d.zero.data(), wide)); },
                 [](int r, int c) { return r * 3 + c / 32; });
    const auto tens = extents<rows, 7>{};
    d.round_trip([&](auto codes) { return si::quantized(codes, si::block<1, 10>, si::view(d.scale.data(), tens), si::view(d.zero.data(), tens)); },
                 [](int r, int c) { return r * 7 + c / 10; });
    const auto tall = extents<3, columns>{};
    d.round_trip([&](auto codes) { return si::quantized(codes, si::block<0, 2>, si::view(d.scale.data(), tall), si::view(d.zero.data(), tall)); },
                 [](int r, int c) { return r / 2 * columns + c; });
}
// Fewer would be read behind the parameters' end.
TEST_CASE("per block, another number of parameters that is known only when run is a status, and so is a last block that isn't whole") {
    si::i8 codes[160]{};
    float numbers[40], out[160]{};
    for (float& at : numbers) at = 2.0f;
    const si::tensor_view<float, si::extents<si::dyn, si::dyn>> y(out, 5, 32), short_y(out, 5, 30);
    const si::tensor_view<si::i8, si::extents<si::dyn, si::dyn>> q(codes, 5, 32), short_q(codes, 5, 30);
    for (const si::i64 r : {1, 2, 4, 5, 6})
        for (const si::i64 c : {1, 3, 4, 5}) {
            const si::tensor_view<float, si::extents<si::dyn, si::dyn>> scales(numbers, r, c);
            CHECK(si::try_run(si::cpu, y = si::quantized(q, si::block<1, 8>, scales) * 1.0f).ok() == (r == 5 && c == 4));
            CHECK(si::try_run(si::reference, si::quantized(q, si::block<1, 8>, scales) = y * 1.0f).ok() == (r == 5 && c == 4));
            CHECK(!si::try_run(si::cpu, short_y = si::quantized(short_q, si::block<1, 8>, scales) * 1.0f).ok());
        }
    const si::tensor_view<float, si::extents<1, 4>> one_row(numbers);
    CHECK(!si::try_run(si::cpu, y = si::quantized(q, si::block<1, 8>, one_row) * 1.0f).ok());
}
TEST_CASE("a scale that isn't one is a status, and nothing is written") {
    data d;
    d.scale[2] = 0.0f;
    const auto first = extents<rows>{};
    CHECK(si::try_run(si::cpu, si::quantized(si::view(d.q, sizes), axes<0>, si::view(d.scale.data(), first)) = si::view(d.x, sizes) * 1.0f).code() == si::error::bad_scale);
    d.scale[2] = NAN;
    CHECK(si::try_run(si::cpu, si::view(d.found, sizes) = si::quantized(si::view(d.q, sizes), axes<0>, si::view(d.scale.data(), first)) * 1.0f).code() == si::error::bad_scale);
    CHECK(si::try_run(si::cpu, si::quantized(si::view(d.q, sizes), -0.5f) = si::view(d.x, sizes) * 1.0f).code() == si::error::bad_scale);
    CHECK(si::try_run(si::cpu, si::quantized(si::view(d.q, sizes), 0.5f, 200) = si::view(d.x, sizes) * 1.0f).code() == si::error::bad_scale);
    for (const si::i8 code : d.q) REQUIRE(code == 0);
    // Behind an index map, too.
    const auto by_row = si::fused([](auto codes, auto scale) { return si::dequantize(codes, si::unsqueeze<-1>(scale), 0); });
    d.scale[2] = -1;
    CHECK(si::try_run(si::cpu, si::view(d.found, sizes) = by_row(si::view(d.q, sizes), si::view(d.scale.data(), first))).code() == si::error::bad_scale);
    const auto everywhere = si::fused([](auto codes, auto scale) { return si::dequantize(codes, si::expand<rows, columns>(scale), 0); });
    CHECK(si::try_run(si::cpu, si::view(d.found, sizes) = everywhere(si::view(d.q, sizes), -0.5f)).code() == si::error::bad_scale);
    CHECK(si::try_run(si::cpu, si::view(d.found, sizes) = everywhere(si::view(d.q, sizes), 0.5f)).ok());
    d.scale[2] = 1;
    CHECK(si::try_run(si::cpu, si::view(d.found, sizes) = by_row(si::view(d.q, sizes), si::view(d.scale.data(), first))).ok());
}
TEST_CASE("two codes in a byte") {
    using pair = si::q4x2<"0.5"_qp>;
    using unsigned_pair = si::qu4x2<"0.25:8"_qp>;
    constexpr int count = 3 * 34;
    std::vector<float> x(count), back(count), vectors(count);
    for (int i = 0; i < count; ++i) x[std::size_t(i)] = float(i * 7919 % 100 - 50) * 0.11f;
    std::vector<pair> stored(count / 2), other(count / 2);
    std::vector<unsigned_pair> positive(count / 2);
    const auto bytes = extents<3, 17>{};
    const auto numbers = extents<3, 34>{};
    si::run(si::reference, si::packed(stored.data(), bytes) = si::view(x, numbers));
    si::run(si::cpu, si::packed(other.data(), bytes) = si::view(x, numbers));
    si::run(si::cpu, si::packed(positive.data(), bytes) = si::view(x, numbers) + 0.0f);
    si::run(si::reference, si::view(back, numbers) = si::packed(stored.data(), bytes) * 2.0f);
    si::run(si::cpu, si::view(vectors, numbers) = si::packed(stored.data(), bytes) * 2.0f);
    int wrong = 0;
    for (std::size_t i = 0; i < stored.size(); ++i) {
        const pair wanted(x[2 * i], x[2 * i + 1]);
        wrong += stored[i].codes != wanted.codes || other[i].codes != wanted.codes || positive[i].codes != unsigned_pair(x[2 * i], x[2 * i + 1]).codes;
        for (int k = 0; k < 2; ++k) wrong += back[2 * i + std::size_t(k)] != wanted.value(k) * 2.0f || vectors[2 * i + std::size_t(k)] != back[2 * i + std::size_t(k)];
    }
    CHECK(wrong == 0);
}
TEST_CASE("outputs that hold their parameters take += and fill, as views do") {
    data d;
    const auto first = extents<rows>{};
    const auto of = [&](auto codes) { return si::quantized(codes, axes<0>, si::view(d.scale.data(), first), si::view(d.zero.data(), first)); };
    const auto x = si::view(d.x, sizes);
    using pair = si::q4x2<"0.5"_qp>;
    std::vector<pair> pairs(rows * columns / 2), wanted_pairs(pairs.size());
    const auto bytes = extents<rows, columns / 2>{};
    const auto of_pairs = [&](auto& from) { return si::packed(from.data(), bytes); };
    const auto same = [&] {
        int wrong = 0;
        for (std::size_t i = 0; i < d.q.size(); ++i) wrong += d.q[i] != d.other[i];
        for (std::size_t i = 0; i < pairs.size(); ++i) wrong += pairs[i].codes != wanted_pairs[i].codes;
        return wrong == 0;
    };
    auto w = of(si::view(d.q, sizes));
    const auto other = of(si::view(d.other, sizes));
    si::run(si::cpu, si::fill(w, 0.75f));
    si::run(si::cpu, other = 0.75f);
    si::run(si::cpu, si::fill(of_pairs(pairs), 1));
    si::run(si::cpu, of_pairs(wanted_pairs) = 1);
    CHECK(same());
    si::run(si::cpu, w += x);
    si::run(si::reference, other = other + x);
    si::run(si::cpu, of_pairs(pairs) += x);
    si::run(si::reference, of_pairs(wanted_pairs) = of_pairs(wanted_pairs) + x);
    CHECK(same());
    si::run(si::cpu, w *= 0.5f);
    si::run(si::reference, other = other * 0.5f);
    si::run(si::cpu, of_pairs(pairs) -= 0.5f * x);
    si::run(si::reference, of_pairs(wanted_pairs) = of_pairs(wanted_pairs) - 0.5f * x);
    CHECK(same());
    si::run(si::cpu, w -= 0.25f);
    si::run(si::reference, other = other - 0.25f);
    si::run(si::cpu, of_pairs(pairs) /= 2);
    si::run(si::reference, of_pairs(wanted_pairs) = of_pairs(wanted_pairs) / 2);
    CHECK(same());
    si::run(si::cpu, w /= 3.0f);
    si::run(si::reference, other = other / 3.0f);
    si::run(si::cpu, of_pairs(pairs) *= 3);
    si::run(si::reference, of_pairs(wanted_pairs) = of_pairs(wanted_pairs) * 3);
    CHECK(same());
}
namespace {
/// Packed codes with parameters that a view holds, beside plain codes with the same ones.
template <class Pair, class Granularity, class Scale, class Zero>
int differences_of_packed(Granularity granularity, const Scale& scale, const Zero& zero) {
    constexpr si::i64 wide = 38;
    std::vector<Pair> pairs(rows * wide / 2), stored(pairs.size()), by_reference(pairs.size());
    std::vector<std::int8_t> plain(rows * wide), rounded(plain.size());
    std::vector<float> x(plain.size()), one(x.size()), two(x.size()), three(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(int(i * 7919 % 2003) - 1001) * 0.0021f;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i].codes = static_cast<unsigned char>(i * 37 + i / 5);
        for (int k = 0; k < 2; ++k) plain[2 * i + std::size_t(k)] = std::int8_t(pairs[i].code(k) - Pair::parameters.zero);
    }
    const auto bytes = extents<rows, wide / 2>{};
    const auto numbers = extents<rows, wide>{};
    const auto make = [&](const auto& codes) {
        if constexpr (std::is_same_v<Granularity, int>)
            return si::quantized(codes, scale, zero);
        else
            return si::quantized(codes, granularity, scale, zero);
    };
    int wrong = 0;
    const auto packed = make(si::packed(pairs.data(), bytes));
    si::run(si::reference, si::view(one, numbers) = packed * 1.5f);
    si::run(si::cpu, si::view(two, numbers) = packed * 1.5f);
    si::run(si::reference, si::view(three, numbers) = make(si::view(plain, numbers)) * 1.5f);
    for (std::size_t i = 0; i < x.size(); ++i) wrong += one[i] != three[i] || two[i] != three[i];
    // Stored: codes that saturate at 4 bits.
    const auto same_codes = [&] {
        for (std::size_t i = 0; i < stored.size(); ++i)
            for (int k = 0; k < 2; ++k) {
                const int wanted = rounded[2 * i + std::size_t(k)] + Pair::parameters.zero, low = Pair::parameters.low, high = Pair::parameters.high;
                const int code = wanted < low ? low : wanted > high ? high : wanted;
                wrong += stored[i].code(k) != code || by_reference[i].code(k) != code;
            }
    };
    const auto to = make(si::packed(stored.data(), bytes)), reference_to = make(si::packed(by_reference.data(), bytes));
    const auto to_plain = make(si::view(rounded, numbers));
    si::run(si::cpu, to = si::view(x, numbers));
    si::run(si::reference, reference_to = si::view(x, numbers));
    si::run(si::reference, to_plain = si::view(x, numbers));
    same_codes();
    si::run(si::reference, si::view(one, numbers) = si::quantized(si::view(rounded, numbers), 1.0f) * 0.0f + reference_to + 0.125f);
    si::run(si::reference, to_plain = si::view(one, numbers));
    si::run(si::cpu, to += 0.125f);
    si::run(si::reference, reference_to += 0.125f);
    same_codes();
    si::run(si::cpu, si::fill(to, 0.5f));
    si::run(si::reference, reference_to = 0.5f);
    si::run(si::reference, to_plain = 0.5f);
    same_codes();
    return wrong;
}
template <class Pair>
void check_packed_parameters() {
    std::vector<float> per_row(rows), per_column(38);
    std::vector<si::f16> per_block(rows * 2);
    std::vector<std::int8_t> zeros(rows);
    for (std::size_t i = 0; i < per_row.size(); ++i) per_row[i] = 0.05f * float(i + 1);
    for (std::size_t i = 0; i < per_column.size(); ++i) per_column[i] = 0.3f / float(i + 1);
    for (std::size_t i = 0; i < per_block.size(); ++i) per_block[i] = si::f16(0.07f * float(i + 1));
    for (std::size_t i = 0; i < zeros.size(); ++i) zeros[i] = std::int8_t(int(i % 5) - 2);
    CHECK(differences_of_packed<Pair>(0, 0.25f, 0) == 0);
    CHECK(differences_of_packed<Pair>(0, si::view(per_row.data(), extents<rows, 1>{}), -1) == 0);
    CHECK(differences_of_packed<Pair>(axes<0>, si::view(per_row.data(), extents<rows>{}), si::view(zeros.data(), extents<rows>{})) == 0);
    CHECK(differences_of_packed<Pair>(axes<-1>, si::view(per_column.data(), extents<38>{}), 2) == 0);
    CHECK(differences_of_packed<Pair>(si::block<-1, 19>, si::view(per_block.data(), extents<rows, 2>{}), 1) == 0);
    CHECK(differences_of_packed<Pair>(si::partial_block<-1, 32>, si::view(per_block.data(), extents<rows, 2>{}), 0) == 0);
}
}  // namespace
TEST_CASE("packed codes have scales that a view holds, as plain codes do") {
    check_packed_parameters<si::q4x2<"1"_qp>>();
    check_packed_parameters<si::qu4x2<"1:8"_qp>>();
    check_packed_parameters<si::qu4x2<"1:3"_qp>>();
}
