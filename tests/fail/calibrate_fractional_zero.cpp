// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A converted operator whose zero point, known when run, is a float.
// expect: SINTER-Q015
// expect: Hint:
#include <sinter/sinter.hpp>
#include <sinter/calibrate_convert.hpp>

namespace si = sinter;

inline constexpr auto operation = si::fused([](auto x) { return relu(x) * 2.0f; });
struct calibrated_operation {
    static constexpr si::u64 operator_hash = si::operator_hash<2>(operation);
    static constexpr si::calibrated_value values[] = {{{"input", 0}, si::at_run_time(si::code_kind::u8)}};
};

void example(float* p, unsigned char* q, float scale) {
    // [given]
    const si::tensor_view<const unsigned char, si::extents<si::dyn, 64>> codes(q, 10);
    const si::tensor_view<float, si::extents<si::dyn, 64>> y(p, 10);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::convert<calibrated_operation>(operation)(codes, scale, 4));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::convert<calibrated_operation>(operation)(codes, scale, 3.5f));
    // [/mistake]
#endif
}
