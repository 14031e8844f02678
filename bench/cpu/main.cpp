// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times the workloads of kernels.hpp in all their forms, in a matrix that fits the second-level cache and in one that fits no cache,
// and prints JSON, one object a line; scripts/bench makes the table. Arguments: rounds in cache, rounds out of cache, rows out of
// cache, a part of the workload's name.
#include "kernels.hpp"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <functional>

#include "../harness.hpp"

namespace {

struct workload {
    const char* name;
    void (*ways::*form)(sizes, const memory&);
    bool writes_matrix;
};
const workload workloads[] = {
    {"bias+gelu", &ways::bias_gelu, true},
    {"softmax", &ways::softmax, true},
    {"rms_norm", &ways::rms_norm, true},
    {"layer_norm", &ways::layer_norm, true},
    {"sum_square rows", &ways::sum_square_rows, false},
    {"sum_square whole", &ways::sum_square_whole, false},
    {"column sum", &ways::column_sum, false},
    {"30 operations", &ways::chain, true},
};

float* floats(long count) {
    void* at = aligned_alloc(4096, (static_cast<size_t>(count) * 4 + 8191) / 4096 * 4096);
    if (!at) {
        fprintf(stderr, "no memory for %ld floats\n", count);
        exit(1);
    }
    return static_cast<float*>(at);
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds_in = argc > 1 ? atoi(argv[1]) : 60, rounds_out = argc > 2 ? atoi(argv[2]) : 9;
    const long rows_out = argc > 3 ? atol(argv[3]) : 8192;
    const char* only = argc > 4 ? argv[4] : "";
    const long columns = 4096;
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (cache <= 0) cache = 1 << 19;
    long rows_in = cache / 2 / (2 * columns * 4);  // both matrices in half of it
    rows_in = rows_in < 4 ? 4 : rows_in > 64 ? 64 : rows_in;

    for (const bool in_cache : {true, false}) {
        const sizes n{in_cache ? rows_in : rows_out, columns};
        if (n.rows <= 0) continue;
        const long count = n.rows * columns, wide = count < columns ? columns : count;
        float *x = floats(count), *y = floats(wide), *bias = floats(columns), *weight = floats(columns);
        float* small = floats(n.rows > columns ? n.rows : columns);
        float* expected = floats(wide);
        unsigned state = 1;
        for (long i = 0; i < count; ++i) {
            state = state * 1664525u + 1013904223u;
            x[i] = float(int(state >> 8)) * (10.0f / 16777216.0f) - 5.0f;
        }
        for (long i = 0; i < columns; ++i) bias[i] = float(i % 17) * 0.03f - 0.25f, weight[i] = 0.5f + float(i % 29) * 0.01f;
        memset(y, 0, static_cast<size_t>(wide) * 4);
        const memory m{x, bias, weight, y, small};

        for (const workload& work : workloads) {
            if (!strstr(work.name, only)) continue;
            const ways* forms[] = {&sinter_ways, &same_rules, &same_rules_streams, &free_order, &free_order_streams, &eigen_ways};
            const char* names[] = {"sinter", "same rules", "same rules, streams", "free order", "free order, streams", "eigen", "memcpy", "copy, streams"};
            std::function<void()> candidates[8];
            const auto barrier = [] { __asm__ volatile("" ::: "memory"); };
            for (int f = 0; f < 6; ++f)
                if (const auto function = forms[f]->*work.form) candidates[f] = [=, &m] { function(n, m), barrier(); };
            // As many bytes: those that read a matrix and write little copy half of it.
            const long moved = work.writes_matrix ? count : count / 2;
            candidates[6] = [=] { memcpy(y, x, static_cast<size_t>(moved) * 4), barrier(); };
            candidates[7] = [=] { copy_streams(y, x, moved), barrier(); };

            // The hand-written loop with the same rules must have the same bits, else it isn't one.
            float* const out = work.writes_matrix ? y : small;
            const long written = work.writes_matrix ? count : work.form == &ways::sum_square_rows ? n.rows : work.form == &ways::column_sum ? columns : 1;
            const auto bytes = static_cast<size_t>(written) * 4;
            bool equal = true;
            double wrong = 0;
            candidates[0]();
            memcpy(expected, out, bytes);
            for (int f = 1; f < 6; ++f) {
                if (!candidates[f]) continue;
                memset(out, 0xff, bytes);
                candidates[f]();
                if (f <= 2)
                    equal = equal && memcmp(expected, out, bytes) == 0;
                else
                    for (long i = 0; i < written; ++i) {
                        const double off = fabs(double(out[i]) - double(expected[i])) / (fabs(double(expected[i])) + 1e-2);
                        if (!(off <= wrong)) wrong = off;
                    }
            }

            double best[8];
            bench::in_turns(candidates, 8, in_cache ? rounds_in : rounds_out, in_cache ? 5e-4 : 0.0, best);
            printf("{\"workload\": \"%s\", \"place\": \"%s\", \"rows\": %ld, \"columns\": %ld, \"bytes\": %ld, \"equal\": %s, \"free_error\": %.2g",
                   work.name, in_cache ? "L2" : "memory", n.rows, columns, 8 * moved, equal ? "true" : "false", wrong);
            for (int c = 0; c < 8; ++c)
                if (candidates[c]) printf(", \"%s\": %.9f", names[c], best[c]);
            printf("}\n");
            fflush(stdout);
        }
        for (float* p : {x, y, bias, weight, small, expected}) free(p);
    }
}
