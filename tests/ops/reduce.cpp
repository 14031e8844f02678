// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions on the reference backend: the canonical order (C1) against a second implementation in plain loops, identities and
// empty reductions (C2, C4), accumulators (C3), variance's accuracy (C5), argmax (B3), user monoids.
#include <doctest/doctest.h>

#include "support.hpp"

using namespace support;
using si::reference;

namespace {

float plus(float a, float b) {
    volatile float sum = a + b;
    return sum;
}
/// Adjacent pairs level by level, an odd last one carried up unchanged.
float pairs(float* value, i64 count) {
    while (count > 1) {
        i64 next = 0;
        for (i64 i = 0; i + 1 < count; i += 2) value[next++] = plus(value[i], value[i + 1]);
        if (count % 2) value[next++] = value[count - 1];
        count = next;
    }
    return value[0];
}
/// C1's lane rule, from its text.
template <class At>
float lane_sum(i64 count, const At& at) {
    if (count == 0) return 0;
    float segment[200];
    const i64 segments = (count + 1023) / 1024;
    for (i64 s = 0; s < segments; ++s) {
        float lane[128]{};
        for (i64 i = s * 1024; i < count && i < (s + 1) * 1024; ++i) lane[i % 128] = plus(lane[i % 128], at(i));
        for (int stride = 64; stride >= 1; stride /= 2)
            for (int l = 0; l < stride; ++l) lane[l] = plus(lane[l], lane[l + stride]);
        segment[s] = lane[0];
    }
    return pairs(segment, segments);
}
/// C1's column rule over results that `row(c)` gives; without trailing axes an accumulator starts from the identity.
template <class Row>
float column_sum(i64 count, const Row& row, bool from_identity) {
    if (count == 0) return 0;
    float segment[200];
    const i64 segments = (count + 63) / 64;
    for (i64 s = 0; s < segments; ++s) {
        i64 c = s * 64;
        float all = from_identity ? 0.0f : row(c++);
        for (; c < count && c < (s + 1) * 64; ++c) all = plus(all, row(c));
        segment[s] = all;
    }
    return pairs(segment, segments);
}

row_of<float> noise(i64 count, u64 seed = 3) {
    generator random{seed};
    row_of<float> out(count);
    for (float& x : out) x = float(random.unit() * (random() % 8 ? 1 : 1000));
    return out;
}

}  // namespace

TEST_CASE("C1: the lane rule") {
    const row_of<float> x = noise(20000);
    for (const i64 n : {1, 2, 63, 64, 65, 127, 128, 129, 1000, 1023, 1024, 1025, 2048, 3000, 9000, 20000}) {
        const auto head = si::slice<0>(x.view(), 0, n);
        CHECK(same(si::eval(reference, sum(head)), lane_sum(n, [&](i64 i) { return x[i]; })));
        CHECK(same(si::eval(reference, mean(head)), lane_sum(n, [&](i64 i) { return x[i]; }) / float(n)));
    }
}
TEST_CASE("C1: the column rule, and both rules together") {
    const row_of<float> x = noise(3 * 500 * 7);
    for (const i64 n : {1, 2, 63, 64, 65, 128, 129, 300, 500}) {
        // Over the first axis.
        const auto columns = si::view(x.data(), si::extents<dyn, 7>(n));
        CHECK(same(si::eval(reference, sum(columns, si::axes<0>)),
                   [&](i64 k) { return column_sum(n, [&](i64 c) { return x[c * 7 + k]; }, true); }));
        // Over the first and the last axis of (n, 3, 7): rows by the lane rule, then the column rule.
        const auto block = si::view(x.data(), si::extents<dyn, 3, 7>(n));
        CHECK(same(si::eval(reference, sum(block, si::axes<0, 2>, si::drop)), [&](i64 k) {
            return column_sum(n, [&](i64 c) { return lane_sum(7, [&](i64 l) { return x[(c * 3 + k) * 7 + l]; }); }, false);
        }));
        // Over the first two: both are outer axes, linearised.
        CHECK(same(si::eval(reference, sum(block, si::axes<0, 1>)), [&](i64 k) {
            return column_sum(n * 3, [&](i64 c) { return x[c * 7 + k]; }, true);
        }));
        // Over the last two: one row of 21.
        CHECK(same(si::eval(reference, sum(block, si::axes<1, 2>)), [&](i64 k) {
            return lane_sum(21, [&](i64 l) { return x[k * 21 + l]; });
        }));
    }
}
TEST_CASE("C1: strides don't change bits") {
    const row_of<float> x = noise(4000);
    row_of<float> spread(i64(8000)), backwards(i64(4000));
    for (i64 i = 0; i < 4000; ++i) {
        spread[2 * i + 1] = x[i];
        backwards[3999 - i] = x[i];
    }
    const float plain = si::eval(reference, sum(x));
    CHECK(same(si::eval(reference, sum(si::slice<0>(spread.view(), 1, 8000, 2))), plain));
    CHECK(same(si::eval(reference, sum(si::flip<0>(backwards.view()))), plain));
}
TEST_CASE("C2, C4: identities, and reductions over nothing") {
    const si::tensor<float, si::extents<2, 0>> none;
    CHECK(same(si::eval(reference, sum(none, si::last_axis)), {0.0f, 0.0f}));
    CHECK(same(si::eval(reference, prod(none, si::last_axis)), {1.0f, 1.0f}));
    CHECK(same(si::eval(reference, max(none, si::last_axis)), {-infinity, -infinity}));
    CHECK(same(si::eval(reference, min(none, si::last_axis)), {infinity, infinity}));
    CHECK(same(si::eval(reference, mean(none, si::last_axis)), {nan, nan}));
    CHECK(same(si::eval(reference, variance(none, si::last_axis)), {nan, nan}));
    CHECK(same(si::eval(reference, variance(none, si::last_axis, 1)), {nan, nan}));  // not 0 / (0 - 1)
    CHECK(same(si::eval(reference, logsumexp(none, si::last_axis)), {-infinity, -infinity}));
    CHECK(same(si::eval(reference, any(none != 0, si::last_axis)), {false, false}));
    CHECK(same(si::eval(reference, all(none != 0, si::last_axis)), {true, true}));
    CHECK(same(si::eval(reference, sum(si::cast<i8>(none), si::last_axis)), {0, 0}));
    // A sum is never -0; the maximum of zeros is +0, the minimum -0.
    CHECK(same(si::eval(reference, sum(row<float>({-0.0f, -0.0f}))), 0.0f));
    CHECK(same(si::eval(reference, max(row<float>({-0.0f, 0.0f, -0.0f}))), 0.0f));
    CHECK(same(si::eval(reference, min(row<float>({0.0f, -0.0f, 0.0f}))), -0.0f));
    CHECK(same(si::eval(reference, max(row<float>({-infinity, -infinity}))), -infinity));
    CHECK(same(si::eval(reference, max(row<float>({1, nan, 3}))), nan));
}
TEST_CASE("C4: integers and argmax over nothing are a status") {
    si::tensor<i32, si::extents<dyn, dyn>> none(2, 0);
    si::tensor<i64, si::extents<dyn, 1>> out(2);
    out[0] = 7;
    CHECK(si::try_run(reference, out.view() = max(none, si::last_axis)).code() == si::error::empty_reduction);
    CHECK(si::try_run(reference, out.view() = si::argmax(none, si::last_axis)).code() == si::error::empty_reduction);
    CHECK(out[0] == 7);
    CHECK(si::try_run(reference, out.view() = sum(none, si::last_axis)).ok());
    CHECK(out[0] == 0);
    // No rows: nothing is asked for.
    si::tensor<i32, si::extents<dyn, dyn>> no_rows(0, 0);
    si::tensor<i64, si::extents<dyn, 1>> nothing(0);
    CHECK(si::try_run(reference, nothing.view() = max(no_rows, si::last_axis)).ok());
}
TEST_CASE("C3: integers sum in 64 bits, f16 in f32") {
    static_assert(si::is_same<decltype(si::eval(reference, sum(row<i8>({1})))), i64>);
    static_assert(si::is_same<decltype(si::eval(reference, sum(row<u16>({1})))), u64>);
    static_assert(si::is_same<decltype(si::eval(reference, sum(row<bool>({true})))), i64>);
    static_assert(si::is_same<decltype(si::eval(reference, sum(row<f16>({1})))), f16>);
    static_assert(si::is_same<decltype(si::eval(reference, mean(row<i32>({1})))), float>);
    static_assert(si::is_same<decltype(si::eval(reference, max(row<i8>({1})))), i8>);
    CHECK(si::eval(reference, sum(repeated<i8>(1000, 127))) == 127000);
    CHECK(si::eval(reference, prod(repeated<i32>(40, 3))) == 12157665459056928801u - 0);
    CHECK(si::eval(reference, sum(repeated<u8>(70000, 255))) == 17850000u);
    CHECK(si::eval(reference, sum(repeated<bool>(70000, true))) == 70000);
    CHECK(si::eval(reference, mean(row<i32>({7, 7, 3}))) == 17.0f / 3);
    // 4096 ones and more are beyond f16's integers: the fold is in f32, only the store rounds.
    CHECK(same(si::eval(reference, sum(repeated<f16>(5001, 1))), si::convert<f16>(5000.0f)));
    CHECK(si::eval(reference, si::cast<float>(sum(repeated<f16>(5001, 1)) + 0)) == 5001.0f);
    CHECK(si::eval(reference, sum(repeated<f16>(5001, 1)) - 5000.0f).bits == si::convert<f16>(1.0f).bits);
    CHECK(same(si::eval(reference, mean(repeated<f16>(70528, 1))), si::convert<f16>(1.0f)));
}
TEST_CASE("C5: variance, one formula for every length, accurate far from zero") {
    for (const i64 n : {2, 3, 64, 65, 1000, 1024, 1025, 5000}) {
        generator random{u64(n)};
        const auto x = generated<float>(n, [&](i64) { return 10000.0f + float(random.unit()); });
        double mean_of = 0, squares = 0;
        for (i64 i = 0; i < n; ++i) mean_of += double(x(i));
        mean_of /= double(n);
        for (i64 i = 0; i < n; ++i) squares += (double(x(i)) - mean_of) * (double(x(i)) - mean_of);
        CAPTURE(n);
        CHECK(close(double(si::eval(reference, variance(x))), squares / double(n), 1e-6));
        CHECK(close(double(si::eval(reference, variance(x, si::last_axis, 1))[0]), squares / double(n - 1), 1e-6));
    }
    CHECK(same(si::eval(reference, variance(row<float>({2281.5f, 2281.25f}))), 0.015625f));
    CHECK(same(si::eval(reference, variance(row<float>({5}))), 0.0f));
    CHECK(same(si::eval(reference, variance(row<float>({5}), si::last_axis, 1)), {nan}));
}
TEST_CASE("every reduction takes nothing, axes, or axes and drop; variance a correction too") {
    const auto x = grid<float>(si::extents<2, 2>{}, {1, 3, 2, 8});
    const auto shapes = [](const auto& all, const auto& kept, const auto& dropped) {
        using all_type = si::remove_cvref<decltype(all)>;
        using kept_type = si::remove_cvref<decltype(kept)>;
        using dropped_type = si::remove_cvref<decltype(dropped)>;
        return si::is_same<typename all_type::extents_type, si::extents<>> && si::is_same<typename kept_type::extents_type, si::extents<2, 1>> &&
               si::is_same<typename dropped_type::extents_type, si::extents<2>>;
    };
#define THREE_FORMS(function) CHECK(shapes(function(x), function(x, si::axes<1>), function(x, si::axes<1>, si::drop)))
    THREE_FORMS(sum);
    THREE_FORMS(prod);
    THREE_FORMS((si::max));
    THREE_FORMS((si::min));
    THREE_FORMS(any);
    THREE_FORMS(all);
    THREE_FORMS(si::argmax);
    THREE_FORMS(si::argmin);
    THREE_FORMS(mean);
    THREE_FORMS(variance);
    THREE_FORMS(sum_square);
    THREE_FORMS(norm_l1);
    THREE_FORMS(norm_l2);
    THREE_FORMS(logsumexp);
    THREE_FORMS(si::fold<si::monoids::sum_of>);
#undef THREE_FORMS
    CHECK(same(si::eval(reference, variance(x)), 7.25f));
    CHECK(same(si::eval(reference, variance(x, 1)), 29.0f / 3));
    CHECK(same(si::eval(reference, variance(x, 0.5f)), 29.0f / 3.5f));
    CHECK(same(si::eval(reference, variance(x, si::axes<1>, si::drop)), {1, 9}));
    CHECK(same(si::eval(reference, si::let(x, [](auto v) { return v - variance(v, 1) * 3; })), {-28, -26, -27, -21}));
    CHECK(same(si::eval(reference, si::let(x, [](auto v) { return variance(v, si::axes<1>, si::drop) + variance(v, si::axes<1>, 1, si::drop); })),
               {3, 27}));
}
TEST_CASE("B3: argmax and argmin: first of equals, first NaN; pick::last the last") {
    const auto ties = row<float>({5, 1, 7, 1, 7, 1});
    CHECK(si::eval(reference, si::argmax(ties)) == 2);
    CHECK(si::eval(reference, si::argmin(ties)) == 1);
    CHECK(si::eval(reference, si::argmax<si::pick::last>(ties)) == 4);
    CHECK(si::eval(reference, si::argmin<si::pick::last>(ties)) == 5);
    const auto nans = row<float>({5, nan, 7, nan, 1});
    CHECK(si::eval(reference, si::argmax(nans)) == 1);
    CHECK(si::eval(reference, si::argmin(nans)) == 1);
    CHECK(si::eval(reference, si::argmax<si::pick::last>(nans)) == 3);
    CHECK(si::eval(reference, si::argmax(row<float>({-infinity, -infinity}))) == 0);
    CHECK(si::eval(reference, si::argmax(row<float>({-0.0f, 0.0f}))) == 0);  // equal by comparison
    CHECK(si::eval(reference, si::argmin(row<i8>({-128, -128}))) == 0);
    CHECK(si::eval(reference, si::argmax(repeated<u64>(3000, 0))) == 0);
    CHECK(same(si::eval(reference, si::argmax(grid<i64>(si::extents<3, 2>{}, {1, 5, 2, 10, 3, 3}), si::axes<1>)), {1, 1, 0}));
    // Over several axes the index is into their linearised positions; over all, into the whole.
    const auto block = grid<i32>(si::extents<2, 2, 2>{}, {1, 2, 3, 4, 9, 0, 0, 9});
    CHECK(same(si::eval(reference, si::argmax(block, si::axes<1, 2>)), {3, 0}));
    CHECK(same(si::eval(reference, si::argmax(block, si::axes<0, 2>)), {2, 3}));
    CHECK(si::eval(reference, si::argmax(block)) == 4);
}
TEST_CASE("norms, any, all, drop and keep") {
    const auto x = grid<float>(si::extents<2, 3>{}, {1, -2, 2, 0, 3, -4});
    CHECK(same(si::eval(reference, norm_l1(x, si::last_axis)), {5.0f, 7.0f}));
    CHECK(same(si::eval(reference, norm_l2(x, si::last_axis)), {3.0f, 5.0f}));
    CHECK(same(si::eval(reference, sum_square(x, si::last_axis)), {9.0f, 25.0f}));
    CHECK(same(si::eval(reference, any(x < -3, si::last_axis)), {false, true}));
    CHECK(same(si::eval(reference, all(x != 0, si::last_axis)), {true, false}));
    CHECK(same(si::eval(reference, prod(x, si::axes<0>)), {0.0f, -6.0f, -8.0f}));
    const auto with_kept_axis = si::eval(reference, sum(x, si::axes<0>));
    const auto dropped = si::eval(reference, sum(x, si::axes<0>, si::drop));
    static_assert(si::is_same<si::remove_cvref<decltype(with_kept_axis)>, si::tensor<float, si::extents<1, 3>>>);
    static_assert(si::is_same<si::remove_cvref<decltype(dropped)>, si::tensor<float, si::extents<3>>>);
    CHECK(same(dropped, {1.0f, 1.0f, -2.0f}));
}

TEST_CASE("all_close is numpy's: equal, or near a finite number; a NaN is near nothing") {
    const auto x = row<float>({1.0f, 100.0f, 0.0f, infinity});
    CHECK(si::eval(reference, all_close(x, x)));
    CHECK(si::eval(reference, all_close(x, row<float>({1.000005f, 100.0005f, 5e-9f, infinity}))));
    CHECK(!si::eval(reference, all_close(x, row<float>({1.0001f, 100.0f, 0.0f, infinity}))));
    CHECK(si::eval(reference, all_close(x, row<float>({1.0001f, 100.0f, 0.0f, infinity}), 1e-3f)));
    CHECK(!si::eval(reference, all_close(x, row<float>({1.0f, 100.0f, 0.001f, infinity}))));
    CHECK(si::eval(reference, all_close(x, row<float>({1.0f, 100.0f, 0.001f, infinity}), 0.0f, 0.01f)));
    CHECK(!si::eval(reference, all_close(x, row<float>({1.0f, 100.0f, 0.0f, -infinity}))));
    CHECK(!si::eval(reference, all_close(row<float>({1.0f}), row<float>({infinity}))));
    CHECK(!si::eval(reference, all_close(row<float>({nan}), row<float>({nan}))));
    CHECK(si::eval(reference, all_close(row<float>({2.0f, 2.0f}), 2)));
    CHECK(si::eval(reference, all_close(row<int>({3, -7}), row<int>({3, -7}))));
    CHECK(!si::eval(reference, all_close(row<int>({3, -7}), row<int>({3, -8}))));
    CHECK(si::eval(reference, all_close(row<float>({-2147483000.0f}), row<int>({-2147483647 - 1}))));
    const auto traced = si::fused([](auto a, auto b) { return all_close(a * 2, b, 0.0f, 0.5f); });
    CHECK(si::eval(reference, traced(row<float>({1.0f, 2.0f}), row<float>({2.25f, 4.5f}))));
}
namespace {
/// Every pair of the ends, the middle and their neighbours, with whole and fractional tolerances, against integers of 128 bits.
template <class Left, class Right>
void distances_are_exact() {
    using wide = __int128;
    const auto values = []<class Type>(Type) {
        const Type low = std::is_signed_v<Type> ? Type(u64(1) << (sizeof(Type) * 8 - 1)) : Type(0), high = Type(~low), middle = Type(high / 2);
        return row<Type>({low, Type(low + 1), Type(low + 2), Type(0), Type(3), Type(5), middle, Type(middle + 1), Type(high - 2), Type(high - 1), high});
    };
    const auto x = values(Left{});
    const auto y = values(Right{});
    int wrong = 0;
    for (i64 i = 0; i < x.count(); ++i)
        for (i64 j = 0; j < y.count(); ++j)
            for (const float absolute : {0.0f, 1e-8f, 0.9375f, 1.0f, 2.0f, 3e38f, -1.0f, nan})
                for (const float relative : {0.0f, 0.25f, 1.0f}) {
                    const wide left = x(i), right = y(j), distance = left < right ? right - left : left - right, size = right < 0 ? -right : right;
                    if (relative != 0 && size >> 53 != 0) continue;  // what is allowed is an f64
                    // Quarters and sixteenths of what is allowed, but for the infinite.
                    const bool wanted = distance == 0 || absolute > 1e30f ||
                                        (absolute == absolute && wide(16) * distance <= wide(absolute * 16) + wide(relative * 4) * 4 * size);
                    const auto one = si::view(&x(i), si::extents<1>{});
                    const auto two = si::view(&y(j), si::extents<1>{});
                    wrong += si::eval(reference, all_close(one, two, relative, absolute)) != wanted;
                }
    CHECK(wrong == 0);
}
}  // namespace
TEST_CASE("all_close of integers: no distance wraps, no comparison rounds") {
    distances_are_exact<i8, i8>();
    distances_are_exact<u8, u8>();
    distances_are_exact<i16, i16>();
    distances_are_exact<i32, i32>();
    distances_are_exact<u32, u32>();
    distances_are_exact<i64, i64>();
    distances_are_exact<u64, u64>();
    distances_are_exact<i8, u8>();
    distances_are_exact<i32, u32>();
    for (const bool left : {false, true})
        for (const bool right : {false, true}) {
            const auto x = row<bool>({left}), y = row<bool>({right});
            CHECK(si::eval(reference, all_close(x, y)) == (left == right));
            CHECK(si::eval(reference, all_close(x, y, 0.0f, 1.0f)));
        }
}

namespace {
/// Sum and sum of squares at once: the state has two fields of one type.
struct spread_of {
    static constexpr const char* name = "spread";
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value, Value> identity() {
        return si::lane::fields<Value, Value>(Value(typename Value::element(0)), Value(typename Value::element(0)));
    }
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value, Value> lift(Value x) {
        return si::lane::fields<Value, Value>(x, x * x);
    }
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value, Value> combine(const si::lane::fields<Value, Value>& a,
                                                                const si::lane::fields<Value, Value>& b) {
        return si::lane::fields<Value, Value>(get<0>(a) + get<0>(b), get<1>(a) + get<1>(b));
    }
    template <class Value>
    static SINTER_INLINE Value finalize(const si::lane::fields<Value, Value>& a) {
        return get<1>(a) - get<0>(a);
    }
};
}  // namespace
TEST_CASE("a user's monoid folds") {
    CHECK(si::eval(reference, si::fold<spread_of>(row<float>({1, 2, 3}))) == 8.0f);
    CHECK(same(si::eval(reference, si::fold<spread_of>(grid<float>(si::extents<2, 2>{}, {1, 2, 3, 4}), si::axes<0>)), {6.0f, 14.0f}));
    CHECK(si::eval(reference, si::fold<spread_of>(repeated<float>(1500, 3))) == 9000.0f);
}
