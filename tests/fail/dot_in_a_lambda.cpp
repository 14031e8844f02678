// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dot of codes within a traced lambda.
// expect: SINTER-Q013
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<const si::i8, si::extents<4, 64>> x(reinterpret_cast<const si::i8*>(p));
    const si::tensor_view<const si::i8, si::extents<64>> w(reinterpret_cast<const si::i8*>(p));
    const si::tensor_view<float, si::extents<4, 1>> bias(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    constexpr auto layer = si::fused([](auto sum, auto b) { return relu(sum * 0.01f + b); });
    si::run(si::reference, y = layer(si::dot_codes(x, w, si::axes<-1>), bias));
    // [/repair]
#else
    // [mistake]
    constexpr auto layer = si::fused([](auto a, auto v, auto b) { return relu(dot_codes(a, v, si::axes<-1>) * 0.01f + b); });
    si::run(si::reference, y = layer(x, w, bias));
    // [/mistake]
#endif
}
