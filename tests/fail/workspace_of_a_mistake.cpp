// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The workspace of a call that doesn't compile: the call's own message, and no more.
// expect: SINTER-S041
// expect: sizes<7>
// expect: Hint:
// only: nvcc
#include <sinter/sinter.hpp>

#include <sinter/backend/cuda.cuh>

namespace si = sinter;

void example(float* p, float* q) {
    const auto x = si::device_view(p, si::extents<6>{});
    const auto y = si::device_view(q, si::extents<6>{});
    const auto z = si::device_view(q, si::extents<7>{});
    (void)y, (void)z;
#ifdef CONTROL
    const auto call = y = x * 2.0f;
#else
    const auto call = z = x * 2.0f;
#endif
    constexpr si::i64 most = si::cuda_workspace_bound<si::remove_cvref<decltype(call)>>;
    (void)most, (void)si::cuda_workspace_size(call);
    si::run(si::cuda(), call);
}
