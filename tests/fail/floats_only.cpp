// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user's operator that asks for floating-point operands.
// expect: SINTER-T001
// expect: of_type<sinter::dtype::i32>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

// [formula]
constexpr si::typing floats_only(const si::value_type* arguments, int count) {
    if (!si::is_float(arguments[0].type)) return si::rules::refused(si::type_violation::needs_float);
    return si::rules::arithmetic(arguments, count);
}
struct halve {
    static constexpr const char* name = "halve";
    static constexpr si::type_rule rule = &floats_only;
    template <class Value>
    SINTER_INLINE Value operator()(Value x) const {
        return x * 0.5f;
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
    si::run(si::reference, y = si::pointwise<halve>(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::pointwise<halve>(n));
    // [/mistake]
#endif
}
