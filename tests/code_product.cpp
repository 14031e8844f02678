// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of a matrix of codes and a few vectors: which formulas are recognised, and that the drivers of those give the reference's bits:
// every sign and zero point of both factors, tails of every length, more vectors than share a read, longer rows than are packed at once,
// prologues and epilogues, other layouts, threads.
#include <doctest/doctest.h>

#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;
using namespace sinter::literals;
using si::extents;
using si::i32;
using si::i64;
using si::i8;
using si::u8;

namespace {

template <class Assignment>
constexpr bool recognised = si::detail::code_product_facts<si::kernel<Assignment>>::possible;

template <class Type>
std::vector<Type> codes(int count, unsigned seed) {
    std::vector<Type> out(static_cast<std::size_t>(count));
    auto* const bytes = reinterpret_cast<unsigned char*>(out.data());
    for (std::size_t i = 0; i < out.size(); ++i) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = static_cast<unsigned char>(i % 29 == 0 ? 128 : i % 31 == 0 ? 127 : seed >> 24);
    }
    return out;
}
template <class Type>
int code_of(Type x) {
    if constexpr (si::is_quantized<Type>)
        return int(x.code) - Type::parameters.zero;
    else
        return int(x);
}

/// Sums and results of [Vectors, Inner] with [Rows, Inner], on both backends and by plain loops.
template <int Vectors, int Rows, int Inner, class Left, class Right>
void check() {
    const auto x = codes<Left>(Vectors * Inner, 1);
    const auto w = codes<Right>(Rows * Inner, 3);
    constexpr std::size_t count = std::size_t(Vectors) * Rows;
    std::vector<i32> wanted(count), sums(count, -1);
    std::vector<float> bias(Rows), scale(Rows), y(count, -1), z(count, -2);
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = float(i % 13) - 6, scale[i] = 0.001f * float(i % 7 + 1);
    for (std::size_t v = 0; v < Vectors; ++v)
        for (std::size_t r = 0; r < Rows; ++r) {
            int sum = 0;
            for (std::size_t k = 0; k < Inner; ++k) sum += code_of(x[v * Inner + k]) * code_of(w[r * Inner + k]);
            wanted[v * Rows + r] = sum;
        }
    const auto left = si::view(x, extents<Vectors, 1, Inner>{});
    const auto right = si::view(w, extents<1, Rows, Inner>{});
    const auto sizes = extents<Vectors, Rows>{};
    const auto product = [&](auto& to) { return si::view(to, sizes) = si::dot_codes(left, right, si::axes<-1>, si::drop); };
    static_assert(recognised<decltype(product(sums))> == (Inner > 1 && Vectors * Rows > 1));
    si::run(si::cpu, product(sums));
    CHECK(sums == wanted);
    const auto layer = [&](auto& to) {
        return si::view(to, sizes) = relu(si::dot_codes(left, right, si::axes<-1>, si::drop) * si::view(scale, extents<Rows>{}) + si::view(bias, extents<Rows>{}));
    };
    static_assert(si::plan_of<decltype(layer(y))>.kernels == 1 && si::plan_of<decltype(layer(y))>.code_product == (Inner > 1 && Vectors * Rows > 1));
    si::run(si::reference, layer(y));
    si::run(si::cpu, layer(z));
    CHECK(y == z);
}

}  // namespace

TEST_CASE("signs and zero points") {
    check<1, 70, 200, i8, i8>();
    check<3, 9, 131, u8, i8>();
    check<2, 67, 64, i8, u8>();
    check<5, 12, 333, u8, u8>();
    check<2, 21, 100, si::qu8<"0.5:131"_qp>, si::q8<"0.25:-7"_qp>>();
    check<2, 21, 100, si::q8<"0.5:-128"_qp>, si::qu8<"0.25:255"_qp>>();
    check<1, 65, 129, si::q8<"0.5:-3"_qp>, i8>();
}
TEST_CASE("sizes") {
    check<1, 1, 64, i8, i8>();
    check<1, 3, 1, i8, i8>();
    check<1, 64, 63, i8, i8>();
    check<1, 128, 65, i8, i8>();
    check<4, 70, 127, i8, i8>();
    check<16, 5, 96, i8, i8>();
    check<17, 66, 70, i8, i8>();
    check<35, 2, 40, u8, i8>();
    check<1, 66, 20000, i8, i8>();     // longer than what is packed at once
    check<6, 67, 9000, u8, u8>();
}
TEST_CASE("what is recognised") {
    const std::vector<i8> bytes(4096);
    const std::vector<float> numbers(4096);
    std::vector<float> y(4096);
    std::vector<i32> sums(4096);
    const auto x = si::view(bytes, extents<64>{});
    const auto w = si::view(bytes, extents<16, 64>{});
    const auto column = si::view(sums, extents<16, 1>{});
    CHECK(recognised<decltype(column = si::dot_codes(x, w, si::axes<-1>))>);
    CHECK(recognised<decltype(column = si::dot_codes(w, x, si::axes<-1>))>);
    // Both factors vary with the row: nothing is shared. A sum over the rows is another nest. A second reduction wants an order.
    CHECK(!recognised<decltype(column = si::dot_codes(w, w, si::axes<-1>))>);
    CHECK(!recognised<decltype(si::view(sums, extents<1, 64>{}) = si::dot_codes(w, si::view(bytes, extents<16, 1>{}), si::axes<0>))>);
    CHECK(!recognised<decltype(si::view(y, extents<16, 1>{}) = si::dot_codes(x, w, si::axes<-1>) + sum(si::view(numbers, extents<16, 64>{}), si::axes<-1>))>);
    CHECK(!recognised<decltype(si::view(y, extents<16, 1>{}) = sum(si::view(numbers, extents<16, 64>{}), si::axes<-1>))>);
    const std::vector<si::i16> words(1024);
    CHECK(!recognised<decltype(column = si::dot_codes(si::view(words, extents<64>{}), w, si::axes<-1>))>);
}
TEST_CASE("a norm and quantize before it, a residual and codes after it: one kernel") {
    constexpr int vectors = 3, rows = 37, inner = 150;
    std::vector<float> x(vectors * inner), gain(inner), residual(vectors * rows);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(int(i * 7919 % 2003) - 1000) * 0.013f;
    for (std::size_t i = 0; i < gain.size(); ++i) gain[i] = 0.5f + 0.01f * float(i);
    for (std::size_t i = 0; i < residual.size(); ++i) residual[i] = float(i % 17) - 8;
    x[5] = 0.0f;
    const auto w = codes<i8>(rows * inner, 4);
    std::vector<si::q8<"0.37:4"_qp>> y(vectors * rows), z(vectors * rows);
    const auto layer = [&](auto& to) {
        const auto normed = si::rms_norm(si::view(x, extents<vectors, 1, inner>{}), si::view(gain, extents<inner>{}), 1e-5f);
        const auto scale = si::symmetric_scale(normed);
        const auto sum = si::dot_codes(si::quantize<i8>(normed, scale), si::view(w, extents<1, rows, inner>{}), si::axes<-1>);
        return si::view(to, extents<vectors, rows, 1>{}) = si::view(residual, extents<vectors, rows, 1>{}) + sum * scale * 0.0123f;
    };
    static_assert(recognised<decltype(layer(y))> && si::plan_of<decltype(layer(y))>.kernels == 1);
    si::run(si::reference, layer(y));
    si::run(si::cpu, layer(z));
    int wrong = 0, different = 0;
    for (std::size_t i = 0; i < y.size(); ++i) wrong += y[i].code != z[i].code, different += y[i].code != y[0].code;
    CHECK(wrong == 0);
    CHECK(different > 20);
}
TEST_CASE("other layouts, in place, several outputs, threads") {
    constexpr int vectors = 3, rows = 130, inner = 96;
    const auto x = codes<i8>(vectors * inner, 5);
    const auto w = codes<i8>(rows * inner * 2, 6);
    std::vector<float> y(vectors * rows), z(vectors * rows);
    const auto left = si::view(x.data(), extents<vectors, 1, inner>{});
    const auto sizes = extents<vectors, rows>{};
    // Strides that are known when run: rows with gaps, elements with gaps (no product then), and a result with the vectors innermost.
    const auto gaps = si::view(w.data(), extents<1, rows, inner>{}, si::array<i64, 3>{{0, 2 * inner, 1}});
    const auto spread = si::view(w.data(), extents<1, rows, inner>{}, si::array<i64, 3>{{0, 2 * inner, 2}});
    const auto backwards = si::view(w.data() + (rows - 1) * inner, extents<1, rows, inner>{}, si::array<i64, 3>{{0, -inner, 1}});
    const auto same = [&](const auto& weights) {
        si::run(si::reference, si::view(y, sizes) = si::dot(left, weights, si::axes<-1>, si::drop) * 0.5f);
        si::run(si::cpu, si::view(z, sizes) = si::dot(left, weights, si::axes<-1>, si::drop) * 0.5f);
        CHECK(y == z);
        std::vector<float> turned(y.size());
        si::run(si::cpu, si::view(turned.data(), sizes, si::array<i64, 2>{{1, vectors}}) = si::dot(left, weights, si::axes<-1>, si::drop) * 0.5f);
        int wrong = 0;
        for (std::size_t v = 0; v < vectors; ++v)
            for (std::size_t r = 0; r < rows; ++r) wrong += turned[r * vectors + v] != y[v * rows + r];
        CHECK(wrong == 0);
    };
    same(spread);
    same(backwards);
    same(gaps);
    // Threads share the rows of weights.
    const auto hook = [](int count, auto&& part) {
        for (int i = count - 1; i >= 0; --i) part(i);
    };
    for (int threads : {2, 3, 7, 50}) {
        z.assign(z.size(), -1.0f);
        si::run(si::cpu.parallel(hook, threads), si::view(z, sizes) = si::dot(left, gaps, si::axes<-1>, si::drop) * 0.5f);
        CHECK(y == z);
    }
    // A residual that is the output, and a value of each vector beside it.
    std::vector<float> factors(vectors, 1.5f), first(vectors), second(vectors);
    const auto both = [&](const auto& executor, auto& to, auto& twice) {
        si::run(executor, si::view(to, sizes) = si::view(to, sizes) + si::dot(left, gaps, si::axes<-1>, si::drop), si::view(twice, extents<vectors, 1>{}) = si::view(factors, extents<vectors, 1>{}) * 2.0f);
    };
    both(si::reference, y, first);
    both(si::cpu, z, second);
    CHECK(y == z);
    CHECK((first == second && second == std::vector<float>(vectors, 3.0f)));
    // Sizes that are known when run, among them a single row, and batches, each with weights of its own.
    for (int count : {1, 2, 130}) {
        const auto some = [&](auto& to) {
            return si::tensor_view<float, extents<si::dyn, si::dyn>>(to.data(), vectors, count) = si::dot(left, si::tensor_view<const i8, extents<1, si::dyn, inner>>(w.data(), count), si::axes<-1>, si::drop);
        };
        si::run(si::reference, some(y));
        si::run(si::cpu, some(z));
        CHECK(y == z);
    }
    std::vector<i32> sums(2 * 3 * 20), found(sums.size());
    const auto batches = [&](auto& to) {
        return si::view(to, extents<2, 3, 20>{}) = si::dot_codes(si::view(x.data(), extents<1, 3, 1, inner>{}), si::view(w.data(), extents<2, 1, 20, inner>{}), si::axes<-1>, si::drop);
    };
    static_assert(recognised<decltype(batches(sums))>);
    si::run(si::reference, batches(sums));
    si::run(si::cpu, batches(found));
    CHECK(sums == found);
}
