// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A quantizer that observes nothing.
// expect: SINTER-K005
// expect: Hint:
#include <sinter/sinter.hpp>
#include <sinter/calibrate_graph.hpp>

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
        if (value.is("relu")) return si::choose::own(si::observer::min_max, si::code_kind::i8);
        return si::choose::nothing();
    });
    si::run(si::reference, si::tie(y, low, high) = si::prepare(operation, plan)(x));
    // [/repair]
#else
    // [mistake]
    const auto plan = si::quantizer([](si::node_facts value) {
        return value.is("relu6") ? si::choose::own(si::observer::min_max, si::code_kind::i8) : si::choose::nothing();
    });
    si::run(si::reference, si::tie(y, low, high) = si::prepare(operation, plan)(x));
    // [/mistake]
#endif
}
