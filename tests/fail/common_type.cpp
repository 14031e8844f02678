// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user's operator whose operands have no common type.
// expect: SINTER-T004
// expect: of_type<sinter::dtype::i32>
// expect: of_type<sinter::dtype::f32>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

// [formula]
constexpr si::typing one_type(const si::value_type* arguments, int count) {
    if (arguments[0].type != arguments[1].type) return si::rules::refused(si::type_violation::no_common_type);
    return si::rules::arithmetic(arguments, count);
}
struct scaled {
    static constexpr const char* name = "scaled";
    static constexpr si::type_rule rule = &one_type;
    template <class Value>
    SINTER_INLINE Value operator()(Value x, Value y) const {
        return x * y;
    }
};
// [/formula]

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<6>> x(p), y(p);
    const si::tensor_view<int, si::extents<6>> n(reinterpret_cast<int*>(p));
    // [/given]
    (void)x, (void)n;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::pointwise<scaled>(x, x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::pointwise<scaled>(n, x));
    // [/mistake]
#endif
}
