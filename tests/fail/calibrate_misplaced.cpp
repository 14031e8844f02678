// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mistake within the operator that is calibrated, which only its record knows.
// expect: SINTER-S037
// expect: argument::eps
// expect: Hint:
#include <sinter/sinter.hpp>
#include <sinter/calibrate_graph.hpp>

namespace si = sinter;

#ifdef CONTROL
inline constexpr auto operation = si::fused([](auto x, auto w) { return relu(si::rms_norm(x, w, 1e-5f)); });
#else
inline constexpr auto operation = si::fused([](auto x, auto w) { return relu(si::rms_norm(x, 1e-5f, w)); });
#endif

void example(float* p, float* q, float* r) {
    const si::tensor_view<const float, si::extents<8, 64>> x(p);
    const si::tensor_view<const float, si::extents<64>> w(p);
    const si::tensor_view<float, si::extents<8, 64>> y(q);
    const si::tensor_view<float, si::extents<>> low(r), high(r + 1);
    const auto plan = si::quantizer([](si::node_facts value) {
        return value.is("relu") ? si::choose::own(si::observer::min_max, si::code_kind::i8) : si::choose::nothing();
    });
    // [mistake]
    si::run(si::split(si::reference), si::tie(y, low, high) = si::prepare(operation, plan)(x, w));
    // [/mistake]
}
