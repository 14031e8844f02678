// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Codes of one scale stored where another is meant.
// expect: SINTER-Q004
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p, signed char* c) {
    // [given]
    using first = si::q8<"0.05:3"_qp>;
    using second = si::q8<"0.1"_qp>;
    const si::tensor_view<first, si::extents<8>> x(reinterpret_cast<first*>(c));
    const si::tensor_view<second, si::extents<8>> y(reinterpret_cast<second*>(p));
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = requantize(relu(x)));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = relu(x));
    // [/mistake]
#endif
}
