// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static parameters of an operation without a scale.
// expect: SINTER-Q001
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;
using namespace sinter::literals;

void example(float* p, signed char* c) {
    // [given]
    const si::tensor_view<float, si::extents<8>> x(p);
    const si::tensor_view<si::i8, si::extents<8>> codes(c);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, codes = si::quantize<si::qp(0.1f)>(x));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, codes = si::quantize<si::qp(0.0f)>(x));
    // [/mistake]
#endif
}
