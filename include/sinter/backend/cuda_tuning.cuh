// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tuning table of the CUDA backend: how work is cut for a card, as data apart from the algorithms. No number here changes a bit of
// a result; they change how long it takes. A file's kernels take the table of the newest architecture that it is compiled for.
// Measured on H100 and H200 (sm_90); the other rows follow from what their architectures have, and nobody measured them.
//
// For a formula of one's own, found by scripts/tune, beside it and before its first run:
//
//     template <>
//     struct sinter::cuda_tuning<sinter::assignment_of<decltype(y = formula(x, w))>, 900> : sinter::cuda_table<900> {
//         struct rows : sinter::cuda_table<900>::rows {
//             static constexpr int block_threads = 256;
//         };
//     };
#pragma once

#include "../evaluate.hpp"

namespace sinter {

namespace detail::device {

/// What an architecture has. `multiprocessors`: of its large cards.
struct card_facts {
    int arch, multiprocessors, threads;  ///< threads that fit a multiprocessor; all have 65536 registers of 4 bytes
};
inline constexpr card_facts cards[] = {
    {750, 72, 1024}, {800, 108, 2048}, {870, 16, 1536}, {890, 128, 1536}, {900, 132, 2048}, {1000, 148, 2048}, {1200, 170, 1536},
};
/// The card of an architecture; of one that isn't listed, that of 9.0.
constexpr card_facts card_of(int arch) {
    for (const card_facts& card : cards)
        if (card.arch == arch) return card;
    return {arch, 132, 2048};
}
constexpr bool is_power_of_two(i64 number) { return number > 0 && (number & (number - 1)) == 0; }

}  // namespace detail::device

/// The table of an architecture (750, 800, 870, 890, 900, 1000, 1200; any other: as 900).
template <int Arch>
struct cuda_table {
    static constexpr detail::device::card_facts card = detail::device::card_of(Arch);

    /// Long streams (cache_policy in cuda_operands.cuh). Where a kernel stores as much as it reads, loads that the second-level cache is to keep
    /// last make room among what was stored: that leaves early and in longer bursts. (Of 134 MB and more they are 1 to 3 % faster; folds and what
    /// instructions limit gain nothing, and an int8 norm of 200 MB, which stores less, loses as much. Later kernels find a part of that cache taken.)
    struct streams {
        static constexpr i64 lasting_bytes =                ///< that a call reads and writes, from which on it asks so: more than twice what
            Arch == 900 ? 115'000'000 : 0;                  ///< the cache holds, three times as many where less is stored than read; 0: never
        static constexpr int lasting_cost = 4;              ///< instructions a byte, from which on they are the limit: it doesn't ask then
    };
    /// No reduction (cuda_pointwise.cuh).
    struct pointwise {
        static constexpr int threads = 128;                 ///< of a block; a power of two
        static constexpr int packs = 2;                     ///< of 16 bytes of the narrowest element, that a thread has in flight
        static constexpr int even_packs = 2;                ///< the same where all threads have all of theirs (run_even_packs);
        static constexpr int even_packs_tested = 4;         ///< where a rounding test is made
        static constexpr int packs_bytes = 128;             ///< of all operands' packs of a thread together; else it has one of each
        static constexpr int least_blocks = 6;              ///< on a multiprocessor, where packs have few bytes;
        static constexpr int least_blocks_tested = 8;       ///< where a rounding test is made
        static constexpr int channel_packs = 4;             ///< of 16 bytes of the broadest element, that a thread takes of every channel (cuda_channels.cuh)
        static constexpr i64 short_packs = 16;              ///< of a row: a pack a thread then, so that neighbours write whole lines
        static constexpr int small_threads = 64;            ///< of a block where all packs together don't fill the card: a pack a thread
        static constexpr i64 small_packs = i64(card.multiprocessors) * 256;
        static constexpr int column_cost = 8;               ///< instructions for what depends on the lane alone, to be worth a walk down the rows
        static constexpr int rows_in_flight = 4;            ///< of a thread on that walk
        static constexpr int rows_of_block = 16;            ///< at least, on that walk: they share what a column's values take
        static constexpr int walking_blocks = 8;            ///< on a multiprocessor, on that walk, where registers allow
    };
    /// Operands that disagree about the contiguous axis (cuda_tiles.cuh).
    struct tiles {
        static constexpr int side = 64;                     ///< elements; a tile is square
        static constexpr int threads_down = 8;              ///< a block is `side` threads across
        static constexpr int least = 16;                    ///< elements; shorter axes are not worth a tile
    };
    /// Rows in registers (cuda_rows.cuh). Rows whose threads need few registers are best in one block as long as they fit (RMSNorm of
    /// 32768 bf16: 0.98 of copy speed, in clusters 0.89); with many registers small blocks in clusters win, since more rows are under
    /// way at a time (softmax of 32768 bf16: 128 threads 0.82, 512 threads 0.76).
    struct rows {
        static constexpr int short_threads = 128;           ///< of a block when rows have one segment; fewer where so many blocks don't fill the card
        static constexpr i64 pair_threads =                 ///< that rows of one round would have, from which on each takes two rows
            i64(card.multiprocessors) * card.threads * 4;
        static constexpr int block_threads = 512;           ///< at most, of a block that has a row of its own; 512 at most
        static constexpr int many_registers = 64;           ///< held by a thread; from here on small blocks
        static constexpr int few_registers = 40;            ///< held by a thread; up to here two of the largest blocks are to fit
        static constexpr int untested_threads = 128;        ///< of a row: up to here code without tests; above, its registers leave room for one block
        static constexpr int cluster_threads = 128;         ///< of a block that shares its row; more when the largest cluster isn't enough
        static constexpr int small_blocks = 5;              ///< of so few threads on a multiprocessor, where a length that isn't known needs many registers
        static constexpr int most_blocks = 8;               ///< of a cluster: what every card grants
        static constexpr int shared_rounds =                ///< of a thread's 8 rounds, whose kept values lie in shared memory where many registers would
            Arch == 750 || Arch == 890 || Arch == 1200 ? 0 : 7;  ///< be held; none where a multiprocessor has 100 KB of it or less;
        static constexpr int shared_threads = 896;          ///< on a multiprocessor then: what its shared memory has room for;
        static constexpr int shared_threads_small = 640;    ///< of blocks that are smaller than a cluster's: with fewer registers the compiler spills
        static constexpr int rows_in_turn = 8;              ///< at most, that a block or cluster takes one after the other: a power of two;
        static constexpr int ahead_bytes = 131072;          ///< of a row at most, whose kept values lie in a cluster's shared memory, that the second-level cache is
                                                            ///< asked for while the row before it is folded (softmax of 16384 to 65536 bf16 gains 6 to 8 %, of 131072 loses 7 %)
        static constexpr i64 least_turns = 3;               ///< times that all blocks must fill the card then;
        static constexpr int alone_percent = 50;            ///< of the rows that all of them take at one time: so many at the end have a block each
        static constexpr int apart_percent = 75;            ///< of the rows that blocks take which fill the card once, where a block's rows lie apart
        static constexpr i64 least_turns_slow = 1;          ///< the same two of rows whose exponentials take longer than memory
        static constexpr int alone_percent_slow = 20;
        static constexpr i64 most_copied_bytes =            ///< of rows on their way to a multiprocessor's shared memory, at most (cuda_row_copies.cuh)
            Arch < 800 ? 0 : Arch == 890 || Arch == 1200 ? 49152 : 98304;
        static constexpr int copying_threads = 640;         ///< on a multiprocessor then, as many as are expected where no bound says so
        static constexpr int kept_cost = 7;                 ///< a value is kept from one pass to the next when it costs more instructions than this;
        static constexpr int kept_cost_fast = 48;           ///< under `fast`, where the cost is still counted for the portable form
        static constexpr int most_pack_bytes = 48;          ///< of the packs that a thread reads at once, all operands together
        static constexpr int covered_kept_cost = 0;         ///< the same where codes are covered by their row (cuda_row_codes.cuh);
        static constexpr int covered_spare = 8;             ///< registers of a thread beside those that its row takes there; 64 at least in all;
        static constexpr int covered_spare_kept = 32;       ///< where a value is kept
        static constexpr int variance_spare = 16;           ///< the same beside twice what the row takes, where its length is known and its variance is taken
        static constexpr int halves_registers = 72;         ///< of a thread, for norms of rows of one segment of 16-bit numbers,
        static constexpr int halves_cost = 16;              ///< whose outputs take so many instructions
        static constexpr int weights_threads = 768;         ///< on a multiprocessor where folds read weights beside the row;
        static constexpr int weights_threads_fast = 640;    ///< under `fast`
        static constexpr int weight_registers = 96;         ///< of a thread for a vector that it holds for all rows of its block, a row of an 8-bit matrix, and sums;
        static constexpr int held_weights_threads = 512;    ///< on a multiprocessor then, and
        static constexpr int rows_of_weights = 64;          ///< rows of a block at most: a power of two
        static constexpr int walk_threads = 512;            ///< at most, of a block that walks along rows which exceed it (logsumexp and the like under `fast`); 0: none does
        static constexpr int walking_threads = 1024;        ///< on a multiprocessor then
        static constexpr int late_registers = 48;           ///< of weights that a thread holds from before its last fold is merged: all of a row, or none
        static constexpr int late_bytes = 64;               ///< of weights that a thread reads together before it stores: each load waits for the stores before it
    };
    /// Reductions over the lane axes in general (cuda_any_rows.cuh).
    struct any_rows {
        static constexpr int threads = 256;                 ///< of a block
        static constexpr int blocks = 1024;                 ///< at most, of a reduction that is split
        static constexpr int shared_bytes = 32768;          ///< of the summaries that a block holds
        static constexpr i64 split_from = 128;              ///< segments of 1024 elements in a row
        static constexpr i64 split_rows = 32;               ///< rows; from here on they fill the card unsplit
    };
    /// Few long rows of whole packs, in one fold (cuda_long_rows.cuh).
    struct long_rows {
        static constexpr int threads = 256;                 ///< of a block; a power of two
        static constexpr int blocks_of_multiprocessor = 4;  ///< at least: few registers a thread then
        static constexpr i64 blocks = 4096;                 ///< at most
    };
    /// Reductions over outer axes (cuda_columns.cuh).
    struct columns {
        static constexpr int threads = 512;                 ///< of a block
        static constexpr int held_threads = 256;            ///< of a block whose threads hold a segment's rows in registers
        static constexpr int across = 32;                   ///< threads side by side; a power of two
        static constexpr int narrow = 8;                    ///< at least, where groups of columns are few
        static constexpr int blocks = 1024;                 ///< at most, of a reduction that is split
        static constexpr int shared_bytes = 46000;          ///< of the summaries that a block holds
        static constexpr int held_cost = 16;                ///< instructions of a formula that is written out for each of a segment's rows
        static constexpr i64 split_from = 32;               ///< segments of 64 rows
        static constexpr i64 split_groups = card.multiprocessors;  ///< groups of columns; from here on they fill the card unsplit
    };
    /// Those of whole packs, in one fold (cuda_packed_columns.cuh).
    struct packed_columns {
        static constexpr int threads = 256;                 ///< of a block; a power of two
        static constexpr int across = 32;                   ///< threads side by side, at most; a power of two
        static constexpr int blocks_of_little = 3;          ///< on a multiprocessor, so that registers hold all loads of a thread;
        static constexpr int blocks_of_much = 2;            ///< where a thread holds much: a segment's rows, or states of more than
        static constexpr int much_state = 32;               ///< bytes in a pack
    };
};

/// The table of one assignment on one architecture: specialise it (derive from cuda_table, and a changed group from the group).
template <class Assignment, int Arch>
struct cuda_tuning : cuda_table<Arch> {};
/// The type to specialise it for, from decltype(y = formula(x, w)).
template <class Assignment>
using assignment_of = remove_cvref<Assignment>;

namespace detail::device {

/// The newest architecture that this file is compiled for; 0 where the compiler doesn't say.
template <class... Arch>
constexpr int newest(Arch... arch) {
    int out = 0;
    const int all[] = {0, arch...};
    for (const int one : all) out = one > out ? one : out;
    return out;
}
#if defined(__CUDA_ARCH_LIST__)
inline constexpr int compiled_arch = newest(__CUDA_ARCH_LIST__);
#else
inline constexpr int compiled_arch = 0;
#endif

/// What is wrong with a table; each is one message.
template <class Table>
struct table_is_possible {
    static_assert(is_power_of_two(Table::pointwise::threads) && Table::pointwise::threads >= 32 && Table::pointwise::threads <= 1024 &&
                      is_power_of_two(Table::pointwise::small_threads) && Table::pointwise::small_threads <= Table::pointwise::threads,
                  "cuda_tuning: threads of pointwise blocks are powers of two, from 32 to 1024, and those of small ones are fewer.");
    static_assert(Table::pointwise::packs >= 1 && Table::pointwise::packs <= 8 && Table::pointwise::rows_in_flight >= 1,
                  "cuda_tuning: a thread has 1 to 8 packs in flight.");
    static_assert(Table::tiles::side % 32 == 0 && Table::tiles::side % Table::tiles::threads_down == 0 &&
                      Table::tiles::side * Table::tiles::threads_down <= 1024,
                  "cuda_tuning: a tile's side is a multiple of 32 and of threads_down, and its block has at most 1024 threads.");
    static_assert(is_power_of_two(Table::rows::block_threads) && Table::rows::block_threads >= 128 && Table::rows::block_threads <= 512 &&
                      is_power_of_two(Table::rows::short_threads) && Table::rows::short_threads >= 32 &&
                      is_power_of_two(Table::rows::cluster_threads) && Table::rows::cluster_threads >= 32 &&
                      Table::rows::short_threads <= Table::rows::block_threads && Table::rows::cluster_threads <= Table::rows::block_threads,
                  "cuda_tuning: threads of row blocks are powers of two; block_threads from 128 to 512, the others from 32 to that.");
    static_assert(is_power_of_two(Table::rows::rows_in_turn) && Table::rows::shared_rounds >= 0 && Table::rows::shared_rounds <= 8 &&
                      Table::rows::shared_threads >= 32 && Table::rows::shared_threads_small >= 32 &&
                      Table::rows::weights_threads >= 512 && Table::rows::weights_threads_fast >= 512 && Table::rows::held_weights_threads >= 512 &&
                      is_power_of_two(Table::rows::rows_of_weights),
                  "cuda_tuning: rows in turn and of weights are powers of two, shared rounds up to 8, weights_threads and held_weights_threads at least 512.");
    static_assert(Table::rows::least_turns >= 0 && Table::rows::alone_percent >= 0 && Table::rows::apart_percent >= 0 && Table::rows::least_turns_slow >= 0 && Table::rows::alone_percent_slow >= 0 &&
                      Table::rows::most_copied_bytes >= 0 && Table::rows::copying_threads >= 32,
                  "cuda_tuning: least_turns, alone_percent, the same of slow rows, apart_percent and most_copied_bytes are numbers, or 0; copying_threads at least 32.");
    static_assert(Table::rows::walk_threads >= 0 && Table::rows::walk_threads <= 512 && Table::rows::walk_threads % 32 == 0 &&
                      Table::rows::walking_threads >= Table::rows::walk_threads && Table::rows::walking_threads <= 2048 && Table::rows::walking_threads >= 32,
                  "cuda_tuning: walk_threads are whole warps, up to 512, walking_threads from that, and from 32, to 2048.");
    static_assert(is_power_of_two(Table::rows::most_blocks) && Table::rows::most_blocks <= 8, "cuda_tuning: a cluster has up to 8 blocks.");
    static_assert(is_power_of_two(Table::any_rows::threads) && Table::any_rows::threads >= 32 && Table::any_rows::threads <= 1024 &&
                      is_power_of_two(Table::columns::threads) && Table::columns::threads <= 1024 && is_power_of_two(Table::columns::held_threads) &&
                      is_power_of_two(Table::columns::across) && is_power_of_two(Table::columns::narrow) &&
                      Table::columns::narrow <= Table::columns::across && Table::columns::across <= Table::columns::held_threads &&
                      is_power_of_two(Table::packed_columns::threads) && Table::packed_columns::threads <= 1024 &&
                      is_power_of_two(Table::packed_columns::across) && Table::packed_columns::across <= Table::packed_columns::threads,
                  "cuda_tuning: threads of reductions are powers of two, up to 1024.");
    static_assert(is_power_of_two(Table::long_rows::threads) && Table::long_rows::threads >= 32 && Table::long_rows::threads <= 1024 && Table::long_rows::blocks >= 1 &&
                      Table::long_rows::blocks <= 65535 && Table::long_rows::blocks_of_multiprocessor >= 1 &&
                      Table::long_rows::threads * Table::long_rows::blocks_of_multiprocessor <= 2048,
                  "cuda_tuning: threads of long rows are a power of two, from 32 to 1024, and their blocks fit a multiprocessor.");
    static_assert(Table::streams::lasting_bytes >= 0 && Table::streams::lasting_cost >= 0, "cuda_tuning: lasting_bytes and lasting_cost are numbers, or 0.");
    static_assert(Table::any_rows::blocks >= 1 && Table::any_rows::blocks <= 65535 && Table::columns::blocks >= 1 && Table::columns::blocks <= 65535 &&
                      Table::any_rows::shared_bytes <= 47000 && Table::columns::shared_bytes <= 47000,
                  "cuda_tuning: at most 65535 blocks, and 47000 bytes of summaries.");
    using type = Table;
};

/// A kernel with its table. The architecture is part of its type: files that are compiled for different ones link.
template <class Kernel, int Arch>
struct tuned_kernel : Kernel {
    static constexpr int arch = Arch;
};
template <class Kernel>
constexpr int arch_of() {
    if constexpr (requires { Kernel::arch; })
        return Kernel::arch;
    else
        return compiled_arch;
}
template <class Kernel>
using tuning_of = typename table_is_possible<cuda_tuning<typename Kernel::assignment_type, arch_of<Kernel>()>>::type;

}  // namespace detail::device
}  // namespace sinter
