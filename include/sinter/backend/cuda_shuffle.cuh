// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lane values that go from thread to thread of a warp, and the choice between two of them. The rows' trees are in cuda_rows.cuh.
#pragma once

#include "../drive.hpp"

namespace sinter::detail::device {

/// Applies a warp shuffle of 4 or 8 bytes to a lane value.
template <class Value, class Shuffle>
__device__ __forceinline__ Value shuffle(Value from, const Shuffle& move) {
    using element = typename Value::element;
    if constexpr (sizeof(element) == 8) {
        unsigned long long bits;
        __builtin_memcpy(&bits, &from.value, 8);
        bits = move(bits);
        __builtin_memcpy(&from.value, &bits, 8);
    } else {
        unsigned bits = 0;
        __builtin_memcpy(&bits, &from.value, sizeof(element));
        bits = move(bits);
        __builtin_memcpy(&from.value, &bits, sizeof(element));
    }
    return from;
}
/// Receives from the thread that differs in the bit `distance`, within a group.
struct from_partner {
    int distance;
    template <class Value>
    __device__ __forceinline__ Value operator()(Value from) const {
        return shuffle(from, [d = distance](auto word) { return __shfl_xor_sync(~0u, word, d); });
    }
};
struct from_below {  ///< from the thread `distance` further on in the warp
    int distance;
    template <class Value>
    __device__ __forceinline__ Value operator()(Value from) const {
        return shuffle(from, [d = distance](auto word) { return __shfl_down_sync(~0u, word, unsigned(d)); });
    }
};
struct from_first {  ///< from the warp's first thread
    template <class Value>
    __device__ __forceinline__ Value operator()(Value from) const {
        return shuffle(from, [](auto word) { return __shfl_sync(~0u, word, 0); });
    }
};
/// One of two values. On the device by an instruction of its own: nvcc may turn what it knows to be a choice into a branch, with the
/// shuffles that follow in both arms.
struct choose {
    bool first;
    explicit __device__ __forceinline__ choose(bool takes_first) : first(takes_first) {}
    template <class Value>
    __device__ __forceinline__ Value operator()(Value yes, Value no) const {
#if SINTER_DEVICE_PASS
        if constexpr (sizeof(typename Value::element) == 4) {
            unsigned one, other;
            __builtin_memcpy(&one, &yes.value, 4);
            __builtin_memcpy(&other, &no.value, 4);
            asm("{.reg .pred p; setp.ne.b32 p, %3, 0; selp.b32 %0, %1, %2, p;}" : "=r"(one) : "r"(one), "r"(other), "r"(int(first)));
            __builtin_memcpy(&yes.value, &one, 4);
            return yes;
        }
#endif
        yes.value = first ? yes.value : no.value;
        return yes;
    }
};

}  // namespace sinter::detail::device
