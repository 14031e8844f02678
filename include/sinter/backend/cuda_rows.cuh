// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Row nests on CUDA at the speed of memory: every row is read once, into registers, and all passes run on it there. For one lane axis
// whose packs of 16 bytes are aligned; cuda_any_rows.cuh has the others.
//
// A thread's pack of neighbouring elements is as many of the 128 canonical lanes (order.hpp), so that 128 / pack threads, a group,
// hold a segment in 8 rounds, all 8 loads in flight. Rows of one segment: a group per row. Longer ones: a block per row, a group per
// segment; rows that exceed a block: a cluster of blocks. Each pass exchanges the segments' results once: through the block's shared
// memory and a barrier, or, in a cluster, by asynchronous stores to every block's shared memory that count on its mbarrier.
#pragma once

#include "cuda_call.cuh"
#include "cuda_cluster.cuh"
#include "cuda_fast.cuh"
#include "cuda_row_codes.cuh"
#include "cuda_shuffle.cuh"

namespace sinter::detail::device {

/// Whether the kernels below can run a nest; the layout decides when called.
template <class Kernel>
struct row_facts_of {
    static constexpr bool possible = Kernel::nest == nest_kind::rows && Kernel::table.inner == Kernel::table.inner_lane &&
                                     Kernel::table.outer == 0 && lane_axis_count<Kernel>() <= 1 && order::lanes / facts<Kernel>::pack <= 32 && facts<Kernel>::pack >= 4;
};

/// Elements of a pack: what memory likes, as long as a thread's part of a row, 8 packs of each operand, leaves registers to compute in.
template <class Kernel>
constexpr int pack_of_rows() {
    int pack = facts<Kernel>::pack, bytes = 0;
    for (int i = 0; i < Kernel::instances; ++i)
        if (facts<Kernel>::is_element_leaf(i)) bytes += dtype_size(Kernel::leaf_type[Kernel::node[Kernel::table.at[i].node].bits].type);
    while (pack > 4 && pack * bytes > tuning_of<Kernel>::rows::most_pack_bytes) pack /= 2;
    return pack;
}

/// A row in registers has less than 2^31 elements: kernels with indices are told so.
template <class Kernel>
struct short_row_kernel : Kernel {
    static constexpr bool short_rows = true;
};
template <class Kernel>
constexpr bool any_index() {
    for (int i = 0; i < Kernel::instances; ++i)
        if (Kernel::is_fold(i) && Kernel::table.at[i].type == dtype::i64 && Kernel::facts.argument_type[Kernel::table.at[i].node][0] != dtype::i64) return true;
    return false;
}
template <class Kernel>
using row_kernel = conditional<any_index<Kernel>(), short_row_kernel<Kernel>, Kernel>;

/// What shares a row of several segments.
enum class row_sharing : u8 { block, cluster, either };

template <class Kernel>
struct row_facts : facts<Kernel, pack_of_rows<Kernel>()> {
    using work = facts<Kernel, pack_of_rows<Kernel>()>;
    using rows = typename work::rows;
    using eval = typename work::eval;
    using work::last;
    using work::pack;
    using row_codes = row_code_facts<Kernel>;
    static constexpr int group = order::lanes / pack;  ///< threads of a segment
    /// Rounds of 128 lanes: a static length may need fewer than a segment has.
    static constexpr int most_rounds = order::segment / order::lanes;
    static constexpr i64 find_length() {
        i64 product = 1;
        for (int a = 0; a < Kernel::axes; ++a) {
            if (role_of<Kernel>(a) != axis_role::lane) continue;
            if (Kernel::table.axis_size[a] < 0) return -1;
            product *= Kernel::table.axis_size[a];
        }
        return product;
    }
    static constexpr i64 known_length = find_length();  ///< -1: when run
    static constexpr int rounds_of(i64 length) {
        return length >= order::segment ? most_rounds : length <= 0 ? 1 : int((length + order::lanes - 1) / order::lanes);
    }
    static constexpr bool may_be_short = known_length < 0 || known_length <= order::lanes;
    static constexpr bool may_be_long = known_length < 0 || known_length > order::lanes;
    static constexpr int long_rounds = known_length < 0 ? most_rounds : rounds_of(known_length);
    /// Every thread has all of its packs: a static length of whole segments, or of whole rounds of one segment. Then nothing is tested.
    static constexpr bool find_whole() {
        if (known_length <= 0 || known_length % order::lanes != 0 || (known_length > order::segment && known_length % order::segment != 0)) return false;
        return threads_of(known_length) <= tuning_of<Kernel>::rows::untested_threads || find_registers() > tuning_of<Kernel>::rows::many_registers;
    }
    static SINTER_INLINE int segments_of(i64 length) {
        if constexpr (known_length > 0) length = known_length;
        return length > order::segment ? int((length + order::segment - 1) / order::segment) : 1;
    }
    static_assert(group <= 32, "a lane group is within a warp");
    /// What has to lie in whole aligned packs, and coordinates that have to step by one along the row.
    static constexpr typename work::slot_set find_whole_in_rows() {
        typename work::slot_set out = work::read_in_packs;
        for (int o = 0; o < Kernel::outputs; ++o)
            if (Kernel::stores_elements(o)) out.add(slots<Kernel>::of_output(o));
        return out;
    }
    static constexpr typename work::slot_set whole_in_rows = find_whole_in_rows();
    static constexpr typename work::slot_set find_moving_coordinates() {
        typename work::slot_set out;
        for (int i = 0, slot = 0; i < Kernel::instances; ++i) {
            if (Kernel::table.at[i].kind == node_kind::coordinate && (Kernel::table.at[i].free & work::lane_bits) != 0) out.add(slot);
            slot += slots<Kernel>::is_operand(i);
        }
        return out;
    }
    static constexpr typename work::slot_set moving_coordinates = find_moving_coordinates();

    /// A cluster's segments over a warp's threads.
    static constexpr int most_segments_of_thread = tuning_of<Kernel>::rows::block_threads / group * tuning_of<Kernel>::rows::most_blocks / 32;
    /// Elements of a row that fit.
    static constexpr i64 longest = i64(tuning_of<Kernel>::rows::block_threads / group) * tuning_of<Kernel>::rows::most_blocks * order::segment;

    // ---- operands that are the same for all rows (weights) are read when a pass needs them, from a cache
    static constexpr bool is_late(int i) {
        if (!work::is_element_leaf(i)) return false;
        bool rows_differ = false;
        for (int a = 0; a < Kernel::axes; ++a) {
            if (role_of<Kernel>(a) != axis_role::outer) continue;
            rows_differ = true;
            if (Kernel::table.at[i].free >> a & 1) return false;
        }
        return rows_differ;
    }
    struct held_leaves {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return work::is_element_leaf(i) && !is_late(i); }
    };
    /// Those read late by a pass; for the last one without what the kept value spares.
    template <int Pass>
    struct late_leaves {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) {
            if (!is_late(i)) return false;
            if (Pass == last) return output_list::needed[i];
            array<bool, Kernel::instances> need = Kernel::roots_of_pass(Pass);
            Kernel::mark_needed(need, -1);
            return need[i];
        }
    };

    /// A segment's results in shared memory: whole words.
    template <int Pass>
    struct alignas(alignof(typename rows::template summaries<Pass>) < 4 ? 4 : alignof(typename rows::template summaries<Pass>)) summary_slot {
        typename rows::template summaries<Pass> value;
    };
    template <int Pass = 1>
    static constexpr unsigned find_largest_slot() {
        constexpr unsigned own = sizeof(summary_slot<Pass>);
        if constexpr (Pass + 1 < last) {
            constexpr unsigned others = find_largest_slot<Pass + 1>();
            return own > others ? own : others;
        } else {
            return own;
        }
    }
    static constexpr unsigned largest_slot = find_largest_slot();
    template <int... Pass>
    static __device__ __forceinline__ segment_exchange begin_exchange(unsigned char* shared, int segments, int blocks, indices<Pass...>) {
        return segment_exchange::begin<unsigned(sizeof(summary_slot<Pass + 1>))...>(shared, segments, blocks);
    }
    /// Shared memory of a block.
    static constexpr unsigned shared_bytes(i64 segments, bool clustered) {
        return segments <= 1 ? 0u
               : clustered   ? segment_exchange::barrier_bytes(Kernel::levels) + unsigned(Kernel::levels * segments) * largest_slot
                             : 64 * largest_slot;
    }

    // ---- comparisons of the place in the row with a row's number: masks and targets. Places are below 2^31, so that the row's number, less
    // the first place and kept within 32 bits, does for all of the row: one instruction an element, and the coordinate isn't made
    template <class Op>
    static constexpr bool compares = is_same<Op, less_op> || is_same<Op, less_equal_op> || is_same<Op, greater_op> || is_same<Op, greater_equal_op> ||
                                     is_same<Op, equal_op> || is_same<Op, not_equal_op>;
    template <int Instance>
    static constexpr bool compares_integers() {
        if constexpr (Kernel::table.at[Instance].kind == node_kind::map)
            return compares<typename eval::template op_of_instance<Instance>> && Kernel::facts.argument_type[Kernel::table.at[Instance].node][0] == dtype::i64;
        else
            return false;
    }
    template <int... Instance>
    static constexpr array<bool, Kernel::instances> find_comparisons(indices<Instance...>) {
        return {{compares_integers<Instance>()...}};
    }
    static constexpr bool is_place(int i) {
        return i >= 0 && Kernel::table.at[i].kind == node_kind::coordinate && (Kernel::table.at[i].free & work::lane_bits) != 0;
    }
    static constexpr bool is_of_row(int i) { return i < 0 || (Kernel::where[i] != site::element && Kernel::table.at[i].level == 0); }
    static constexpr array<bool, Kernel::instances> find_bounded() {
        array<bool, Kernel::instances> out = find_comparisons(make_indices<Kernel::instances>{});
        for (int i = 0; i < Kernel::instances; ++i) {
            const int left = Kernel::table.at[i].argument[0], right = Kernel::table.at[i].argument[1];
            out[i] = out[i] && Kernel::where[i] == site::element && ((is_place(left) && is_of_row(right)) || (is_of_row(left) && is_place(right)));
        }
        return out;
    }
    static constexpr array<bool, Kernel::instances> is_bounded = find_bounded();
    struct bounded_list {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return is_bounded[i]; }
    };
    static constexpr int bounds = selected_indices<bounded_list>::size;
    static constexpr int number_of_bound(int instance) {
        int before = 0;
        for (int i = 0; i < instance; ++i) before += is_bounded[i];
        return before;
    }
    template <int Instance>
    static constexpr int bound_of = number_of_bound(Instance);
    template <int Instance>
    static constexpr bool place_is_left = is_place(Kernel::table.at[Instance].argument[0]);
    template <int Instance>
    static constexpr int slot_of_place = slots<Kernel>::template place<Kernel::table.at[Instance].argument[place_is_left<Instance> ? 0 : 1]>;
    template <int Instance>
    static constexpr bool compares_place = is_bounded[Instance];

    /// Marks what marked element values need, as they are computed here.
    static constexpr void mark_computed(array<bool, Kernel::instances>& need, int stop) {
        for (int i = Kernel::instances - 1; i >= 0; --i) {
            if (!need[i] || i == stop || is_bounded[i]) continue;
            for (int a = 0; a < Kernel::table.at[i].arity; ++a) {
                const int argument = Kernel::table.at[i].argument[a];
                if (argument >= 0 && Kernel::where[argument] == site::element) need[argument] = true;
            }
        }
    }
    /// What the outputs are computed from; `Covered`: covered codes from their dividends (cuda_row_codes.cuh). `Kept` -1: nothing is kept.
    template <bool Covered, int Kept>
    struct computed {
        static constexpr int limit = Kernel::instances;
        static constexpr array<bool, Kernel::instances> find() {
            array<bool, Kernel::instances> out = Covered ? row_codes::roots() : Kernel::roots_of_pass(last);
            mark_computed(out, Kept);
            if (Kept >= 0) out[Kept < 0 ? 0 : Kept] = false;
            return out;
        }
        static constexpr array<bool, Kernel::instances> needed = find();
        static constexpr bool test(int i) { return needed[i]; }
    };

    // ---- sums of where(place == t, x, 0): all terms but one are +0, which leaves a sum that began with +0 as it is; they are left out
    template <int Instance>
    static constexpr bool find_picks() {
        if constexpr (Kernel::is_fold(Instance) && Kernel::table.at[Instance].argument[0] >= 0) {
            constexpr int chosen = Kernel::table.at[Instance].argument[0];
            if constexpr (is_same<typename eval::template op_of_instance<Instance>::monoid, monoids::sum_of> && Kernel::table.at[chosen].kind == node_kind::map) {
                if constexpr (is_same<typename eval::template op_of_instance<chosen>, where_op>) {
                    constexpr int condition = Kernel::table.at[chosen].argument[0], other = Kernel::table.at[chosen].immediate[2];
                    if constexpr (condition >= 0 && Kernel::table.at[chosen].argument[2] < 0)
                        if constexpr (is_bounded[condition] && Kernel::node[other].kind == node_kind::literal && Kernel::node[other].bits == 0)
                            return is_same<typename eval::template op_of_instance<condition>, equal_op>;
                }
            }
        }
        return false;
    }
    template <int... Instance>
    static constexpr array<bool, Kernel::instances> find_all_picks(indices<Instance...>) {
        return {{(!stores_elements && find_picks<Instance>())...}};
    }
    static constexpr bool stores_elements = work::stores_elements;
    static constexpr array<bool, Kernel::instances> is_pick = find_all_picks(make_indices<Kernel::instances>{});
    template <int Instance>
    static constexpr int bound_of_pick = bound_of<Kernel::table.at[Kernel::table.at[Instance].argument[0]].argument[0]>;
    template <int Pass, bool Picks>
    struct folds_that {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return Kernel::folds_in_pass(i, Pass) && is_pick[i] == Picks; }
    };
    /// What the arguments of those are computed from.
    template <int Pass, bool Picks>
    struct arguments_that {
        static constexpr int limit = Kernel::instances;
        static constexpr array<bool, Kernel::instances> find() {
            array<bool, Kernel::instances> out{};
            for (int i = 0; i < Kernel::instances; ++i)
                if (Kernel::folds_in_pass(i, Pass) && is_pick[i] == Picks && Kernel::where[Kernel::table.at[i].argument[0]] == site::element)
                    out[Kernel::table.at[i].argument[0]] = true;
            mark_computed(out, -1);
            return out;
        }
        static constexpr array<bool, Kernel::instances> needed = find();
        static constexpr bool test(int i) { return needed[i]; }
    };

    // ---- a costly value that the last fold and the outputs both need stays in registers (the exponentials of a softmax)
    static constexpr int find_kept() {
        if (Kernel::levels == 0 || !Kernel::any_element_output()) return -1;
        array<bool, Kernel::instances> folding = Kernel::roots_of_pass(Kernel::levels), storing = Kernel::roots_of_pass(last);
        Kernel::mark_needed(folding, -1);
        Kernel::mark_needed(storing, -1);
        using tuning = typename tuning_of<Kernel>::rows;
        int best = -1, best_cost = is_fast<Kernel> ? tuning::kept_cost_fast : row_codes::any ? tuning::covered_kept_cost : tuning::kept_cost;
        for (int i = 0; i < Kernel::instances; ++i) {
            if (!folding[i] || !storing[i] || Kernel::table.at[i].kind != node_kind::map || Kernel::where[i] != site::element ||
                dtype_size(Kernel::table.at[i].type) != 4)
                continue;  // (codes are cast when they are stored)
            array<bool, Kernel::instances> below{};
            below[i] = true;
            Kernel::mark_needed(below, -1);
            int cost = 0;
            for (int j = 0; j < Kernel::instances; ++j)
                if (below[j]) cost += Kernel::cost_of(j);
            if (cost > best_cost) best = i, best_cost = cost;
        }
        return best;
    }
    static constexpr int kept = find_kept();
    /// Registers that hold a thread's part of a long row.
    static constexpr int find_registers() {
        int bytes = kept >= 0 ? pack * dtype_size(Kernel::table.at[kept].type) : 0;
        for (int i = 0; i < Kernel::instances; ++i)
            if (work::is_element_leaf(i) && !is_late(i)) bytes += pack * dtype_size(Kernel::leaf_type[Kernel::node[Kernel::table.at[i].node].bits].type);
        return long_rounds * bytes / 4;
    }
    static constexpr bool whole = find_whole();
    /// Registers full of a row at a time: operands that the outputs don't read make room for the kept value; what folds read late stands
    /// beside those that are held.
    static constexpr int find_pressure() {
        int folding = 0, storing = kept >= 0 ? pack * dtype_size(Kernel::table.at[kept].type) : 0;
        array<bool, Kernel::instances> folded{};
        for (int pass = 1; pass < last; ++pass) {
            array<bool, Kernel::instances> own = Kernel::roots_of_pass(pass);
            Kernel::mark_needed(own, -1);
            for (int i = 0; i < Kernel::instances; ++i) folded[i] = folded[i] || own[i];
        }
        for (int i = 0; i < Kernel::instances; ++i) {
            if (!work::is_element_leaf(i) || (is_late(i) && !folded[i])) continue;
            const int own = pack * dtype_size(Kernel::leaf_type[Kernel::node[Kernel::table.at[i].node].bits].type);
            folding += own;
            if (output_list::needed[i] && !is_late(i)) storing += own;
        }
        return long_rounds * (folding > storing ? folding : storing) / 4;
    }
    /// A length that isn't known costs registers, and so do a second phase and further outputs: a bound is then for plain kernels only.
    static constexpr bool find_plain() {
        bool plain = Kernel::outputs == 1 && work::count <= 3;
        for (int i = 0; i < Kernel::instances; ++i) plain = plain && !(Kernel::is_fold(i) && Kernel::node[Kernel::table.at[i].node].op->two_phase);
        return plain;
    }
    static constexpr bool is_plain = find_plain();
    /// Long rows that need few registers: two of the largest blocks are to fit a multiprocessor.
    static constexpr int least_blocks =
        (known_length > 0 ? !whole && find_registers() <= tuning_of<Kernel>::rows::few_registers : is_plain && find_pressure() <= tuning_of<Kernel>::rows::few_registers) ? 2 : 1;
    static constexpr int block_threads = find_registers() > tuning_of<Kernel>::rows::many_registers ? tuning_of<Kernel>::rows::cluster_threads : tuning_of<Kernel>::rows::block_threads;
    /// Threads that hold a row: a group for each segment.
    static constexpr i64 threads_of(i64 length) {
        const i64 segments = length > order::segment ? (length + order::segment - 1) / order::segment : 1;
        return (segments * group + 31) / 32 * 32;
    }
    static constexpr bool may_fill_blocks = known_length < 0 || threads_of(known_length) <= block_threads;
    static constexpr bool may_need_clusters = known_length < 0 || threads_of(known_length) > block_threads;
    /// A length that is known when run only may need both: one kernel has both (two of them took a quarter of a formula's compile time, and
    /// as many registers each).
    static constexpr row_sharing sharing = !may_need_clusters ? row_sharing::block : !may_fill_blocks ? row_sharing::cluster : row_sharing::either;
    /// Are all rows of one segment? Those of one round are; then no results are merged.
    template <int Rounds>
    static constexpr bool one_segment = Rounds == 1 || (known_length >= 0 && known_length <= order::segment);
    /// Bounds of a kernel: threads of a block, and blocks that are to fit a multiprocessor.
    static constexpr bool is_small(int rounds) { return rounds == 1 && known_length < 0 && is_plain && block_threads == tuning_of<Kernel>::rows::cluster_threads; }
    /// Covered codes are made in few instructions, so that it counts how many threads there are to hide the loads.
    static constexpr bool counts_registers = row_codes::any && known_length > 0 && sharing == row_sharing::block;
    static constexpr int bound_threads(int rounds) {
        if (counts_registers) return known_length > order::segment ? int(threads_of(known_length)) : tuning_of<Kernel>::rows::short_threads;
        return is_small(rounds) ? tuning_of<Kernel>::rows::short_threads : tuning_of<Kernel>::rows::block_threads;
    }
    static constexpr int bound_blocks(int rounds) {
        constexpr int wanted = find_pressure() + (kept >= 0 ? tuning_of<Kernel>::rows::covered_spare_kept : tuning_of<Kernel>::rows::covered_spare);
        if (counts_registers) return 65536 / (bound_threads(rounds) * (wanted > 64 ? wanted : 64));
        return is_small(rounds) ? tuning_of<Kernel>::rows::small_blocks : least_blocks;
    }
    struct output_list {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return i == kept || needed[i]; }
        static constexpr array<bool, Kernel::instances> find() {
            array<bool, Kernel::instances> out = Kernel::roots_of_pass(last);
            Kernel::mark_needed(out, kept);
            if (kept >= 0) out[kept] = false;
            return out;
        }
        static constexpr array<bool, Kernel::instances> needed = find();
    };
    /// Rounds whose late operands are read together.
    static constexpr int find_late_bytes() {
        int bytes = 0;
        for (int i = 0; i < Kernel::instances; ++i)
            if (late_leaves<last>::test(i)) bytes += pack * dtype_size(Kernel::leaf_type[Kernel::node[Kernel::table.at[i].node].bits].type);
        return bytes;
    }
    static constexpr int late_bytes_of_round = find_late_bytes();
    static constexpr int find_late_rounds() {
        int rounds = 8;
        while (rounds > 1 && rounds * late_bytes_of_round > tuning_of<Kernel>::rows::late_bytes) rounds /= 2;
        return rounds;
    }
    static constexpr bool folds_read_late() {
        for (int pass = 1; pass < last; ++pass) {
            array<bool, Kernel::instances> need = Kernel::roots_of_pass(pass);
            Kernel::mark_needed(need, -1);
            for (int i = 0; i < Kernel::instances; ++i)
                if (need[i] && is_late(i)) return true;
        }
        return false;
    }
    static constexpr int late_rounds = find_late_rounds();
    /// The first of them are read before the folds where registers allow: one wait less, which is what short calls are made of.
    static constexpr bool reads_early = whole && late_bytes_of_round > 0 && find_registers() <= tuning_of<Kernel>::rows::few_registers && !folds_read_late();
    using output_values = environment<Kernel, family, selected<output_list>>;
    static constexpr int kept_or_0 = kept < 0 ? 0 : kept;
    using kept_value = conditional<(kept >= 0), instance_value<Kernel, family, kept_or_0>, lane::scalar<bool>>;
    struct kept_pack {
        kept_value at[kept >= 0 ? pack : 1];
    };
};

/// A thread of a row. Kernels of few and of many rounds share its type, and so most of its functions: what doesn't say `Rounds` is
/// compiled once for both.
template <class Kernel>
struct row_worker {
    using work = row_facts<Kernel>;
    using rows = typename work::rows;
    using eval = typename work::eval;
    using row_codes = typename work::row_codes;
    template <int Pass, int Phase = 1>
    using phase = typename rows::template phase<Pass, Phase>;
    template <int Pass>
    using summaries = typename rows::template summaries<Pass>;
    static constexpr int pack = work::pack, group = work::group, last = work::last;

    /// Whether a fold shifts by the row's first element.
    template <int Pass>
    static constexpr bool any_second() {
        if constexpr (Pass == last)
            return false;
        else
            return rows::template pass_has_second<Pass> || any_second<Pass + 1>();
    }

    static constexpr bool shifts = any_second<1>();

    const parameters<Kernel>& in;
    unsigned char* shared;
    const segment_exchange& exchange;
    int segments;  ///< of the row
    int number;    ///< segment of this group
    int member;    ///< thread of the group
    bool exists;   ///< false for threads beyond the last row or segment; where rows are whole those repeat another's work, but don't store
    int left;      ///< elements of the row from this thread's first one on
    int first;     ///< position of this thread's first element in the row
    i64 offset[work::count];
    typename rows::once_values once;
    typename rows::row_values row;
    typename work::operand_packs held[work::long_rounds];
    typename work::operand_packs first_of_row;
    typename work::kept_pack kept[work::kept >= 0 ? work::long_rounds : 1];
    int bound[work::bounds > 0 ? work::bounds : 1];  ///< what comparisons of places compare with, less the thread's first place

    __device__ __forceinline__ row_worker(const parameters<Kernel>& of_call, unsigned char* shared_memory, const segment_exchange& with, int segments_of_row,
                                          int segment, int thread, bool is_there)
        : in(of_call), shared(shared_memory), exchange(with), segments(segments_of_row), number(segment), member(thread), exists(is_there) {
        if constexpr (work::whole)
            if (number >= segments) number = segments - 1;
        first = number * order::segment + member * pack;
        left = exists ? int(in.length) - first : 0;
    }
    /// Rows are few enough for 32 bits (rows_fit), so that the divisions are short.
    __device__ __forceinline__ void find_offsets(unsigned index) {
#pragma unroll
        for (int s = 0; s < work::count; ++s) offset[s] = 0;
        for (int a = in.outer_axes - 1; a > 0; --a) {
            const unsigned size = unsigned(in.outer_size[a]), whole = index / size, inner = index - whole * size;
#pragma unroll
            for (int s = 0; s < work::count; ++s) offset[s] += i64(inner) * in.outer_step[a][s];
            index = whole;
        }
        if (in.outer_axes > 0)
#pragma unroll
            for (int s = 0; s < work::count; ++s) offset[s] += i64(index) * in.outer_step[0][s];
    }
    __device__ __forceinline__ typename work::common around() const { return {in, once, row, offset}; }
    __device__ __forceinline__ typename work::row_frame row_frame() const { return {around()}; }
    __device__ __forceinline__ bool clustered() const { return work::sharing == row_sharing::cluster || (work::sharing == row_sharing::either && cluster_blocks() > 1); }
    __device__ __forceinline__ bool has(int round) const { return work::whole || round * order::lanes < left; }

    /// rows_fit lets coordinates through that step by one.
    template <class Environment>
    struct element_frame : work::template element_frame<Environment> {
        template <int Instance>
        SINTER_INLINE auto coordinate() const {
            constexpr int slot = slots<Kernel>::template place<Instance>;
            const i64 start = this->in.base[slot] + this->offset[slot];
            return family::value<i64>(work::template moves_along_lane<Instance> ? start + (this->position + this->lane) : start);
        }
    };

    template <int Instance>
    __device__ __forceinline__ void find_bound() {
        constexpr int slot = work::template slot_of_place<Instance>;
        const i64 start = in.base[slot] + offset[slot];
        const i64 with = eval::template argument<Instance, work::template place_is_left<Instance> ? 1 : 0>(row_frame()).value;
        const u64 distance = u64(with) - u64(start);  // exact where `with` is the larger one
        bound[work::template bound_of<Instance>] = (with < start ? -1 : distance > 0x7fffffffu ? 0x7fffffff : int(distance)) - first;
    }
    template <int... Instance>
    __device__ __forceinline__ void find_bounds(indices<Instance...>) {
        (find_bound<Instance>(), ...);
    }
    /// The value of an element; `place` counts from the thread's first one.
    template <int Instance, class Frame>
    __device__ __forceinline__ instance_value<Kernel, family, Instance> compute_one(const Frame& frame, [[maybe_unused]] int place) const {
        if constexpr (work::template compares_place<Instance>) {
            using op = typename eval::template op_of_instance<Instance>;
            const lane::scalar<i32> here(place), with(bound[work::template bound_of<Instance>]);
            if constexpr (work::template place_is_left<Instance>)
                return op::apply(here, with);
            else
                return op::apply(with, here);
        } else {
            return eval::template compute<Instance>(frame);
        }
    }
    template <class Environment, class Frame, int... Instance>
    __device__ __forceinline__ void compute(Environment& values, const Frame& frame, int place, indices<Instance...>) const {
        ((static_cast<slot<Instance, instance_value<Kernel, family, Instance>>&>(values).value = compute_one<Instance>(frame, place)), ...);
    }

    template <int Rounds, int... Instance>
    __device__ __forceinline__ void load(indices<Instance...>) {
        (load_held<Rounds, Instance>(), ...);
    }
    template <int Instance>
    __device__ __forceinline__ const typename rows::template storage_of<Instance>* row_of() const {
        constexpr int slot = slots<Kernel>::template place<Instance>;
        return static_cast<const typename rows::template storage_of<Instance>*>(in.pointer[slot]) + offset[slot];
    }
    template <int Rounds, int Instance>
    __device__ __forceinline__ void load_held() {
        const auto from = row_of<Instance>();
#pragma unroll
        for (int q = 0; q < Rounds; ++q)
            if (has(q)) load_whole(static_cast<typename work::template pack_slot<Instance>&>(held[q]).value, from + first + q * order::lanes);
    }
    /// Two-phase folds shift by the row's first element.
    template <int... Instance>
    __device__ __forceinline__ void load_first(indices<Instance...>) {
        ((static_cast<typename work::template pack_slot<Instance>&>(first_of_row).value.at[0] = *row_of<Instance>()), ...);
    }
    template <int... Instance>
    __device__ __forceinline__ void load_round(typename work::operand_packs& to, int round, indices<Instance...>) const {
        (load_whole(static_cast<typename work::template pack_slot<Instance>&>(to).value, row_of<Instance>() + first + round * order::lanes), ...);
    }
    template <class List>
    __device__ __forceinline__ void load_late(int round, List leaves) {
        load_round(held[round], round, leaves);
    }

    /// What the last pass reads late, for the rounds from `first` on that are read together.
    template <int Rounds>
    __device__ __forceinline__ void load_late_rounds(int first_round) {
#pragma unroll
        for (int q = first_round; q < first_round + work::late_rounds && q < Rounds; ++q)
            if (has(q)) load_late(q, selected<typename work::template late_leaves<last>>{});
    }

    template <class Step, class Pick, int... Instance>
    static __device__ __forceinline__ void combine_with_partner(typename Step::states& mine, const typename Step::states& give, int distance,
                                                                const choose& upper, indices<Instance...>) {
        (combine_member<Step, Pick, Instance>(mine, give, distance, upper), ...);
    }
    /// Lower lanes are the left operand. The library's folds of one value don't care; a user's may, in its last bits.
    template <class Step, class Pick, int Instance>
    static __device__ __forceinline__ void combine_member(typename Step::states& mine, const typename Step::states& give, int distance, const choose& upper) {
        auto& own = rows::template member<Pick, Instance>(mine);
        const auto other = lane::transform(from_partner{distance}, rows::template member<Pick, Instance>(give));
        using monoid = typename fold_types<Kernel, family, Instance>::monoid;
        if constexpr (__is_base_of(monoids::one_value, monoid))
            own = Step::template combine_one<Instance>(own, other);
        else
            own = Step::template combine_one<Instance>(lane::transform(upper, other, own), lane::transform(upper, own, other));
    }
    template <class Pick, class States, int... Instance>
    static __device__ __forceinline__ States chosen(const choose& yes, const States& one, const States& other, indices<Instance...>) {
        States out = one;
        ((rows::template member<Pick, Instance>(out) =
              lane::transform(yes, rows::template member<Pick, Instance>(one), rows::template member<Pick, Instance>(other))),
         ...);
        return out;
    }
    /// The lane tree, strides 64, 32 ... 1, lower lane first; every thread of the group gets the total. While a thread has several
    /// lanes, partners exchange halves: 8 to 11 exchanges in all and not 20 to 32.
    template <class Step, int Distance, int Count>
    __device__ __forceinline__ void tree_of_threads(typename Step::states (&all)[pack]) const {
        if constexpr (Distance > 0) {
            const typename Step::list list{};
            const choose upper((member & Distance) != 0);
            if constexpr (Count > 1) {
#pragma unroll
                for (int j = 0; j < Count / 2; ++j) {
                    const typename Step::states give = chosen<typename Step::pick>(upper, all[j], all[j + Count / 2], list);
                    all[j] = chosen<typename Step::pick>(upper, all[j + Count / 2], all[j], list);
                    combine_with_partner<Step, typename Step::pick>(all[j], give, Distance, upper, list);
                }
                tree_of_threads<Step, Distance / 2, Count / 2>(all);
            } else {
                combine_with_partner<Step, typename Step::pick>(all[0], all[0], Distance, upper, list);
                tree_of_threads<Step, Distance / 2, 1>(all);
            }
        }
    }
    /// The strides within a pack: those that were exchanged lie in other threads now.
    template <class Step, int Stride, int Distance, int Count>
    __device__ __forceinline__ void tree_of_pack(typename Step::states (&all)[pack]) const {
        if constexpr (Stride > 0) {
            const typename Step::list list{};
            if constexpr (Distance > 0) {
#pragma unroll
                for (int j = 0; j < Count; ++j)
                    combine_with_partner<Step, typename Step::pick>(all[j], all[j], Distance, choose((member & Distance) != 0), list);
            } else {
#pragma unroll
                for (int j = 0; j < Stride; ++j) Step::combine(all[j], all[j + Stride], list);
            }
            tree_of_pack<Step, Stride / 2, Distance / 2, Count>(all);
        }
    }
    static constexpr int left_in_thread = pack > group ? pack / group : 1;

    /// Folds that have one term in a row: by the thread that holds it.
    template <int Rounds, int Pass, class States, class Context, class Firsts, int... Instance>
    __device__ __forceinline__ void fold_picks([[maybe_unused]] States (&all)[pack], [[maybe_unused]] const Context& context, [[maybe_unused]] const Firsts& firsts,
                                               indices<Instance...> picks) const {
        if constexpr (sizeof...(Instance) > 0) {
            constexpr unsigned reach = unsigned((Rounds - 1) * order::lanes + pack);  // from the thread's first element to behind its last one
            if (!((unsigned(bound[work::template bound_of_pick<Instance>]) < reach) || ...)) return;
#pragma unroll
            for (int q = 0; q < Rounds; ++q) {
                if (!has(q)) continue;
#pragma unroll
                for (int j = 0; j < pack; ++j) {
                    using values_of_pass = typename rows::template pass_values<Pass>;
                    values_of_pass values;
                    const element_frame<values_of_pass> frame{{around(), held[q], values, first + q * order::lanes, j}};
                    compute(values, frame, q * order::lanes + j, selected<typename work::template arguments_that<Pass, true>>{});
                    phase<Pass>::fold_in(frame, all[j], context, firsts, i64(first) + (q * order::lanes + j), picks);
                }
            }
        }
    }

    /// This group's segment from `held`: all threads get the total.
    template <int Rounds, int Pass, int Phase, class Context, class Firsts>
    __device__ __forceinline__ void fold_segment(typename phase<Pass, Phase>::states& total, const Context& context, const Firsts& firsts) {
        using step = phase<Pass, Phase>;
        using rest = conditional<Phase == 1, selected<typename work::template folds_that<Pass, false>>, typename step::list>;
        const typename step::list list{};
        typename step::states all[pack];
#pragma unroll
        for (int j = 0; j < pack; ++j) step::start(all[j], list);
#pragma unroll
        for (int q = 0; q < Rounds; ++q) {
            if (!has(q)) continue;
            load_late(q, selected<typename work::template late_leaves<Pass>>{});
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                using values_of_pass = typename rows::template pass_values<Pass>;
                values_of_pass values;
                const element_frame<values_of_pass> frame{{around(), held[q], values, first + q * order::lanes, j}};
                compute(values, frame, q * order::lanes + j, selected<typename work::template arguments_that<Pass, false>>{});
                if constexpr (work::kept >= 0 && Pass == last - 1 && Phase == 1) kept[q].at[j] = frame.template value<work::kept_or_0>();
                step::fold_in(frame, all[j], context, firsts, i64(first) + (q * order::lanes + j), rest{});
            }
        }
        if constexpr (Phase == 1) fold_picks<Rounds, Pass>(all, context, firsts, selected<typename work::template folds_that<Pass, true>>{});
        tree_of_threads<step, group / 2, pack>(all);
        tree_of_pack<step, pack / 2, group / 2, left_in_thread>(all);
        total = all[0];
    }
    template <int Pass, int... Instance>
    __device__ __forceinline__ void first_elements(typename phase<Pass>::firsts& out, indices<Instance...>) const {
        typename rows::template pass_values<Pass> values;
        const element_frame<typename rows::template pass_values<Pass>> frame{{around(), first_of_row, values, 0, 0}};
        eval::fill(values, frame, selected<needed_in_pass<Kernel, Pass>>{});
        ((rows::template member<pick_value, Instance>(out) = eval::template argument<Instance, 0>(frame)), ...);
    }
    /// Adjacent pairs level by level among a warp's threads, of which the first `count` have one each; an odd last one goes up as it is.
    template <int Pass>
    static __device__ __forceinline__ void merge_warp(summaries<Pass>& value, int count) {
        const int thread = int(threadIdx.x) & 31;
#pragma unroll
        for (int stride = 1; stride < 32; stride *= 2) {
            if (stride >= count) break;
            const summaries<Pass> other = moved<Pass>(value, from_below{stride}, typename rows::template folds<Pass>{});
            if ((thread & (2 * stride - 1)) == 0 && thread + stride < count)
                rows::template one_lane<Pass>::merge(value, value, other, typename rows::template folds<Pass>{});
        }
    }
    template <int Pass, class Move, int... Instance>
    static __device__ __forceinline__ summaries<Pass> moved(const summaries<Pass>& from, const Move& move, indices<Instance...>) {
        summaries<Pass> out = from;
        ((rows::template member<pick_summary, Instance>(out) = lane::transform(move, rows::template member<pick_summary, Instance>(from))), ...);
        return out;
    }
    /// The segments' results become the row's: every thread of the row gets it.
    template <int Pass>
    __device__ __forceinline__ void merge_segments(summaries<Pass>& value) const {
        using slot_of_segment = typename work::template summary_slot<Pass>;
        const typename rows::template folds<Pass> folds{};
        const int thread = int(threadIdx.x) & 31;
        if (clustered()) {
            const segment_exchange with = work::sharing == row_sharing::either ? segment_exchange::again(shared, Kernel::levels) : exchange;
            const unsigned area = with.pass_begin + unsigned(segments) * work::largest_slot * (Pass - 1);
            with.send(slot_of_segment{value}, area + unsigned(number) * sizeof(slot_of_segment), member, group, exists, Pass - 1);
            with.wait(Pass - 1);
            const slot_of_segment* const from = reinterpret_cast<const slot_of_segment*>(shared + area);
            // A thread begins with neighbours, as many (a power of two) as make the warp suffice.
            int each = 1;
            while (each * 32 < segments) each *= 2;
            const int begin = thread * each;
            if (each == 1)
                value = from[begin < segments ? begin : 0].value;
            else if (begin < segments)
                value = merge_run<Pass, work::most_segments_of_thread>(from + begin, segments - begin < each ? segments - begin : each);
            merge_warp<Pass>(value, (segments + each - 1) / each);
        } else {
            // Two areas by turns, so that one barrier a pass is enough.
            slot_of_segment* const list = reinterpret_cast<slot_of_segment*>(shared + Pass % 2 * 32 * work::largest_slot);
            if (member == 0 && exists) list[number].value = value;
            __syncthreads();
            value = list[thread < segments ? thread : 0].value;
            merge_warp<Pass>(value, segments);
        }
        value = moved<Pass>(value, from_first{}, folds);
    }
    /// The canonical tree over `count` neighbours, at least one and at most `Most`, a power of two.
    template <int Pass, int Most, class Slot>
    static __device__ __forceinline__ summaries<Pass> merge_run(const Slot* from, int count) {
        if constexpr (Most == 1) {
            return from->value;
        } else {
            summaries<Pass> out = merge_run<Pass, Most / 2>(from, count);
            if (count > Most / 2)
                rows::template one_lane<Pass>::merge(out, out, merge_run<Pass, Most / 2>(from + Most / 2, count - Most / 2), typename rows::template folds<Pass>{});
            return out;
        }
    }
    template <int Rounds, int Pass>
    __device__ __forceinline__ void fold() {
        const typename rows::template folds<Pass> folds{};
        const typename rows::template two_phase_folds<Pass> two_phase{};
        typename phase<Pass>::firsts firsts;
        typename phase<Pass>::states total;
        typename phase<Pass>::contexts context;
        typename rows::template two_phase_bundle<Pass, pick_second> second;
        const i64 behind = (work::known_length > 0 ? work::known_length : in.length) - i64(number) * order::segment;
        const i64 count = behind < order::segment ? behind : order::segment;
        if constexpr (rows::template pass_has_second<Pass>) first_elements<Pass>(firsts, two_phase);
        fold_segment<Rounds, Pass, 1>(total, context, firsts);
        if constexpr (rows::template pass_has_second<Pass>) {
            rows::template one_lane<Pass>::settle(context, total, count, two_phase);
            fold_segment<Rounds, Pass, 2>(second, context, firsts);
        }
        summaries<Pass> value;
        rows::template one_lane<Pass>::close(value, total, context, second, count, folds);
        if constexpr (!work::template one_segment<Rounds>)
            if (work::sharing == row_sharing::cluster || segments > 1) merge_segments<Pass>(value);
        rows::template finalize<Pass>(value, row, folds);
    }
    /// The held packs pass through here between two passes: what was unpacked of them for one isn't kept in registers for the next.
    template <int Rounds, int... Instance>
    __device__ __forceinline__ void forget(indices<Instance...>) {
        if constexpr (row_codes::any)
#pragma unroll
            for (int q = 0; q < Rounds; ++q) (forget_unpacked(static_cast<typename work::template pack_slot<Instance>&>(held[q]).value), ...);
    }
    template <int Rounds, int Pass>
    __device__ __forceinline__ void passes() {
        eval::fill(row, row_frame(), selected<rows_after<Kernel, Pass - 1>>{});
        if constexpr (Pass == 1) find_bounds(selected<typename work::bounded_list>{});
        if constexpr (Pass < last) {
            fold<Rounds, Pass>();
            forget<Rounds>(selected<typename work::held_leaves>{});
            passes<Rounds, Pass + 1>();
        }
    }
    template <int Rounds, int... Output>
    __device__ __forceinline__ void store_elements(indices<Output...> outputs) {
        if (work::whole && !exists) return;
        typename row_codes::scales scales;
        if constexpr (row_codes::any)
            if (!scales.find(row_frame(), outputs)) return store_again<Rounds>(outputs);
        constexpr int together = work::late_rounds;
        using list = typename work::template computed<row_codes::any, work::kept>;
#pragma unroll
        for (int q = 0; q < Rounds; ++q) {
            if (q % together == 0 && !(work::reads_early && q == 0)) load_late_rounds<Rounds>(q);
            if (!has(q)) continue;
            typename work::results_of_packs computed;
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                using values_of_pass = typename work::output_values;
                values_of_pass values;
                if constexpr (work::kept >= 0)
                    static_cast<slot<work::kept_or_0, typename work::kept_value>&>(values).value = kept[q].at[j];
                const element_frame<values_of_pass> frame{{around(), held[q], values, first + q * order::lanes, j}};
                compute(values, frame, q * order::lanes + j, selected<list>{});
                (scales.template result_one<work, Output>(frame, computed), ...);
            }
            (store_one<row_codes::any, Output>(computed, q), ...);
        }
    }
    /// Rows whose codes aren't covered are few: their elements are read once more, round by round, so that they cost no registers.
    template <int Rounds, int... Output>
    __device__ __forceinline__ void store_again(indices<Output...>) {
#pragma unroll 1
        for (int q = 0; q < Rounds; ++q) {
            if (!has(q)) break;
            typename work::operand_packs loaded;
            load_round(loaded, q, selected<typename work::element_leaves>{});
            typename work::results_of_packs computed;
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                using list = typename work::template computed<false, -1>;
                using values_of_pass = environment<Kernel, family, selected<list>>;
                values_of_pass values;
                const element_frame<values_of_pass> frame{{around(), loaded, values, first + q * order::lanes, j}};
                compute(values, frame, q * order::lanes + j, selected<list>{});
                (work::template result_one<Output>(frame, computed), ...);
            }
            (store_one<false, Output>(computed, q), ...);
        }
    }
    template <bool Covered, int Output>
    __device__ __forceinline__ void store_one(const typename work::results_of_packs& computed, int round) const {
        using storage = typename rows::template output_storage<Output>;
        constexpr int slot_of_output = slots<Kernel>::of_output(Output);
        typename work::output_packs packs;
        if constexpr (Covered)
            row_codes::template encode_one<work, Output>(computed, packs);
        else
            work::template encode_one<Output>(computed, packs);
        storage* const to = static_cast<storage*>(const_cast<void*>(in.pointer[slot_of_output])) + offset[slot_of_output] + first;
        store_whole(to + round * order::lanes, static_cast<const slot<Output, typename work::template output_pack<Output>>&>(packs).value);
    }
};

/// Short: a group per row. Long: a block per row, or a cluster.
template <class Kernel, int Rounds>
__global__ void __launch_bounds__(row_facts<Kernel>::bound_threads(Rounds), row_facts<Kernel>::bound_blocks(Rounds)) run_rows(const __grid_constant__ parameters<Kernel> in) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    constexpr bool compiled = true;
#else
    constexpr bool compiled = row_facts<Kernel>::sharing != row_sharing::cluster;  // older cards have no clusters; nobody launches it there
#endif
    if constexpr (compiled) {
        using worker = row_worker<Kernel>;
        using work = typename worker::work;
        extern __shared__ __align__(16) unsigned char shared_memory[];
        const int own = int(threadIdx.x) / worker::group, groups = int(blockDim.x) / worker::group;
        const int member = int(threadIdx.x) % worker::group;
        const int segments = work::template one_segment<Rounds> ? 1 : work::segments_of(in.length);
        i64 row;
        int number;
        segment_exchange exchange;
        bool clustered = false;
        if constexpr (work::sharing != row_sharing::block && !work::template one_segment<Rounds>) {
            const int blocks = cluster_blocks();
            clustered = work::sharing == row_sharing::cluster || blocks > 1;
            if (clustered) {
                row = blockIdx.x / unsigned(blocks);
                number = cluster_rank() * groups + own;
                exchange = work::begin_exchange(shared_memory, segments, blocks, make_indices<Kernel::levels>{});
            }
        }
        if (!clustered) {
            row = segments > 1 ? i64(blockIdx.x) : i64(blockIdx.x) * groups + own;
            number = segments > 1 ? own : 0;
        }
        const bool exists = row < in.rows && number < segments;
        worker thread(in, shared_memory, exchange, segments, number, member, exists);
        thread.find_offsets(row < in.rows ? unsigned(row) : 0u);
        thread.template load<Rounds>(selected<typename work::held_leaves>{});
        if constexpr (work::reads_early) thread.template load_late_rounds<Rounds>(0);
        if constexpr (worker::shifts) thread.load_first(selected<typename work::element_leaves>{});
        worker::eval::fill(thread.once, thread.row_frame(), selected<at_place<Kernel, site::once>>{});
        if (clustered) exchange.ready();
        thread.template passes<Rounds, 1>();
        if constexpr (work::stores_elements) thread.template store_elements<Rounds>(selected<element_outputs<Kernel>>{});
        if (exists && member == 0 && thread.number == 0) work::store_row(thread.row_frame(), selected<row_outputs<Kernel>>{});
    }
}

}  // namespace sinter::detail::device
