// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between a pack of elements as memory holds them and lane values: 16-bit floats are taken apart by one instruction each and rounded
// two at a time, as the hardware does.
#pragma once

#include "../drive.hpp"

namespace sinter::detail::device {

/// `Count` elements as they lie in memory.
template <class Storage, int Count>
struct alignas(Count * sizeof(Storage) < 16 ? Count * sizeof(Storage) : 16) element_pack {
    Storage at[Count];
};

/// Element `index`, a constant after unrolling.
template <class Storage, int Count>
__device__ __forceinline__ auto decode_element(const element_pack<Storage, Count>& from, int index) {
    if constexpr (__is_same(Storage, bf16) && Count % 2 == 0) {
        unsigned both;  // of two neighbours: through a 16-bit register it would take three instructions
        __builtin_memcpy(&both, &from.at[index & ~1], 4);
        return lane::scalar<float>(__builtin_bit_cast(float, index & 1 ? both & 0xffff0000u : both << 16));
    } else {
        return lane::scalar<compute_of<Storage>>::load(&from.at[index]);
    }
}

/// The lower half is `low`, rounded to nearest even like the upper one.
template <class Half>
__device__ __forceinline__ unsigned encode_pair(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned out;
    if constexpr (__is_same(Half, bf16))
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
    else
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
    return out;
#else
    return unsigned(encode<Half>(low).bits) | unsigned(encode<Half>(high).bits) << 16;
#endif
}

/// Four f32 as codes of 8 bits: towards zero, saturated, a NaN as 0.
template <class Code>
__device__ __forceinline__ unsigned encode_codes(const lane::scalar<float>* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
    int whole[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(whole[i]) : "f"(from[i].value));
    unsigned upper, all;
    if constexpr (__is_same(Code, i8)) {
        asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, 0;" : "=r"(upper) : "r"(whole[3]), "r"(whole[2]));
        asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(whole[1]), "r"(whole[0]), "r"(upper));
    } else {
        asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(upper) : "r"(whole[3]), "r"(whole[2]));
        asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(whole[1]), "r"(whole[0]), "r"(upper));
    }
    return all;
#else
    unsigned all = 0;
    for (int i = 0; i < 4; ++i) all |= unsigned(static_cast<u8>(sinter::convert<Code>(from[i].value))) << 8 * i;
    return all;
#endif
}

/// to.at[i] = from[i], rounded as a store rounds.
template <class Pack, class Value, int Count>
__device__ __forceinline__ void encode_pack(Pack& to, const Value (&from)[Count]) {
    using storage = remove_cvref<decltype(to.at[0])>;
    if constexpr ((__is_same(storage, bf16) || __is_same(storage, f16)) && __is_same(Value, lane::scalar<float>) && Count % 2 == 0) {
#pragma unroll
        for (int i = 0; i < Count; i += 2) {
            const unsigned both = encode_pair<storage>(from[i].value, from[i + 1].value);
            __builtin_memcpy(&to.at[i], &both, 4);
        }
    } else if constexpr ((__is_same(storage, i8) || __is_same(storage, u8)) && __is_same(Value, lane::scalar<float>)) {
        if constexpr (Count % 4 == 0) {
#pragma unroll
            for (int i = 0; i < Count; i += 4) {
                const unsigned all = encode_codes<storage>(from + i);
                __builtin_memcpy(&to.at[i], &all, 4);
            }
        } else {
#pragma unroll
            for (int i = 0; i < Count; ++i) to.at[i] = sinter::convert<storage>(from[i].value);
        }
    } else {
#pragma unroll
        for (int i = 0; i < Count; ++i) lane::store(&to.at[i], from[i]);
    }
}

}  // namespace sinter::detail::device
