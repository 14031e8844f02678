// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU lanes in a CUDA file.
// expect: SINTER-B002
// only: nvcc
#ifdef CONTROL
#include <sinter/sinter.hpp>
#else
#include <sinter/backend/cpu.hpp>
#endif
