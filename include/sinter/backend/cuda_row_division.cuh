// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the rows of a call are divided among blocks or clusters (cuda_rows.cuh): most take several rows one after the other, so that the next one is
// under way while one is computed, and the last ones take one row each, so that all end together: they are started when others end.
#pragma once

#include "cuda_row_facts.cuh"

namespace sinter::detail::device {

template <class Kernel>
struct row_division {
    using work = row_facts<Kernel>;
    using tuning = typename tuning_of<Kernel>::rows;
    /// Threads that a multiprocessor has at one time.
    static constexpr i64 threads_at_once = work::holds_weights  ? tuning::held_weights_threads
                                           : work::walks        ? tuning::walking_threads
                                           : work::copies_ahead ? work::threads_of_copies()
                                                                : 2048;
    static constexpr i64 at_once = i64(cuda_table<arch_of<Kernel>()>::card.multiprocessors) * threads_at_once;
    static constexpr bool slow = (work::template any_near<>() || work::terms_at >= 0) && !work::copies_ahead;  ///< exponentials take longer than memory
    static constexpr i64 least_turns = slow && tuning::least_turns > 0 ? tuning::least_turns_slow : tuning::least_turns;
    static constexpr int alone_percent = slow ? tuning::alone_percent_slow : tuning::alone_percent;

    /// Sets `turns`, the rows of each of the first `long_blocks` blocks; returns how many blocks there are. A block is one of `threads`, or a cluster.
    static i64 divide(parameters<Kernel>& in, i64 threads, i64 segments) {
        const bool several = work::streams && segments > 1 && in.outer_axes == 1;
        const i64 together = at_once / threads;
        if constexpr (work::holds_weights) {
            // As few as fill the card a whole number of times.
            i64 turns = several ? tuning::rows_of_weights : 1;
            const i64 times = (in.rows + together * turns - 1) / (together * turns);
            if (turns > 1 && least_turns > 0) turns = (in.rows + together * times - 1) / (together * times);
            return all_alike(in, turns);
        } else if constexpr (work::rows_lie_apart) {
            // Those that fill the card once take most rows. A block begins with nothing to compute: others would begin in between, together.
            i64 turns = several ? in.rows * tuning::apart_percent / 100 / together : 1;
            if (turns < 2 || in.rows < turns) return all_alike(in, 1);
            return rest_alone(in, turns, in.rows / turns < together ? in.rows / turns : together);
        } else {
            // As many turns as still let all of them fill the card often enough.
            i64 turns = several ? tuning::rows_in_turn : 1;
            while (turns > 1 && in.rows * threads < turns * least_turns * at_once) turns /= 2;
            const i64 alone = turns >= 4 ? together * turns * alone_percent / 100 : 0;
            if (alone == 0) return all_alike(in, turns);
            return rest_alone(in, turns, in.rows > alone ? (in.rows - alone) / turns : 0);
        }
    }

  private:
    static i64 all_alike(parameters<Kernel>& in, i64 turns) {
        in.turns = int(turns);
        in.long_blocks = unsigned((in.rows + turns - 1) / turns);
        return in.long_blocks;
    }
    static i64 rest_alone(parameters<Kernel>& in, i64 turns, i64 long_blocks) {
        in.turns = int(turns);
        in.long_blocks = unsigned(long_blocks);
        return long_blocks + (in.rows - long_blocks * turns);
    }
};

}  // namespace sinter::detail::device
