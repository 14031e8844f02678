// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators and monoids of a user: written over any lane, so that every backend gives the same bits.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

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
