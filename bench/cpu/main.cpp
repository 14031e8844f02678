// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times the workloads of kernels.hpp in all their forms, in a matrix that fits the second-level cache, in one that fits no cache, and
// in that one with all cores at once, each on its own rows; prints JSON, one object a line; scripts/bench makes the table. Arguments:
// rounds in cache, rounds out of cache, rows out of cache, a part of the workload's name, bytes from a page to where the matrices begin
// (a multiple of 4; 16 is what std::vector gives; the forms that need aligned outputs are left out then).
#include "kernels.hpp"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

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
    void* at = aligned_alloc(4096, (static_cast<size_t>(count) * 4 + 12287) / 4096 * 4096);
    if (!at) {
        fprintf(stderr, "no memory for %ld floats\n", count);
        exit(1);
    }
    return static_cast<float*>(at);
}

inline void barrier() { __asm__ volatile("" ::: "memory"); }

/// Threads that run one function together, the calling one among them.
class team {
    std::barrier<> starts, ends;
    std::vector<std::thread> others;
    const std::function<void(int)>* work = nullptr;

public:
    const int count;
    explicit team(int threads) : starts(threads), ends(threads), count(threads) {
        for (int part = 1; part < threads; ++part)
            others.emplace_back([this, part] {
                for (;;) {
                    starts.arrive_and_wait();
                    if (!work) return;
                    (*work)(part);
                    ends.arrive_and_wait();
                }
            });
    }
    void run(const std::function<void(int)>& function) {
        work = &function;
        starts.arrive_and_wait();
        function(0);
        ends.arrive_and_wait();
    }
    ~team() {
        work = nullptr;
        starts.arrive_and_wait();
        for (std::thread& thread : others) thread.join();
    }
};

}  // namespace

int main(int argc, char** argv) {
    const int rounds_in = argc > 1 ? atoi(argv[1]) : 60, rounds_out = argc > 2 ? atoi(argv[2]) : 9;
    const long rows_out = argc > 3 ? atol(argv[3]) : 8192;
    const char* only = argc > 4 ? argv[4] : "";
    const long off = (argc > 5 ? atol(argv[5]) : 0) / 4;
    const long columns = 4096;
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (cache <= 0) cache = 1 << 19;
    long rows_in = cache / 2 / (2 * columns * 4);  // both matrices in half of it
    rows_in = rows_in < 4 ? 4 : rows_in > 64 ? 64 : rows_in;

    const int cores = int(std::thread::hardware_concurrency());
    struct {
        const char* name;
        long rows;
        int threads;
        bool in_cache;
    } const places[] = {{"L2", rows_in, 1, true}, {"memory", rows_out, 1, false}, {"memory, all cores", cores > 1 ? rows_out : 0, cores, false}};

    for (const auto& place : places) {
        if (place.rows <= 0) continue;
        team threads(place.threads);
        const sizes n{place.rows, columns};
        // Each thread has rows of its own, and a part of `small` that holds a row or a column.
        struct part {
            sizes n;
            memory m;
            long begin;
        };
        std::vector<part> parts(size_t(threads.count));
        const long count = n.rows * columns, wide = count < columns ? columns : count;
        const long small_part = n.rows > columns ? n.rows : columns, small_count = small_part * threads.count;
        const long most = wide > small_count ? wide : small_count;
        float *const memory_of_x = floats(count), *const memory_of_y = floats(wide), *x = memory_of_x + off, *y = memory_of_y + off, *bias = floats(columns), *weight = floats(columns);
        float *small = floats(small_count), *expected = floats(most);
        for (long i = 0; i < columns; ++i) bias[i] = float(i % 17) * 0.03f - 0.25f, weight[i] = 0.5f + float(i % 29) * 0.01f;
        for (int k = 0; k < threads.count; ++k) {
            const long begin = n.rows * k / threads.count, stop = n.rows * (k + 1) / threads.count;
            parts[size_t(k)] = {{stop - begin, columns},
                                {x + begin * columns, bias, weight, y + begin * columns, small + small_part * k},
                                begin * columns};
        }
        threads.run([&](int k) {  // by the thread that uses it, so that it lies near
            const part& mine = parts[size_t(k)];
            unsigned state = 1 + unsigned(k);
            for (long i = 0; i < mine.n.rows * columns; ++i) {
                state = state * 1664525u + 1013904223u;
                x[mine.begin + i] = float(int(state >> 8)) * (10.0f / 16777216.0f) - 5.0f;
            }
            memset(mine.m.y, 0, static_cast<size_t>(mine.n.rows * columns) * 4);
        });

        for (const workload& work : workloads) {
            if (!strstr(work.name, only)) continue;
            const ways* forms[] = {&sinter_ways, &same_rules, &same_rules_streams, &free_order, &free_order_streams, &eigen_ways, &sinter_fast_ways};
            const char* names[] = {"sinter", "same rules", "same rules, streams", "free order", "free order, streams", "eigen", "fast", "memcpy", "copy, streams"};
            constexpr int written_forms = 7, all_forms = 9;
            std::function<void()> candidates[all_forms];
            const auto together = [&](const std::function<void(const part&)>& function) -> std::function<void()> {
                if (threads.count == 1)
                    return [&parts, function] { function(parts[0]), barrier(); };
                return [&threads, work_of_all = std::function<void(int)>([&parts, function](int k) { function(parts[size_t(k)]), barrier(); })] {
                    threads.run(work_of_all);
                };
            };
            for (int f = 0; f < written_forms; ++f)
                if (const auto function = forms[f]->*work.form; function && (off == 0 || !strstr(names[f], "streams"))) candidates[f] = together([function](const part& mine) { function(mine.n, mine.m); });
            // As many bytes: those that read a matrix and write little copy half of it.
            const long share = work.writes_matrix ? 1 : 2;
            candidates[written_forms] = together([share](const part& mine) { memcpy(mine.m.y, mine.m.x, static_cast<size_t>(mine.n.rows * mine.n.columns / share) * 4); });
            if (off == 0) candidates[written_forms + 1] = together([share](const part& mine) { copy_streams(mine.m.y, mine.m.x, mine.n.rows * mine.n.columns / share); });

            // The hand-written loop with the same rules must have the same bits, else it isn't one.
            float* const out = work.writes_matrix ? y : small;
            const long written = work.writes_matrix ? count : small_count;
            const auto bytes = static_cast<size_t>(written) * 4;
            bool equal = true;
            double wrong[written_forms] = {};
            memset(out, 0xff, bytes);
            candidates[0]();
            memcpy(expected, out, bytes);
            for (int f = 1; f < written_forms; ++f) {
                if (!candidates[f]) continue;
                memset(out, 0xff, bytes);
                candidates[f]();
                if (f <= 2)
                    equal = equal && memcmp(expected, out, bytes) == 0;
                else
                    for (long i = 0; i < written; ++i) {
                        if (isnan(expected[i])) continue;  // not written
                        const double off = fabs(double(out[i]) - double(expected[i])) / (fabs(double(expected[i])) + 1e-2);
                        if (!(off <= wrong[f])) wrong[f] = off;
                    }
            }

            double best[all_forms];
            bench::in_turns(candidates, all_forms, place.in_cache ? rounds_in : rounds_out, place.in_cache ? 5e-4 : 0.0, best,
                            threads.count == 1 ? bench::now : bench::now_on_the_wall);
            printf("{\"workload\": \"%s\", \"place\": \"%s\", \"threads\": %d, \"rows\": %ld, \"columns\": %ld, \"bytes\": %ld, \"equal\": %s, "
                   "\"free_error\": %.2g, \"fast_error\": %.2g",
                   work.name, place.name, threads.count, n.rows, columns, 8 * (count / share), equal ? "true" : "false", wrong[3], wrong[6]);
            for (int c = 0; c < all_forms; ++c)
                if (candidates[c]) printf(", \"%s\": %.9f", names[c], best[c]);
            printf("}\n");
            fflush(stdout);
        }
        for (float* p : {memory_of_x, memory_of_y, bias, weight, small, expected}) free(p);
    }
}
