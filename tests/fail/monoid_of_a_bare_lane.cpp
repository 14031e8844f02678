// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A monoid whose state is a lane by itself: drivers move states field by field.
// expect: SINTER-E019
// expect: largest, sinter::monoids::identity_member
// expect: lane::fields<Value>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

struct largest {
    static constexpr const char* name = "largest";
    template <class Value>
    static SINTER_INLINE auto identity() {
#ifdef CONTROL
        // [repair]
        return si::lane::fields<Value>(Value(-1e30f));
        // [/repair]
#else
        // [given]
        return Value(-1e30f);
        // [/given]
#endif
    }
    template <class Value>
    static SINTER_INLINE auto lift(Value x) {
#ifdef CONTROL
        return si::lane::fields<Value>(x);
#else
        return x;
#endif
    }
    template <class State>
    static SINTER_INLINE State combine(const State& a, const State& b) {
#ifdef CONTROL
        return State(maximum(si::lane::get<0>(a), si::lane::get<0>(b)));
#else
        return maximum(a, b);
#endif
    }
    template <class State>
    static SINTER_INLINE auto finalize(const State& a) {
#ifdef CONTROL
        return si::lane::get<0>(a);
#else
        return a;
#endif
    }
};

void example(float* p) {
    const si::tensor_view<float, si::extents<3, 4>> x(p);
    const si::tensor_view<float, si::extents<>> y(p);
    // [mistake]
    si::run(si::reference, y = si::fold<largest>(x));
    // [/mistake]
}
