// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers for the programs that run on the emulated device: the same for the same `state`, of both signs, below 2.
#pragma once

#include <sinter/scalar.hpp>

#include <vector>

template <class Type>
std::vector<Type> numbers(sinter::i64 count, unsigned state) {
    std::vector<Type> out;
    for (sinter::i64 i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        out.push_back(sinter::convert<Type>(float(int(state)) * 0x1p-30f));
    }
    return out;
}
