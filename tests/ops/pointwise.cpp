// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operators on the reference backend against oracles in plain loops: types (T1, T2), arithmetic (A1, A3, A4),
// comparison and selection (B1, B2), constants, coordinates, user operators.
#include <doctest/doctest.h>

#include "support.hpp"

using namespace support;
using si::dtype;
using si::reference;

namespace {

template <class Expression>
constexpr dtype type_of_value = si::remove_cvref<Expression>::type.type;

// ---- T2: the value types of results ----
template <class Left, class Right>
constexpr dtype sum_type() {
    using left = si::tensor_view<Left, si::extents<3>>;
    using right = si::tensor_view<Right, si::extents<3>>;
    return type_of_value<decltype(left(nullptr) + right(nullptr))>;
}
template <class Tensor, class Scalar>
constexpr dtype scalar_type() {
    using view = si::tensor_view<Tensor, si::extents<3>>;
    return type_of_value<decltype(view(nullptr) + Scalar{})>;
}
static_assert(sum_type<float, double>() == dtype::f64 && sum_type<f16, float>() == dtype::f32);
static_assert(sum_type<f16, bf16>() == dtype::f32 && sum_type<bf16, f16>() == dtype::f32 && sum_type<f16, f16>() == dtype::f16);
static_assert(sum_type<f16, i64>() == dtype::f16 && sum_type<u8, float>() == dtype::f32 && sum_type<i64, double>() == dtype::f64);
static_assert(sum_type<i8, u8>() == dtype::i16 && sum_type<u8, i16>() == dtype::i16 && sum_type<u16, i16>() == dtype::i32);
static_assert(sum_type<u32, i32>() == dtype::i64 && sum_type<u64, i8>() == dtype::i64 && sum_type<u64, u8>() == dtype::u64);
static_assert(sum_type<bool, bool>() == dtype::u8 && sum_type<bool, i8>() == dtype::i8 && sum_type<bool, f16>() == dtype::f16);
// A C++ scalar is weak.
static_assert(scalar_type<f16, float>() == dtype::f16 && scalar_type<f16, double>() == dtype::f16);
static_assert(scalar_type<float, double>() == dtype::f32 && scalar_type<double, float>() == dtype::f64);
static_assert(scalar_type<i32, double>() == dtype::f32 && scalar_type<u8, int>() == dtype::u8 && scalar_type<i8, i64>() == dtype::i8);
static_assert(scalar_type<bool, int>() == dtype::u8 && scalar_type<bool, float>() == dtype::f32 && scalar_type<float, bool>() == dtype::f32);

using floats = si::tensor_view<float, si::extents<3>>;
using ints = si::tensor_view<i32, si::extents<3>>;
static_assert(type_of_value<decltype(floats(nullptr) < 1)> == dtype::boolean);
static_assert(type_of_value<decltype(exp(ints(nullptr)))> == dtype::f32);
static_assert(type_of_value<decltype(minimum(ints(nullptr), ints(nullptr)))> == dtype::i32);
static_assert(type_of_value<decltype(si::iota<0>(floats(nullptr)))> == dtype::i64);
static_assert(type_of_value<decltype(si::cast<u8>(floats(nullptr)))> == dtype::u8);
static_assert(type_of_value<decltype(is_nan(ints(nullptr)))> == dtype::boolean);

const float tricky[] = {0.0f,    -0.0f,       1.0f,       -1.0f,       0.5f,  -0.5f,      2.5f, -2.5f,   1e-40f,
                        -1e-40f, 0x1p-149f,   infinity,   -infinity,   nan,   3.4e38f,    7.25f, -1e10f, 0x1.fffffep-127f};
constexpr int tricky_count = int(sizeof(tricky) / sizeof(tricky[0]));

/// Every pair of tricky values as two tensors.
struct float_pairs {
    row_of<float> left{i64(tricky_count * tricky_count)}, right{i64(tricky_count * tricky_count)};
    float_pairs() {
        for (int i = 0; i < tricky_count * tricky_count; ++i) {
            left[i] = tricky[i / tricky_count];
            right[i] = tricky[i % tricky_count];
        }
    }
};
template <class Expression, class Oracle>
bool holds(const Expression& expression, const float_pairs& pairs, const Oracle& oracle) {
    const auto found = si::eval(reference, expression);
    return same(found, [&](i64 i) { return oracle(pairs.left[i], pairs.right[i]); });
}
bool negative(float x) { return (bits_of(x) >> 31) != 0; }

// Through memory, so that no flag contracts or folds the oracle's own arithmetic.
float rounded(double exact) {
    volatile float once = static_cast<float>(exact);
    return once;
}

}  // namespace

TEST_CASE("A1: float + - * / round once, sqrt and fma too") {
    const float_pairs pairs;
    const auto& a = pairs.left;
    const auto& b = pairs.right;
    // A sum or product of two floats rounded from double is the correctly rounded one: 2 * 24 + 2 <= 53.
    CHECK(holds(a + b, pairs, [](float x, float y) { return rounded(double(x) + double(y)); }));
    CHECK(holds(a - b, pairs, [](float x, float y) { return rounded(double(x) - double(y)); }));
    CHECK(holds(a * b, pairs, [](float x, float y) { return rounded(double(x) * double(y)); }));
    CHECK(holds(a / b, pairs, [](float x, float y) { return rounded(double(x) / double(y)); }));
    CHECK(holds(a * b + a, pairs, [](float x, float y) { return rounded(double(rounded(double(x) * double(y))) + double(x)); }));
    CHECK(holds(sqrt(a), pairs, [](float x, float) { return rounded(__builtin_sqrt(double(x))); }));
    CHECK(holds(fma(a, b, 0.75f), pairs, [](float x, float y) { return __builtin_fmaf(x, y, 0.75f); }));
    CHECK(holds(-a, pairs, [](float x, float) {
        u32 bits;
        std::memcpy(&bits, &x, 4);
        bits ^= 0x80000000u;
        float out;
        std::memcpy(&out, &bits, 4);
        return out;
    }));
    CHECK(holds(abs(a), pairs, [](float x, float) { return __builtin_fabsf(x); }));
    CHECK(holds(copysign(a, b), pairs, [](float x, float y) { return __builtin_copysignf(x, y); }));
}

TEST_CASE("B1: minimum, maximum, relu and clamp keep NaN and order zeros; fmin and fmax ignore a NaN") {
    const float_pairs pairs;
    const auto& a = pairs.left;
    const auto& b = pairs.right;
    const auto lower = [](float x, float y) { return x == y ? (negative(x) ? x : y) : x < y ? x : y; };
    const auto upper = [](float x, float y) { return x == y ? (negative(x) ? y : x) : x > y ? x : y; };
    const auto minimum_of = [&](float x, float y) { return not_a_number(x) || not_a_number(y) ? nan : lower(x, y); };
    const auto maximum_of = [&](float x, float y) { return not_a_number(x) || not_a_number(y) ? nan : upper(x, y); };
    CHECK(holds(minimum(a, b), pairs, minimum_of));
    CHECK(holds(maximum(a, b), pairs, maximum_of));
    CHECK(holds(fmin(a, b), pairs, [&](float x, float y) { return not_a_number(x) ? y : not_a_number(y) ? x : lower(x, y); }));
    CHECK(holds(fmax(a, b), pairs, [&](float x, float y) { return not_a_number(x) ? y : not_a_number(y) ? x : upper(x, y); }));
    CHECK(holds(relu(a), pairs, [&](float x, float) { return maximum_of(x, 0.0f); }));
    CHECK(holds(clamp(a, b, 2.0f), pairs, [&](float x, float y) { return minimum_of(maximum_of(x, y), 2.0f); }));
    CHECK(holds(clamp(a, 3.0f, b), pairs, [&](float x, float y) { return minimum_of(maximum_of(x, 3.0f), y); }));
    CHECK(same(si::eval(reference, relu(row<float>({-0.0f}))), {0.0f}));
}

// What is expected is told by bits where a NaN or infinity decides: under -ffast-math the compiler knows neither.
namespace {
/// A NaN as either argument of a function of two, beside every kind of number: the result is a NaN, or what `otherwise` says of the other
/// argument (a NaN: nothing). For a function of three the others are equal.
template <class Type, class Function, class First, class Second>
void keeps_nan(const char* name, const Function& function, const First& nan_first, const Second& nan_second) {
    const auto others = row<Type>({0.0f, -0.0f, 1.0f, -1.0f, infinity, -infinity, nan, 0.5f, -2.5f, 3.0f, 1e-40f, -1e-40f, 1e30f, -1e30f});
    const auto nans = repeated<Type>(others.count(), nan);
    const bool first = same(si::eval(reference, function(nans, others)), [&](i64 i) { return nan_first(others(i)); });
    const bool second = same(si::eval(reference, function(others, nans)), [&](i64 i) { return nan_second(others(i)); });
    if (!first || !second) std::printf("%s loses a NaN\n", name);
    CHECK(first);
    CHECK(second);
}
template <class Type>
void arithmetic_keeps_nan() {
    const auto always = [](Type) { return Type(nan); };
    const auto other = [](Type x) { return x; };
    keeps_nan<Type>("+", [](auto x, auto y) { return x + y; }, always, always);
    keeps_nan<Type>("-", [](auto x, auto y) { return x - y; }, always, always);
    keeps_nan<Type>("*", [](auto x, auto y) { return x * y; }, always, always);
    keeps_nan<Type>("/", [](auto x, auto y) { return x / y; }, always, always);
    keeps_nan<Type>("%", [](auto x, auto y) { return x % y; }, always, always);
    keeps_nan<Type>("fmod", [](auto x, auto y) { return fmod(x, y); }, always, always);
    keeps_nan<Type>("remainder", [](auto x, auto y) { return remainder(x, y); }, always, always);
    keeps_nan<Type>("floor_divide", [](auto x, auto y) { return floor_divide(x, y); }, always, always);
    keeps_nan<Type>("fma", [](auto x, auto y) { return fma(x, y, y); }, always, always);
    keeps_nan<Type>("fma's addend", [](auto x, auto y) { return fma(x, x, y); }, always, always);
    keeps_nan<Type>("minimum", [](auto x, auto y) { return minimum(x, y); }, always, always);
    keeps_nan<Type>("maximum", [](auto x, auto y) { return maximum(x, y); }, always, always);
    keeps_nan<Type>("clamp", [](auto x, auto y) { return clamp(x, y, y); }, always, always);
    keeps_nan<Type>("clamp's low", [](auto x, auto y) { return clamp(x, y, x); }, always, always);
    keeps_nan<Type>("clamp's high", [](auto x, auto y) { return clamp(x, x, y); }, always, always);
    keeps_nan<Type>("fmin", [](auto x, auto y) { return fmin(x, y); }, other, other);
    keeps_nan<Type>("fmax", [](auto x, auto y) { return fmax(x, y); }, other, other);
    keeps_nan<Type>("abs of copysign", [](auto x, auto y) { return abs(copysign(x, y)); }, always,
                    [](Type x) { return x < 0 ? -x : x + 0; });
}
}  // namespace
TEST_CASE("a NaN in either argument gives NaN, beside zeros, ones and infinities too") {
    arithmetic_keeps_nan<float>();
    arithmetic_keeps_nan<double>();
    const auto always = [](float) { return nan; };
    keeps_nan<float>("atan2", [](auto x, auto y) { return atan2(x, y); }, always, always);
    keeps_nan<float>("logaddexp", [](auto x, auto y) { return logaddexp(x, y); }, always, always);
    const auto magnitude = [](float x) { return bits_of(x) & 0x7fffffffu; };
    const auto infinite = [&](float x) { return magnitude(x) == magnitude(infinity) ? infinity : nan; };
    keeps_nan<float>("hypot", [](auto x, auto y) { return hypot(x, y); }, infinite, infinite);
    keeps_nan<float>("pow", [](auto x, auto y) { return pow(x, y); }, [&](float x) { return magnitude(x) == 0 ? 1.0f : nan; },
                     [](float x) { return bits_of(x) == bits_of(1.0f) ? 1.0f : nan; });
    keeps_nan<float>("elu", [](auto x, auto y) { return elu(x, y); }, always, [](float x) { return x > 0 ? x : nan; });
}
TEST_CASE("comparisons are IEEE's: false with a NaN, but for !=") {
    const auto is_infinite = [](float x) { return (__builtin_bit_cast(unsigned, x) & 0x7fffffffu) == 0x7f800000u; };
    const auto ordered = [](float x, float y) { return !not_a_number(x) && !not_a_number(y); };
    const float_pairs pairs;
    const auto& a = pairs.left;
    const auto& b = pairs.right;
    CHECK(holds(a < b, pairs, [&](float x, float y) { return ordered(x, y) && x < y; }));
    CHECK(holds(a <= b, pairs, [&](float x, float y) { return ordered(x, y) && x <= y; }));
    CHECK(holds(a > b, pairs, [&](float x, float y) { return ordered(x, y) && x > y; }));
    CHECK(holds(a >= b, pairs, [&](float x, float y) { return ordered(x, y) && x >= y; }));
    CHECK(holds(a == b, pairs, [&](float x, float y) { return ordered(x, y) && x == y; }));
    CHECK(holds(a != b, pairs, [](float x, float y) { return not_a_number(x) || not_a_number(y) || x < y || y < x; }));
    CHECK(holds(is_nan(a), pairs, [](float x, float) { return not_a_number(x); }));
    CHECK(holds(is_inf(a), pairs, [&](float x, float) { return is_infinite(x); }));
    CHECK(holds(is_finite(a), pairs, [&](float x, float) { return !not_a_number(x) && !is_infinite(x); }));
    // Truth of a float: anything but zero, NaN included.
    const auto truth = [](float x) { return not_a_number(x) || x < 0 || x > 0; };
    CHECK(holds(a && b, pairs, [&](float x, float y) { return truth(x) && truth(y); }));
    CHECK(holds(a || b, pairs, [&](float x, float y) { return truth(x) || truth(y); }));
    CHECK(holds(logical_xor(a, b), pairs, [&](float x, float y) { return truth(x) != truth(y); }));
    CHECK(holds(!a, pairs, [&](float x, float) { return !truth(x); }));
}

TEST_CASE("B2, B3: sign, round and their kin, where") {
    const auto x = row<float>({-0.0f, 0.0f, nan, -3.5f, 2.5f, infinity, -infinity, 0.5f, 1.5f, -0.5f, -1e-40f, 8388609.5f});
    CHECK(same(si::eval(reference, sign(x)), {0.0f, 0.0f, nan, -1.0f, 1.0f, 1.0f, -1.0f, 1.0f, 1.0f, -1.0f, -1.0f, 1.0f}));
    CHECK(same(si::eval(reference, round(x)), {-0.0f, 0.0f, nan, -4.0f, 2.0f, infinity, -infinity, 0.0f, 2.0f, -0.0f, -0.0f, 8388610.0f}));
    CHECK(same(si::eval(reference, floor(x)), {-0.0f, 0.0f, nan, -4.0f, 2.0f, infinity, -infinity, 0.0f, 1.0f, -1.0f, -1.0f, 8388610.0f}));
    CHECK(same(si::eval(reference, ceil(x)), {-0.0f, 0.0f, nan, -3.0f, 3.0f, infinity, -infinity, 1.0f, 2.0f, -0.0f, -0.0f, 8388610.0f}));
    CHECK(same(si::eval(reference, trunc(x)), {-0.0f, 0.0f, nan, -3.0f, 2.0f, infinity, -infinity, 0.0f, 1.0f, -0.0f, -0.0f, 8388610.0f}));
    const auto pick = row<bool>({true, false, true});
    CHECK(same(si::eval(reference, where(pick, row<float>({1.0f, nan, 3.0f}), row<float>({nan, 2.0f, infinity}))), {1.0f, 2.0f, 3.0f}));
    CHECK(same(si::eval(reference, where(pick, 1, 2.5f)), {1.0f, 2.5f, 1.0f}));
    CHECK(same(si::eval(reference, clamp(row<float>({-1, 0, 1}), 2, 1)), {1.0f, 1.0f, 1.0f}));
    // Integers are their own floor.
    CHECK(same(si::eval(reference, floor(row<i32>({-7, 7}))), {-7, 7}));
    CHECK(same(si::eval(reference, sign(row<i8>({-128, 0, 127}))), {-1, 0, 1}));
    CHECK(same(si::eval(reference, sign(row<u8>({0, 200}))), {0, 1}));
}

TEST_CASE("T1: a chain of f16 stays in f32; scalars take the compute type") {
    const auto x = row<f16>({1.0f});
    // 2^-12 would vanish beside 1 in f16; in f32 it survives the chain.
    CHECK(same(si::eval(reference, si::cast<float>((x + 0x1p-12f) - x)), {0x1p-12f}));
    CHECK(same(si::eval(reference, si::cast<float>(si::cast<f16>(x + 0x1p-12f) - x)), {0.0f}));
    // 1e-5 isn't rounded to f16.
    CHECK(same(si::eval(reference, si::cast<float>(x * 1e-5)), {1e-5f}));
    CHECK(same(si::eval(reference, si::cast<float>(x * 1e-5f)), {1e-5f}));
    // Stored as f16 it is, once.
    CHECK(same(si::eval(reference, x + 0x1p-12f), {1.0f}));
    // f64 tensors take the double as it is written.
    CHECK(same(si::eval(reference, row<double>({1}) * 0.1), {0.1}));
    CHECK(same(si::eval(reference, row<float>({1}) * 0.1), {0.1f}));
    // i32 with bf16 is bf16, computed in f32: 257 survives until it is stored.
    CHECK(same(si::eval(reference, si::cast<float>(row<i32>({257}) + row<bf16>({0}))), {257.0f}));
    CHECK(same(si::eval(reference, row<i32>({257}) + row<bf16>({0})), {256.0f}));
}

TEST_CASE("A3, A4: float remainders are exact, integer powers too") {
    const auto a = row<float>({-1, 2, -1, 1, 5.5f, -5.5f, 1e30f, infinity, 3, 0.0f, -0.0f});
    const auto b = row<float>({1, -1, 1, -1, 2, 2, 7, 2, infinity, 3, 3});
    CHECK(same(si::eval(reference, remainder(row<float>({-1, 2}), row<float>({1, -1}))), {0.0f, -0.0f}));
    CHECK(same(si::eval(reference, fmod(row<float>({-1, 1}), row<float>({1, -1}))), {-0.0f, 0.0f}));
    CHECK(same(si::eval(reference, fmod(a, b)), [&](i64 i) { return __builtin_fmodf(a(i), b(i)); }));
    CHECK(same(si::eval(reference, a % b), [&](i64 i) { return __builtin_fmodf(a(i), b(i)); }));
    CHECK(same(si::eval(reference, remainder(row<float>({5.5f, -5.5f, 5.5f}), row<float>({2, 2, -2}))), {1.5f, 0.5f, -0.5f}));
    CHECK(same(si::eval(reference, floor_divide(row<float>({5.5f, -5.5f, 1, 0.3f}), row<float>({2, 2, 0.1f, 0.1f}))), {2.0f, -3.0f, 9.0f, 3.0f}));
    for (int base = -12; base <= 12; ++base)
        for (int exponent = 0; exponent <= 24; ++exponent) {
            double exact = 1;
            for (int i = 0; i < exponent; ++i) exact *= base;
            if (exact > 16777216.0 || exact < -16777216.0) continue;
            CHECK(same(si::eval(reference, pow(row<float>({base}), row<float>({exponent}))), {float(exact)}));
        }
    CHECK(same(si::eval(reference, pow(row<float>({0, -0.0f, -0.0f, -2, 0, nan, 1, -1}), row<float>({-1, -1, -2, 3, 0, 0, nan, infinity}))),
               {infinity, -infinity, infinity, -8.0f, 1.0f, 1.0f, 1.0f, 1.0f}));
}

TEST_CASE("broadcasting, against index arithmetic") {
    si::tensor<i32, si::extents<2, 1, 4>> a;
    si::tensor<i32, si::extents<3, 1>> b;
    for (i64 i = 0; i < a.count(); ++i) a[i] = i32(i + 1);
    for (i64 i = 0; i < b.count(); ++i) b[i] = i32(10 * (i + 1));
    const auto sums = si::eval(reference, a + b);
    static_assert(si::is_same<si::remove_cvref<decltype(sums)>, si::tensor<i32, si::extents<2, 3, 4>>>);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 4; ++k) CHECK(sums.view()(i, j, k) == a.view()(i, 0, k) + b.view()(j, 0));
    // Only a static 1 is stretched: run-time sizes must agree.
    float few[1] = {7}, many[5]{};
    const si::tensor_view<float, si::extents<dyn>> one(few, 1), five(many, 5);
    CHECK(si::try_run(reference, five = one + five).code() == si::error::size_mismatch);
    CHECK(si::try_run(reference, five = si::squeeze<0>(si::view(few, si::extents<1, 1>{})) + five).ok());
    CHECK(many[4] == 7);
}

TEST_CASE("iota gives coordinates of any axis, of a tensor or of a shape") {
    si::tensor<float, si::extents<2, 3>> x;
    CHECK(same(si::eval(reference, si::iota<0>(x)), {0, 1}));
    CHECK(same(si::eval(reference, si::iota<-1>(x)), {0, 1, 2}));
    CHECK(same(si::eval(reference, si::iota<0>(x) * 10 + si::iota<1>(x)), {0, 1, 2, 10, 11, 12}));
    CHECK(same(si::eval(reference, si::iota<0>(si::extents<dyn>(4))), {0, 1, 2, 3}));
    CHECK(same(si::eval(reference, si::iota<0>(si::extents<9>{}) * 1500000000), [](i64 i) { return i * 1500000000; }));
}

namespace {
struct cube {
    static constexpr const char* name = "cube";
    template <class Value>
    SINTER_INLINE Value operator()(Value x) const {
        return x * x * x;
    }
};
struct is_even {
    static constexpr const char* name = "is_even";
    static constexpr si::type_rule rule = &si::rules::bitwise;
    template <class Value>
    SINTER_INLINE Value operator()(Value x) const {
        return (x & typename Value::element(1)) ^ typename Value::element(1);
    }
};
struct lerp {
    static constexpr const char* name = "lerp";
    template <class Value>
    SINTER_INLINE Value operator()(Value a, Value b, Value t) const {
        return a + (b - a) * t;
    }
};
struct with_numbers {
    static constexpr const char* name = "with_numbers";
    template <class Value>
    SINTER_INLINE Value operator()(Value x) const {
        const Value bounded = clamp(maximum(minimum(x, 8.0f), -8.0f), -4.0f, 4.0f);
        return select(x > 2.0f, pow(bounded, 2.0f), select(x < 0.0f, 1.0f, copysign(fmax(0.5f, x), -1.0f)));
    }
};
}  // namespace
TEST_CASE("numbers beside lanes in the functions of a user's operator") {
    CHECK(same(si::eval(reference, si::pointwise<with_numbers>(row<float>({9, 3, 1, 0, -1}))), {16.0f, 9.0f, -1.0f, -0.5f, 1.0f}));
}
TEST_CASE("user operators of one and more operands, alone and in formulas") {
    CHECK(same(si::eval(reference, si::pointwise<cube>(row<float>({-2, 0.5f}))), {-8.0f, 0.125f}));
    CHECK(same(si::eval(reference, si::pointwise<cube>(row<i8>({2, 6}))), {8, -40}));
    CHECK(same(si::eval(reference, si::pointwise<is_even>(row<i32>({3, 4}))), {0, 1}));
    CHECK(same(si::eval(reference, si::pointwise<lerp>(row<float>({0, 10}), row<float>({4, 20}), 0.25f)), {1.0f, 12.5f}));
    const auto x = row<float>({3});
    CHECK(same(si::eval(reference, si::let(x, [](auto v) { return si::pointwise<cube>(v + 1) - v; })), {61.0f}));
}
