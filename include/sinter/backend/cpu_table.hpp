// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes looked up in a table of 256 on a CPU, compiled once for all kernels. With AVX-512's byte permutations the table stays in four
// registers, four instructions for 64 bytes; with AVX2 each sixteenth of it is permuted by the low half of the code and the high half
// chooses among them, one instruction a byte; elsewhere by loads.
#pragma once

#include "cpu_lane_memory.hpp"

namespace sinter::backend::SINTER_ISA {
inline namespace SINTER_CPU_FEATURES {

struct cpu_table {
    /// A chain of so many instructions an element is worth a table: from there on it was measured to be faster.
    static constexpr int worth = SINTER_CPU_VBMI ? 4 : SINTER_CPU_BYTES >= 32 ? 14 : 24;
    /// to[i] = table[from[i]]; `to` may be `from`.
    static SINTER_NOINLINE void look_up(const u8* table, const u8* from, u8* to, i64 count) {
        i64 done = 0;
#if SINTER_CPU_VBMI
        using part = simd<u8, 64>;
        const auto first = detail::read<part>(table), second = detail::read<part>(table + 64), third = detail::read<part>(table + 128), fourth = detail::read<part>(table + 192);
        for (; done + 64 <= count; done += 64) {
            const auto code = detail::read<part>(from + done);
            part low = code, high = code;  // seven bits of each code choose among 128
            u64 upper;
            __asm__("vpermi2b {%2, %1, %0|%0, %1, %2}" : "+v"(low) : "v"(first), "v"(second));
            __asm__("vpermi2b {%2, %1, %0|%0, %1, %2}" : "+v"(high) : "v"(third), "v"(fourth));
            __asm__("vpmovb2m {%1, %0|%0, %1}" : "=k"(upper) : "v"(code));
            __asm__("vmovdqu8 {%1, %0%{%2%}|%0%{%2%}, %1}" : "+v"(low) : "v"(high), "Yk"(upper));
            detail::write(to + done, low);
        }
#elif SINTER_CPU_BYTES >= 32
        using part = simd<u8, 32>;
        part tables[16];
        for (int i = 0; i < 16; ++i) {
            const auto half = detail::read<simd<u64, 16>>(table + 16 * i);
            tables[i] = as<u8>(simd<u64, 32>{half[0], half[1], half[0], half[1]});
        }
        for (; done + 32 <= count; done += 32) {
            const auto code = detail::read<part>(from + done);
            const part place = code & u8(15);
            const auto words = as<u16>(code);
            detail::write(to + done, chosen<16>(tables, place, as<u8>(words << 3), as<u8>(words << 2), as<u8>(words << 1), code));
        }
#endif
        for (; done < count; ++done) to[done] = table[from[done]];
    }

private:
#if SINTER_CPU_BYTES >= 32 && !SINTER_CPU_VBMI
    /// Of `Count` tables the one that the top bits of the last log2(Count) codes name, the last one's bit first.
    template <int Count, class Part, class... Bits>
    static SINTER_FORCE_INLINE Part chosen(const Part* tables, Part place, Bits... bits) {
        Part result;
        if constexpr (Count == 1) {
            __asm__("vpshufb {%2, %1, %0|%0, %1, %2}" : "=x"(result) : "x"(*tables), "x"(place));
        } else {
            constexpr int half = Count / 2, last = half == 1 ? 0 : half == 2 ? 1 : half == 4 ? 2 : 3;
            const Part codes[] = {bits...};
            const Part low = chosen<half>(tables, place, bits...), high = chosen<half>(tables + half, place, bits...);
            __asm__("vpblendvb {%3, %2, %1, %0|%0, %1, %2, %3}" : "=x"(result) : "x"(low), "x"(high), "x"(codes[last]));
        }
        return result;
    }
#endif
};

}  // namespace SINTER_CPU_FEATURES
}  // namespace sinter::backend::SINTER_ISA
