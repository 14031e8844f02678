// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators and monoids of a user: written over any lane, so that every backend gives the same bits.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

#include <initializer_list>

using namespace harness;

namespace {
/// x * sigmoid(x), with the lane's own functions and operators.
struct swish {
    static constexpr const char* name = "swish";
    template <class Value>
    SINTER_INLINE Value operator()(Value x) const {
        return x * sigmoid(x);
    }
};
/// Horner's scheme with a choice: literals of the element type on either side.
struct bump {
    static constexpr const char* name = "bump";
    template <class Value>
    SINTER_INLINE Value operator()(Value x, Value scale) const {
        const Value y = fma(x * 0.25f + 1.5f, x, 0.5f - scale);
        return select(abs(x) < 2.0f, y, minimum(x, scale));
    }
};
/// Smallest and largest at once; the value is their distance.
struct range_of {
    static constexpr const char* name = "range";
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value, Value> identity() {
        const Value endless{typename Value::element(__builtin_huge_valf())};
        return si::lane::fields<Value, Value>(endless, -endless);
    }
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value, Value> lift(Value x) {
        return si::lane::fields<Value, Value>(x, x);
    }
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value, Value> combine(const si::lane::fields<Value, Value>& a,
                                                                const si::lane::fields<Value, Value>& b) {
        return si::lane::fields<Value, Value>(minimum(get<0>(a), get<0>(b)), maximum(get<1>(a), get<1>(b)));
    }
    template <class Value>
    static SINTER_INLINE Value finalize(const si::lane::fields<Value, Value>& a) {
        return get<1>(a) - get<0>(a);
    }
};
}  // namespace

TEST_CASE("user operators") {
    tally counted("user operators");
    pointwise_cases(counted, types<float, float, float>{}, types<float, float>{}, si::fused([](auto a, auto b) {
        return si::outputs(si::pointwise<swish>(a), si::pointwise<bump>(a, b), si::pointwise<swish>(a * b) - b);
    }));
}
TEST_CASE("user monoids over rows and columns") {
    tally counted("user monoids");
    fold_cases<4>(counted, types<kept<float>, whole<float>>{}, types<float>{}, si::fused([](auto a) {
        const auto range = si::fold<range_of>(a, si::last_axis);
        return si::outputs(range, a / range);
    }), 9000);
    fold_cases<1>(counted, types<kept<float>>{}, types<float>{}, si::fused([](auto a) { return si::fold<range_of>(a, si::axes<0>); }), 3000);
}

namespace {
/// Not neutral on purpose, which a monoid must not be: combinations with the identity show in the result, and are the rule's all the same.
struct off_balance {
    static constexpr const char* name = "off_balance";
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value> identity() {
        return si::lane::fields<Value>(Value(0.5f));
    }
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value> lift(Value x) {
        return si::lane::fields<Value>(x);
    }
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value> combine(const si::lane::fields<Value>& a, const si::lane::fields<Value>& b) {
        return si::lane::fields<Value>(get<0>(a) * 0.75f + get<0>(b) * 1.5f);
    }
    template <class Value>
    static SINTER_INLINE Value finalize(const si::lane::fields<Value>& a) {
        return get<0>(a);
    }
};
/// Derived from monoids of the library for all but `combine`: what those promise of theirs (an exact identity, sums in place) isn't promised.
struct leaning_sum : si::monoids::sum_of {
    static constexpr const char* name = "leaning_sum";
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value> combine(const si::lane::fields<Value>& a, const si::lane::fields<Value>& b) {
        return si::lane::fields<Value>(get<0>(a) * 0.75f + get<0>(b) * 1.5f);
    }
};
struct leaning_maximum : si::monoids::max_of {
    static constexpr const char* name = "leaning_maximum";
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value> combine(const si::lane::fields<Value>& a, const si::lane::fields<Value>& b) {
        return si::lane::fields<Value>(maximum(get<0>(a) - 0.25f, get<0>(b)));
    }
};
/// Its own `lift` alone, or another identity, too: a maximum that drops NaN's rule for a race would see neither.
struct largest_square : si::monoids::max_of {
    static constexpr const char* name = "largest_square";
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value> lift(Value x) {
        return si::lane::fields<Value>(x * x);
    }
};
struct farthest : si::monoids::min_of {
    static constexpr const char* name = "farthest";
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value> identity() {
        return si::lane::fields<Value>(Value(0.0f));
    }
    template <class Value>
    static SINTER_INLINE si::lane::fields<Value> combine(const si::lane::fields<Value>& a, const si::lane::fields<Value>& b) {
        return si::lane::fields<Value>(maximum(abs(get<0>(a)), abs(get<0>(b))));
    }
};
static_assert(!si::monoids::has_shortcuts<leaning_sum> && !si::monoids::has_exact_identity<leaning_maximum>);
static_assert(!si::reduction<leaning_maximum, si::axes_t<-1>, true>::facts.keeps_codes);
static_assert(si::monoids::has_exact_identity<si::monoids::sum_of> && si::monoids::has_exact_identity<si::monoids::all_of>);
static_assert(si::monoids::has_exact_identity<si::monoids::arg_of<true, si::pick::first>> && si::monoids::has_exact_identity<si::monoids::exact_sum>);
/// x * 3 - x + x / 2, by the compound operators over lanes.
struct compound {
    static constexpr const char* name = "compound";
    template <class Value>
    SINTER_INLINE Value operator()(Value x) const {
        Value y = x;
        y *= 3.0f;
        y -= x;
        x /= 2.0f;
        y += x;
        return y;
    }
};
}  // namespace

TEST_CASE("monoids that are derived from the library's, with a combination of their own") {
    tally counted("derived monoids");
    fold_cases<4>(counted, types<kept<float>, kept<float>>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(si::fold<leaning_sum>(a, si::last_axis), si::fold<leaning_maximum>(a, si::last_axis));
    }), 3000);
    fold_cases<1>(counted, types<kept<float>>{}, types<float>{}, si::fused([](auto a) { return si::fold<leaning_sum>(a, si::axes<0>); }), 1000);
    fold_cases<4>(counted, types<kept<float>>{}, types<float>{}, si::fused([](auto a) { return si::fold<largest_square>(a, si::last_axis); }), 3000);
    fold_cases<4>(counted, types<kept<float>>{}, types<float>{}, si::fused([](auto a) { return si::fold<farthest>(a, si::last_axis); }), 3000);
}
TEST_CASE("a monoid whose identity isn't neutral, over axes of static size 1") {
    tally all("not neutral");
    const auto one = [&](auto sizes, const shape& now, auto axes) {
        using extents_type = decltype(sizes);
        using axes_type = decltype(axes);
        for (int c = 0; c < 4; ++c)
            all.same([](auto y, auto x) { return y = si::fold<off_balance>(x, axes_type{}) + x; },
                     memory<float, extents_type>(place(now, layout(c)), mix::anything, 1),
                     memory<float, extents_type>(place(now, layout(c)), mix::plain, u64(c) + 3));
    };
    for (const i64 n : {i64(1), i64(2), i64(17), i64(130)}) {
        one(si::extents<dyn, 1>(n), {2, {n, 1}}, si::last_axis);                   // the lane rule: a tree with 127 idle lanes
        one(si::extents<1, dyn>(n), {2, {1, n}}, si::axes<0>);                     // the column rule
        one(si::extents<1, dyn>(n), {2, {1, n}}, si::axes<0, 1>);                  // both rules
        one(si::extents<dyn, 1, 1>(n), {3, {n, 1, 1}}, si::axes<1, 2>);
        one(si::extents<1, dyn, 1>(n), {3, {1, n, 1}}, si::axes<0, 2>);
        one(si::extents<1, dyn, 1>(n), {3, {1, n, 1}}, si::axes<0>);
        // Kept axes before a trailing one: the lane rule makes a state of the one element, the column rule folds those.
        one(si::extents<dyn, 3, 1>(n), {3, {n, 3, 1}}, si::axes<0, 2>);
        one(si::extents<3, dyn, 1>(n), {3, {3, n, 1}}, si::axes<0, 2>);
        one(si::extents<dyn, 3, 1, 1>(n), {4, {n, 3, 1, 1}}, si::axes<0, 3>);
        one(si::extents<2, dyn, 3, 1>(n), {4, {2, n, 3, 1}}, si::axes<1, 3>);
        one(si::extents<2, dyn, 3, 1>(n), {4, {2, n, 3, 1}}, si::axes<0, 1, 3>);
    }
    float x[1] = {2};
    CHECK(si::eval(si::reference, si::fold<off_balance>(si::view(x), si::last_axis))[0] != 2.0f);
}
TEST_CASE("variance and what needs it, over columns and a trailing axis of static size 1") {
    tally all("variance of columns of one");
    for (const i64 n : {i64(1), i64(17), i64(130), i64(3000)}) {
        const placement at = place({3, {n, 5, 1}}, layout::contiguous);
        using sizes = si::extents<dyn, 5, 1>;
        all.same([](auto y, auto x) { return y = variance(x, si::axes<0, 2>) + mean(x, si::axes<0, 2>) * x; }, memory<float, sizes>(at, mix::anything, 1), memory<float, sizes>(at, mix::plain, 2));
        all.same([](auto y, auto x) { return y = si::normalize(x, si::axes<0, 2>, 1e-5); }, memory<double, sizes>(at, mix::anything, 3), memory<double, sizes>(at, mix::plain, 4));
    }
}
TEST_CASE("compound operators over lanes") {
    tally all("compound");
    for (int l = 0; l < length_count; ++l)
        all.same([](auto y, auto x) { return y = si::pointwise<compound>(x); },
                 memory<float, si::extents<dyn>>(place({1, {length(l)}}, layout::contiguous), mix::anything, 1),
                 memory<float, si::extents<dyn>>(place({1, {length(l)}}, layout::contiguous), mix::sprinkled, u64(l)));
    float x[3] = {1, -2, 8}, y[3];
    si::run(si::reference, si::view(y) = si::pointwise<compound>(si::view(x)));
    CHECK((y[0] == 2.5f && y[1] == -5.0f && y[2] == 20.0f));
}
