// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes as packed codes.
// expect: SINTER-Q019
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p, unsigned char* bytes) {
    // [given]
    const si::tensor_view<float, si::extents<4, 32>> y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::packed(reinterpret_cast<si::q4x2<"0.5"_qp>*>(bytes), si::extents<4, 16>{}));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::packed(bytes, si::extents<4, 16>{}));
    // [/mistake]
#endif
}
