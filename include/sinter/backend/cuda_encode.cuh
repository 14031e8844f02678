// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between a pack of elements as memory holds them and lane values: 16-bit floats are taken apart by one instruction each and rounded
// two at a time, as the hardware does; codes of 8 bits become floats by a permutation of bytes and are rounded, saturated and packed two
// at a time.
#pragma once

#include "../drive.hpp"

namespace sinter::detail::device {

/// `Count` elements as they lie in memory.
template <class Storage, int Count>
struct alignas(Count * sizeof(Storage) < 16 ? Count * sizeof(Storage) : 16) element_pack {
    Storage at[Count];
};

/// Is it a code of 8 bits, bare or of a quantized type?
template <class Storage>
inline constexpr bool is_code_of_a_byte = is_same<Storage, i8> || is_same<Storage, u8>;
template <qparams Parameters>
inline constexpr bool is_code_of_a_byte<quantized_element<Parameters>> = sizeof(quantized_element<Parameters>) == 1;
template <class Storage>
struct code_in {
    using type = Storage;
};
template <qparams Parameters>
struct code_in<quantized_element<Parameters>> {
    using type = typename quantized_element<Parameters>::code_type;
};

/// Code `index` of a pack, less `zero`, as f32, exactly. The byte becomes the last one of 2^23; signed codes count from -128 there. One
/// permutation and one subtraction, where a sign's extension and a conversion are three, two of them at half the rate.
template <class Storage, int Count>
__device__ __forceinline__ lane::scalar<float> code_as_real(const element_pack<Storage, Count>& from, int index, i32 zero) {
    static_assert(Count % 4 == 0);
    constexpr bool has_sign = is_same<typename code_in<Storage>::type, i8>;
    unsigned four;
    __builtin_memcpy(&four, &from.at[index & ~3], 4);
    if constexpr (has_sign) four ^= 0x80808080u;
    unsigned bits;
#if SINTER_DEVICE_PASS
    // In this order the selector, not the number, is the instruction's immediate: there are four of them.
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bits) : "r"(0x4b000000u), "r"(four), "r"(0x3004u | unsigned(index & 3)));
#else
    bits = 0x4b000000u | (four >> 8 * (index & 3) & 255u);
#endif
    return lane::scalar<float>(step::sub(__builtin_bit_cast(float, bits), float(0x800000 + (has_sign ? 128 : 0) + zero)));
}

/// Element `index`, a constant after unrolling.
template <class Storage, int Count>
__device__ __forceinline__ auto decode_element(const element_pack<Storage, Count>& from, int index) {
    if constexpr (__is_same(Storage, bf16) && Count % 2 == 0) {
        unsigned both;  // of two neighbours: through a 16-bit register it would take three instructions
        __builtin_memcpy(&both, &from.at[index & ~1], 4);
        return lane::scalar<float>(__builtin_bit_cast(float, index & 1 ? both & 0xffff0000u : both << 16));
    } else if constexpr (is_quantized<Storage> && is_code_of_a_byte<Storage> && Count % 4 == 0) {
        return lane::real_of_steps<Storage::parameters>(code_as_real(from, index, Storage::parameters.zero));
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

/// How a float that isn't an integer becomes a code.
enum class code_rounding : u8 { towards_zero, half_to_even };

/// The most that a code holds, or less. WORKAROUND(ptxas, 13.0): from two maxima with 0, two conversions and a pack it makes one instruction
/// (F2IP...RELU) that an H200 refuses as illegal. A minimum between them, for one of each two, keeps it from that; no code changes by it.
/// It takes up to 3 % of a kernel's time, so that it isn't there where a place's last operation is known to be none of a maximum with 0.
template <class Code>
__device__ __forceinline__ float at_most_a_code(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(x), "f"(__is_same(Code, i8) ? 127.0f : 255.0f));
#endif
    return x;
}
/// What an f32 was made by, before it becomes a code.
enum class code_source : u8 { anything, no_maximum_with_0 };

/// Four f32 as codes of 8 bits: rounded, saturated, a NaN as 0. Two instructions on cards since 7.5, and two minima of `anything`.
template <class Code, code_rounding Rounding, code_source Source>
__device__ __forceinline__ unsigned encode_codes(const lane::scalar<float>* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
    int whole[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float x = Source == code_source::anything && i % 2 == 0 ? at_most_a_code<Code>(from[i].value) : from[i].value;
        if constexpr (Rounding == code_rounding::towards_zero)
            asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(whole[i]) : "f"(x));
        else
            asm("cvt.rni.s32.f32 %0, %1;" : "=r"(whole[i]) : "f"(x));
    }
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
    for (int i = 0; i < 4; ++i) {
        const float whole = Rounding == code_rounding::towards_zero ? from[i].value : step::round_even(from[i].value);
        all |= unsigned(static_cast<u8>(sinter::convert<Code>(whole))) << 8 * i;
    }
    return all;
#endif
}
/// to.at[i] = the code of from[i].
template <code_rounding Rounding, code_source Source, class Pack, int Count>
__device__ __forceinline__ void encode_code_pack(Pack& to, const lane::scalar<float> (&from)[Count]) {
    using code = typename code_in<remove_cvref<decltype(to.at[0])>>::type;
#pragma unroll
    for (int i = 0; i < Count; i += 4) {
        lane::scalar<float> four[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) four[j] = from[i + j < Count ? i + j : i];
        const unsigned all = encode_codes<code, Rounding, Source>(four);
        __builtin_memcpy(&to.at[i], &all, Count - i < 4 ? Count - i : 4);
    }
}

/// What rounds, half to even, to round(x) + shift, an integer, where that has less than 22 bits; else what saturates like it.
__device__ __forceinline__ lane::scalar<float> shifted_place(lane::scalar<float> x, lane::scalar<float> shift, bool shifts) {
    if (!shifts) return x;
    const lane::scalar<float> places(0x1.8p23f);  // its last place is 1
    return sub(add(x, places), sub(places, shift));
}
/// The larger one; of a NaN `low`. One instruction.
__device__ __forceinline__ lane::scalar<float> no_less(lane::scalar<float> x, lane::scalar<float> low) {
#if SINTER_DEVICE_PASS
    float result;
    asm("max.f32 %0, %1, %2;" : "=f"(result) : "f"(x.value), "f"(low.value));
    return lane::scalar<float>(result);
#else
    return max_raw(x, low);
#endif
}
/// What a quotient becomes when it is rounded half to even and saturated to a code's type: Q1, for codes from Low to High. `Shifts`: the
/// zero point may be another than 0. `Number`: the quotient is no NaN; packing saturates it then where Low is the type's least.
template <class Code, i32 Low, i32 High, bool Shifts, bool Number = false>
__device__ __forceinline__ lane::scalar<float> place_of_code(lane::scalar<float> quotient, lane::scalar<i32> zero) {
    using real = lane::scalar<float>;
    const real origin = lane::convert<float>(zero), low = sub(real(float(Low)), origin);
    if constexpr (!Number || Low != integer_min<Code>) quotient = no_less(quotient, low);
    if constexpr (High != integer_max<Code>) quotient = min_raw(quotient, sub(real(float(High)), origin));
    return shifted_place(quotient, origin, Shifts);
}

/// What place_of_code ends with: the sum that shifts, or its maximum with `Low`; where it does nothing, it is what makes the quotient.
template <class Code, i32 Low, bool Shifts, bool Number>
inline constexpr code_source source_of_place =
    Shifts || (Low != 0 && !(Number && Low == integer_min<Code>)) ? code_source::no_maximum_with_0 : code_source::anything;

/// The same of a real value, for static parameters.
template <qparams Parameters, bool Number = false>
__device__ __forceinline__ lane::scalar<float> place_of_static_code(lane::scalar<float> x) {
    using code = typename code_type<Parameters.storage>::type;
    return place_of_code<code, Parameters.low, Parameters.high, Parameters.zero != 0, Number>(lane::code_quotient<Parameters>(x), lane::scalar<i32>(Parameters.zero));
}

/// to.at[i] = from[i], rounded as a store rounds. `Number`: none is a NaN, and quotients by a static scale stay finite.
template <bool Number = false, class Pack, class Value, int Count>
__device__ __forceinline__ void encode_pack(Pack& to, const Value (&from)[Count]) {
    using storage = remove_cvref<decltype(to.at[0])>;
    if constexpr ((__is_same(storage, bf16) || __is_same(storage, f16)) && __is_same(Value, lane::scalar<float>) && Count % 2 == 0) {
#pragma unroll
        for (int i = 0; i < Count; i += 2) {
            const unsigned both = encode_pair<storage>(from[i].value, from[i + 1].value);
            __builtin_memcpy(&to.at[i], &both, 4);
        }
    } else if constexpr (is_quantized<storage> && is_code_of_a_byte<storage> && __is_same(Value, lane::scalar<float>)) {
        constexpr qparams parameters = storage::parameters;
        Value place[Count];
#pragma unroll
        for (int i = 0; i < Count; ++i)
            place[i] = place_of_static_code<parameters, Number>(from[i]);
        using code = typename code_type<parameters.storage>::type;
        encode_code_pack<code_rounding::half_to_even, source_of_place<code, parameters.low, parameters.zero != 0, Number>>(to, place);
    } else {
#pragma unroll
        for (int i = 0; i < Count; ++i) lane::store(&to.at[i], from[i]);
    }
}

}  // namespace sinter::detail::device
