// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// eval of an operator with several values.
// expect: SINTER-E024
// expect: given<2>
// expect: tie(
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

inline constexpr auto two = si::fused([](auto v) { return outputs(v + 1.0f, v * 2.0f); });

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::tensor<float, si::extents<3, 4>> more;
    si::run(si::reference, si::tie(y, si::view(more)) = two(x));
    // [/repair]
#else
    // [mistake]
    const auto [less, more] = si::eval(si::reference, two(x));
    si::run(si::reference, y = copy(si::view(more)));
    // [/mistake]
#endif
}
