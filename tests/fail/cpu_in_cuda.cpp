// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU lanes in a CUDA file.
// expect: SINTER-B002
// only: nvcc
#ifdef CONTROL
// [repair]
#include <sinter/sinter.hpp>
// [/repair]
#else
// [mistake]
#include <sinter/backend/cpu.hpp>
// [/mistake]
#endif
