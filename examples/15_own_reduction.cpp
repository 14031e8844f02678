// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction of your own: a monoid. It says what an element counts as, how two results combine, and what comes out. Here two sums
// are one state; a reduction of the library beside it shares the pass.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>

#include <cstdio>

namespace si = sinter;

// [monoid]
/// The contraharmonic mean, sum x^2 / sum x.
struct contraharmonic {
    static constexpr const char* name = "contraharmonic";
    static constexpr si::type_rule rule = &si::rules::fold_float;  // floats in, floats out
    template <class Value>
    static SINTER_INLINE auto identity() {
        return si::lane::fields<Value, Value>(Value(0.0f), Value(0.0f));
    }
    template <class Value>
    static SINTER_INLINE auto lift(Value x) {
        return si::lane::fields<Value, Value>(x, x * x);
    }
    template <class State>
    static SINTER_INLINE State combine(const State& a, const State& b) {
        return State(si::lane::get<0>(a) + si::lane::get<0>(b), si::lane::get<1>(a) + si::lane::get<1>(b));
    }
    template <class State>
    static SINTER_INLINE auto finalize(const State& a) {
        return si::lane::get<1>(a) / si::lane::get<0>(a);
    }
};
// [/monoid]

int main() {
    float x[2][4] = {{1, 2, 3, 4}, {10, 10, 10, 30}}, y[2], m[2];
    const auto rows = si::view(x);
    const auto row = [](auto a) { return si::outputs(si::fold<contraharmonic>(a, si::last_axis, si::drop), mean(a, si::last_axis, si::drop)); };
    si::run(si::cpu, si::tie(si::view(y), si::view(m)) = si::let(rows, row));
    for (int i = 0; i < 2; ++i) std::printf("row %d: contraharmonic mean %g, mean %g\n", i, double(y[i]), double(m[i]));
}
