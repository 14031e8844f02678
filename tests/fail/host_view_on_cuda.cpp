// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A view of host memory on the CUDA executor.
// expect: SINTER-M001
// expect: cuda_executor
// expect: host_memory
// expect: Hint:
// only: nvcc
#include <sinter/sinter.hpp>

#include <sinter/backend/cuda.cuh>

namespace si = sinter;

void example(float* p, float* on_device) {
    const si::tensor_view<float, si::extents<6>> x(p);
    const auto d = si::device_view(on_device, si::extents<6>{});
    (void)x;
#ifdef CONTROL
    // [repair]
    si::run(si::cuda(), d = d * 2.0f);
    // [/repair]
#else
    // [mistake]
    si::run(si::cuda(), d = x * 2.0f);
    // [/mistake]
#endif
}
