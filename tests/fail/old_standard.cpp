// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// g++ 12 compiles for C++17 unless told otherwise.
// expect: Sinter needs C++20: compile with -std=c++20
// expect: fatal error
// errors: 2
// flags: -std=c++17
// repaired: -std=c++20
// only: g++ clang
#include <sinter/sinter.hpp>
