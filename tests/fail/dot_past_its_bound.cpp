// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More products of codes than 32 bits hold for sure.
// expect: SINTER-Q006
// expect: 200000
// expect: 131071
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p, signed char* c) {
    // [given]
    const si::tensor_view<const signed char, si::extents<200000>> x(c), w(c);
    const si::tensor_view<const signed char, si::extents<2, 100000>> x_parts(c), w_parts(c);
    const si::tensor_view<int, si::extents<1>> y(reinterpret_cast<int*>(p));
    const si::tensor_view<int, si::extents<2, 1>> y_parts(reinterpret_cast<int*>(p));
    // [/given]
#ifdef CONTROL
    // [repair]
    (void)x, (void)w, (void)y;
    si::run(si::reference, y_parts = si::dot_codes(x_parts, w_parts, si::axes<1>));
    // [/repair]
#else
    // [mistake]
    (void)x_parts, (void)w_parts, (void)y_parts;
    si::run(si::reference, y = si::dot_codes(x, w, si::axes<0>));
    // [/mistake]
#endif
}
