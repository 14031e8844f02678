// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same in a traced lambda.
// expect: SINTER-E019
// expect: largest, sinter::monoids::combine_member
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

struct largest {
    static constexpr const char* name = "largest";
    template <class Value>
    static SINTER_INLINE auto identity() {
        return si::lane::fields<Value>(Value(-1e30f));
    }
    template <class Value>
    static SINTER_INLINE auto lift(Value x) {
        return si::lane::fields<Value>(x);
    }
#ifdef CONTROL
    // [repair]
    template <class State>
    static SINTER_INLINE State combine(const State& a, const State& b) {
        return State(maximum(si::lane::get<0>(a), si::lane::get<0>(b)));
    }
    // [/repair]
#else
    // [given]
    static float combine(float a, float b) { return a < b ? b : a; }
    // [/given]
#endif
    template <class State>
    static SINTER_INLINE auto finalize(const State& a) {
        return si::lane::get<0>(a);
    }
};

void example(float* p) {
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto v) { return v - si::fold<largest>(v, si::last_axis); }));
    // [/mistake]
}
