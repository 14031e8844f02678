// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The benchmark's workloads written by hand under Sinter's rules: canonical order (order.hpp), every step rounded once, the same
// exp and gelu_tanh, NaN-exact maximum. The results have the same bits. Written as one who knows the sizes would: whole segments.
#include <math.h>

#include "kernels.hpp"
#include "simd.hpp"

namespace {

using namespace hand;

constexpr int lanes = 128, segment = 1024, groups = lanes / width;

template <int... Index>
struct list {};
template <int Count, int... Index>
struct make_list : make_list<Count - 1, Count - 1, Index...> {};
template <int... Index>
struct make_list<0, Index...> {
    using type = list<Index...>;
};
template <int Count>
using up_to = typename make_list<Count>::type;

/// Lane groups kept at once: 16 accumulators would need every register that AVX2 has, so a segment is walked twice, in halves.
constexpr int together = groups > 8 ? 8 : groups;

template <int Count>
struct sums {
    vec at[Count];
};
/// Accumulators of `Count` lane groups over one segment; x moves on by 128 lanes a round.
template <class Function, int... Group>
inline sums<sizeof...(Group)> walk(const Function& value, long begin, list<Group...>) {
    sums<sizeof...(Group)> total{{(void(Group), all(0.0f))...}};
    for (long i = begin; i < begin + segment; i += lanes) ((total.at[Group] = add(total.at[Group], value(i + Group * width))), ...);
    return total;
}
template <int Count>
inline vec tree(sums<Count>& all) {
    if constexpr (Count == 16)
        for (int i = 0; i < 8; ++i) all.at[i] = add(all.at[i], all.at[i + 8]);
    if constexpr (Count >= 8)
        for (int i = 0; i < 4; ++i) all.at[i] = add(all.at[i], all.at[i + 4]);
    all.at[0] = add(all.at[0], all.at[2]);
    all.at[1] = add(all.at[1], all.at[3]);
    return add(all.at[0], all.at[1]);
}
/// The sum of value(i), value(i + 1) ... over the segment that begins at i.
template <class Function>
inline float segment_sum(const Function& value, long begin) {
    if constexpr (together == groups) {
        auto total = walk(value, begin, up_to<groups>{});
        return sum_of_lanes(tree(total));
    } else {
        const auto low = walk(value, begin, up_to<together>{});
        const auto high = walk([&](long i) __attribute__((always_inline)) { return value(i + together * width); }, begin, up_to<together>{});
        sums<together> total;
        for (int i = 0; i < together; ++i) total.at[i] = add(low.at[i], high.at[i]);
        return sum_of_lanes(tree(total));
    }
}
/// The same over the whole range: segments combine pairwise.
template <class Function>
inline float lane_rule(const Function& value, long count) {
    float stack[56];
    int depth = 0;
    long number = 0;
    for (long begin = 0; begin < count; begin += segment, ++number) {
        float now = segment_sum(value, begin);
        for (long level = number; level & 1; level >>= 1) now = stack[--depth] + now;
        stack[depth++] = now;
    }
    float total = stack[--depth];
    while (depth > 0) total = stack[--depth] + total;
    return total;
}

template <bool Streams>
void bias_gelu(sizes n, const memory& m) {
    const float *x = m.x, *bias = m.bias;
    float* y = m.y;
    for (long r = 0; r < n.rows; ++r, x += n.columns, y += n.columns)
        for (long i = 0; i < n.columns; i += 2 * width) {
            const vec one = gelu_tanh(add(load(x + i), load(bias + i)));
            write<Streams>(y + i, one);
            const vec two = gelu_tanh(add(load(x + i + width), load(bias + i + width)));
            write<Streams>(y + i + width, two);
        }
}

/// A maximum has no order to keep but for NaN: the raw one of four accumulators, and whether anything was unordered.
inline float largest(const float* x, long count) {
    vec top0 = all(-INFINITY), top1 = top0, top2 = top0, top3 = top0;
    mask nan0 = no_mask(), nan1 = nan0;
    for (long i = 0; i < count; i += 4 * width) {
        const vec x0 = load(x + i), x1 = load(x + i + width), x2 = load(x + i + 2 * width), x3 = load(x + i + 3 * width);
        top0 = larger(x0, top0);
        top1 = larger(x1, top1);
        top2 = larger(x2, top2);
        top3 = larger(x3, top3);
        nan0 = either(nan0, unordered(x0, x1));
        nan1 = either(nan1, unordered(x2, x3));
    }
    if (any(either(nan0, nan1))) return NAN;
    return max_of_lanes(larger(larger(top0, top1), larger(top2, top3)));
}
template <bool Streams>
void softmax(sizes n, const memory& m) {
    const float* x = m.x;
    float* y = m.y;
    alignas(64) float row[Streams ? 16384 : 1];
    for (long r = 0; r < n.rows; ++r, x += n.columns, y += n.columns) {
        const vec top = all(largest(x, n.columns));
        float* const kept = Streams ? row : y;  // exponentials stay in the first-level cache
        const float total = lane_rule(
            [=](long i) __attribute__((always_inline)) {
                const vec e = exp_below_zero(sub(load(x + i), top));
                put(kept + i, e);
                return e;
            },
            n.columns);
        const vec scale = all(1.0f / total);
        for (long i = 0; i < n.columns; i += width) write<Streams>(y + i, mul(load(kept + i), scale));
    }
}

template <bool Streams>
void rms_norm(sizes n, const memory& m) {
    const float *x = m.x, *weight = m.weight;
    float* y = m.y;
    for (long r = 0; r < n.rows; ++r, x += n.columns, y += n.columns) {
        const float total = lane_rule([=](long i) __attribute__((always_inline)) { return mul(load(x + i), load(x + i)); }, n.columns);
        const vec scale = all(1.0f / sqrtf(total / float(n.columns) + 1e-5f));
        for (long i = 0; i < n.columns; i += width) write<Streams>(y + i, mul(mul(load(x + i), scale), load(weight + i)));
    }
}

struct spread {
    float count, mean, squares;
};
inline spread merged(const spread& one, const spread& two) {
    const float count = one.count + two.count, delta = two.mean - one.mean, share = two.count / count;
    return {count, one.mean + delta * share, one.squares + two.squares + delta * delta * (one.count * share)};
}
struct two {
    vec one, other;
};
/// Two sums over the same elements: four lane groups at a time, eight accumulators.
template <class Function, int... Group>
inline void segment_sums(const Function& values, long begin, float& one, float& other, list<Group...>) {
    constexpr int count = sizeof...(Group);
    sums<groups> first, second;
    for (int part = 0; part < groups; part += count) {
        sums<count> a{{(void(Group), all(0.0f))...}}, b = a;
        for (long i = begin + part * width; i < begin + segment; i += lanes) {
            const two now[] = {values(i + Group * width)...};
            ((a.at[Group] = add(a.at[Group], now[Group].one), b.at[Group] = add(b.at[Group], now[Group].other)), ...);
        }
        ((first.at[part + Group] = a.at[Group], second.at[part + Group] = b.at[Group]), ...);
    }
    one = sum_of_lanes(tree(first));
    other = sum_of_lanes(tree(second));
}
template <bool Streams>
void layer_norm(sizes n, const memory& m) {
    const float *x = m.x, *weight = m.weight, *bias = m.bias;
    float* y = m.y;
    for (long r = 0; r < n.rows; ++r, x += n.columns, y += n.columns) {
        const vec first = all(x[0]);
        float stack[56];
        spread spreads[56];
        int depth = 0;
        long number = 0;
        for (long begin = 0; begin < n.columns; begin += segment, ++number) {
            float now, shifted, squares, errors;
            segment_sums([=](long i) __attribute__((always_inline)) { return two{load(x + i), sub(load(x + i), first)}; }, begin, now,
                         shifted, up_to<4>{});
            const float mean = shifted / float(segment);
            const vec mean_of_segment = all(mean);
            segment_sums(
                [=](long i) __attribute__((always_inline)) {
                    const vec e = sub(sub(load(x + i), first), mean_of_segment);
                    return two{mul(e, e), e};
                },
                begin, squares, errors, up_to<4>{});
            spread part{float(segment), mean, squares - errors * errors / float(segment)};
            for (long level = number; level & 1; level >>= 1) {
                now = stack[--depth] + now;
                part = merged(spreads[depth], part);
            }
            stack[depth] = now;
            spreads[depth++] = part;
        }
        float total = stack[--depth];
        spread whole = spreads[depth];
        while (depth > 0) {
            total = stack[--depth] + total;
            whole = merged(spreads[depth], whole);
        }
        const vec mean = all(total / float(n.columns));
        const vec scale = all(1.0f / sqrtf(whole.squares / float(n.columns) + 1e-5f));
        for (long i = 0; i < n.columns; i += width)
            write<Streams>(y + i, add(mul(mul(sub(load(x + i), mean), scale), load(weight + i)), load(bias + i)));
    }
}

void sum_square_rows(sizes n, const memory& m) {
    for (long r = 0; r < n.rows; ++r) {
        const float* x = m.x + r * n.columns;
        m.small[r] = lane_rule([=](long i) __attribute__((always_inline)) { return mul(load(x + i), load(x + i)); }, n.columns);
    }
}
void sum_square_whole(sizes n, const memory& m) {
    const float* x = m.x;
    m.small[0] = lane_rule([=](long i) __attribute__((always_inline)) { return mul(load(x + i), load(x + i)); }, n.rows * n.columns);
}

/// Rows are read whole and in order, four at a time, so that the accumulators are loaded and stored once for four additions.
void column_sum(sizes n, const memory& m) {
    constexpr long strip = 2048;
    alignas(64) static thread_local float stack[27][strip];
    for (long first = 0; first < n.columns; first += strip) {
        const long count = n.columns - first < strip ? n.columns - first : strip;
        int depth = 0;
        long number = 0;
        for (long begin = 0; begin < n.rows; begin += 64, ++number) {
            float* const now = stack[depth];
            const long stop = begin + 64 < n.rows ? begin + 64 : n.rows;
            for (long r = begin; r < stop; r += 4) {
                const float* x = m.x + r * n.columns + first;
                const bool four = r + 4 <= stop;
                if (four) {
                    const long step = n.columns;
                    for (long i = 0; i < count; i += width) {
                        vec total = r == begin ? all(0.0f) : load(now + i);
                        total = add(total, load(x + i));
                        total = add(total, load(x + step + i));
                        total = add(total, load(x + 2 * step + i));
                        put(now + i, add(total, load(x + 3 * step + i)));
                    }
                } else {
                    for (long rest = r; rest < stop; ++rest, x += n.columns)
                        for (long i = 0; i < count; i += width)
                            put(now + i, add(rest == begin ? all(0.0f) : load(now + i), load(x + i)));
                }
            }
            ++depth;
            for (long level = number; level & 1; level >>= 1, --depth)
                for (long i = 0; i < count; i += width) put(stack[depth - 2] + i, add(load(stack[depth - 2] + i), load(stack[depth - 1] + i)));
        }
        for (; depth > 1; --depth)
            for (long i = 0; i < count; i += width) put(stack[depth - 2] + i, add(load(stack[depth - 2] + i), load(stack[depth - 1] + i)));
        for (long i = 0; i < count; i += width) put(m.small + first + i, load(stack[0] + i));
    }
}

template <bool Streams>
void chain(sizes n, const memory& m) {
    const float *x = m.x, *weight = m.weight;
    float* y = m.y;
    for (long r = 0; r < n.rows; ++r, x += n.columns, y += n.columns)
        for (long i = 0; i < n.columns; i += 4 * width) {  // four at once: the chain's latency is longer than its work
            vec at[4], w[4];
#pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) at[j] = load(x + i + j * width), w[j] = load(weight + i + j * width);
#pragma GCC unroll 10
            for (int k = 0; k < 10; ++k)
#pragma GCC unroll 4
                for (int j = 0; j < 4; ++j) at[j] = sub(w[j], add(mul(at[j], w[j]), all(0.25f * float(k))));
#pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) write<Streams>(y + i + j * width, at[j]);
        }
}

}  // namespace

const ways same_rules{bias_gelu<false>,  softmax<false>,   rms_norm<false>, layer_norm<false>,
                      sum_square_rows, sum_square_whole, column_sum,      chain<false>};
const ways same_rules_streams{bias_gelu<true>, softmax<true>, rms_norm<true>, layer_norm<true>, nullptr, nullptr, nullptr, chain<true>};

void copy_streams(float* to, const float* from, long count) {
    for (long i = 0; i < count; i += 4 * width) {
        const vec x0 = load(from + i), x1 = load(from + i + width), x2 = load(from + i + 2 * width), x3 = load(from + i + 3 * width);
        stream(to + i, x0);
        stream(to + i + width, x1);
        stream(to + i + 2 * width, x2);
        stream(to + i + 3 * width, x3);
    }
    _mm_sfence();
}
