// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs of this folder count: checks that held and others, each of those named, with the size at which it failed.
#pragma once

#include <cstdio>

inline int passed = 0, failed = 0;

inline void check(const char* name, long long size, bool holds) {
    holds ? ++passed : ++failed;
    if (!holds) std::printf("FAIL  %s (%lld)\n", name, size);
}
inline void check(const char* name, bool holds) {
    holds ? ++passed : ++failed;
    if (!holds) std::printf("FAIL  %s\n", name);
}
/// The last line and the exit status of a program: no check at all is a failure, too.
inline int tally() {
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 && passed != 0 ? 0 : 1;
}
