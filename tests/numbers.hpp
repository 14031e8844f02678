// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every kind of test uses: the names of the integers, one wider than all of them, and numbers that are the same on every
// machine. Not for values of tensors: support.hpp.
#pragma once

#include <sinter/config.hpp>

namespace test_numbers {

namespace si = sinter;
using si::i16;
using si::i32;
using si::i64;
using si::i8;
using si::u16;
using si::u32;
using si::u64;
using si::u8;

__extension__ typedef __int128 wide_int;

/// xorshift64*.
struct generator {
    u64 state = 0x9e3779b97f4a7c15u;
    u64 operator()() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state * 0x2545f4914f6cdd1du;
    }
    /// Uniform in [low, high).
    double in(double low, double high) { return low + (high - low) * static_cast<double>((*this)() >> 11) * 0x1p-53; }
    /// In [-1, 1).
    double unit() { return static_cast<double>(static_cast<i64>((*this)()) >> 11) * 0x1p-52; }
};

}  // namespace test_numbers
