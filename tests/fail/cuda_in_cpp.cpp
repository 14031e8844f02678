// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA backend in a file of plain C++.
// expect: SINTER-B004
// only: g++ clang
#ifdef CONTROL
// [repair]
#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>
// [/repair]
#else
// [mistake]
#include <sinter/sinter.hpp>

#include <sinter/backend/cuda.cuh>
// [/mistake]
#endif
