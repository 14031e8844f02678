// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A formula from outside beside a value of the lambda.
// expect: SINTER-E015
// expect: add_op
// expect: Hint:
// lines: 40
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3>> x(p), y(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    const auto place = si::cast<float>(si::iota<0>(si::extents<3>{}));
    si::run(si::reference, y = si::let(x, place, [](auto a, auto b) { return a + b; }));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = si::let(x, [](auto a) { return a + si::cast<float>(si::iota<0>(si::extents<3>{})); }));
    // [/mistake]
#endif
}
