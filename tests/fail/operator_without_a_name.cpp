// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator of the user's own without a name.
// expect: SINTER-E013
// expect: halve
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

struct halve {
#ifdef CONTROL
    // [repair]
    static constexpr const char* name = "halve";
    // [/repair]
#endif
    template <class Value>
    SINTER_INLINE Value operator()(Value x) const {
        return x * 0.5f;
    }
};

void example(float* p) {
    const si::tensor_view<float, si::extents<3>> x(p), y(p);
    // [mistake]
    si::run(si::reference, y = si::pointwise<halve>(x));
    // [/mistake]
}
