// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short names for the intrinsics of 32-byte (AVX2, FMA) or 64-byte (AVX-512) registers of f32, for the hand-written loops of the
// benchmark; and Sinter's definitions of exp and gelu_tanh written in them (math_exp.hpp, math_activation.hpp): the same steps.
// Files that include it are compiled with -ffp-contract=off: then an intrinsic is one rounding, as Sinter's rules ask.
#pragma once

#include <immintrin.h>

namespace hand {

#if defined(__AVX512F__)
using vec = __m512;
using ints = __m512i;
using mask = __mmask16;
constexpr int width = 16;
inline vec load(const float* p) { return _mm512_loadu_ps(p); }
inline void put(float* p, vec x) { _mm512_storeu_ps(p, x); }
inline void stream(float* p, vec x) { _mm512_stream_ps(p, x); }
inline vec all(float x) { return _mm512_set1_ps(x); }
inline vec add(vec x, vec y) { return _mm512_add_ps(x, y); }
inline vec sub(vec x, vec y) { return _mm512_sub_ps(x, y); }
inline vec mul(vec x, vec y) { return _mm512_mul_ps(x, y); }
inline vec div(vec x, vec y) { return _mm512_div_ps(x, y); }
inline vec fma(vec x, vec y, vec z) { return _mm512_fmadd_ps(x, y, z); }
inline vec fms(vec x, vec y, vec z) { return _mm512_fmsub_ps(x, y, z); }
inline vec larger(vec x, vec y) { return _mm512_max_ps(x, y); }
inline vec smaller(vec x, vec y) { return _mm512_min_ps(x, y); }
inline ints bits(vec x) { return _mm512_castps_si512(x); }
inline vec from_bits(ints x) { return _mm512_castsi512_ps(x); }
inline ints all_ints(unsigned x) { return _mm512_set1_epi32(int(x)); }
inline ints add(ints x, ints y) { return _mm512_add_epi32(x, y); }
inline ints conjunction(ints x, ints y) { return _mm512_and_si512(x, y); }
template <int Count>
inline ints left(ints x) { return _mm512_slli_epi32(x, Count); }
inline mask less(vec x, vec y) { return _mm512_cmp_ps_mask(x, y, _CMP_LT_OQ); }
inline vec select(mask m, vec yes, vec no) { return _mm512_mask_blend_ps(m, no, yes); }
inline mask no_mask() { return 0; }
inline mask unordered(vec x, vec y) { return _mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q); }
inline mask either(mask x, mask y) { return mask(x | y); }
inline bool any(mask x) { return x != 0; }
inline __m256 half_sum(vec x) { return _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1)); }
inline __m256 half_max(vec x) { return _mm256_max_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1)); }
#else
using vec = __m256;
using ints = __m256i;
using mask = __m256;
constexpr int width = 8;
inline vec load(const float* p) { return _mm256_loadu_ps(p); }
inline void put(float* p, vec x) { _mm256_storeu_ps(p, x); }
inline void stream(float* p, vec x) { _mm256_stream_ps(p, x); }
inline vec all(float x) { return _mm256_set1_ps(x); }
inline vec add(vec x, vec y) { return _mm256_add_ps(x, y); }
inline vec sub(vec x, vec y) { return _mm256_sub_ps(x, y); }
inline vec mul(vec x, vec y) { return _mm256_mul_ps(x, y); }
inline vec div(vec x, vec y) { return _mm256_div_ps(x, y); }
inline vec fma(vec x, vec y, vec z) { return _mm256_fmadd_ps(x, y, z); }
inline vec fms(vec x, vec y, vec z) { return _mm256_fmsub_ps(x, y, z); }
inline vec larger(vec x, vec y) { return _mm256_max_ps(x, y); }
inline vec smaller(vec x, vec y) { return _mm256_min_ps(x, y); }
inline ints bits(vec x) { return _mm256_castps_si256(x); }
inline vec from_bits(ints x) { return _mm256_castsi256_ps(x); }
inline ints all_ints(unsigned x) { return _mm256_set1_epi32(int(x)); }
inline ints add(ints x, ints y) { return _mm256_add_epi32(x, y); }
inline ints conjunction(ints x, ints y) { return _mm256_and_si256(x, y); }
template <int Count>
inline ints left(ints x) { return _mm256_slli_epi32(x, Count); }
inline mask less(vec x, vec y) { return _mm256_cmp_ps(x, y, _CMP_LT_OQ); }
inline vec select(mask m, vec yes, vec no) { return _mm256_blendv_ps(no, yes, m); }
inline mask no_mask() { return _mm256_setzero_ps(); }
inline mask unordered(vec x, vec y) { return _mm256_cmp_ps(x, y, _CMP_UNORD_Q); }
inline mask either(mask x, mask y) { return _mm256_or_ps(x, y); }
inline bool any(mask x) { return _mm256_movemask_ps(x) != 0; }
inline __m256 half_sum(vec x) { return x; }
inline __m256 half_max(vec x) { return x; }
#endif

/// Lane l with lane l + stride, strides width / 2 ... 1.
inline float sum_of_lanes(vec x) {
    const __m256 eight = half_sum(x);
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}
inline float max_of_lanes(vec x) {
    const __m256 eight = half_max(x);
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
}

template <bool Streams>
inline void write(float* p, vec x) {
    if constexpr (Streams)
        stream(p, x);
    else
        put(p, x);
}

struct reduced {
    vec rest;
    ints power;
};
template <int Shift>
inline reduced reduce_exponent(vec x) {
    const vec magic = all(0x1.8p23f + float(Shift));
    const vec total = fma(x, all(0x1.715476p+0f), magic);
    const vec n = sub(total, magic);
    return {fma(n, all(-0x1.7f7d1cp-20f), fma(n, all(-0x1.62e4p-1f), x)), bits(total)};
}
/// e^x for a difference x <= 0.
inline vec exp_below_zero(vec x) {
    const vec magic = all(0x1.8p23f + 190.0f), bounded = larger(all(-106.0f), x);
    const vec total = fma(bounded, all(0x1.715476p+0f), magic);
    const vec rest = fma(bounded, all(0x1.715476p+0f), sub(magic, total));
    vec p = all(0x1.17ce86p-13f);
    p = fma(p, rest, all(0x1.5ef448p-10f));
    p = fma(p, rest, all(0x1.3b67eap-7f));
    p = fma(p, rest, all(0x1.c6af9ep-5f));
    p = fma(p, rest, all(0x1.ebfb94p-3f));
    p = fma(p, rest, all(0x1.62e43p-1f));
    p = fma(p, rest, all(1.0f));
    return mul(mul(p, from_bits(left<23>(bits(total)))), all(0x1p-63f));
}
inline vec exp_less_one(vec r) {
    vec p = all(0x1.6af49p-10f);
    p = fma(p, r, all(0x1.124244p-7f));
    p = fma(p, r, all(0x1.555838p-5f));
    p = fma(p, r, all(0x1.555486p-3f));
    p = fma(p, r, all(0x1.fffffcp-2f));
    return fma(mul(r, r), p, r);
}
inline vec one_plus_exp(vec rest, ints power, vec unit) {
    const vec scale = from_bits(add(left<23>(power), bits(unit)));
    const vec total = add(scale, unit);
    const vec lost = sub(unit, sub(total, scale));
    return add(total, fma(scale, exp_less_one(rest), lost));
}
inline vec gelu_tanh(vec x) {
    const vec linear = all(-0x1.988454p+0f), linear_low = all(0x1.857936p-25f);
    const vec cubic = all(-0x1.2444f2p-4f), cubic_low = all(-0x1.49b16ap-29f);
    const vec bounded = larger(all(-11.5f), x);
    const vec y = smaller(all(8.5f), bounded), square = mul(y, y);
    const vec slope = fma(square, cubic, linear);
    const vec slope_low = add(fma(square, cubic, sub(linear, slope)), fma(square, cubic_low, linear_low));
    const vec v = mul(y, slope);
    const vec v_low = fma(y, slope_low, fms(y, slope, v));
    const reduced at = reduce_exponent<0>(v);
    const vec unit = select(less(x, all(-4.0f)), all(0x1p-64f), all(1.0f));
    return mul(div(bounded, one_plus_exp(add(at.rest, v_low), at.power, unit)), unit);
}

}  // namespace hand
