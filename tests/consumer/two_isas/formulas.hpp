// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What both libraries and the program share: formulas, and the functions that each library exports, as a table.
#pragma once

#include <sinter/sinter.hpp>

namespace si = sinter;

using matrix = si::tensor_view<float, si::extents<si::dyn, si::dyn>>;
using input = si::tensor_view<const float, si::extents<si::dyn, si::dyn>>;
using strided_input = si::tensor_view<const float, si::extents<si::dyn, si::dyn>, si::strided>;
using half_matrix = si::tensor_view<si::f16, si::extents<si::dyn, si::dyn>>;
using bf16_input = si::tensor_view<const si::bf16, si::extents<si::dyn, si::dyn>>;
using per_row = si::tensor_view<float, si::extents<si::dyn, 1>>;
using index_per_row = si::tensor_view<si::i64, si::extents<si::dyn, 1>>;
using per_column = si::tensor_view<float, si::extents<1, si::dyn>>;
using small = si::tensor_view<float, si::extents<3, 40>>;
using const_small = si::tensor_view<const float, si::extents<3, 40>>;

namespace formulas {
inline constexpr auto chain = si::fused([](auto x, auto w) { return fma(tanh(x), w, exp(-abs(x))) / (1.5f + sigmoid(x * w)); });
inline constexpr auto norm = si::fused([](auto x, auto w) {
    const auto y = x * rsqrt(mean(x * x, si::last_axis) + 1e-5f) * w;
    return si::outputs(y, max(abs(y), si::last_axis));
});
inline constexpr auto statistics = si::fused([](auto x) { return si::outputs(variance(x, si::last_axis), argmax(x, si::last_axis)); });
inline constexpr auto columns = si::fused([](auto x) { return sum(si::cast<float>(x) * 0.5f, si::axes<0>); });
/// Softmax of a column sum: two kernels.
inline constexpr auto parts = si::fused([](auto x) { return x * sum(softmax(sum(x, si::axes<0>)), si::last_axis); });
inline constexpr auto watched = si::fused([](auto x, auto w) { return abs(x) * w; });
}  // namespace formulas

/// One library. Functions take views, and `relay` calls another library's function with a view of its own result.
struct library {
    const char* name;
    void (*chain)(input x, input w, matrix y);
    void (*norm)(input x, input w, matrix y, per_row top);
    void (*statistics)(input x, per_row variance, index_per_row where);
    void (*columns)(bf16_input x, per_column y);
    void (*halves)(strided_input x, half_matrix y);
    void (*fixed)(const_small x, small y);
    void (*relay)(const library& other, input x, input w, matrix between, matrix y);
    float (*total)(input x);                                                      // eval of a rank 0
    si::tensor<float, si::extents<si::dyn, si::dyn>> (*doubled)(input x);         // eval into an owner, which crosses the border
    si::status (*split)(input x, matrix y);                                       // several kernels, memory between them
    si::status (*by_reference)(input x, input w, matrix y);                       // the oracle, compiled with these flags
    si::status (*wrong)(input x, matrix y);                                       // a status
    bool (*throws)(input x, matrix y);                                            // run throws; caught here
    void (*throws_through)(input x, matrix y);                                    // run throws; caught by the program
    int (*says)(input x, char* text, int capacity);                               // texts
    int (*calibrates)(input x, input w, matrix y, char* text, int capacity);      // observers and the files of their parameters
};
extern const library baseline, avx2, avx512;
