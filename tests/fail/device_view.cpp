// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A view of device memory on a host executor.
// expect: SINTER-M001
// expect: reference
// expect: device_memory
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<6>> x(p), y(p);
    const si::tensor_view<float, si::extents<6>, si::row_major, si::device_memory> d(p);
    // [/given]
    (void)d;
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = x * 2.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = d * 2.0f);
    // [/mistake]
#endif
}
