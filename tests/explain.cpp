// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Explanations, word for word.
#include <doctest/doctest.h>

#include <sinter/explain.hpp>
#include <sinter/ops/nn.hpp>
#include <sinter/sinter.hpp>

#include <cstring>

namespace si = sinter;
using si::axes;
using si::dyn;
using si::explanation;
using si::extents;
using si::operator""_d;
using si::tensor;

#if SINTER_EMULATED_FMA
#define EMULATED "  fma is emulated, slowly: compile with -march=native or -march=x86-64-v3\n"
#else
#define EMULATED ""
#endif

namespace {

/// An executor that names its target.
struct wide_executor {
    using memory_space = si::host_memory;
    using target = si::targets::cpu_with<32>;
};

struct splitting_executor : wide_executor {
    static constexpr bool splits = true;
};

inline constexpr auto add_norm = si::fused([](auto x, auto residual, auto weight, auto eps) {
    const auto stream = x + residual;
    return si::outputs(stream, stream * rsqrt(mean(stream * stream, si::last_axis) + eps) * weight);
});

/// Equal but for the sixteen digits of the hash, which tests/plan.cpp pins.
template <class Text>
bool equals(Text text, const char* expected) {
    int at = 0;
    for (; text.letters[at]; ++at) {
        if (expected[at] == '#' && std::strchr("0123456789abcdef", text.letters[at])) text.letters[at] = '#';
        if (text.letters[at] != expected[at]) break;
    }
    CHECK_MESSAGE(text == expected, text.c_str());
    return text == expected;
}
bool holds(const char* text, const char* part) { return std::strstr(text, part) != nullptr; }
template <class Formula>
bool reads(const Formula& formula, const char* infix) {
    const auto text = explanation(formula);
    return holds(text.c_str(), infix);
}

}  // namespace

TEST_CASE("two outputs, names of sizes, a scalar, and a target") {
    tensor<float, extents<"seq"_d, 768>> x(5);
    tensor<float, extents<dyn, 768>> residual(5);
    tensor<float, extents<768>> weight;
    const auto text = explanation(add_norm(x, residual, weight, 1e-6f), wide_executor{});
    CHECK(equals(text, R"(formula
  t0 = x0 + x1
  y0 = t0
  y1 = t0 * rsqrt(sum(t0 * t0, axes<-1>) / 768 + x3) * x2
operands
  x0  f32 [seq = 5, 768]
  x1  f32 [dyn = 5, 768]
  x2  f32 [768]
  x3  scalar 1e-06
results
  y0  f32 [seq = 5, 768]
  y1  f32 [seq = 5, 768]
plan add_mul_sum_div_add_rsqrt_mul_mul ################
  1 kernel
  rows over 5 x 768 folded, 2 passes, 3 loads, 2 stores
    pass 1 folds sum
    pass 2 writes y0, y1
  8 operations, about 6 instructions per element, at least 64512 bytes moved
on cpu
  8 elements a step, threads share rows, 0 bytes of scratch memory
)" EMULATED));
}

TEST_CASE("softmax, without a target") {
    tensor<float, extents<4, 100>> x;
    const auto text = explanation(softmax(x));
    CHECK(equals(text, R"(formula
  t0 = exp(x0 - max(x0, axes<-1>))
  y0 = t0 * reciprocal(sum(t0, axes<-1>))
operands
  x0  f32 [4, 100]
results
  y0  f32 [4, 100]
plan max_sub_exp_sum_reciprocal_mul ################
  1 kernel
  rows over 4 x 100 folded, 3 passes, 1 load, 1 store
    pass 1 folds max
    pass 2 folds sum
    pass 3 writes y0
  5 operations, about 22 instructions per element, at least 3200 bytes moved
)"));
}

TEST_CASE("several kernels") {
    tensor<float, extents<4, 6>> x;
    const auto text = explanation(x / sum(x, axes<1>) * sum(x, axes<0>));
    CHECK(equals(text, R"(formula
  b0 = sum(x1, axes<1>)
  y0 = x0 / b0 * sum(x2, axes<0>)
operands
  x0  f32 [4, 6]
  x1  f32 [4, 6]
  x2  f32 [4, 6]
results
  y0  f32 [4, 6]
plan sum_div_sum_mul ################
  2 kernels, one isn't possible: reductions fold different axes; run it with split(executor)
  kernel 1, rows over 4 x 6 folded, 1 pass, 1 load, 1 store
    stores b0 f32 [4, 1] until kernel 2
  kernel 2, columns over 4 folded x 6, 2 passes, 3 loads, 1 store
    writes y0
  2 operations, at least 416 bytes moved
)"));
}

TEST_CASE("infix form: only the brackets that it needs") {
    tensor<float, extents<4, 6>> x;
    tensor<int, extents<4, 6>> n;
    CHECK(reads(x - (x - x), "y0 = x0 - (x1 - x2)\n"));
    CHECK(reads((x - x) - x, "y0 = x0 - x1 - x2\n"));
    CHECK(reads((x + x) * x, "y0 = (x0 + x1) * x2\n"));
    CHECK(reads(-(x * x) / x, "y0 = -(x0 * x1) / x2\n"));
    CHECK(reads(where(x < 1.5f && !(x != x), x, -x), "y0 = where(x0 < x1 && !(x2 != x3), x4, -x5)\n"));
    CHECK(reads((n & 3) << 2 | ~n, "y0 = (x0 & x1) << x2 | ~x3\n"));
    CHECK(reads(si::cast<si::i8>(si::iota<-1>(x) % 3), "y0 = cast<i8>(iota<-1>(x0) % x1)\n"));
    CHECK(reads(si::let(x, [](auto v) { return v * 0.1f + 1 + fma(v, 2.0, 1e-5); }), "y0 = x0 * 0.1 + 1 + fma(x0, 2, 1e-05)\n"));
    CHECK(reads(si::let(x, [](auto v) { return v + 18446744073709551615u; }), "y0 = x0 + 18446744073709551615\n"));
    CHECK(reads(si::let(x, [](auto v) { return si::slice<1, 1, si::end, 2>(transpose(v) + 1.0f); }),
                "y0 = slice<1, 1, end, 2>(permute<1, 0>(x0) + 1)\n"));
    CHECK(reads(sum(x), "y0 = sum(x0)\n"));
    CHECK(reads(sum(x, axes<0>, si::drop), "y0 = sum(x0, axes<0>, drop)\n"));
    CHECK(reads(mean(n, axes<0>), "y0 = cast<f32>(sum(x0, axes<0>)) / 4\n"));
}

TEST_CASE("assignments, strides, and rank 0") {
    tensor<float, extents<4, 6>> x;
    tensor<si::f16, extents<6, 4>> y;
    const auto text = explanation(y.view() = si::permute<1, 0>(x.view()) + 1.0f);
    CHECK(holds(text.c_str(), "  x0  f32 [6, 4] with strides\n  x1  scalar 1\nresults\n  y0  f16 [6, 4]\n"));
    CHECK(holds(text.c_str(), "pointwise over 6 x 4, 1 pass, 1 load, 1 store\n"));
    CHECK(holds(text.c_str(), "at least 144 bytes moved"));
    CHECK(holds(explanation(sum(x)).c_str(), "  y0  f32 []\n"));
}

TEST_CASE("sizes that don't fit: what run would say") {
    tensor<float, extents<dyn, 8>> x(5), w(6), y(5);
    const si::status said = si::try_run(si::reference, y.view() = x * w);
    REQUIRE(said.code() == si::error::size_mismatch);
    const auto text = explanation(y.view() = x * w, wide_executor{});
    CHECK(holds(text.c_str(), "y0 = x0 * x1\n"));
    CHECK(holds(text.c_str(), "  x1  f32 [dyn = 6, 8]\n"));
    CHECK(holds(text.c_str(), si::describe(said).c_str()));
    CHECK(holds(si::describe(si::status{si::error::backend_failure, -1, -1, 0, 35}).c_str(), "Its code is 35."));
    CHECK(holds(si::describe(si::status{si::error::backend_failure, -1, -1, 0, 719, -1, "unspecified launch failure"}).c_str(), "Its code is 719: unspecified launch failure."));
    CHECK(!holds(text.c_str(), "plan"));
    CHECK(holds(explanation(x * w).c_str(), "[SINTER-R001]"));
    CHECK(holds(explanation(x * w, splitting_executor{}).c_str(), "[SINTER-R001]"));
    // Of the operand that doesn't fit, and not of a result that nobody named.
    const char* const blamed = "Operand 1, axis 0: 5 expected, 6 found";
    CHECK(holds(explanation(x * w).c_str(), blamed));
    CHECK(holds(explanation(si::let(x, w, [](auto a, auto b) { return si::outputs(a * 2.0f, a + b); })).c_str(), blamed));
    CHECK(holds(explanation(sum(x * w, axes<0>)).c_str(), blamed));
    CHECK(holds(explanation(w.view() = sum(x)).c_str(), "[SINTER-R001]"));
    using namespace sinter::literals;
    float data[8] = {};
    const si::tensor_view<float, extents<"n"_d>> four(data, 4);
    const si::tensor_view<float, extents<"n"_d, 1>> five(data, 5), also_four(data, 4);
    CHECK(holds(explanation(four + five).c_str(), "[SINTER-R001]"));
    CHECK(!holds(explanation(four + also_four).c_str(), "[SINTER-R001]"));
    CHECK(holds(explanation(w.view() = sum(x), splitting_executor{}).c_str(), "1 kernel"));
    const tensor<int, extents<dyn>> none(0);
    CHECK(holds(explanation(max(none)).c_str(), "[SINTER-R002]"));
    CHECK(holds(explanation(si::slice<0>(x.view(), 2, 9) * 2.0f).c_str(), "the slice's bound 9"));
    // Memory of an assignment is looked at, too; where there is none yet the sizes are.
    CHECK(holds(explanation(si::view(x.data(), extents<dyn, 8>(4)) = si::slice<0>(x.view(), 0, 4) * 2.0f).c_str(), "1 kernel"));
    CHECK(holds(explanation(si::view(x.data(), extents<dyn, 8>(4)) = si::slice<0>(x.view(), 1, 5) * 2.0f).c_str(), "[SINTER-R003]"));
    const si::tensor_view<float, extents<dyn, 8>> nowhere(nullptr, 5);
    CHECK(holds(explanation(nowhere = x * nowhere).c_str(), "1 kernel"));
    CHECK(holds(explanation(nowhere = nowhere * w).c_str(), "[SINTER-R001]"));
}

TEST_CASE("products of codes say so") {
    tensor<si::i8, extents<64>> x;
    tensor<si::i8, extents<32, 64>> w;
    CHECK(holds(explanation(si::dot_codes(x.view(), w.view(), axes<-1>)).c_str(),
                "    pass 1 folds exact_sum\n    an exact product of codes: each weight read once for 16 vectors\n"));
    CHECK(!holds(explanation(sum(x * w, axes<-1>)).c_str(), "product of codes"));
}
