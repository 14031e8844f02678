// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More views than the parameters of a CUDA kernel hold.
// expect: SINTER-C003
// expect: Hint:
// only: nvcc
#include <sinter/sinter.hpp>

#include <sinter/backend/cuda.cuh>

namespace si = sinter;

// [given]
using view = si::tensor_view<float, si::extents<si::dyn, si::dyn, si::dyn, si::dyn, si::dyn, si::dyn, si::dyn, si::dyn>, si::strided, si::device_memory>;
// [/given]
#ifdef CONTROL
// [repair]
void example(view y, view x) {
    si::run(si::cuda(), y = let(x, [](auto one) {
        auto sum = one;
        for (int i = 1; i < 19; ++i) sum = sum + one;
        return sum;
    }));
}
// [/repair]
#else
// [mistake]
void example(view y, view x) {
    si::run(si::cuda(), y = x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x);
}
// [/mistake]
#endif
