// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composites on the reference backend against float64 oracles in plain loops: the softmax family with its edges (C6), norms,
// losses, activations.
#include <doctest/doctest.h>

#include "support.hpp"

#include <cmath>

using namespace support;
using si::reference;

namespace {
constexpr i64 rows = 5;
struct table {
    si::tensor<float, si::extents<rows, dyn>> x;
    i64 n;
    double largest[rows], folded[rows], centre[rows], spread[rows];
    explicit table(i64 columns, double scale = 4) : x(columns), n(columns) {
        generator random{u64(columns) + 99};
        for (float& value : x) value = float(random.unit() * scale);
        for (i64 r = 0; r < rows; ++r) {
            largest[r] = -HUGE_VAL;
            folded[r] = centre[r] = spread[r] = 0;
            for (i64 c = 0; c < n; ++c) largest[r] = at(r, c) > largest[r] ? at(r, c) : largest[r];
            for (i64 c = 0; c < n; ++c) folded[r] += std::exp(at(r, c) - largest[r]);
            for (i64 c = 0; c < n; ++c) centre[r] += at(r, c) / double(n);
            for (i64 c = 0; c < n; ++c) spread[r] += (at(r, c) - centre[r]) * (at(r, c) - centre[r]) / double(n);
        }
    }
    double at(i64 r, i64 c) const { return double(x[r * n + c]); }
    double top(i64 r) const { return largest[r]; }
    double exponentials(i64 r) const { return folded[r]; }
    double mean(i64 r) const { return centre[r]; }
    double variance(i64 r) const { return spread[r]; }
};
/// All elements within a relative error of `oracle(row, column)` plus an absolute one.
template <class Type, class Extents, class Oracle>
bool near_to(const si::tensor<Type, Extents>& found, i64 columns, double relative, double absolute, const Oracle& oracle) {
    for (i64 i = 0; i < found.count(); ++i) {
        const double expected = oracle(i / columns, i % columns), value = si::convert<double>(found[i]);
        if (!(std::fabs(value - expected) <= relative * std::fabs(expected) + absolute)) {
            complain(i, value, expected);
            return false;
        }
    }
    return found.count() > 0;
}
const i64 lengths[] = {1, 2, 7, 64, 65, 255, 1000, 2500};
}  // namespace

TEST_CASE("softmax, log_softmax and logsumexp against float64") {
    for (const i64 n : lengths) {
        const table t(n);
        CHECK(near_to(si::eval(reference, si::softmax(t.x)), n, 1e-6, 0,
                      [&](i64 r, i64 c) { return std::exp(t.at(r, c) - t.top(r)) / t.exponentials(r); }));
        CHECK(near_to(si::eval(reference, si::log_softmax(t.x)), n, 2e-6, 1e-6,
                      [&](i64 r, i64 c) { return t.at(r, c) - t.top(r) - std::log(t.exponentials(r)); }));
        CHECK(near_to(si::eval(reference, si::logsumexp(t.x, si::last_axis)), 1, 1e-6, 1e-6,
                      [&](i64 r, i64) { return t.top(r) + std::log(t.exponentials(r)); }));
    }
}
TEST_CASE("composites of integers are those of the same numbers in f32: no difference wraps") {
    const auto check_type = [](auto zero, std::initializer_list<number> numbers) {
        using type = decltype(zero);
        const auto small = row<type>(numbers);
        const auto large = row<float>(numbers);
        CHECK(si::eval(reference, all(softmax(small) == softmax(large))));
        CHECK(si::eval(reference, all(softmax(small, small != 100) == softmax(large, large != 100))));
        CHECK(si::eval(reference, all(log_softmax(small) == log_softmax(large))));
        CHECK(si::eval(reference, logsumexp(small) == logsumexp(large)));
        CHECK(si::eval(reference, mean(small) == mean(large)));
        CHECK(si::eval(reference, variance(small) == variance(large)));
    };
    check_type(i8{}, {127, -128, 0, 100});
    check_type(u8{}, {255, 0, 1, 100});
}
TEST_CASE("nor does a square or a mean's distance") {
    const auto check_type = [](auto zero, std::initializer_list<number> numbers) {
        using type = decltype(zero);
        const auto small = row<type>(numbers);
        const auto large = row<float>(numbers);
        CHECK(si::eval(reference, norm_l2(small) == norm_l2(large)));
        CHECK(si::eval(reference, all(norm_l2(small, si::last_axis) == norm_l2(large, si::last_axis))));
        CHECK(si::eval(reference, all(si::rms_norm(small, 1e-5f) == si::rms_norm(large, 1e-5f))));
        CHECK(si::eval(reference, all(si::rms_norm(small, small, 1e-5f) == si::rms_norm(large, large, 1e-5f))));
        CHECK(si::eval(reference, all(si::layer_norm(small, small, small, 1e-5f) == si::layer_norm(large, large, large, 1e-5f))));
        const auto other = row<type>({100, 100, 100, 2});
        const auto large_other = row<float>({100, 100, 100, 2});
        CHECK(si::eval(reference, all(si::batch_norm(small, other, other, small, small, 1e-5f) ==
                                      si::batch_norm(large, large_other, large_other, large, large, 1e-5f))));
        const auto top = row<type>({127, 100, 127, 2});
        const auto large_top = row<float>({127, 100, 127, 2});
        CHECK(si::eval(reference, all(si::batch_norm(small, other, top, small, small, 1) == si::batch_norm(large, large_other, large_top, large, large, 1.0f))));
        CHECK(si::eval(reference, all(si::hard_sigmoid(small, 2, 1) == si::hard_sigmoid(large, 2, 1))));
        CHECK(si::eval(reference, all(si::hard_swish(small) == si::hard_swish(large))));
        const auto grouped = [&](const auto& x) {
            const auto plane = si::unsqueeze<0>(si::view(x.data(), si::extents<4>{}));
            return si::group_norm<2>(plane, si::view(x.data(), si::extents<4>{}), si::view(x.data(), si::extents<4>{}), 1e-5f);
        };
        const auto expected = si::eval(reference, grouped(large));
        CHECK(same(si::eval(reference, grouped(small)), [&](i64 i) { return expected[i]; }));
        const auto target = grid<i64>(si::extents<1>{}, {1});
        CHECK(si::eval(reference, all(si::cross_entropy(small, target) == si::cross_entropy(large, target))));
        // Within another lambda, of an intermediate value, too.
        const auto inside = si::fused([](auto x) { return norm_l2(si::rms_norm(maximum(x, x), 1e-5f)) + norm_l2(maximum(x, 1)); });
        CHECK(si::eval(reference, inside(small) == inside(large)));
    };
    check_type(i8{}, {127, -128, 0, 100});
    check_type(i32{}, {70000, -70000, 0, 1});  // (the sum of larger ones is exact of integers alone)
    check_type(u8{}, {255, 0, 1, 100});
}
TEST_CASE("softmax over another axis is the transposed one") {
    const table t(33);
    const auto columns = si::eval(reference, si::softmax(t.x, si::axes<0>));
    for (i64 c = 0; c < 33; ++c) {
        double all = 0;
        for (i64 r = 0; r < rows; ++r) all += double(columns[r * 33 + c]);
        CHECK(close(all, 1.0, 1e-6));
    }
}
TEST_CASE("C6: rows with infinities and NaN") {
    const auto x = grid<float>(si::extents<5, 3>{}, {-infinity, -infinity, -infinity, 1, infinity, 0, 1, support::nan, 0, 1000, 1000, -infinity, 0, -infinity, 0});
    CHECK(same(si::eval(reference, si::softmax(x)), {support::nan, support::nan, support::nan, support::nan, support::nan, support::nan, support::nan, support::nan, support::nan, 0.5f, 0.5f, 0.0f, 0.5f, 0.0f, 0.5f}));
    const auto folded = si::eval(reference, si::logsumexp(x, si::last_axis));
    CHECK(same(folded[0], -infinity));
    CHECK(same(folded[1], infinity));
    CHECK(not_a_number(folded[2]));
    CHECK(close(double(folded[3]), 1000.69314718, 1e-6));
    CHECK(close(double(folded[4]), 0.69314718056, 1e-6));
}
TEST_CASE("one element that counts has weight 1 and is its row's logsumexp; losses are never negative") {
    generator random;
    int losses = 0;
    for (int i = 0; i < 3000; ++i) {
        // Of any magnitude; every other one moderate.
        const float wide = __builtin_bit_cast(float, static_cast<std::uint32_t>(random())), moderate = static_cast<float>(static_cast<int>(random() >> 40) - 0x800000) * 0x1p-18f;
        const float value = i % 2 == 0 ? wide : moderate;
        if ((__builtin_bit_cast(std::uint32_t, value) & 0x7f800000u) == 0x7f800000u) continue;
        const auto alone = grid<float>(si::extents<1, 4>{}, {-infinity, value, -infinity, -infinity});
        CHECK(same(si::eval(reference, si::softmax(alone)), {0.0f, 1.0f, 0.0f, 0.0f}));
        CHECK(same(si::eval(reference, logsumexp(alone, si::last_axis))[0], value + 0.0f));
        const float step = __builtin_fabsf(value) * 0x1p-20f, near = value - step;
        const auto row = grid<float>(si::extents<1, 4>{}, {near, value, value - 3.0f * step, -infinity});
        for (const i64 target : {0, 1, 2}) {
            const float loss = si::eval(reference, si::cross_entropy(row, grid<i64>(si::extents<1, 1>{}, {target})))[0];
            CHECK(loss >= 0.0f);
            ++losses;
        }
    }
    CHECK(losses > 5000);
}
TEST_CASE("C6: log_softmax and cross-entropy of rows with infinities are x - logsumexp(x) and its converse") {
    const auto x = grid<float>(si::extents<4, 3>{}, {-infinity, -infinity, -infinity, infinity, 0, 1, 1, support::nan, 0, 0, -infinity, -infinity});
    CHECK(same(si::eval(reference, si::log_softmax(x)), {support::nan, support::nan, support::nan, support::nan, -infinity, -infinity, support::nan, support::nan, support::nan, 0, -infinity, -infinity}));
    const auto loss = [&](i64 target) { return si::eval(reference, si::cross_entropy(x, grid<i64>(si::extents<4, 1>{}, {target, target, target, target}))); };
    CHECK(same(loss(0), {support::nan, support::nan, support::nan, 0}));
    CHECK(same(loss(1), {support::nan, infinity, support::nan, infinity}));
}
TEST_CASE("C6: masked elements are left out; a row with nothing left is 0") {
    const auto x = grid<float>(si::extents<3, 3>{}, {-60000, -59999, 5, support::nan, infinity, 3, 1, 2, 3});
    const auto mask = grid<bool>(si::extents<3, 3>{}, {true, true, false, false, false, true, false, false, false});
    CHECK(close(si::eval(reference, si::softmax(x, mask)), {0.26894142, 0.73105858, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0}, 1e-6));
    const auto shared = grid<bool>(si::extents<3>{}, {true, false, true});
    const auto y = si::eval(reference, si::softmax(grid<float>(si::extents<2, 3>{}, {0, support::nan, 0, 1, 7, 1}), shared));
    CHECK(same(y, {0.5f, 0.0f, 0.5f, 0.5f, 0.0f, 0.5f}));
}
TEST_CASE("layer_norm, rms_norm, normalize against float64") {
    for (const i64 n : lengths) {
        const table t(n, 3);
        si::tensor<float, si::extents<dyn>> weight(n), bias(n);
        for (i64 i = 0; i < n; ++i) {
            weight[i] = 0.5f + float(i % 5);
            bias[i] = float(i % 3) - 1;
        }
        const auto standard = [&](i64 r, i64 c) { return (t.at(r, c) - t.mean(r)) / std::sqrt(t.variance(r) + 1e-5); };
        CHECK(near_to(si::eval(reference, si::layer_norm(t.x, weight, bias, 1e-5f)), n, 2e-5, 4e-6,
                      [&](i64 r, i64 c) { return standard(r, c) * double(weight[c]) + double(bias[c]); }));
        CHECK(near_to(si::eval(reference, si::normalize(t.x, si::last_axis, 1e-5f)), n, 2e-5, 4e-6, standard));
        CHECK(near_to(si::eval(reference, si::rms_norm(t.x, weight, 1e-5f)), n, 2e-6, 1e-7, [&](i64 r, i64 c) {
            const double square = t.variance(r) + t.mean(r) * t.mean(r);
            return t.at(r, c) / std::sqrt(square + 1e-5) * double(weight[c]);
        }));
    }
}
TEST_CASE("group_norm and batch_norm against float64") {
    si::tensor<float, si::extents<2, 6, 5>> x, y;
    si::tensor<float, si::extents<6>> weight, bias;
    generator random;
    for (float& value : x) value = float(random.unit() * 5);
    for (i64 i = 0; i < 6; ++i) {
        weight[i] = float(i + 1);
        bias[i] = float(i) * 0.5f;
    }
    si::run(reference, si::unflatten<1, 3>(y.view()) = si::group_norm<3>(x, weight, bias, 1e-5f));
    for (i64 b = 0; b < 2; ++b)
        for (i64 g = 0; g < 3; ++g) {
            double mean = 0, variance = 0;
            for (i64 i = 0; i < 10; ++i) mean += double(x[b * 30 + g * 10 + i]) / 10;
            for (i64 i = 0; i < 10; ++i) variance += std::pow(double(x[b * 30 + g * 10 + i]) - mean, 2) / 10;
            for (i64 i = 0; i < 10; ++i) {
                const i64 channel = g * 2 + i / 5, at = b * 30 + g * 10 + i;
                const double expected = (double(x[at]) - mean) / std::sqrt(variance + 1e-5) * double(weight[channel]) + double(bias[channel]);
                CHECK(std::fabs(double(y[at]) - expected) < 1e-5 * (1 + std::fabs(expected)));
            }
        }
    const auto per_channel = si::extents<6, 1>{};
    const auto z = si::eval(reference, si::batch_norm(x, si::view(bias.data(), per_channel), si::view(weight.data(), per_channel),
                                                      si::view(weight.data(), per_channel), si::view(bias.data(), per_channel), 1e-5f));
    for (i64 i = 0; i < 60; ++i) {
        const i64 c = i / 5 % 6;
        const double expected = (double(x[i]) - double(bias[c])) / std::sqrt(double(weight[c]) + 1e-5) * double(weight[c]) + double(bias[c]);
        CHECK(std::fabs(double(z[i]) - expected) < 1e-5 * (1 + std::fabs(expected)));
    }
}
TEST_CASE("cross_entropy against float64") {
    const table t(50);
    const auto target = grid<i32>(si::extents<5, 1>{}, {0, 49, 7, 20, 3});
    CHECK(near_to(si::eval(reference, si::cross_entropy(t.x, target)), 1, 2e-6, 1e-6,
                  [&](i64 r, i64) { return t.top(r) + std::log(t.exponentials(r)) - t.at(r, i64(target(r, 0))); }));
}
TEST_CASE("activations written from other operators") {
    const auto x = row<float>({-4, -1, -0.5f, 0, 0.5f, 2, 10, support::nan, -infinity, infinity});
    CHECK(same(si::eval(reference, si::leaky_relu(x, 0.25f)), {-1.0f, -0.25f, -0.125f, 0.0f, 0.5f, 2.0f, 10.0f, support::nan, -infinity, infinity}));
    CHECK(close(si::eval(reference, si::hard_sigmoid(x)), {0.0, 0.3, 0.4, 0.5, 0.6, 0.9, 1.0, double(support::nan), 0.0, 1.0}, 1e-6));
    CHECK(close(si::eval(reference, si::hard_swish(row<float>({-4, -1, 0, 2, 10}))), {0.0, -1.0 / 3, 0.0, 5.0 / 3, 10.0}, 1e-6));
}
