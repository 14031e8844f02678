// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A branch on a lane in an operator of the user's own.
// expect: SINTER-E017
// expect: limit
// expect: Hint:
// lines: 34
#include <sinter/sinter.hpp>

namespace si = sinter;

struct limit {
    static constexpr const char* name = "limit";
    template <class Value>
    SINTER_INLINE Value operator()(Value x) const {
#ifdef CONTROL
        // [repair]
        return select(x > 1.0f, Value(1.0f), x);
        // [/repair]
#else
        // [given]
        return x > 1.0f ? Value(1.0f) : x;
        // [/given]
#endif
    }
};

void example(float* p) {
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [mistake]
    si::run(si::reference, y = si::pointwise<limit>(x));
    // [/mistake]
}
