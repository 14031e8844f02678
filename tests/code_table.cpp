// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of one code: which formulas are, and that what is looked up has the reference's bits, at lengths around a table's worth, on
// every code, in place, in rows with gaps, by threads.
#include <doctest/doctest.h>

#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;
using namespace sinter::literals;
using si::extents;
using si::i64;
using si::i8;
using si::u8;

namespace {

using image = si::q8<"0.05:3"_qp>;
using result = si::qu8<"0.013:7"_qp>;

template <class From, class To, class Formula>
void check(const Formula& formula) {
    for (const int count : {100, 4095, 4096, 4097, 5000, 70001}) {
        const std::size_t length = std::size_t(count);
        std::vector<From> x(length);
        auto* const bytes = reinterpret_cast<u8*>(x.data());
        for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<u8>(i * 7 + i / 256);
        std::vector<To> y(length + 1), z(length + 1);
        using from = si::tensor_view<const From, extents<si::dyn>>;
        using to = si::tensor_view<To, extents<si::dyn>>;
        static_assert(si::plan_of<decltype(to(y.data(), count) = formula(from(x.data(), count)))>.code_table);
        si::run(si::reference, to(y.data(), count) = formula(from(x.data(), count)));
        si::run(si::cpu, to(z.data(), count) = formula(from(x.data(), count)));
        CHECK(__builtin_memcmp(y.data(), z.data(), length + 1) == 0);
        if constexpr (si::is_same<From, To>) {
            si::run(si::cpu, to(x.data(), count) = formula(from(x.data(), count)));
            CHECK(__builtin_memcmp(x.data(), z.data(), length) == 0);
        }
    }
}

}  // namespace

TEST_CASE("what is looked up has the bits of what is computed") {
    check<image, result>([](auto x) { return sigmoid(x * 2.0f) + 0.25f; });
    check<image, image>([](auto x) { return si::gelu(x); });
    check<image, result>([](auto x) { return si::requantize(x); });
    check<i8, i8>([](auto x) { return si::let(x, [](auto v) { return v * v + v / i8(3); }); });
    check<u8, i8>([](auto x) { return si::quantize<i8>(tanh(si::dequantize(x, 0.03f, 128)), 1.0f / 127); });
}
TEST_CASE("numbers that are known when called") {
    float factor = 0.5f;
    for (int i = 0; i < 3; ++i, factor *= 3) check<image, result>([&](auto x) { return exp(x * factor); });
}
TEST_CASE("what isn't a function of one code") {
    std::vector<image> x(64);
    std::vector<float> f(64);
    std::vector<result> y(64);
    const auto of_x = si::view(x);
    const auto of_f = si::view(f);
    CHECK(!si::plan_of<decltype(si::view(x) = copy(of_x))>.code_table);
    CHECK(!si::plan_of<decltype(si::view(y) = of_x + of_x)>.code_table);  // two operands, whatever they view
    CHECK(!si::plan_of<decltype(si::view(y) = abs(of_f))>.code_table);
    CHECK(!si::plan_of<decltype(si::view(f) = abs(of_x))>.code_table);
    CHECK(!si::plan_of<decltype(si::view(y) = of_x * si::cast<float>(si::iota<0>(of_x)))>.code_table);
    CHECK(!si::plan_of<decltype(si::tensor_view<result, extents<1>>(y.data()) = sum(of_x, si::axes<0>))>.code_table);
}
TEST_CASE("rows with gaps, steps, threads") {
    constexpr int rows = 7, columns = 3001;
    std::vector<image> x(rows * columns * 2);
    for (std::size_t i = 0; i < x.size(); ++i) x[i].code = static_cast<i8>(i * 31 + i / 77);
    std::vector<result> y(rows * columns), z(y.size());
    const auto wanted_of = [&](const auto& from) {
        si::run(si::reference, si::view(y, extents<rows, columns>{}) = exp(from * 0.3f));
        si::run(si::cpu, si::view(z, extents<rows, columns>{}) = exp(from * 0.3f));
        CHECK(__builtin_memcmp(y.data(), z.data(), y.size()) == 0);
    };
    wanted_of(si::view(x.data(), extents<rows, columns>{}, si::array<i64, 2>{{2 * columns, 2}}));
    wanted_of(si::view(x.data() + (rows - 1) * 2 * columns, extents<rows, columns>{}, si::array<i64, 2>{{-2 * columns, 1}}));
    const auto gaps = si::view(x.data(), extents<rows, columns>{}, si::array<i64, 2>{{2 * columns, 1}});
    wanted_of(gaps);
    const auto hook = [](int count, auto&& part) {
        for (int i = 0; i < count; ++i) part(i);
    };
    for (int threads : {2, 3, 30}) {
        z.assign(z.size(), result{});
        si::run(si::cpu.parallel(hook, threads), si::view(z, extents<rows, columns>{}) = exp(gaps * 0.3f));
        CHECK(__builtin_memcmp(y.data(), z.data(), y.size()) == 0);
    }
}
