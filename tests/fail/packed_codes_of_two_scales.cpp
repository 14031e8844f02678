// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packed codes whose scale is in their type, with scales that the view holds.
// expect: SINTER-Q018
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p, unsigned char* bytes) {
    // [given]
    const si::tensor_view<float, si::extents<4>> scales(p);
    const si::tensor_view<float, si::extents<4, 32>> y(p + 4);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::quantized(si::packed(reinterpret_cast<si::q4x2<"1"_qp>*>(bytes), si::extents<4, 16>{}), si::axes<0>, scales));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::quantized(si::packed(reinterpret_cast<si::q4x2<"0.5"_qp>*>(bytes), si::extents<4, 16>{}), si::axes<0>, scales));
    // [/mistake]
#endif
}
