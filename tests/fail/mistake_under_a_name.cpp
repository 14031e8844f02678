// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A name of a traced lambda takes a mistake: no value carries it on, so the record of the lambda does.
// expect: SINTER-S029
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    const si::tensor_view<float, si::extents<3, 4>> x(p), y(p);
#ifdef CONTROL
    si::run(si::reference, y = si::let(x, [](auto v) {
        v = maximum(v, 0.0f);
        return v + 1.0f;
    }));
#else
    si::run(si::reference, y = si::let(x, [](auto v) {
        v = max(v, 0.0f);
        return v + 1.0f;
    }));
#endif
}
