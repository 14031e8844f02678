// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator of the user's own whose call isn't a template.
// expect: SINTER-E014
// expect: halve
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

struct halve {
    static constexpr const char* name = "halve";
#ifdef CONTROL
    // [repair]
    template <class Value>
    SINTER_INLINE Value operator()(Value x) const {
        return x * 0.5f;
    }
    // [/repair]
#else
    // [given]
    float operator()(float x) const { return x * 0.5f; }
    // [/given]
#endif
};

void example(float* p) {
    const si::tensor_view<float, si::extents<3>> x(p), y(p);
    // [mistake]
    si::run(si::reference, y = si::pointwise<halve>(x));
    // [/mistake]
}
