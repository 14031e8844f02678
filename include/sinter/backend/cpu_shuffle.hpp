// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements two to four places apart (channels of pixels, coordinates of points, corners of boxes), brought together by shuffles of
// registers instead of one by one. Bytes only: no value is computed here.
#pragma once

#include "cpu_lane_register.hpp"

namespace sinter::backend::SINTER_ISA {
inline namespace SINTER_CPU_FEATURES {

/// What the shared copies of host drivers (packer) ask of this instruction set.
struct cpu_shuffles {
#if SINTER_CPU_SSE41 || SINTER_CPU_NEON
    /// Registers of which two are shuffled at a time: for bytes of 16, since few processors move bytes across these.
    template <int Size>
    using cells = simd<conditional<Size == 1, u8, u32>, Size == 4 ? SINTER_CPU_BYTES : 16>;

    /// The lane of two registers from which an element comes: of what the registers before `Next` gave, or of that one.
    template <int Lanes, int Stride, int Next>
    static constexpr int source(int lane) {
        const int place = lane * Stride;
        return place >= (Next + 1) * Lanes ? -1 : place >= Next * Lanes ? Lanes + place - Next * Lanes : Next == 1 ? place : lane;
    }
    template <int Stride, int Next, class Register, int... Lane>
    static SINTER_FORCE_INLINE Register join(Register before, const void* memory, indices<Lane...> lanes) {
        if constexpr (Next == Stride) {
            return before;
        } else {
            Register next;
            __builtin_memcpy(&next, static_cast<const char*>(memory) + Next * int(sizeof(Register)), sizeof(Register));
            return join<Stride, Next + 1>(
                Register(__builtin_shufflevector(before, next, (source<int(sizeof...(Lane)), Stride, Next>(Lane))...)), memory, lanes);
        }
    }
    template <int Size, int Stride>
    static SINTER_FORCE_INLINE int gather_by(void* to, const void* from, int count) {
        using Register = cells<Size>;
        constexpr int lanes = int(sizeof(Register)) / Size;
        int done = 0;
        for (; done + lanes <= count; done += lanes) {
            const char* const memory = static_cast<const char*>(from) + i64(done) * Stride * Size;
            Register first;
            __builtin_memcpy(&first, memory, sizeof(Register));
            const Register all = join<Stride, 1>(first, memory, make_indices<lanes>{});
            __builtin_memcpy(static_cast<char*>(to) + done * Size, &all, sizeof(Register));
        }
        return done;
    }
    /// So many elements `stride` apart, where all that lies between them and `stride - 1` behind the last may be read. The number of
    /// elements done: whole registers of them; none for other strides. (Bytes and elements of 32 bits: each size costs compile time.)
    template <int Size>
        requires(Size == 1 || Size == 4)
    static SINTER_FORCE_INLINE int gather(void* to, const void* from, i64 stride, int count) {
        return stride == 3 ? gather_by<Size, 3>(to, from, count) : stride == 4 ? gather_by<Size, 4>(to, from, count) : stride == 2 ? gather_by<Size, 2>(to, from, count) : 0;
    }
#endif
};

}  // namespace SINTER_CPU_FEATURES
}  // namespace sinter::backend::SINTER_ISA
