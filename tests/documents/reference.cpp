// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The snippets of docs/reference.md, one for each group of functions, with the values that they give.
#include <doctest/doctest.h>

#include "support.hpp"

#include <sinter/io/npy.hpp>
#include <sinter/plan.hpp>
#include <sinter/print.hpp>
#include <sinter/sinter.hpp>

#include <vector>

using namespace support;
using si::reference;

TEST_CASE("views") {
    // [views_of_memory]
    using si::operator""_d;
    std::vector<float> data(12);
    auto all = si::view(data);                                                               // extents<dyn>
    auto table = si::view(data, si::extents<3, 4>{});                                        // null pointer if data is too small
    auto rows = si::tensor_view<float, si::extents<"rows"_d, 4>>(data.data(), 3);            // run-time sizes follow the pointer
    auto columns = si::view(data.data(), si::extents<4, 3>{}, si::array<si::i64, 2>{{1, 4}});  // strides in elements, any sign
    si::tensor<float, si::extents<si::dyn, 4>> owner(3);                                     // zeroed, aligned to 64 bytes
    float result[12];
    auto like = si::view(result, owner);                                                     // other memory in the shape of a view or an owner
    // [/views_of_memory]
    // [sizes]
    const si::shape sizes = owner.sizes();                                    // 3 x 4
    si::i64 expected = 1;
    for (int axis = 0; axis < sizes.rank; ++axis) expected *= sizes.size[axis];  // owner.count(), too
    auto means = si::eval(si::reference, mean(owner, si::last_axis));            // a tensor of 3 x 1
    const si::i64 heights = means.sizes().size[0];
    float total = 1;
    si::run(si::reference, si::view(&total, si::extents<>{}) = sum(owner));      // one number: a view of rank 0
    // [/sizes]
    CHECK(expected == owner.count());
    CHECK(heights == 3);
    CHECK(means.sizes().size[1] == 1);
    CHECK(total == 0);
    CHECK(like.sizes() == owner.sizes());
    CHECK(all.count() == 12);
    CHECK(&table(1, 2) == &columns(2, 1));
    CHECK(rows.sizes().size[0] == 3);
    CHECK(owner.ok());
}
TEST_CASE("running") {
    float x[4] = {1, 2, 3, 4}, y[4] = {}, z[4] = {};
    auto in = si::view(x, si::extents<4>{}), out = si::view(y, si::extents<4>{}), other = si::view(z, si::extents<4>{});
    // [running]
    si::run(si::reference, out = in * 2.0f);                       // throws run_error, or calls SINTER_THROW
    si::status said = si::try_run(si::reference, out += in);       // never throws
    si::run(si::reference, out = in + 1, other = in - 1);          // one kernel; reads everything before it writes
    si::run(si::reference, other = si::copy(in));                  // y = x between views doesn't compile
    float total = si::eval(si::reference, sum(in));                // rank 0: the value; else a tensor
    // [/running]
    CHECK(said.ok());
    CHECK(total == 10);
    CHECK(y[3] == 5);
    CHECK(z[3] == 4);
}
TEST_CASE("tracing") {
    float x[4] = {1, 2, 3, 4}, y[4] = {}, z[4] = {};
    auto in = si::view(x, si::extents<4>{}), out = si::view(y, si::extents<4>{}), scale = si::view(z, si::extents<4>{});
    // [tracing]
    constexpr auto centred = si::fused([](auto v, auto eps) {
        auto d = v - mean(v);
        return si::outputs(d, d * rsqrt(mean(d * d) + eps));  // d is one node: computed once
    });
    si::run(si::reference, si::tie(out, scale) = centred(in, 1e-5f));
    si::run(si::reference, out = si::let(in, [](auto v) { return v * v + v; }));  // in is loaded once
    // [/tracing]
    CHECK(y[3] == 20);
    CHECK(z[3] > 1.34f);
}
TEST_CASE("arithmetic") {
    const auto a = row<float>({-7, 7, 5}), b = row<float>({2, -2, 3});
    const auto n = row<i32>({-7, 7, 5}), m = row<i32>({2, -2, 0});
    // [arithmetic]
    auto remainders = si::eval(si::reference, remainder(a, b));     // 1, -1, 2: the sign of the divisor
    auto truncated = si::eval(si::reference, fmod(a, b));           // -1, 1, 2: of the dividend, as a % b
    auto quotient = si::eval(si::reference, n / m);                 // -3, -3, 0: truncates; x / 0 is 0
    auto floored = si::eval(si::reference, floor_divide(n, m));     // -4, -4, 0
    auto powers = si::eval(si::reference, pow(b, 2) + abs(a));      // 11, 11, 14
    auto once = si::eval(si::reference, fma(a, b, 1.0f));           // -13, -13, 16: rounded once
    // [/arithmetic]
    CHECK(same(remainders, {1, -1, 2}));
    CHECK(same(truncated, {-1, 1, 2}));
    CHECK(same(quotient, {-3, -3, 0}));
    CHECK(same(floored, {-4, -4, 0}));
    CHECK(same(powers, {11, 11, 14}));
    CHECK(same(once, {-13, -13, 16}));
}
TEST_CASE("comparison and logic") {
    const auto x = row<float>({-1, 0, 2, nan});
    // [comparison]
    auto inside = si::eval(si::reference, x >= 0 && x < 2);                  // false, true, false, false
    auto known = si::eval(si::reference, where(is_nan(x), 0.0f, x));         // -1, 0, 2, 0
    // [/comparison]
    CHECK(same(inside, {false, true, false, false}));
    CHECK(same(known, {-1, 0, 2, 0}));
}
TEST_CASE("bitwise") {
    const auto x = row<u8>({0x0f, 0x81});
    // [bitwise]
    auto bits = si::eval(si::reference, (x << 1) ^ (x & 0x81) ^ ~x);  // u8, as x; a shift by the width or more gives 0
    // [/bitwise]
    CHECK(same(bits, {0x1e ^ 0x01 ^ 0xf0, 0x02 ^ 0x81 ^ 0x7e}));
}
TEST_CASE("selection and rounding") {
    const auto x = row<float>({-2.5f, 0.5f, 3.5f, nan});
    // [selection]
    auto limited = si::eval(si::reference, clamp(x, -1.0f, 1.0f));    // -1, 0.5, 1, NaN
    auto ignored = si::eval(si::reference, fmin(x, 1.0f));            // -2.5, 0.5, 1, 1
    auto nearest = si::eval(si::reference, round(x));                 // -2, 0, 4, NaN: half to even
    // [/selection]
    CHECK(same(limited, {-1, 0.5f, 1, nan}));
    CHECK(same(ignored, {-2.5f, 0.5f, 1, 1}));
    CHECK(same(nearest, {-2, 0, 4, nan}));
}
TEST_CASE("math functions and activations") {
    const auto x = row<float>({0, 1, -100});
    const auto n = row<i32>({0, 1, 2});
    // [math]
    auto decay = si::eval(si::reference, exp(-x * x) * cos(x));
    auto root = si::eval(si::reference, sqrt(n));                     // integers compute and give f32
    auto angle = si::eval(si::reference, atan2(x, 1.0f));
    // [/math]
    CHECK(same(decay[0], 1.0f));
    CHECK(same(root, {0.0f, 1.0f, si::convert<float>(1.41421356237309515)}));
    CHECK(close(double(angle[1]), 0.78539816, 1e-6));
    // [activations]
    auto y = si::eval(si::reference, gelu(x) + si::leaky_relu(x, 0.25f));   // leaky_relu, hard_sigmoid, hard_swish: with si::
    // [/activations]
    CHECK(same(y[2], -25.0f));
}
TEST_CASE("conversion") {
    const auto x = row<float>({300.7f, -1.5f, nan});
    // [conversion]
    auto saturated = si::eval(si::reference, si::cast<si::u8>(x));           // 255, 0, 0
    auto wrapped = si::eval(si::reference, si::cast_wrap<si::u8>(x));        // 44, 255, 0
    auto rounded = si::eval(si::reference, si::cast<si::i32>(round(x)));     // 301, -2, 0
    // [/conversion]
    CHECK(same(saturated, {255, 0, 0}));
    CHECK(same(wrapped, {44, 255, 0}));
    CHECK(same(rounded, {301, -2, 0}));
}
TEST_CASE("coordinates") {
    const auto x = grid<float>(si::extents<2, 3>{}, {1, 2, 3, 4, 5, 6});
    // [coordinates]
    auto lower = si::eval(si::reference, where(si::iota<1>(x) <= si::iota<0>(x), x, 0.0f));   // 1, 0, 0 | 4, 5, 0
    auto ramp = si::eval(si::reference, si::iota<0>(si::extents<4>{}) * 0.5f);                // 0, 0.5, 1, 1.5
    // [/coordinates]
    CHECK(same(lower, {1, 0, 0, 4, 5, 0}));
    CHECK(same(ramp, {0, 0.5f, 1, 1.5f}));
}
TEST_CASE("reductions") {
    const auto x = grid<float>(si::extents<2, 3>{}, {1, 2, 3, 4, 6, 8});
    // [reductions]
    float all = si::eval(si::reference, sum(x));                                       // 24
    auto centred = si::eval(si::reference, x - mean(x, si::last_axis));                // 2 x 3: the axis is kept as 1
    auto largest = si::eval(si::reference, max(x, si::axes<0>, si::drop));             // 3 numbers: 4, 6, 8
    auto place = si::eval(si::reference, argmax(x, si::axes<1>, si::drop));            // i64: 2, 2
    auto sample = si::eval(si::reference, variance(x, si::axes<1>, 1, si::drop));      // 1, 4: divided by n - 1
    // [/reductions]
    CHECK(all == 24);
    CHECK(same(centred, {-1, 0, 1, -2, 0, 2}));
    CHECK(same(largest, {4, 6, 8}));
    CHECK(same(place, {2, 2}));
    CHECK(same(sample, {1, 4}));
}
TEST_CASE("index maps") {
    const auto x = grid<float>(si::extents<2, 3>{}, {1, 2, 3, 4, 5, 6});
    // [index_maps]
    auto across = si::transpose(x);                                  // of a view: a view at once, 3 x 2
    auto ends = si::slice<1, 0, si::end, 2>(x);                      // columns 0 and 2
    auto some_rows = si::slice<0>(x, 1, 2);                          // bounds known when run
    auto backwards = si::eval(si::reference, si::flip<0>(exp(x)));   // in a formula: a node, pushed down to the operands
    auto flat = si::reshape(x, si::extents<6>{});
    auto wide = si::expand<4, 2, 3>(x);                              // stride 0 along the new axis
    // [/index_maps]
    CHECK(across(2, 1) == 6);
    CHECK(ends(1, 1) == 6);
    CHECK(some_rows(0, 0) == 4);
    CHECK(backwards[0] > 54);
    CHECK(flat(4) == 5);
    CHECK(wide(3, 1, 1) == 5);
}
TEST_CASE("composites") {
    si::tensor<float, si::extents<2, 4, 3>> x, y;
    si::tensor<float, si::extents<3>> w, b;
    si::tensor<float, si::extents<4>> gain, shift;
    si::tensor<bool, si::extents<3>> mask;
    si::tensor<float, si::extents<2, 10>> logits;
    si::tensor<si::i64, si::extents<2>> label;
    si::tensor<float, si::extents<2>> loss;
    mask[0] = true;
    x[1] = 5;
    label[1] = 3;
    logits[13] = 2;
    // [composites]
    si::run(si::reference, y.view() = si::layer_norm(x, w, b, 1e-5f) + si::softmax(x, mask));
    si::run(si::reference, si::unflatten<1, 2>(y.view()) = si::group_norm<2>(x, gain, shift, 1e-5f));
    si::run(si::reference, si::unsqueeze<-1>(loss.view()) = si::cross_entropy(logits, si::unsqueeze<-1>(label)));  // losses and labels of shape [2]
    // [/composites]
    CHECK(y[1] == 0);
    CHECK(loss[0] > loss[1]);
}
// [own]
struct cube {
    static constexpr const char* name = "cube";
    template <class Value>
    SINTER_INLINE Value operator()(Value x) const { return x * x * x; }
};
// [/own]
TEST_CASE("your own") {
    const auto x = row<float>({1, 2, 3});
    // [own_use]
    auto cubes = si::eval(si::reference, si::pointwise<cube>(x));
    auto product = si::eval(si::reference, si::fold<si::monoids::prod_of>(x, si::axes<0>, si::drop));
    // [/own_use]
    CHECK(same(cubes, {1, 8, 27}));
    CHECK(product == 6);
}
TEST_CASE("plans and text") {
    float data[6] = {1, 2, 3, 4, 5, 6};
    // [plans]
    auto x = si::view(data, si::extents<2, 3>{});
    auto formula = si::softmax(x);
    static_assert(si::plan_of<decltype(formula)>.kernels == 1);
    auto text = si::explanation(formula, si::reference);   // explain(formula) prints it
    char numbers[100];
    si::to_text(x, numbers);                               // print(x) prints them
    si::run(si::split(si::reference), x = x - sum(x, si::axes<0>) - sum(x, si::axes<1>));   // two kernels, asked for
    // [/plans]
    CHECK(text.length() > 100);
    CHECK(data[0] == 1 - 5 - 6);
}
TEST_CASE("files") {
    const float x[4] = {1, 2, 3, 4};
    // [files]
    si::npy_status written = si::write_npy("reference_page.npy", x, {2, 2});
    si::npy_result read = si::read_npy("reference_page.npy");
    auto values = si::npy_as<float, 2>(read.array);                    // says what was expected and what was found
    si::tensor_view<float, si::extents<si::dyn, si::dyn>> table(values.pointer, values.sizes[0], values.sizes[1]);
    // [/files]
    CHECK(written.ok());
    CHECK(read.ok());
    CHECK(values.ok());
    CHECK(table(1, 1) == 4);
    std::remove("reference_page.npy");
}
