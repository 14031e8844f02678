// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator of the user's own whose result isn't of the type that its rule says.
// expect: SINTER-E019
// expect: limit
// expect: bool
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

struct limit {
    static constexpr const char* name = "limit";
    template <class Value>
    SINTER_INLINE auto operator()(Value x) const {
#ifdef CONTROL
        // [repair]
        return select(x > 1.0f, Value(1.0f), Value(0.0f));
        // [/repair]
#else
        // [given]
        return x > 1.0f;
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
