// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that has no f64 form yet.
// expect: SINTER-T006
// expect: erf_op
// expect: of_type<sinter::dtype::f64>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    using doubles = si::tensor_view<double, si::extents<6>>;
    const doubles x(reinterpret_cast<double*>(p)), y(reinterpret_cast<double*>(p));
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = tanh(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = erf(x));
    // [/mistake]
#endif
}
