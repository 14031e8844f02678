// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Printed tensors: brackets, alignment, shortest digits of every type, strides, summaries, and texts that don't fit.
#include <doctest/doctest.h>

#include <sinter/ops/view.hpp>
#include <sinter/print.hpp>

#include <cstring>

namespace si = sinter;
using si::dyn;
using si::extents;
using si::tensor;

namespace {
char text[8192];
template <class View>
const char* written(const View& view) {
    to_text(view, text);
    return text;
}
bool equal(const char* left, const char* right) { return std::strcmp(left, right) == 0; }
}  // namespace

TEST_CASE("brackets and alignment") {
    float values[24];
    for (int i = 0; i < 24; ++i) values[i] = float(i) - 1.5f;
    CHECK(equal(written(si::view(values, extents<>{})), "-1.5"));
    CHECK(equal(written(si::view(values, extents<3>{})), "[-1.5, -0.5,  0.5]"));
    CHECK(equal(written(si::view(values, extents<2, 3>{})),
                "[[-1.5, -0.5,  0.5],\n"
                " [ 1.5,  2.5,  3.5]]"));
    CHECK(equal(written(si::view(values, extents<2, 2, 2>{})),
                "[[[-1.5, -0.5],\n"
                "  [ 0.5,  1.5]],\n"
                "\n"
                " [[ 2.5,  3.5],\n"
                "  [ 4.5,  5.5]]]"));
    CHECK(equal(written(si::view(values, extents<0>{})), "[]"));
    CHECK(equal(written(si::view(values, extents<2, 0>{})), "[[],\n []]"));
}

TEST_CASE("what a run would refuse says so, and nothing is read") {
    float* const none = nullptr;
    CHECK(equal(written(si::view(none, extents<3>{})), "[SINTER-R004] this view has no memory"));
    CHECK(equal(written(si::view(none, extents<dyn, 2>(2000))), "[SINTER-R004] this view has no memory"));
    CHECK(equal(written(si::view(none, extents<>{})), "[SINTER-R004] this view has no memory"));
    CHECK(equal(written(si::view(none, extents<2, 0>{})), "[[],\n []]"));
    float values[3] = {};
    CHECK(equal(written(si::slice<0>(si::view(values, extents<dyn>(3)), 0, 9)), "[SINTER-R005] this view can't be formed"));
}

TEST_CASE("strides of any sign") {
    int values[6] = {0, 1, 2, 3, 4, 5};
    CHECK(equal(written(si::view(values + 5, extents<2, 3>{}, si::array<si::i64, 2>{{-1, -2}})), "[[5, 3, 1],\n [4, 2, 0]]"));
    CHECK(equal(written(si::view(values, extents<2, 2>{}, si::array<si::i64, 2>{{0, 1}})), "[[0, 1],\n [0, 1]]"));
}

TEST_CASE("the shortest digits of each type") {
    const float singles[] = {0.1f, 1e-6f, 16777216.0f, 1.0f / 3.0f, -0.0f, 1e30f};
    CHECK(equal(written(si::view(singles, extents<6>{})), "[       0.1,      1e-06,   16777216, 0.33333334,         -0,      1e+30]"));
    const double doubles[] = {0.1, 1.0 / 3.0};
    CHECK(equal(written(si::view(doubles, extents<2>{})), "[               0.1, 0.3333333333333333]"));
    const si::f16 halves[] = {si::f16(0.1f), si::f16(65504.0f), si::f16(-2.0f)};
    CHECK(equal(written(si::view(halves, extents<3>{})), "[  0.1, 65504,    -2]"));
    const si::bf16 brains[] = {si::bf16(0.1f), si::bf16(3.0e38f)};
    CHECK(equal(written(si::view(brains, extents<2>{})), "[  0.1, 3e+38]"));
    const float specials[] = {__builtin_huge_valf(), -__builtin_huge_valf(), __builtin_nanf(""), -__builtin_nanf("")};
    CHECK(equal(written(si::view(specials, extents<4>{})), "[ inf, -inf,  nan,  nan]"));
    const bool flags[] = {true, false};
    CHECK(equal(written(si::view(flags, extents<2>{})), "[ true, false]"));
    const si::i8 bytes[] = {-128, 127, 0};
    CHECK(equal(written(si::view(bytes, extents<3>{})), "[-128,  127,    0]"));
    const si::u64 large[] = {18446744073709551615u, 9223372036854775807u, 0};
    CHECK(equal(written(si::view(large, extents<3>{})), "[18446744073709551615,  9223372036854775807,                    0]"));
    const si::i64 lowest[] = {-9223372036854775807 - 1};
    CHECK(equal(written(si::view(lowest, extents<1>{})), "[-9223372036854775808]"));
}

TEST_CASE("more than 1000 elements are summarised") {
    tensor<int, extents<dyn>> line(1001);
    for (int i = 0; i < 1001; ++i) line[i] = i;
    CHECK(equal(written(line.view()), "[   0,    1,    2, ...,  998,  999, 1000]"));
    tensor<int, extents<dyn, 5>> tall(300);
    for (int i = 0; i < 1500; ++i) tall[i] = i % 7;
    CHECK(equal(written(tall.view()),
                "[[0, 1, 2, 3, 4],\n"
                " [5, 6, 0, 1, 2],\n"
                " [3, 4, 5, 6, 0],\n"
                " ...,\n"
                " [1, 2, 3, 4, 5],\n"
                " [6, 0, 1, 2, 3],\n"
                " [4, 5, 6, 0, 1]]"));
    tensor<int, extents<dyn>> exact(1000);
    CHECK(to_text(exact.view(), text) == 3000);
}

TEST_CASE("a text that doesn't fit is cut and terminated, and its length is told") {
    const int values[] = {10, 20, 30};
    char little[6];
    CHECK(to_text(si::view(values, extents<3>{}), little) == 12);
    CHECK(equal(little, "[10, "));
    CHECK(to_text(si::view(values, extents<3>{}), nullptr, 0) == 12);
}
