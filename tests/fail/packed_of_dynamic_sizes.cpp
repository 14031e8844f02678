// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packed codes of a size that is known when run.
// expect: SINTER-Q019
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p, unsigned char* bytes) {
    // [given]
    const auto pairs = reinterpret_cast<si::q4x2<"0.5"_qp>*>(bytes);
    const si::tensor_view<float, si::extents<4, 32>> y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::packed(pairs, si::extents<4, 16>{}));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::packed(pairs, si::extents<si::dyn, 16>(4)));
    // [/mistake]
#endif
}
