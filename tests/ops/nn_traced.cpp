// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composites inside traced lambdas give the bits that they give outside; group_norm for every rank, which a trace must know.
#include <doctest/doctest.h>

#include "support.hpp"

using namespace support;
using si::reference;

TEST_CASE("group_norm for every rank, on expressions and with run-time sizes") {
    generator random;
    si::tensor<float, si::extents<3, 4, 2, 3, 2>> x;
    for (float& value : x) value = float(random.unit());
    const auto weight = row<float>({1, 2, 3, 4}), bias = row<float>({0, 1, 0, 1});
    // (3, 4, 12), (3, 4, 6, 2), (3, 4, 2, 3, 2), ...: the same elements in the same order, so the same bits.
    const auto flat = si::view(x.data(), si::extents<3, 4, 12>{});
    const auto expected = si::eval(reference, si::group_norm<2>(flat, weight, bias, 1e-5f));
    const auto the_same = [&](const auto& other) { return same(other, [&](i64 i) { return expected[i]; }); };
    CHECK(the_same(si::eval(reference, si::group_norm<2>(x, weight, bias, 1e-5f))));
    CHECK(the_same(si::eval(reference, si::group_norm<2>(si::view(x.data(), si::extents<3, 4, 6, 2>{}), weight, bias, 1e-5f))));
    CHECK(the_same(si::eval(reference, si::group_norm<2>(si::view(x.data(), si::extents<3, 4, 2, 3, 1, 2>{}), weight, bias, 1e-5f))));
    CHECK(the_same(si::eval(reference, si::group_norm<2>(si::view(x.data(), si::extents<3, 4, 2, 1, 3, 1, 2>{}), weight, bias, 1e-5f))));
    CHECK(the_same(si::eval(reference, si::group_norm<2>(si::view(x.data(), si::extents<dyn, dyn, dyn>(3, 4, 12)), weight, bias, 1e-5f))));
    CHECK(the_same(si::eval(reference, si::group_norm<2>(flat + 0, weight * 1, bias, 1e-5f))));
    // Two axes: no axis behind the channels.
    const auto pairs = si::eval(reference, si::group_norm<2>(grid<float>(si::extents<2, 4>{}, {0, 2, 5, 5, 1, 3, 7, 9}), weight, bias, 0.0f));
    CHECK(close(pairs, {-1, 3, double(support::nan), double(support::nan), -1, 3, -3, 5}, 1e-6));
    // Three groups of four channels, which only the run knows.
    si::tensor<float, si::extents<3, 3, dyn, 12>> out(1);
    CHECK(si::try_run(reference, out.view() = si::group_norm<3>(si::view(x.data(), si::extents<dyn, dyn, 12>(3, 4)), weight, bias, 1e-5f)).code() == si::error::bad_view);
}
namespace {
/// What rank_of says of a body's result over a parameter of rank 4 and one of rank 2.
template <class Body>
constexpr int rank_in_a_trace(Body body) {
    constexpr int ranks[] = {4, 2};
    si::tape on;
    on.parameter_rank = ranks;
    const int first = on.emit({si::node_kind::leaf, {}, nullptr, 0, {}, 0});
    const int second = on.emit({si::node_kind::leaf, {}, nullptr, 0, {}, 1});
    return si::detail::rank_of(body(si::traced{&on, first}, si::traced{&on, second}));
}
static_assert(rank_in_a_trace([](auto, auto y) { return y; }) == 2);
static_assert(rank_in_a_trace([](auto x, auto y) { return where(y > 0, x, 1.0f); }) == 4);
static_assert(rank_in_a_trace([](auto x, auto) { return mean(x); }) == 0);
static_assert(rank_in_a_trace([](auto x, auto) { return mean(x, si::axes<0, 1>); }) == 4);
static_assert(rank_in_a_trace([](auto x, auto) { return mean(x, si::axes<0, 1>, si::drop); }) == 2);
static_assert(rank_in_a_trace([](auto x, auto) { return si::reshape<24>(x) + 1; }) == 1);
static_assert(rank_in_a_trace([](auto, auto y) { return si::expand<2, 3, 4>(y); }) == 3);
static_assert(rank_in_a_trace([](auto x, auto) { return si::squeeze<0>(si::slice<0, 0, 1>(x)); }) == 3);
static_assert(rank_in_a_trace([](auto, auto y) { return si::unsqueeze<0>(si::unflatten<0, 2>(y)); }) == 4);
static_assert(rank_in_a_trace([](auto x, auto) { return si::flatten<1, -1>(si::flip<0>(x)); }) == 2);
static_assert(rank_in_a_trace([](auto x, auto) { return si::iota<1>(x); }) == 4);
}  // namespace
TEST_CASE("inside a traced lambda a composite is what it is outside") {
    generator random;
    si::tensor<float, si::extents<2, 6, 5>> x;
    si::tensor<float, si::extents<6>> weight, bias;
    si::tensor<bool, si::extents<2, 6, 5>> mask;
    for (float& value : x) value = float(random.unit() * 5);
    for (bool& value : mask) value = random.unit() < 0.4;
    for (float& value : weight) value = float(random.unit());
    for (float& value : bias) value = float(random.unit());
    const auto target = grid<i32>(si::extents<2, 6, 1>{}, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1});
    const auto w = si::view(weight.data(), si::extents<6, 1>{}), b = si::view(bias.data(), si::extents<6, 1>{});
    const auto equal_bits = [](const auto& inside, const auto& outside) { return same(inside, [&](i64 i) { return outside[i]; }); };
    CHECK(equal_bits(si::eval(reference, si::let(x, weight, bias, [](auto v, auto scale, auto shift) { return si::group_norm<3>(v, scale, shift, 1e-5f); })),
                     si::eval(reference, si::group_norm<3>(x, weight, bias, 1e-5f))));
    // A value that is computed: its rank comes from what was recorded.
    CHECK(equal_bits(si::eval(reference, si::let(x, weight, bias, [](auto v, auto scale, auto shift) {
                         const auto flat = si::flatten<1, -1>(v) * 1.0f;
                         return si::group_norm<3>(si::unflatten<1, 6>(flat), scale, shift, 1e-5f);
                     })),
                     si::eval(reference, si::group_norm<3>(x, weight, bias, 1e-5f))));
    CHECK(equal_bits(si::eval(reference, si::let(x, w, b, [](auto v, auto scale, auto shift) { return si::batch_norm(v, shift, scale * scale, scale, shift, 1e-5f); })),
                     si::eval(reference, si::batch_norm(x, b, w * w, w, b, 1e-5f))));
    CHECK(equal_bits(si::eval(reference, si::let(x, target, [](auto v, auto t) { return si::cross_entropy(v, t); })),
                     si::eval(reference, si::cross_entropy(x, target))));
    CHECK(equal_bits(si::eval(reference, si::let(x, mask, [](auto v, auto m) { return softmax(v, m); })), si::eval(reference, softmax(x, mask))));
    CHECK(equal_bits(si::eval(reference, si::let(x, mask, [](auto v, auto m) { return softmax(v, m, si::axes<1>); })),
                     si::eval(reference, softmax(x, mask, si::axes<1>))));
    CHECK(equal_bits(si::eval(reference, si::let(x, [](auto v) { return softmax(v, v > 0); })), si::eval(reference, softmax(x, x > 0))));
    CHECK(equal_bits(si::eval(reference, si::let(x, [](auto v) { return log_softmax(v, si::axes<0>); })), si::eval(reference, log_softmax(x, si::axes<0>))));
    CHECK(equal_bits(si::eval(reference, si::let(x, [](auto v) { return si::layer_norm(v, 1e-5f) + si::rms_norm(v, 1e-5f); })),
                     si::eval(reference, si::layer_norm(x, 1e-5f) + si::rms_norm(x, 1e-5f))));
    CHECK(equal_bits(si::eval(reference, si::let(x, [](auto v) { return si::normalize(v, si::axes<0, 2>, 1e-5f); })),
                     si::eval(reference, si::normalize(x, si::axes<0, 2>, 1e-5f))));
    CHECK(equal_bits(si::eval(reference, si::let(x, [](auto v) { return si::leaky_relu(v) + si::hard_sigmoid(v) + si::hard_swish(v); })),
                     si::eval(reference, si::leaky_relu(x) + si::hard_sigmoid(x) + si::hard_swish(x))));
}
