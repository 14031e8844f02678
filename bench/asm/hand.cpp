// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same kernels by hand: the loop that a row spends its time in, one vector a step (sum_square: one round of 128 lanes).
#include "../cpu/simd.hpp"

using namespace hand;

#define residual_relu 1
#define bias_gelu 2
#define chain 3
#define sum_square 4
#define two_outputs 5

#if KERNEL == residual_relu
void kernel(const float* x, const float* r, float* y, long n) {
    for (long i = 0; i < n; i += width) put(y + i, mul(larger(add(load(x + i), load(r + i)), all(0.0f)), all(0.5f)));
}
#elif KERNEL == bias_gelu
void kernel(const float* x, const float* b, float* y, long n) {
    for (long i = 0; i < n; i += width) put(y + i, gelu_tanh(add(load(x + i), load(b + i))));
}
#elif KERNEL == chain
void kernel(const float* x, const float* w_, float* y, long n) {
    for (long i = 0; i < n; i += width) {
        vec v = load(x + i);
        const vec w = load(w_ + i);
#pragma GCC unroll 10
        for (int k = 0; k < 10; ++k) v = sub(w, add(mul(v, w), all(0.25f * float(k))));
        put(y + i, v);
    }
}
#elif KERNEL == sum_square
void kernel(const float* x, float* y, long n) {
    vec t0 = all(0.0f), t1 = t0, t2 = t0, t3 = t0, t4 = t0, t5 = t0, t6 = t0, t7 = t0;
    for (long i = 0; i < n; i += 128) {
#define STEP(number) t##number = add(t##number, mul(load(x + i + number * width), load(x + i + number * width)));
        STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
    }
    put(y, add(add(add(t0, t1), add(t2, t3)), add(add(t4, t5), add(t6, t7))));
}
#elif KERNEL == two_outputs
void kernel(const float* x, const float* r, float* h, float* y, long n) {
    for (long i = 0; i < n; i += width) {
        const vec s = add(load(x + i), load(r + i));
        put(h + i, s);
        put(y + i, mul(s, from_bits(conjunction(bits(s), all_ints(0x7fffffffu)))));
    }
}
#endif
