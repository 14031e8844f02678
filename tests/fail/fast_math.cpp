// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clang's -ffast-math deletes NaN tests.
// expect: SINTER-B001
// expect: SINTER_ACCEPT_FINITE_MATH
// flags: -ffast-math
// only: clang
#ifdef CONTROL
// [repair]
#define SINTER_ACCEPT_FINITE_MATH
#include <sinter/sinter.hpp>
// [/repair]
#else
#include <sinter/sinter.hpp>
#endif
