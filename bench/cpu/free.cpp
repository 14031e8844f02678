// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The benchmark's workloads as one writes them when any bits will do: contracted, eight accumulators, one pass for mean and
// variance, a shorter exponential that is wrong near the ends of its range, a raw maximum.
#include <math.h>

#include "kernels.hpp"
#include "simd.hpp"

namespace {

using namespace hand;

/// e^x for normal results: one factor, degree 5.
inline vec quick_exp(vec x) {
    x = larger(all(-87.0f), smaller(all(88.0f), x));
    const vec total = fma(x, all(0x1.715476p+0f), all(0x1.8p23f + 127.0f));
    const vec n = sub(total, all(0x1.8p23f + 127.0f));
    const vec r = fma(n, all(0x1.7f7d1cp-20f), fma(n, all(-0x1.62e43p-1f), x));
    vec p = all(0x1.126d0cp-7f);
    p = fma(p, r, all(0x1.55589ap-5f));
    p = fma(p, r, all(0x1.55540ep-3f));
    p = fma(p, r, all(0x1.fffff8p-2f));
    p = fma(p, r, all(1.0f));
    p = fma(p, r, all(1.0f));
    return mul(p, from_bits(left<23>(bits(total))));
}

constexpr int many = 8;
struct totals {
    vec at[many];
};
inline totals none() {
    const vec zero = all(0.0f);
    return {{zero, zero, zero, zero, zero, zero, zero, zero}};
}
inline float total_of(const totals& sum) {
    return sum_of_lanes(add(add(add(sum.at[0], sum.at[1]), add(sum.at[2], sum.at[3])), add(add(sum.at[4], sum.at[5]), add(sum.at[6], sum.at[7]))));
}
inline float squares(const float* x, long count) {
    totals sum = none();
    for (long i = 0; i < count; i += many * width)
#pragma GCC unroll 8
        for (int k = 0; k < many; ++k) {
            const vec at = load(x + i + k * width);
            sum.at[k] = fma(at, at, sum.at[k]);
        }
    return total_of(sum);
}

template <bool Streams>
void bias_gelu(sizes n, const memory& m) {
    const float *x = m.x, *bias = m.bias;
    float* y = m.y;
    for (long r = 0; r < n.rows; ++r, x += n.columns, y += n.columns)
        for (long i = 0; i < n.columns; i += width) {
            const vec t = add(load(x + i), load(bias + i));
            const vec v = mul(t, fma(mul(t, t), all(-0.0713548162726f), all(-1.59576912161f)));
            write<Streams>(y + i, div(t, add(all(1.0f), quick_exp(v))));
        }
}
template <bool Streams>
void softmax(sizes n, const memory& m) {
    const float* x = m.x;
    float* y = m.y;
    alignas(64) float row[Streams ? 16384 : 1];
    for (long r = 0; r < n.rows; ++r, x += n.columns, y += n.columns) {
        vec top0 = all(-INFINITY), top1 = top0, top2 = top0, top3 = top0;
        for (long i = 0; i < n.columns; i += 4 * width) {
            top0 = larger(load(x + i), top0);
            top1 = larger(load(x + i + width), top1);
            top2 = larger(load(x + i + 2 * width), top2);
            top3 = larger(load(x + i + 3 * width), top3);
        }
        const vec top = all(max_of_lanes(larger(larger(top0, top1), larger(top2, top3))));
        float* const kept = Streams ? row : y;
        vec sum0 = all(0.0f), sum1 = sum0;
        for (long i = 0; i < n.columns; i += 2 * width) {
            const vec e0 = quick_exp(sub(load(x + i), top)), e1 = quick_exp(sub(load(x + i + width), top));
            put(kept + i, e0);
            put(kept + i + width, e1);
            sum0 = add(sum0, e0);
            sum1 = add(sum1, e1);
        }
        const vec scale = all(1.0f / sum_of_lanes(add(sum0, sum1)));
        for (long i = 0; i < n.columns; i += width) write<Streams>(y + i, mul(load(kept + i), scale));
    }
}
template <bool Streams>
void rms_norm(sizes n, const memory& m) {
    const float *x = m.x, *weight = m.weight;
    float* y = m.y;
    for (long r = 0; r < n.rows; ++r, x += n.columns, y += n.columns) {
        const vec scale = all(1.0f / sqrtf(squares(x, n.columns) / float(n.columns) + 1e-5f));
        for (long i = 0; i < n.columns; i += width) write<Streams>(y + i, mul(mul(load(x + i), scale), load(weight + i)));
    }
}
template <bool Streams>
void layer_norm(sizes n, const memory& m) {
    const float *x = m.x, *weight = m.weight, *bias = m.bias;
    float* y = m.y;
    for (long r = 0; r < n.rows; ++r, x += n.columns, y += n.columns) {
        const vec first = all(x[0]);
        vec sum[4], square[4];
        for (int k = 0; k < 4; ++k) sum[k] = square[k] = all(0.0f);
        for (long i = 0; i < n.columns; i += 4 * width)
#pragma GCC unroll 4
            for (int k = 0; k < 4; ++k) {
                const vec d = sub(load(x + i + k * width), first);
                sum[k] = add(sum[k], d);
                square[k] = fma(d, d, square[k]);
            }
        const float shifted = sum_of_lanes(add(add(sum[0], sum[1]), add(sum[2], sum[3]))) / float(n.columns);
        const float power = sum_of_lanes(add(add(square[0], square[1]), add(square[2], square[3]))) / float(n.columns);
        const float inverse = 1.0f / sqrtf(power - shifted * shifted + 1e-5f);
        const vec scale = all(inverse), shift = all(-(shifted + x[0]) * inverse);
        for (long i = 0; i < n.columns; i += width)
            write<Streams>(y + i, fma(fma(load(x + i), scale, shift), load(weight + i), load(bias + i)));
    }
}
void sum_square_rows(sizes n, const memory& m) {
    for (long r = 0; r < n.rows; ++r) m.small[r] = squares(m.x + r * n.columns, n.columns);
}
void sum_square_whole(sizes n, const memory& m) { m.small[0] = squares(m.x, n.rows * n.columns); }
void column_sum(sizes n, const memory& m) {
    for (long i = 0; i < n.columns; i += width) put(m.small + i, all(0.0f));
    const long step = n.columns;
    long r = 0;
    for (; r + 4 <= n.rows; r += 4) {
        const float* x = m.x + r * step;
        for (long i = 0; i < n.columns; i += width)
            put(m.small + i, add(load(m.small + i), add(add(load(x + i), load(x + step + i)), add(load(x + 2 * step + i), load(x + 3 * step + i)))));
    }
    for (; r < n.rows; ++r)
        for (long i = 0; i < n.columns; i += width) put(m.small + i, add(load(m.small + i), load(m.x + r * step + i)));
}
template <bool Streams>
void chain(sizes n, const memory& m) {
    const float *x = m.x, *weight = m.weight;
    float* y = m.y;
    for (long r = 0; r < n.rows; ++r, x += n.columns, y += n.columns)
        for (long i = 0; i < n.columns; i += 4 * width) {
            vec at[4], w[4];
#pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) at[j] = load(x + i + j * width), w[j] = load(weight + i + j * width);
#pragma GCC unroll 10
            for (int k = 0; k < 10; ++k)
#pragma GCC unroll 4
                for (int j = 0; j < 4; ++j) at[j] = sub(w[j], fma(at[j], w[j], all(0.25f * float(k))));
#pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) write<Streams>(y + i + j * width, at[j]);
        }
}

}  // namespace

const ways free_order{bias_gelu<false>, softmax<false>,   rms_norm<false>, layer_norm<false>,
                      sum_square_rows,  sum_square_whole, column_sum,      chain<false>};
const ways free_order_streams{bias_gelu<true>, softmax<true>, rms_norm<true>, layer_norm<true>, nullptr, nullptr, nullptr, chain<true>};
