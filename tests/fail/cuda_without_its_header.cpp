// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The executor cuda without its header.
// expect: SINTER-B006
// expect: Hint:
// only: nvcc
#include <sinter/sinter.hpp>
#ifdef CONTROL
// [repair]
#include <sinter/backend/cuda.cuh>
// [/repair]
#endif

namespace si = sinter;

void example(si::tensor_view<float, si::extents<2, 3>, si::row_major, si::device_memory> x, decltype(x) y, cudaStream_t stream) {
    // [mistake]
    si::run(si::cuda(stream), y = x + 1.0f);
    // [/mistake]
}
