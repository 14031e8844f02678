// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation of your own: a struct with a name and one templated call over the lane, which is a float in the reference and
// a vector register on the CPU. It takes part in fusion like every built-in one.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>

#include <cstdio>

namespace si = sinter;

struct soft_shrink {
    static constexpr const char* name = "soft_shrink";
    template <class Value>
    SINTER_INLINE Value operator()(Value x, Value width) const {
        // Everything in sinter::lane is found by its argument: select, abs, copysign, exp, ...
        return select(abs(x) > width, x - copysign(width, x), Value(0.0f));
    }
};

int main() {
    float x[6] = {-2, -0.5f, 0, 0.25f, 1, 3}, y[6];
    auto in = si::view(x, si::extents<6>{});
    auto out = si::view(y, si::extents<6>{});
    si::run(si::cpu, out = si::pointwise<soft_shrink>(in * 2.0f, 1.0f));
    for (float value : y) std::printf("%g ", double(value));
    std::printf("\n");
}
