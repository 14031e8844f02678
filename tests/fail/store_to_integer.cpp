// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats stored to integers without a cast.
// expect: SINTER-T011
// expect: store_to<sinter::dtype::i32>
// expect: of_type<sinter::dtype::f32>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<6>> x(p);
    const si::tensor_view<int, si::extents<6>> n(reinterpret_cast<int*>(p));
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, n = si::cast<int>(x * 10.0f));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, n = x * 10.0f);
    // [/mistake]
#endif
}
