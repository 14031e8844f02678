// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A monoid of the user's own that lacks a member.
// expect: SINTER-E016
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
#endif
    template <class State>
    static SINTER_INLINE auto finalize(const State& a) {
        return si::lane::get<0>(a);
    }
};

void example(float* p) {
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [mistake]
    si::run(si::reference, y = si::fold<largest>(x, si::last_axis));
    // [/mistake]
}
