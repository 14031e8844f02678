// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of a few elements, their number known while compiling: the CPU takes neighbouring rows into the lanes of a vector, and the bits
// are still those of the reference. All kinds of folds at lengths around the width of vectors, rows fewer and more than lanes, turned
// and spread operands, several lane axes, coordinates, outputs per element and per row; elementwise rows with a value for each.
// And elementwise rows of any short length, which become one long packed lane.
#include <sinter/backend/cpu.hpp>
#include <sinter/ops/nn.hpp>
#include <sinter/sinter.hpp>

#include <cstring>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace si = sinter;
using si::dyn;
using si::i64;
using si::last_axis;

namespace {

/// Not neutral on purpose, which a monoid must not be: each combination of the lane rule, those with the identity too, shows in the result.
struct combinations {
    static constexpr const char* name = "combinations";
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value, Value> identity() {
        return si::lane::fields<Value, Value>(Value(typename Value::element(1)), Value(typename Value::element(0)));
    }
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value, Value> lift(Value x) {
        return si::lane::fields<Value, Value>(x, Value(typename Value::element(0)));
    }
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value, Value> combine(const si::lane::fields<Value, Value>& a, const si::lane::fields<Value, Value>& b) {
        return si::lane::fields<Value, Value>(get<0>(a) * 0.5f + get<0>(b) * 0.75f, get<1>(a) + get<1>(b) + 1.0f);
    }
    template <class Value>
    static SINTER_INLINE Value finalize(const si::lane::fields<Value, Value>& a) {
        return get<0>(a) + get<1>(a);
    }
};

/// Signs, ties, zeros of both signs and, here and there, a NaN or an infinity.
template <class Type>
std::vector<Type> numbers(std::size_t count, unsigned seed) {
    std::vector<Type> out(count + 1);
    for (std::size_t i = 0; i < out.size(); ++i) {
        seed = seed * 1664525u + 1013904223u;
        float value = float(int(seed >> 16) % 201 - 100) * 0.125f;
        if (si::is_float(si::dtype_of<Type>)) {
            if (seed >> 28 == 3) value = -0.0f;
            if (i % 97 == 5) value = __builtin_nanf("");
            if (i % 89 == 7) value = -__builtin_huge_valf();
            if (i % 13 == 0) value = float(int(i % 5)) * 1e-41f;
        }
        out[i] = si::convert<Type>(value);
    }
    return out;
}
template <class Type>
bool same(const std::vector<Type>& a, const std::vector<Type>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if constexpr (si::is_float(si::dtype_of<Type>))
            if (si::step::is_nan(si::convert<float>(a[i])) && si::step::is_nan(si::convert<float>(b[i]))) continue;
        if (std::memcmp(&a[i], &b[i], sizeof(Type)) != 0) return false;
    }
    return true;
}
const auto with_threads = si::cpu.parallel(
    [](int count, const auto& function) {
        std::vector<std::thread> all;
        for (int i = 0; i < count; ++i) all.emplace_back([&function, i] { function(i); });
        for (std::thread& one : all) one.join();
    },
    3);

/// `formula(x, w, r)` of x [rows, Length], w [Length] and r [rows, 1] gives one output per element and one per row. Run on the
/// reference and twice on the CPU; x lies in order, from right to left, or with a gap after each element.
template <class Type, class Element, class Row, int Length, class Formula>
void agree(const Formula& formula) {
    int wrong = 0;
    for (const i64 rows : {0, 1, 2, 7, 8, 9, 15, 16, 17, 33, 100})
        for (const i64 step : {1, -1, 2}) {
            const auto x = numbers<Type>(std::size_t(rows * Length * 2), unsigned(rows + Length)), w = numbers<Type>(Length, 5), r = numbers<Type>(std::size_t(rows), 6);
            std::vector<Element> wanted(std::size_t(rows * Length) + 3, Element(1)), found = wanted, threaded = wanted;
            std::vector<Row> row_wanted(std::size_t(rows) + 3, Row(1)), row_found = row_wanted, row_threaded = row_wanted;
            const auto run = [&](const auto& executor, std::vector<Element>& to, std::vector<Row>& to_rows) {
                const si::tensor_view<const Type, si::extents<dyn, Length>, si::strided> in(
                    x.data() + (step < 0 ? Length - 1 : 0), si::extents<dyn, Length>(rows), {i64(Length) * (step == 2 ? 2 : 1), step});
                const si::tensor_view<const Type, si::extents<dyn, 1>> of_rows(r.data(), si::extents<dyn, 1>(rows));
                const si::tensor_view<Element, si::extents<dyn, Length>> out(to.data(), si::extents<dyn, Length>(rows));
                const si::tensor_view<Row, si::extents<dyn, 1>> row_out(to_rows.data(), si::extents<dyn, 1>(rows));
                CHECK(si::try_run(executor, si::tie(out, row_out) = formula(in, si::tensor_view<const Type, si::extents<Length>>(w.data()), of_rows)).ok());
            };
            run(si::reference, wanted, row_wanted);
            run(si::cpu, found, row_found);
            run(with_threads, threaded, row_threaded);
            wrong += !same(wanted, found) || !same(row_wanted, row_found) || !same(wanted, threaded) || !same(row_wanted, row_threaded);
        }
    INFO("length " << Length);
    CHECK(wrong == 0);
}
template <class Type, class Element, class Row, class Formula>
void at_lengths(const Formula& formula) {
    agree<Type, Element, Row, 3>(formula);
    agree<Type, Element, Row, 10>(formula);
    agree<Type, Element, Row, 32>(formula);
}

inline constexpr auto sums = si::fused([](auto x, auto w, auto r) {
    const auto total = sum(x * w, last_axis);
    return si::outputs(x * total + r, total + prod(w + r, last_axis) + min(x, last_axis));
});
inline constexpr auto softmax_and_largest = si::fused([](auto x, auto, auto r) { return si::outputs(si::softmax(x + r), max(x, last_axis)); });
inline constexpr auto normed = si::fused([](auto x, auto w, auto r) { return si::outputs(si::layer_norm(x * r, w, w, 1e-5f), variance(x, last_axis)); });
inline constexpr auto places = si::fused([](auto x, auto w, auto) {
    return si::outputs(si::cast<float>(argmin(x * w, last_axis)) + x + si::cast<float>(si::iota<-1>(x) * 100 + si::iota<-2>(x)), argmax(x, last_axis));
});
inline constexpr auto own = si::fused([](auto x, auto w, auto r) {
    const auto counted = si::fold<combinations>(x, last_axis);
    return si::outputs(x + w, counted + r);
});
inline constexpr auto whole_numbers = si::fused([](auto x, auto w, auto r) {
    return si::outputs(x * w - r, sum(x * w, last_axis) + si::cast<i64>(max(x, last_axis)) + si::cast<i64>(any(x > w, last_axis)));
});
inline constexpr auto scaled_rows = si::fused([](auto x, auto w, auto r) { return si::outputs(x * r + w, r * 2.0f + 1.0f); });
}  // namespace

static_assert(si::detail::longest_short_row == 32);

TEST_CASE("folds of short rows: sums, products, minima, with outputs of both kinds") {
    at_lengths<float, float, float>(sums);
    agree<float, float, float, 1>(sums), agree<float, float, float, 17>(sums), agree<float, float, float, 33>(sums);  // 33 is no longer short
}
TEST_CASE("softmax and the largest") { at_lengths<float, float, float>(softmax_and_largest); }
TEST_CASE("layer norm and variance: two phases") { at_lengths<float, float, float>(normed); }
TEST_CASE("places of extremes, coordinates of both axes") { at_lengths<float, float, i64>(places); }
TEST_CASE("a reduction that counts its combinations") {
    agree<float, float, float, 3>(own), agree<float, float, float, 10>(own), agree<float, float, float, 32>(own);
}
TEST_CASE("other element types") {
    agree<si::i8, si::i8, i64, 3>(whole_numbers), agree<si::i8, si::i8, i64, 10>(whole_numbers), agree<si::u16, si::u16, i64, 7>(whole_numbers);
    agree<double, double, double, 3>(sums), agree<double, double, double, 10>(sums);
    agree<si::f16, si::f16, float, 4>(softmax_and_largest), agree<si::bf16, si::bf16, float, 10>(normed);
}
TEST_CASE("elementwise rows with a value for each row") { at_lengths<float, float, float>(scaled_rows); }

TEST_CASE("several lane axes, a middle axis, a matrix for each row") {
    const auto x = numbers<float>(50 * 2 * 3 * 4, 9);
    const si::tensor_view<const float, si::extents<dyn, 2, 3, 4>> in(x.data(), si::extents<dyn, 2, 3, 4>(50));
    std::vector<float> wanted(50 * 24), found(50 * 24);
    const auto both = [&](const auto& assign) {
        std::fill(wanted.begin(), wanted.end(), 1.0f), std::fill(found.begin(), found.end(), 1.0f);
        assign(si::reference, wanted.data()), assign(si::cpu, found.data());
        CHECK(same(wanted, found));
    };
    both([&](const auto& executor, float* to) {
        si::run(executor, si::tensor_view<float, si::extents<dyn, 2, 1, 1>>(to, si::extents<dyn, 2, 1, 1>(50)) = sum(in, si::axes<2, 3>));
    });
    both([&](const auto& executor, float* to) {
        si::run(executor, si::tensor_view<float, si::extents<dyn, 1, 1, 1>>(to, si::extents<dyn, 1, 1, 1>(50)) = max(in, si::axes<1, 2, 3>));
    });
    both([&](const auto& executor, float* to) {
        const auto swapped = si::permute<0, 2, 3, 1>(in);
        si::run(executor, si::tensor_view<float, si::extents<dyn, 3, 4, 2>>(to, si::extents<dyn, 3, 4, 2>(50)) = si::softmax(swapped));
    });
    both([&](const auto& executor, float* to) {  // points times a matrix
        const si::tensor_view<const float, si::extents<dyn, 3>> points(x.data(), si::extents<dyn, 3>(100));
        const si::tensor_view<const float, si::extents<3, 3>> matrix(x.data() + 1);
        si::run(executor, si::tensor_view<float, si::extents<dyn, 3>>(to, si::extents<dyn, 3>(100)) = sum(si::unsqueeze<1>(points) * matrix, last_axis, si::drop));
    });
    both([&](const auto& executor, float* to) {  // one quaternion
        const si::tensor_view<const float, si::extents<4>> one(x.data() + 16);
        si::run(executor, si::tensor_view<float, si::extents<4>>(to) = one / norm_l2(one, last_axis));
    });
    both([&](const auto& executor, float* to) {  // in place
        std::memcpy(to, x.data(), 300 * sizeof(float));
        const si::tensor_view<float, si::extents<dyn, 3>> points(to, si::extents<dyn, 3>(100));
        si::run(executor, points = points / norm_l2(points, last_axis));
    });
}
TEST_CASE("short elementwise rows become one lane") {
    int wrong = 0;
    for (const i64 length : {1, 2, 3, 5, 8, 15, 16, 17, 31, 63, 64, 65})
        for (const i64 rows : {1, 2, 5, 90, 300}) {
            const auto x = numbers<float>(std::size_t(2 * rows * length), unsigned(rows * length)), b = numbers<float>(std::size_t(length), 3), r = numbers<float>(std::size_t(rows), 4);
            std::vector<float> wanted(std::size_t(2 * rows * length) + 5, 1.0f);
            auto found = wanted, threaded = wanted;
            const auto run = [&](const auto& executor, std::vector<float>& to) {
                const si::extents<2, dyn, dyn> sizes(rows, length);
                const auto in = si::view(x.data(), sizes);
                const auto out = si::view(to.data(), sizes);
                const auto bias = si::view(b.data(), si::extents<dyn>(length));
                const auto of_rows = si::view(r.data(), si::extents<dyn, 1>(rows));
                si::run(executor, out = in * 2.0f + bias);
                si::run(executor, out = out + si::flip<-1>(bias));
                si::run(executor, out = out + of_rows);                          // a value for each row stays a row's
                si::run(executor, out = out + si::cast<float>(si::iota<-1>(in)));  // as does a coordinate
                si::run(executor, si::flip<1>(out) = si::flip<2>(si::flip<1>(in)) - 1.0f);
            };
            run(si::reference, wanted), run(si::cpu, found), run(with_threads, threaded);
            wrong += !same(wanted, found) || !same(wanted, threaded);
        }
    CHECK(wrong == 0);
}
