// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bias whose scales are those of a sum, added to something else.
// expect: SINTER-K007
// expect: Hint:
#include <sinter/sinter.hpp>
#include <sinter/calibrate_convert.hpp>

namespace si = sinter;

template <bool Relu>
inline constexpr auto layer = si::fused([](auto x, auto w, auto b) {
    const auto total = sum(x * w, si::last_axis, si::drop);
    return Relu ? relu(total) + b : total + b;
});
template <bool Relu>
struct calibrated_layer {
    static constexpr si::u64 operator_hash = si::operator_hash<2, 1, 1>(layer<Relu>);
    static constexpr si::calibrated_value values[3] = {{{"input", 0}, si::at_run_time(si::code_kind::u8, true)},
                                                       {{"input", 1}, si::at_run_time(si::code_kind::i8, true)},
                                                       {{"input", 2}, si::at_run_time(si::code_kind::i32)}};
};

void example(const si::u8* p, const si::i8* q, const si::i32* r, float* s) {
    // [given]
    const si::tensor_view<const si::u8, si::extents<si::dyn, 64>> x(p, 10);
    const si::tensor_view<const si::i8, si::extents<64>> w(q);
    const si::tensor_view<const si::i32, si::extents<1>> b(r);
    const si::tensor_view<float, si::extents<si::dyn>> y(s, 10);
    // [/given]
#ifdef CONTROL
    // [repair]
    // total + b
    si::run(si::reference, y = si::convert<calibrated_layer<false>>(layer<false>)(x, w, b, 0.5f, 0.25f));
    // [/repair]
#else
    // [mistake]
    // relu(total) + b
    si::run(si::reference, y = si::convert<calibrated_layer<true>>(layer<true>)(x, w, b, 0.5f, 0.25f));
    // [/mistake]
#endif
}
