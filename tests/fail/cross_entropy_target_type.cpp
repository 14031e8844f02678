// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cross entropy whose target is a float: targets are class indices.
// expect: SINTER-T002
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p, float* q, int* classes) {
    const si::tensor_view<float, si::extents<4, 8>> x(p);
    const si::tensor_view<float, si::extents<4, 1>> loss(p);
    const si::tensor_view<int, si::extents<4, 1>> index(classes);
    const si::tensor_view<float, si::extents<4, 1>> target(q);
    (void)index, (void)target;
#ifdef CONTROL
    si::run(si::reference, loss = si::cross_entropy(x, index));
#else
    si::run(si::reference, loss = si::cross_entropy(x, target));
#endif
}
