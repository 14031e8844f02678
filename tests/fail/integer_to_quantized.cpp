// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers stored to a quantized view.
// expect: SINTER-Q005
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p, signed char* c) {
    // [given]
    using element = si::q8<"0.05:3"_qp>;
    const si::tensor_view<element, si::extents<8>> y(reinterpret_cast<element*>(c));
    const si::tensor_view<const int, si::extents<8>> n(reinterpret_cast<const int*>(p));
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::cast<float>(n));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = n + 1);
    // [/mistake]
#endif
}
