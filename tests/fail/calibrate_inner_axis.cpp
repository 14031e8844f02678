// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scales along an axis of a value inside the operator.
// expect: SINTER-K006
// expect: Hint:
#include <sinter/sinter.hpp>
#include <sinter/calibrate_convert.hpp>

namespace si = sinter;

inline constexpr auto operation = si::fused([](auto x) { return relu(x) * 2.0f; });
struct calibrated_operation {
    static constexpr si::u64 operator_hash = si::operator_hash<2>(operation);
    static constexpr si::calibrated_value values[] = {{{"relu", 0}, si::stored_as(si::qp(0.5f), si::code_kind::u8)}};
};
inline constexpr float scales[2] = {0.5f, 0.25f};
struct calibrated_by_axis {
    static constexpr si::u64 operator_hash = si::operator_hash<2>(operation);
    static constexpr si::calibrated_value values[] = {{{"relu", 0}, si::stored_as(si::qp(0.5f), si::code_kind::u8), 1, 2, scales}};
};

void example(float* p, float* q, float* r) {
    // [given]
    const si::tensor_view<const float, si::extents<si::dyn, 64>> x(p, 10);
    const si::tensor_view<float, si::extents<si::dyn, 64>> y(q, 10);
    const si::tensor_view<float, si::extents<>> low(r), high(r + 1);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::convert<calibrated_operation>(operation)(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::convert<calibrated_by_axis>(operation)(x));
    // [/mistake]
#endif
}
