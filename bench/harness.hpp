// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Timing for the benchmarks: candidates run in turns, so that whatever else the machine does hits all of them, and the least time of
// each counts. Time is that of the thread: waiting for a processor isn't counted, sharing its caches and memory is. Where several
// threads work, it is that of the wall.
#pragma once

#include <time.h>

namespace bench {

inline double now() {
    timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return double(at.tv_sec) + 1e-9 * double(at.tv_nsec);
}

inline double now_on_the_wall() {
    timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return double(at.tv_sec) + 1e-9 * double(at.tv_nsec);
}

/// Calls each of `count` candidates, skipping empty ones, `rounds` times in turns; each turn takes about `turn` seconds. The least
/// seconds of one call go to `best`.
template <class Candidate>
void in_turns(const Candidate* candidates, int count, int rounds, double turn, double* best, double (*current)() = now) {
    int calls[32];
    for (int c = 0; c < count; ++c) {
        best[c] = 1e30;
        calls[c] = 1;
        if (!candidates[c]) continue;
        candidates[c]();
        const double begin = current();
        candidates[c]();
        const double once = current() - begin;
        if (once < turn) calls[c] = int(turn / (once > 1e-9 ? once : 1e-9)) + 1;
    }
    for (int r = 0; r < rounds; ++r)
        for (int turned = 0; turned < count; ++turned) {
            const int c = r & 1 ? count - 1 - turned : turned;  // either neighbour goes first as often
            if (!candidates[c]) continue;
            const double begin = current();
            for (int i = 0; i < calls[c]; ++i) candidates[c]();
            const double seconds = (current() - begin) / calls[c];
            if (seconds < best[c]) best[c] = seconds;
        }
}

}  // namespace bench
