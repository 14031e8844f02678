// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantized views as operands and outputs, conversions by name, scales that a kernel finds: the reference against plain numbers, the
// vectors against the reference, at every length and step; and what becomes one kernel.
#include <doctest/doctest.h>

#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace si = sinter;
using namespace sinter::literals;
using si::dyn;
using si::extents;
using si::i64;

namespace {

using first_type = si::q8<"0.05:3"_qp>;
using second_type = si::qu8<"0.013:7"_qp>;
using result_type = si::q8<"0.0773:-5"_qp>;
using wide_type = si::q16<"0.001:-77"_qp>;
using wide_unsigned = si::qu16<"0.0003:40000"_qp>;
using narrow_type = si::q8<si::narrow("0.25"_qp)>;

template <class Type>
using vector_view = si::tensor_view<Type, extents<dyn>, si::strided>;
template <class Type>
vector_view<Type> steps(Type* memory, i64 count, i64 step) {
    return vector_view<Type>(step < 0 ? memory - (count - 1) * step : memory, extents<dyn>(count), {{step}});
}
const float special[] = {0.0f, -0.0f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN, 1e-40f, 0.5f, -0.5f, 6.375f, 6.35f};
float number(int i) { return i % 5 == 0 ? special[i / 5 % 12] : float((i * 7919) % 2003 - 1000) * 0.0131f; }

/// Everything that one formula does with memory, on both backends.
template <class Output, class Formula, class... Inputs>
void same_everywhere(const Formula& formula, const std::vector<Inputs>&... inputs) {
    int wrong = 0;
    for (const int count : {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 64, 65, 255, 256, 257, 1000})
        for (const i64 step : {1, 2, -1}) {
            std::vector<Output> wanted(2048), found(2048);
            si::run(si::reference, steps(wanted.data(), count, step) = formula(steps(const_cast<Inputs*>(inputs.data()), count, step)...));
            si::run(si::cpu, steps(found.data(), count, step) = formula(steps(const_cast<Inputs*>(inputs.data()), count, step)...));
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                if constexpr (si::is_quantized<Output>)
                    wrong += wanted[i].code != found[i].code;
                else if constexpr (std::is_same_v<Output, float>)
                    wrong += si::step::is_nan(wanted[i]) ? !si::step::is_nan(found[i]) : std::memcmp(&wanted[i], &found[i], 4) != 0;
                else
                    wrong += wanted[i] != found[i];
            }
        }
    CHECK(wrong == 0);
}
template <class Type>
std::vector<Type> every_code() {
    std::vector<Type> out(2048);
    for (int i = 0; i < 2048; ++i) out[std::size_t(i)].code = static_cast<typename Type::code_type>(sizeof(Type) == 1 ? i * 7 + i / 256 : i * 97 - 32768);
    return out;
}
std::vector<float> numbers() {
    std::vector<float> out;
    for (int i = 0; i < 2048; ++i) out.push_back(number(i));
    return out;
}

// ---- plans
template <class Type, i64... Sizes>
using plane = si::tensor_view<Type, extents<Sizes...>>;
constexpr auto add_relu = [](const auto& y, const auto& a, const auto& b) { return y = relu(a + b); };
using three_scales = decltype(add_relu(std::declval<plane<result_type, 4096>>(), std::declval<plane<first_type, 4096>>(), std::declval<plane<second_type, 4096>>()));
static_assert(si::plan_of<three_scales>.kernels == 1 && si::plan_of<three_scales>.passes == 1);
static_assert(si::plan_of<three_scales>.bytes() == 3 * 4096);

inline constexpr auto norm_to_int8 = si::fused([](auto x, auto weight) { return dynamic_quantize(si::rms_norm(x, weight, 1e-5f)); });
using norm_assignment = decltype(si::tie(std::declval<plane<si::i8, 64, 4096>>(), std::declval<plane<float, 64, 1>>()) =
                                     norm_to_int8(std::declval<plane<const float, 64, 4096>>(), std::declval<plane<const float, 4096>>()));
static_assert(si::plan_of<norm_assignment>.kernels == 1 && si::plan_of<norm_assignment>.loads == 2 && si::plan_of<norm_assignment>.stores == 2);
static_assert(si::plan_of<norm_assignment>.bytes() == 64 * 4096 * (4 + 1) + 4096 * 4 + 64 * 4);

}  // namespace

TEST_CASE("real values: the reference is the scalar formula") {
    const auto a = every_code<first_type>();
    const auto b = every_code<second_type>();
    std::vector<result_type> y(a.size());
    std::vector<float> real(a.size());
    si::run(si::reference, si::view(y) = relu(si::view(a) + si::view(b)), si::view(real) = si::view(a) * si::view(b));
    int wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const float sum = float(a[i]) + float(b[i]);
        wrong += y[i].code != result_type(sum < 0 ? 0.0f : sum).code;
        wrong += real[i] != float(a[i]) * float(b[i]);
    }
    CHECK(wrong == 0);
}
TEST_CASE("codes in, codes out, at every length and step") {
    same_everywhere<result_type>([](auto a, auto b) { return relu(a + b); }, every_code<first_type>(), every_code<second_type>());
    same_everywhere<wide_type>([](auto a, auto b) { return a * b - 1.5f; }, every_code<wide_type>(), every_code<narrow_type>());
    same_everywhere<float>([](auto a) { return a * 1.0f; }, every_code<wide_unsigned>());
    same_everywhere<wide_unsigned>([](auto x) { return copy(x); }, numbers());
    same_everywhere<result_type>([](auto x) { return copy(x); }, numbers());
    same_everywhere<second_type>([](auto x) { return x + 0.25f; }, numbers());
    same_everywhere<narrow_type>([](auto x) { return si::cast<double>(x) * 0.9999999999; }, numbers());
}
template <si::qparams Parameters>
void near_thresholds() {
    using type = si::q8<Parameters>;
    std::vector<float> x(std::begin(special), std::end(special));
    for (int half = -600; half <= 600; ++half)
        for (int step = -5; step <= 5; ++step) {
            float near_it = float(half) * 0.5f * Parameters.scale();
            for (int i = 0; i < std::abs(step); ++i) near_it = std::nextafter(near_it, step < 0 ? -INFINITY : INFINITY);
            x.push_back(near_it);
        }
    std::vector<type> codes(x.size());
    si::run(si::cpu, si::view(codes) = copy(si::view(x)));
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) wrong += codes[i].code != si::quantize_code(x[i], type::parameters);
    CHECK(wrong == 0);
}
TEST_CASE("quotients by static scales, however they are computed") {
    near_thresholds<"0.05:3"_qp>();
    near_thresholds<"0.0773:-5"_qp>();
    near_thresholds<"0x3b0cceaa"_qp>();
    near_thresholds<"0x3e99999a:-128"_qp>();
    near_thresholds<"0x40490fdb:127"_qp>();
    near_thresholds<"0x33d6bf95:-1"_qp>();
    near_thresholds<"0x3f7fffff:64"_qp>();
    near_thresholds<"0.25:7"_qp>();
    near_thresholds<si::narrow("0.013"_qp)>();
}
TEST_CASE("codes that are stored past the caches") {
    constexpr i64 count = (i64(4) << 20) + 77;
    si::tensor<float, extents<dyn>> x(count);
    si::tensor<first_type, extents<dyn>> codes(count);
    si::tensor<si::u8, extents<dyn>> bytes(count);
    for (i64 i = 0; i < count; ++i) x[i] = number(int(i % 100003));
    si::run(si::cpu, codes.view() = copy(x.view()));
    si::run(si::cpu, bytes.view() = si::cast<si::u8>(x.view()));
    int wrong = 0;
    for (i64 i = 0; i < count; ++i) wrong += codes[i].code != si::quantize_code(x[i], first_type::parameters) || bytes[i] != si::convert<si::u8>(x[i]);
    CHECK(wrong == 0);
}
TEST_CASE("a scale that is computed may be anything") {
    const float scales[] = {0.05f, -0.05f, INFINITY, -INFINITY, NAN, 0.0f, -0.0f, 1e-45f, -1e-38f, 3.4e38f, -3.4e38f, 1e-30f};
    std::vector<float> scale(2048);
    for (std::size_t i = 0; i < scale.size(); ++i) scale[i] = scales[i / 3 % 12];
    same_everywhere<si::i8>([](auto x, auto with) { return si::quantize<si::i8>(x, with * 1.0f, 3); }, numbers(), scale);
    same_everywhere<si::u16>([](auto x, auto with) { return si::quantize<si::u16>(x, with * 1.0f, 777); }, numbers(), scale);
    same_everywhere<float>([](auto x, auto with) { return si::fake_quantize<-8, 7>(x, with * 1.0f, 2); }, numbers(), scale);
    same_everywhere<si::i8>([](auto x, auto with) { return si::quantize_rounding_quotient<si::i8, si::f16>(x, with * 1.0f, 3); }, numbers(), scale);
}
TEST_CASE("an f64 a hair beside the middle between two codes keeps its side") {
    std::vector<double> x(2048);
    const double beside[] = {0.0, 0x1p-46, -0x1p-46, 0x1p-38, -0x1p-38};
    for (int i = 0; i < 2048; ++i) x[std::size_t(i)] = (i / 5 % 11 - 5 + 0.5) * double(0.05f) * (1 + beside[i % 5]);
    same_everywhere<first_type>([](auto from) { return copy(from); }, x);
    same_everywhere<si::i8>([](auto from) { return si::quantize<si::i8>(from, 0.05f, 3); }, x);
}
TEST_CASE("conversions by name") {
    same_everywhere<si::i8>([](auto x) { return si::quantize<si::i8>(x, 0.05f, 3); }, numbers());
    same_everywhere<si::u8>([](auto x) { return si::quantize<si::u8, 1, 200>(x, 0.05f, 100); }, numbers());
    same_everywhere<si::u16>([](auto x) { return si::quantize<si::u16>(x, 0.0007f, 777); }, numbers());
    same_everywhere<si::i16>([](auto x) { return si::quantize<si::stored_as("0.0007:777"_qp, si::code_kind::i16)>(x); }, numbers());
    same_everywhere<float>([](auto x) { return si::fake_quantize<"0.05:3"_qp>(x); }, numbers());
    same_everywhere<float>([](auto x) { return si::fake_quantize<-8, 7>(x, 0.3f, 2); }, numbers());
    same_everywhere<float>([](auto x) { return si::cast<first_type>(x) + 1.0f; }, numbers());

    const auto x = numbers();
    std::vector<si::i8> fixed(x.size()), given(x.size());
    std::vector<first_type> stored(x.size());
    std::vector<float> real(x.size()), fake(x.size());
    si::run(si::reference, si::view(fixed) = si::quantize<"0.05:3"_qp>(si::view(x)), si::view(given) = si::quantize<si::i8>(si::view(x), 0.05f, 3),
            si::view(stored) = copy(si::view(x)), si::view(fake) = si::fake_quantize<"0.05:3"_qp>(si::view(x)));
    si::run(si::reference, si::view(real) = si::dequantize(si::view(fixed), 0.05f, 3));
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const int code = si::quantize_code(x[i], first_type::parameters);
        wrong += fixed[i] != code || given[i] != code || stored[i].code != code || real[i] != float(stored[i]) || fake[i] != real[i];
    }
    CHECK(wrong == 0);
}
TEST_CASE("an f64 is divided as one: its store isn't rounded to f32 first") {
    const double x[] = {0.49999999999, 1.50000000001, 2.4999999999};
    si::q8<"1"_qp> y[3];
    si::run(si::reference, plane<si::q8<"1"_qp>, 3>(y) = copy(plane<const double, 3>(x)));
    CHECK(y[0].code == 0);
    CHECK(y[1].code == 2);
    CHECK(y[2].code == 2);
    si::run(si::cpu, plane<si::q8<"1"_qp>, 3>(y) = copy(plane<const double, 3>(x)));
    CHECK(y[0].code == 0);
    CHECK(y[2].code == 2);
}
TEST_CASE("operations that only choose keep the codes") {
    const auto a = every_code<first_type>();
    std::vector<first_type> y(a.size());
    si::run(si::cpu, si::view(y) = relu(si::view(a)));
    int wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i) wrong += y[i].code != (a[i].code < 3 ? 3 : a[i].code);
    si::run(si::cpu, si::view(y) = minimum(si::view(a), si::flip<0>(si::view(a))));
    for (std::size_t i = 0; i < a.size(); ++i) wrong += y[i].code != std::min(a[i].code, a[a.size() - 1 - i].code);
    CHECK(wrong == 0);
    first_type greatest[1];
    si::run(si::reference, plane<first_type, 1>(greatest) = max(plane<const first_type, 1000>(a.data()), si::last_axis));
    CHECK(greatest[0].code == 127);
}
/// The sum, too: three values of one kernel.
inline constexpr auto add_norm_to_int8 = si::fused([](auto x, auto r, auto weight) {
    const auto h = x + r;
    return si::outputs(h, dynamic_quantize(si::rms_norm(h, weight, 1e-5f)));
});
inline constexpr auto add_norm_to_int8_apart = si::fused([](auto x, auto r, auto weight) {
    const auto h = x + r, n = si::rms_norm(h, weight, 1e-5f);
    const auto scale = symmetric_scale(n);
    return si::outputs(h, si::quantize<si::i8>(n, scale), scale);
});
TEST_CASE("outputs takes results of several values beside others") {
    constexpr int rows = 3, length = 70;
    const extents<rows, length> matrix;
    const extents<rows, 1> column;
    std::vector<float> x(rows * length), r(x.size()), w(length), h(x.size()), wanted_h(x.size()), scale(rows), wanted_scale(rows);
    std::vector<si::i8> codes(x.size()), wanted(x.size());
    for (int i = 0; i < rows * length; ++i) {
        x[std::size_t(i)] = float(i % 37) - 9;
        r[std::size_t(i)] = float(i % 11) * 0.5f;
    }
    for (int i = 0; i < length; ++i) w[std::size_t(i)] = 1 + float(i) / 64;
    const auto weights = si::view(w, extents<length>{});
    si::run(si::reference, si::tie(si::view(wanted_h, matrix), si::view(wanted, matrix), si::view(wanted_scale, column)) =
                               add_norm_to_int8_apart(si::view(x, matrix), si::view(r, matrix), weights));
    si::run(si::cpu, si::tie(si::view(h, matrix), si::view(codes, matrix), si::view(scale, column)) = add_norm_to_int8(si::view(x, matrix), si::view(r, matrix), weights));
    CHECK(h == wanted_h);
    CHECK(codes == wanted);
    CHECK(scale == wanted_scale);
}
/// Several values, named where they are made.
inline constexpr auto scale_named = si::fused([](auto x) {
    const auto [codes, scale] = dynamic_quantize(x);
    return si::outputs(codes, scale * 2.0f, codes);
});
inline constexpr auto zero_named = si::fused([](auto x) {
    const auto [codes, scale, zero] = dynamic_quantize_asymmetric(x);
    const auto [least, greatest] = si::outputs(min(x, si::last_axis), max(x, si::last_axis));
    return si::outputs(codes, scale, zero, greatest - least);
});
TEST_CASE("values of a result that has two or three can be named") {
    const extents<2, 8> matrix;
    const extents<2, 1> column;
    const std::vector<float> x{1, -2, 3, 4, 5, 6, -7, 8, 0.5f, 0.25f, -0.5f, 1, 2, 3, 4, 12.7f};
    std::vector<si::i8> codes(16), wanted(16), again(16);
    std::vector<float> scale(2), twice(2), span(2);
    si::run(si::reference, si::tie(si::view(wanted, matrix), si::view(scale, column)) = dynamic_quantize(si::view(x, matrix)));
    si::run(si::cpu, si::tie(si::view(codes, matrix), si::view(twice, column), si::view(again, matrix)) = scale_named(si::view(x, matrix)));
    CHECK(codes == wanted);
    CHECK(again == wanted);
    CHECK(twice[0] == 2 * scale[0]);
    CHECK(twice[1] == 2 * scale[1]);
    std::vector<si::u8> unsigned_codes(16), wanted_codes(16), zero(2), wanted_zero(2);
    std::vector<float> wanted_scale(2);
    si::run(si::reference, si::tie(si::view(wanted_codes, matrix), si::view(wanted_scale, column), si::view(wanted_zero, column)) = dynamic_quantize_asymmetric(si::view(x, matrix)));
    si::run(si::cpu, si::tie(si::view(unsigned_codes, matrix), si::view(scale, column), si::view(zero, column), si::view(span, column)) = zero_named(si::view(x, matrix)));
    CHECK(unsigned_codes == wanted_codes);
    CHECK(scale == wanted_scale);
    CHECK(zero == wanted_zero);
    CHECK(span == std::vector<float>{15, 12.7f + 0.5f});
}
TEST_CASE("rows find their own scale") {
    constexpr int rows = 5, length = 300;
    std::vector<float> x(rows * length), w(length, 1.25f);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(int(i * 7919 % 2003) - 1000) * 0.01f;
    for (int i = 0; i < length; ++i) x[std::size_t(length + i)] = 0.0f;
    x[2 * length + 7] = NAN;
    x[3 * length + 5] = -INFINITY;
    std::vector<si::i8> wanted(x.size()), found(x.size());
    std::vector<float> scale(rows), other(rows);
    const auto matrix = extents<rows, length>{};
    const auto column = extents<rows, 1>{};
    si::run(si::reference, si::tie(si::view(wanted, matrix), si::view(scale, column)) = dynamic_quantize(si::view(x, matrix)));
    si::run(si::cpu, si::tie(si::view(found, matrix), si::view(other, column)) = dynamic_quantize(si::view(x, matrix)));
    CHECK(wanted == found);
    float largest = 0;
    for (int i = 0; i < length; ++i) largest = std::max(largest, std::fabs(x[std::size_t(i)]));
    CHECK(scale[0] == si::step::div(largest, 127.0f));
    CHECK(scale[1] == 1.0f);
    CHECK(si::step::is_nan(scale[2]));
    CHECK(__builtin_bit_cast(si::u32, scale[3]) == 0x7f800000u);
    CHECK(wanted[length] == 0);
    CHECK(wanted[2 * length] == -128);
    CHECK(wanted[3 * length] == 0);
    CHECK(wanted[3 * length + 5] == -128);
    for (int r : {0, 1, 3, 4}) CHECK(other[std::size_t(r)] == scale[std::size_t(r)]);

    si::run(si::reference, si::tie(si::view(wanted, matrix), si::view(scale, column)) = norm_to_int8(si::view(x, matrix), si::view(w, extents<length>{})));
    si::run(si::cpu, si::tie(si::view(found, matrix), si::view(other, column)) = norm_to_int8(si::view(x, matrix), si::view(w, extents<length>{})));
    CHECK(wanted == found);
    CHECK(scale[0] == other[0]);

    std::vector<si::u8> codes(x.size()), zero(rows);
    si::run(si::cpu, si::tie(si::view(codes, matrix), si::view(scale, column), si::view(zero, column)) = dynamic_quantize_asymmetric(si::view(x, matrix)));
    CHECK(scale[1] == 1.0f);
    CHECK(zero[1] == 0);
    CHECK(codes[length] == 0);
    CHECK(std::fabs(si::dequantize_code(codes[0], si::stored_as(si::qp(scale[0], zero[0]), si::code_kind::u8)) - x[0]) <= scale[0]);
}
