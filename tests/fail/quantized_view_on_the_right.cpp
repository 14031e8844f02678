// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same with quantized views, whose scales may differ when run.
// expect: E005
// expect: copy
// lines: 13
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(si::i8* p, float scale) {
    const auto codes = si::view(p, si::extents<2, 3>{});
    auto x = si::quantized(codes, scale), y = si::quantized(codes, scale);
#ifdef CONTROL
    si::run(si::reference, y = copy(x));
#else
    si::run(si::reference, y = x);
#endif
}
