// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A constant that doesn't fit the integers it meets.
// expect: SINTER-T005
// expect: of_type<sinter::dtype::i8>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    using bytes = si::tensor_view<signed char, si::extents<6>>;
    const bytes x(reinterpret_cast<signed char*>(p)), y(reinterpret_cast<signed char*>(p));
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = si::let(x, [](auto a) { return a + 100; }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto a) { return a + 300; }));
    // [/mistake]
#endif
}
