// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction that keeps its axis, compared with labels.
// expect: SINTER-P002
// expect: drop
// expect: sizes<3>
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<float, si::extents<3, 4>> scores(p);
    const si::tensor_view<const si::i64, si::extents<3>> labels(nullptr);
    const si::tensor_view<float, si::extents<>> accuracy(p);
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, accuracy = mean(argmax(scores, si::last_axis, si::drop) == labels));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, accuracy = mean(argmax(scores, si::last_axis) == labels));
    // [/mistake]
#endif
}
