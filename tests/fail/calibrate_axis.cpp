// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters along an axis that the value doesn't have.
// expect: SINTER-K002
// expect: Hint:
#include <sinter/sinter.hpp>
#include <sinter/calibrate_graph.hpp>
#include <sinter/split.hpp>

namespace si = sinter;

inline constexpr auto operation = si::fused([](auto x) { return relu(x) * 2.0f; });

void example(float* p, float* q, float* r) {
    // [given]
    const si::tensor_view<const float, si::extents<si::dyn, 64>> x(p, 10);
    const si::tensor_view<float, si::extents<si::dyn, 64>> y(q, 10);
    const si::tensor_view<float, si::extents<>> low(r), high(r + 1);
    // [/given]
#ifdef CONTROL
    // [repair]
    const auto plan = si::quantizer([](si::node_facts value) {
        if (value.is("relu")) return si::choose::own(si::observer::min_max, si::code_kind::i8).per_axis(1);
        return si::choose::nothing();
    });
    const si::tensor_view<float, si::extents<64>> lows(r), highs(r + 64);
    si::run(si::split(si::reference), si::tie(y, lows, highs) = si::prepare(operation, plan)(x));
    // [/repair]
#else
    // [mistake]
    const auto plan = si::quantizer([](si::node_facts value) {
        if (value.is("relu")) return si::choose::own(si::observer::min_max, si::code_kind::i8).per_axis(2);
        return si::choose::nothing();
    });
    si::run(si::reference, si::tie(y, low, high) = si::prepare(operation, plan)(x));
    // [/mistake]
#endif
}
