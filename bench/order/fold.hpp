// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lane rule and the column rule by hand over the CPU's lanes, with the constants as template parameters: what each
// choice costs when nothing else does. Lengths are multiples of Lanes; the library itself is measured by library.cpp.
#pragma once

#include <sinter/backend/cpu_lane.hpp>
#include <sinter/math.hpp>

namespace order_bench {

using sinter::i64;
inline constexpr int width = sinter::backend::SINTER_ISA::native_width;
using lanes = sinter::backend::SINTER_ISA::vec<float, width>;
#define ORDER_INLINE inline __attribute__((always_inline))

/// The tree within one register: strides width/2 ... 1, or 1 ... width/2.
template <bool Down, int Stride, class Combine>
ORDER_INLINE lanes tree_of_register(lanes value, const Combine& combine) {
    if constexpr (Stride == 0 || Stride >= width)
        return value;
    else
        return tree_of_register<Down, (Down ? Stride / 2 : Stride * 2)>(combine(value, sinter::backend::SINTER_ISA::exchange<Stride>(value)), combine);
}
/// Down: whole registers first, then within the last one. Up: each register on its own, then the registers: the first steps of
/// all of them are joined, two registers' halves in one, as far as that saves work.
template <bool Down, int Groups, class Combine>
ORDER_INLINE float tree(lanes (&all)[Groups], const Combine& combine) {
    if constexpr (Down) {
        for (int stride = Groups / 2; stride > 0; stride /= 2)
            for (int g = 0; g < stride; ++g) all[g] = combine(all[g], all[g + stride]);
        return first(tree_of_register<true, width / 2>(all[0], combine));
    } else {
        for (int g = 0; g < Groups; ++g) all[g] = tree_of_register<false, 1>(all[g], combine);
        for (int stride = 1; stride < Groups; stride *= 2)
            for (int g = 0; g < Groups; g += 2 * stride) all[g] = combine(all[g], all[g + stride]);
        return first(all[0]);
    }
}
struct plus {
    ORDER_INLINE lanes operator()(lanes a, lanes b) const { return add(a, b); }
    ORDER_INLINE float operator()(float a, float b) const { return sinter::lane::add(sinter::lane::scalar<float>(a), sinter::lane::scalar<float>(b)).value; }
};
struct larger {
    ORDER_INLINE lanes operator()(lanes a, lanes b) const { return max_raw(a, b); }
    ORDER_INLINE float operator()(float a, float b) const { return a > b ? a : b; }
};

/// One segment of `count` elements. `Sweep`: how many registers' lanes are carried at once; fewer than all walk the segment
/// several times with gaps, which needs fewer registers.
template <int Lanes, int Sweep, bool Down, class Combine, class Lift>
ORDER_INLINE float segment(i64 begin, i64 count, float identity, const Combine& combine, const Lift& lift) {
    constexpr int groups = Lanes / width;
    constexpr int carried = Sweep > groups ? groups : Sweep;
    lanes all[groups];
#pragma GCC unroll 64
    for (int base = 0; base < groups; base += carried) {
        lanes now[carried];
#pragma GCC unroll 64
        for (int g = 0; g < carried; ++g) now[g] = lanes(identity);
#pragma GCC unroll 1
        for (i64 at = begin; at < begin + count; at += Lanes)
#pragma GCC unroll 64
            for (int g = 0; g < carried; ++g) now[g] = combine(now[g], lift(at + (base + g) * width));
#pragma GCC unroll 64
        for (int g = 0; g < carried; ++g) all[base + g] = now[g];
    }
    return tree<Down, groups>(all, combine);
}
/// A costly lift: accumulators in memory, `Together` registers in flight.
template <int Lanes, int Together, bool Down, class Combine, class Lift>
ORDER_INLINE float costly_segment(i64 begin, i64 count, float identity, const Combine& combine, const Lift& lift) {
    constexpr int groups = Lanes / width;
    lanes all[groups];
    for (int g = 0; g < groups; ++g) all[g] = lanes(identity);
    for (i64 at = begin; at < begin + count; at += Lanes)
#pragma GCC unroll 1
        for (int g = 0; g < groups; g += Together)
#pragma GCC unroll 8
            for (int t = 0; t < Together; ++t) all[g + t] = combine(all[g + t], lift(at + (g + t) * width));
    return tree<Down, groups>(all, combine);
}

/// Segments pairwise.
template <int Segment, class Value, class Merge, class One>
ORDER_INLINE Value pairwise(i64 count, const Merge& merge, const One& one) {
    Value stack[40];
    int depth = 0;
    i64 number = 0;
    for (i64 begin = 0; begin < count; begin += Segment, ++number) {
        Value now = one(begin, count - begin < Segment ? count - begin : Segment);
        for (i64 level = number; level & 1; level >>= 1) now = merge(stack[--depth], now);
        stack[depth++] = now;
    }
    Value result = stack[--depth];
    while (depth > 0) result = merge(stack[--depth], result);
    return result;
}

template <int Lanes, int Segment, bool Down, int Sweep>
inline float sum_square(const float* x, i64 n) {
    const auto square = [x](i64 at) __attribute__((always_inline)) {
        const lanes value = lanes::load(x + at);
        return mul(value, value);
    };
    return pairwise<Segment, float>(n, plus{}, [&](i64 begin, i64 count) __attribute__((always_inline)) {
        return segment<Lanes, Sweep, Down>(begin, count, 0.0f, plus{}, square);
    });
}

/// e^x for x <= 0 (or NaN), the bits of lane::exp: one clamp, and a power of two made in one step, since nothing overflows. (Adding
/// the power to the bits of e^r would save nothing and lose NaN.) The shift is even, so that ties round as in lane::exp.
ORDER_INLINE lanes exp_of_negative(lanes x) {
    const auto [rest, power] = sinter::lane::detail::reduce_exponent<160>(max_raw(lanes(-104.0f), x));
    const lanes scale = sinter::backend::SINTER_ISA::from_bits<float>(sinter::backend::SINTER_ISA::shift_left<23>(power));
    return mul(mul(sinter::lane::detail::exp_of_rest(rest), scale), lanes(0x1p-33f));
}

/// (i) e^(x - max), e * (1 / sum).
template <int Lanes, int Segment, bool Down, bool Negative = false>
inline void softmax_by_max(const float* x, float* y, i64 n) {
    constexpr int sweep = width == 16 ? 8 : 8;
    const float infinity = __builtin_huge_valf();
    const float top = pairwise<Segment, float>(n, larger{}, [&](i64 begin, i64 count) __attribute__((always_inline)) {
        return segment<Lanes, sweep, Down>(begin, count, -infinity, larger{}, [x](i64 at) __attribute__((always_inline)) { return lanes::load(x + at); });
    });
    const lanes shift(top);
    const float sum = pairwise<Segment, float>(n, plus{}, [&](i64 begin, i64 count) __attribute__((always_inline)) {
        return costly_segment<Lanes, 4, Down>(begin, count, 0.0f, plus{}, [x, y, shift](i64 at) __attribute__((always_inline)) {
            const lanes difference = sub(lanes::load(x + at), shift);
            const lanes e = Negative ? exp_of_negative(difference) : exp(difference);
            store(y + at, e);
            return e;
        });
    });
    const lanes factor(1.0f / sum);
    for (i64 at = 0; at < n; at += width) store(y + at, mul(lanes::load(y + at), factor));
}

/// (ii) sums of 2^(x log2 e - K) with an integer K per segment; K and the sum merge exactly, by a power of two.
struct scaled_sum {
    float power;  ///< K, an integer; -inf for nothing
    float sum;    ///< of 2^(x log2 e - K + 64)
};
inline float power_of_two(float exponent) {  // 0 below the normal numbers
    return exponent < -126.0f ? 0.0f : __builtin_bit_cast(float, sinter::u32(int(exponent) + 127) << 23);
}
struct merge_scaled {
    ORDER_INLINE scaled_sum operator()(scaled_sum a, scaled_sum b) const {
        const float power = a.power > b.power ? a.power : b.power;
        if (power == -__builtin_huge_valf()) return {power, plus{}(a.sum, b.sum)};
        return {power, plus{}(a.sum * power_of_two(a.power - power), b.sum * power_of_two(b.power - power))};
    }
};
inline constexpr float log2_e = 0x1.715476p+0f;
inline float ceil_of(float x) { return first(ceil(lanes(x))); }

struct shifted_power {
    lanes magic, lowest;
    ORDER_INLINE explicit shifted_power(float power) : magic(12582912.0f + 127.0f - (power - 64.0f)), lowest((power - 170.0f) / log2_e) {}
    ORDER_INLINE lanes operator()(lanes x) const {
        const lanes kept = max_raw(lowest, x);  // NaN goes through
        const lanes t = fma(kept, lanes(log2_e), magic);
        const lanes n = sub(t, magic);
        const lanes f = fma(kept, lanes(log2_e), neg(n));
        const lanes p = sinter::lane::detail::polynomial(f, 0x1.470b4ap-13f, 0x1.5f7276p-10f, 0x1.3b270ep-7f, 0x1.c6ae66p-5f,
                                                         0x1.ebfbe8p-3f, 0x1.62e432p-1f, 1.0f);
        const lanes e = mul(p, sinter::backend::SINTER_ISA::from_bits<float>(sinter::backend::SINTER_ISA::shift_left<23>(bits(t))));
        return select(less(x, lowest), lanes(0.0f), e);  // 2^-106 of the largest and below: nothing
    }
};
template <int Lanes, int Segment, bool Down>
inline void softmax_by_power(const float* x, float* y, i64 n) {
    const float infinity = __builtin_huge_valf();
    float powers[64];  // of segments, for rows that fit; longer ones would keep them in the caller's memory
    static_assert(Segment >= 512);
    i64 number = 0;
    const bool kept = n <= 64 * Segment;
    const scaled_sum total = pairwise<Segment, scaled_sum>(n, merge_scaled{}, [&](i64 begin, i64 count) __attribute__((always_inline)) {
        const float top = segment<Lanes, 8, Down>(begin, count, -infinity, larger{}, [x](i64 at) __attribute__((always_inline)) { return lanes::load(x + at); });
        const float power = ceil_of(top * log2_e);
        if (kept) powers[number++] = power;
        if (power == -infinity) {
            float sum = 0;  // only -inf, or NaN too
            for (i64 at = begin; at < begin + count; ++at) sum = x[at] != x[at] ? x[at] : sum, y[at] = 0;
            return scaled_sum{power, sum};
        }
        const shifted_power shifted(power);
        const float sum = costly_segment<Lanes, 4, Down>(begin, count, 0.0f, plus{}, [x, y, &shifted](i64 at) __attribute__((always_inline)) {
            const lanes e = shifted(lanes::load(x + at));
            store(y + at, e);
            return e;
        });
        return scaled_sum{power, sum};
    });
    const float inverse = 1.0f / total.sum;
    if (!kept) __builtin_trap();
    number = 0;
    for (i64 begin = 0; begin < n; begin += Segment) {
        const lanes factor(total.power == -infinity ? total.sum * __builtin_nanf("") : inverse * power_of_two(powers[number++] - total.power));
        const i64 stop = n - begin < Segment ? n : begin + Segment;
        for (i64 at = begin; at < stop; at += width) store(y + at, mul(lanes::load(y + at), factor));
    }
}

/// The column rule: `Rows` rows in order, those sums pairwise. A strip of neighbouring columns at a time, each accumulator in a
/// register.
template <int Rows>
inline void column_sum(const float* x, float* y, i64 rows, i64 columns) {
    constexpr int strip = 8;  // registers
    for (i64 c = 0; c < columns; c += strip * width) {
        lanes stack[26][strip];
        int depth = 0;
        i64 number = 0;
        for (i64 begin = 0; begin < rows; begin += Rows, ++number) {
            const i64 stop = rows - begin < Rows ? rows : begin + Rows;
            lanes now[strip];
#pragma GCC unroll 8
            for (int v = 0; v < strip; ++v) now[v] = lanes(0.0f);
            const float* from = x + begin * columns + c;
            for (i64 r = begin; r < stop; ++r, from += columns)
#pragma GCC unroll 8
                for (int v = 0; v < strip; ++v) now[v] = add(now[v], lanes::load(from + v * width));
            for (i64 level = number; level & 1; level >>= 1) {
                --depth;
#pragma GCC unroll 8
                for (int v = 0; v < strip; ++v) now[v] = add(stack[depth][v], now[v]);
            }
#pragma GCC unroll 8
            for (int v = 0; v < strip; ++v) stack[depth][v] = now[v];
            ++depth;
        }
        --depth;
        for (int v = 0; v < strip; ++v) {
            lanes result = stack[depth][v];
            for (int d = depth; d > 0; --d) result = add(stack[d - 1][v], result);
            store(y + c + v * width, result);
        }
    }
}

}  // namespace order_bench
