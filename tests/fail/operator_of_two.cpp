// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator of the user's own that takes another number of lanes.
// expect: SINTER-E019
// expect: limit
// expect: given<2>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

struct limit {
    static constexpr const char* name = "limit";
#ifdef CONTROL
    // [repair]
    template <class Value>
    SINTER_INLINE Value operator()(Value x, Value most) const {
        return minimum(x, most);
    }
    // [/repair]
#else
    // [given]
    template <class Value>
    SINTER_INLINE Value operator()(Value x) const {
        return minimum(x, Value(1.0f));
    }
    // [/given]
#endif
};

void example(float* p) {
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [mistake]
    si::run(si::reference, y = si::pointwise<limit>(x, 1.0f));
    // [/mistake]
}
