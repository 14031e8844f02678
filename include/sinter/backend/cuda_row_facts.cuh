// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the compiler knows of a kernel on rows in registers (cuda_rows.cuh): which nests can run so, how a row is cut into threads and
// blocks, what is held and what is read late, which comparisons, masks, picks and choices are recognised, how many registers and how
// much shared memory that takes. No device code but small questions.
#pragma once

#include "cuda_call.cuh"
#include "cuda_choice.cuh"
#include "cuda_cluster.cuh"
#include "cuda_exact_product.cuh"
#include "cuda_fast.cuh"
#include "cuda_fold.cuh"
#include "cuda_row_codes.cuh"
#include "cuda_one_walk.cuh"
#include "cuda_row_lift.cuh"
#include "cuda_row_pack.cuh"

namespace sinter::detail::device {

/// Whether the kernels of cuda_rows.cuh can run a nest; the layout decides when called.
template <class Kernel>
struct row_facts_of {
    static constexpr bool possible = Kernel::nest == nest_kind::rows && Kernel::table.inner == Kernel::table.inner_lane &&
                                     Kernel::table.outer == 0 && lane_axis_count<Kernel>() <= 1 && order::lanes / facts<Kernel>::pack <= 32 && facts<Kernel>::pack >= 4;
};

/// A row in registers has less than 2^31 elements: kernels with indices are told so.
template <class Kernel>
struct short_row_kernel : Kernel {
    static constexpr bool short_rows = true;
};
/// Rows that exceed a block, and that blocks walk along: where one pass folds them in any order, and nothing of a row is held for another. They
/// are to be so many that such blocks fill the card; few rows have clusters.
template <class Kernel>
struct walking_kernel : Kernel {
    static constexpr bool walks = true;
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
struct row_facts : facts<Kernel, row_pack<Kernel>::value> {
    using work = facts<Kernel, row_pack<Kernel>::value>;
    using rows = typename work::rows;
    using eval = typename work::eval;
    using work::last;
    using work::pack;
    using row_codes = row_code_facts<Kernel>;
    static constexpr int group = order::lanes / pack;  ///< threads of a segment
    /// Rounds of 128 lanes: a static length may need fewer than a segment has.
    static constexpr int most_rounds = order::segment / order::lanes;
    static constexpr i64 known_length = known_row_length<Kernel>();  ///< -1: when run
    static constexpr int find_outer_axes() {
        int axes = 0;
        for (int a = 0; a < Kernel::axes; ++a) axes += role_of<Kernel>(a) == axis_role::outer;
        return axes;
    }
    static constexpr int most_outer_axes = find_outer_axes();  ///< a call may have fewer, merged
    static constexpr int rounds_of(i64 length) {
        return length >= order::segment ? most_rounds : length <= 0 ? 1 : int((length + order::lanes - 1) / order::lanes);
    }
    static constexpr bool walks = requires { Kernel::walks; };
    static constexpr bool may_be_short = known_length < 0 || known_length <= order::lanes;
    static constexpr bool may_be_long = known_length < 0 || known_length > order::lanes;
    static constexpr int long_rounds = known_length < 0 ? most_rounds : rounds_of(known_length);
    /// Every thread has all of its packs: a static length of whole segments, or of whole rounds of one segment. Then nothing is tested.
    static constexpr bool find_whole() {
        if (holds_weights) return true;
        if (walks || known_length <= 0 || known_length % order::lanes != 0 || (known_length > order::segment && known_length % order::segment != 0)) return false;
        if (shared_rounds > 0 || mask >= 0) return false;  // tests keep the compiler from working on all rounds at once, which takes registers
        return threads_of(known_length) <= tuning_of<Kernel>::rows::untested_threads || find_registers() > tuning_of<Kernel>::rows::many_registers;
    }
    /// That meet in a row's end: a group's own are one where blocks walk.
    static SINTER_INLINE int segments_of(i64 length) {
        if constexpr (walks) return block_threads / group;
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
    struct cluster_size {
        i64 blocks, threads;  ///< threads of a block
    };
    /// Of rows that `wanted` threads hold.
    static constexpr cluster_size cluster_for(i64 wanted) {
        cluster_size size{2, tuning_of<Kernel>::rows::cluster_threads};
        while (size.blocks * size.threads < wanted && size.blocks < tuning_of<Kernel>::rows::most_blocks) size.blocks *= 2;
        while (size.blocks * size.threads < wanted) size.threads *= 2;
        return size;
    }
    static constexpr int find_groups_of_cluster() { return known_length > 0 ? int(cluster_for(threads_of(known_length)).threads) / group : 0; }
    static constexpr int groups_of_cluster = find_groups_of_cluster();  ///< of each of its blocks, where the length is known
    /// Blocks of a cluster that have segments.
    static SINTER_INLINE int blocks_of([[maybe_unused]] int segments) {
#if SINTER_DEVICE_PASS
        if constexpr (groups_of_cluster > 0) return (segments_of(known_length) + groups_of_cluster - 1) / groups_of_cluster;  // (else each row divides)
        const int groups = int(blockDim.x) / group;
        return (segments + groups - 1) / groups;
#else
        return segments;  // there are no clusters
#endif
    }
    /// Elements of a row that fit.
    static constexpr i64 longest = walks ? i64(1) << 30 : i64(tuning_of<Kernel>::rows::block_threads / group) * tuning_of<Kernel>::rows::most_blocks * order::segment;

    // ---- operands that are the same for all rows (weights) are read when a pass needs them, from a cache
    static constexpr bool is_late(int i) { return is_weight<Kernel>(i); }
    static constexpr bool holds_weights = row_pack<Kernel>::holds_weights;  ///< all of them, from a block's first row to its last
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
            mark_lifted<Pass>(need);
            Kernel::mark_needed(need, -1);
            return need[i];
        }
    };
    static constexpr exact_product find_exact(int pass) {
        const exact_product found = exact_product_facts<Kernel>::of_pass(pass);
        return found.limited < 0 || (holds_weights && is_late(found.limited)) ? found : exact_product{};
    }
    template <int Pass>
    static constexpr exact_product exact = find_exact(Pass);
    template <int Pass>
    static constexpr bool is_exact = exact<Pass>.fold >= 0 && exact<Pass>.limited < 0 && !exact<Pass>.hidden;
    /// Under `fast` a maximum may be found one pass earlier (cuda_row_lift.cuh), where a block has the row.
    using lift = row_lift<Kernel>;
    static constexpr bool find_lifts() { return lift::possible && row_codes::any && mask < 0 && known_length > 0 && sharing == row_sharing::block; }
    static constexpr bool lifts = find_lifts();
    template <int Pass>
    static constexpr void mark_lifted(array<bool, Kernel::instances>& need) {
        if constexpr (Pass == 1 && lifts)
            for (int i = 0; i < Kernel::instances; ++i) need[i] = need[i] || lift::early[i];
    }

    /// A segment's results in shared memory: whole words.
    template <class Value, bool Lifts>
    struct segment_results {
        Value value;
    };
    template <class Value>
    struct segment_results<Value, true> {
        Value value;
        lane::scalar<float> lifted;
    };
    template <int Pass>
    struct alignas(alignof(typename rows::template summaries<Pass>) < 4 ? 4 : alignof(typename rows::template summaries<Pass>)) summary_slot
        : segment_results<typename rows::template summaries<Pass>, lifts && Pass == 1> {};
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
        return segment_exchange::begin<exchange_sets, unsigned(sizeof(summary_slot<Pass + 1>))...>(shared, segments, blocks);
    }
    /// Shared memory of a block.
    static SINTER_INLINE unsigned exchange_bytes(i64 segments, bool clustered) {
        const unsigned bytes = segments <= 1   ? 0u
                               : holds_weights ? 2 * unsigned(rows_at_once * segments) * largest_slot
                               : clustered   ? segment_exchange::barrier_bytes(exchange_sets * Kernel::levels) + unsigned(exchange_sets * Kernel::levels * segments) * largest_slot
                                             : 64 * largest_slot;
        return (bytes + 15) / 16 * 16;
    }
    /// Rows that a block folds before its warps merge one each.
    static constexpr int find_rows_at_once() {
        if (!holds_weights) return 1;
        const int warps = int(threads_of(known_length)) / 32, room = int(32768 / (2 * segments_of(known_length) * largest_slot));
        return room < 1 ? 1 : warps < room ? warps : room;
    }
    static constexpr int rows_at_once = find_rows_at_once();
    static SINTER_INLINE unsigned shared_bytes(i64 segments, i64 threads, bool clustered) {
        return exchange_bytes(segments, clustered) + unsigned(threads) * (kept_bytes_of_thread + copied_bytes_of_thread);
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
    static constexpr bool find_any_place() {
        for (int i = 0; i < Kernel::instances; ++i)
            if (is_place(i)) return true;
        return false;
    }
    /// Asked first of all: most formulas have none, and spare the compiler to look at each of their operations.
    static constexpr bool any_place = find_any_place();
    static constexpr array<bool, Kernel::instances> find_bounded() {
        if constexpr (any_place)
            return find_compared_places();
        else
            return {};
    }
    static constexpr array<bool, Kernel::instances> find_compared_places() {
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
        if constexpr (bounds > 0)
            return {{(!stores_elements && find_picks<Instance>())...}};
        else
            return {};
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
            if constexpr (!Picks) mark_lifted<Pass>(out);
            mark_computed(out, -1);
            return out;
        }
        static constexpr array<bool, Kernel::instances> needed = find();
        static constexpr bool test(int i) { return needed[i]; }
    };

    // ---- masks: where(place <= bound, x, neutral) in all folds and outputs, the bound a coordinate of the row. Behind it nothing is read
    template <int Instance>
    static constexpr bool is_neutral_fold() {
        using types = fold_types<Kernel, family, Instance>;
        constexpr int chosen = Kernel::table.at[Instance].argument[0], other = chosen < 0 ? -1 : Kernel::table.at[chosen].immediate[2];
        if constexpr (is_same<typename types::element, float> && types::quick && (__is_base_of(monoids::sum_of, typename types::monoid) || is_same<typename types::monoid, monoids::max_of>))
            return Kernel::node[other].kind == node_kind::literal &&
                   __builtin_bit_cast(u32, literal_value<float, Kernel::node[other].literal, Kernel::node[other].bits>()) == (__is_base_of(monoids::sum_of, typename types::monoid) ? 0u : 0xff800000u);
        else
            return false;
    }
    /// The condition of a choice whose other side is a literal; -1: it is something else.
    template <int Instance>
    static constexpr int condition_of() {
        if constexpr (Instance >= 0) {
            if constexpr (Kernel::table.at[Instance].kind == node_kind::map) {
                if constexpr (is_same<typename eval::template op_of_instance<Instance>, where_op>) {
                    constexpr int condition = Kernel::table.at[Instance].argument[0];
                    if constexpr (condition >= 0 && Kernel::table.at[Instance].argument[2] < 0)
                        if constexpr (is_bounded[condition] && is_place(Kernel::table.at[condition].argument[0])) {
                            using op = typename eval::template op_of_instance<condition>;
                            constexpr int row = Kernel::table.at[condition].argument[1];
                            if constexpr (row >= 0 && (is_same<op, less_op> || is_same<op, less_equal_op>))
                                if constexpr (Kernel::table.at[row].kind == node_kind::coordinate) return condition;
                        }
                }
            }
        }
        return -1;
    }
    template <int Instance>
    static constexpr int mask_of_fold() {
        if constexpr (Kernel::is_fold(Instance)) {
            constexpr int condition = condition_of<Kernel::table.at[Instance].argument[0]>();
            if constexpr (condition >= 0)
                if constexpr (is_neutral_fold<Instance>()) return condition;
        }
        return -1;
    }
    template <int... Instance, int... Output>
    static constexpr int find_mask(indices<Instance...>, indices<Output...>) {
        const int of_fold[] = {mask_of_fold<Instance>()..., -1}, of_output[] = {condition_of<Kernel::table.output[Output]>()..., -1};
        int mask = -1;
        for (int i = 0; i < Kernel::instances; ++i) {
            if (!Kernel::is_fold(i)) continue;
            if (of_fold[i] < 0 || (mask >= 0 && of_fold[i] != mask)) return -1;
            mask = of_fold[i];
        }
        for (int o = 0; o < Kernel::outputs; ++o)
            if (Kernel::stores_elements(o) && of_output[o] != mask) return -1;
        return mask;
    }
    static constexpr int find_mask() {
        if constexpr (bounds > 0)
            return find_mask(make_indices<Kernel::instances>{}, make_indices<Kernel::outputs>{});
        else
            return -1;
    }
    static constexpr int mask = find_mask();
    static constexpr bool find_mask_ends() {
        if constexpr (mask >= 0)
            return is_same<typename eval::template op_of_instance<mask>, less_equal_op>;
        else
            return false;
    }
    static constexpr bool mask_includes_bound = find_mask_ends();
    /// Behind a mask nothing is read: a call moves less than its sizes say, and a policy beside a test made loads slower (7 % of a fast causal softmax).
    static constexpr bool may_last = work::may_last && mask < 0;

    // ---- folds that choose one of an operand's 16-bit floats: maximum, minimum, index of either (cuda_choice.cuh)
    template <int Instance>
    using choice = choice_of<typename fold_types<Kernel, family, Instance>::monoid>;
    /// Is there an operand of 16-bit floats?
    static constexpr bool find_any_half() {
        for (int i = 0; i < Kernel::instances; ++i)
            if (held_leaves::test(i) && (Kernel::view.memory_type(i) == dtype::f16 || Kernel::view.memory_type(i) == dtype::bf16)) return true;
        return false;
    }
    static constexpr bool any_half = find_any_half();
    /// The operand, also behind a cast to f32; -1: something else is folded.
    template <int Instance>
    static constexpr int find_chosen() {
        if constexpr (Kernel::is_fold(Instance) && Kernel::table.at[Instance].argument[0] >= 0) {
            if constexpr (choice<Instance>::known && Kernel::facts.argument_type[Kernel::table.at[Instance].node][0] == dtype::f32) {
                return half_behind_cast<Kernel::table.at[Instance].argument[0]>();
            }
        }
        return -1;
    }
    template <int Instance>
    static constexpr int half_behind_cast() {
        if constexpr (is_held_half<Instance>()) {
            return Instance;
        } else if constexpr (Kernel::table.at[Instance].kind == node_kind::map && Kernel::table.at[Instance].argument[0] >= 0) {
            if constexpr (is_same<typename eval::template op_of_instance<Instance>, cast_op<dtype::f32>> && is_held_half<Kernel::table.at[Instance].argument[0]>())
                return Kernel::table.at[Instance].argument[0];
        }
        return -1;
    }
    template <int Instance>
    static constexpr bool is_held_half() {
        if constexpr (held_leaves::test(Instance))
            return is_half_float<typename rows::template storage_of<Instance>>;
        else
            return false;
    }
    template <int... Instance>
    static constexpr array<int, Kernel::instances> find_all_chosen(indices<Instance...>) {
        if constexpr (any_half)
            return {{find_chosen<Instance>()...}};
        else
            return {{(void(Instance), -1)...}};
    }
    static constexpr array<int, Kernel::instances> chosen = find_all_chosen(make_indices<Kernel::instances>{});
    template <int Instance>
    static constexpr int chosen_leaf = chosen[Instance];
    /// A sum of exponentials below the chosen one, and that one (cuda_one_walk.cuh); -1: none.
    static constexpr walked_once terms = walked_once_in<Kernel>();
    static constexpr int terms_at = terms.terms, top_at = terms.top;
    /// Does a pass nothing else, but for picks and such a sum?
    template <int Pass>
    static constexpr bool find_chooses() {
        bool any = false;
        for (int i = 0; i < Kernel::instances; ++i) {
            if (!Kernel::folds_in_pass(i, Pass)) continue;
            if (chosen[i] < 0 && !is_pick[i] && i != terms_at) return false;
            any = any || chosen[i] >= 0;
        }
        return any;
    }
    template <int Pass>
    static constexpr bool chooses = find_chooses<Pass>();
    template <int Pass>
    struct choices {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return folds_that<Pass, false>::test(i) && i != terms_at; }
    };

    // ---- exp(x - m) or exp_below(x, m), m the row's, of such an operand, also times something of the row: where the least x of a thread is
    // near m, all its exponentials are normal numbers, and take three or four instructions less. The least of 16-bit floats costs a quarter
    // of one, of f32 one: that is paid for exp_below.
    struct difference {
        int operand_at = -1, row_at = -1;            ///< instances
        int product = -1, factor = 0;                ///< instance that multiplies the operand by its argument `factor`
        bool below = false;                          ///< exp_below
    };
    static constexpr int argument_of(int i, int which) { return i < 0 ? -1 : Kernel::table.at[i].argument[which]; }
    static constexpr bool is_element(int i) { return i >= 0 && Kernel::where[i] == site::element; }
    template <int Instance>
    static constexpr bool is_held_float() {
        if constexpr (held_leaves::test(Instance))
            return is_same<typename rows::template storage_of<Instance>, float>;
        else
            return false;
    }
    /// The operand behind x.
    template <int X, bool Below>
    static constexpr difference find_operand() {
        constexpr int x = work::template is_element_map<X, cast_op<dtype::f32>>() ? argument_of(X, 0) : X;
        if constexpr (is_held_half<x>()) {
            return {.operand_at = x};
        } else if constexpr (Below && is_held_float<x>()) {
            return {.operand_at = x};
        } else if constexpr (work::template is_element_map<x, mul_op>()) {
            constexpr int left = argument_of(x, 0), right = argument_of(x, 1);  // -1: a literal
            if constexpr (left >= 0 && !is_element(right)) {
                if constexpr (is_held_half<left>()) return {.operand_at = left, .product = x, .factor = 1};
            } else if constexpr (right >= 0 && !is_element(left)) {
                if constexpr (is_held_half<right>()) return {.operand_at = right, .product = x, .factor = 0};
            }
        }
        return {};
    }
    template <int X, int Row, bool Below>
    static constexpr difference find_difference_of() {
        if constexpr (X >= 0 && Row >= 0)
            if constexpr (Kernel::where[Row] == site::row && is_same<instance_value<Kernel, family, Row>, lane::scalar<float>>) {
                difference found = find_operand<X, Below>();
                if (found.operand_at >= 0) {
                    found.row_at = Row;
                    found.below = Below;
                    return found;
                }
            }
        return {.operand_at = Kernel::instances};
    }
    /// An operand of Kernel::instances: an exponential of something else.
    template <int Instance>
    static constexpr difference find_difference() {
        if constexpr (work::template is_element_map<Instance, exp_below_op>()) {
            return find_difference_of<argument_of(Instance, 0), argument_of(Instance, 1), true>();
        } else if constexpr (work::template is_element_map<Instance, exp_below_zero_op>()) {
            constexpr int x = argument_of(Instance, 0);
            if constexpr (work::template is_element_map<x, sub_op>())
                if constexpr (is_same<instance_value<Kernel, family, x>, lane::scalar<float>>) return find_difference_of<argument_of(x, 0), argument_of(x, 1), false>();
            return {.operand_at = Kernel::instances};
        } else {
            return {};
        }
    }
    template <int... Instance>
    static constexpr array<difference, Kernel::instances> find_differences(indices<Instance...>) {
        return {{find_difference<Instance>()...}};
    }
    /// The one exponential of a pass; an operand of -1 where there are none, others or several.
    template <int Pass>
    static constexpr difference find_near() {
        if constexpr (is_fast<Kernel>)
            return {};
        else {
            const array<difference, Kernel::instances> all = find_differences(make_indices<Kernel::instances>{});
            difference found;
            int at = -1;
            for (int i = 0; i < Kernel::instances; ++i) {
                if (all[i].operand_at < 0 || !arguments_that<Pass, false>::test(i)) continue;
                if (found.operand_at >= 0 || all[i].row_at < 0) return {};
                found = all[i];
                at = i;
            }
            if (!found.below) return found;
            // Something else stands in the row value's place then (row_if_near): nothing else may read it.
            for (int i = 0; i < Kernel::instances; ++i)
                for (int a = 0; i != at && a < Kernel::table.at[i].arity; ++a)
                    if (Kernel::table.at[i].argument[a] == found.row_at && (Kernel::folds_in_pass(i, Pass) || (Kernel::where[i] == site::element && arguments_that<Pass, false>::test(i)))) return {};
            return found;
        }
    }
    template <int Pass>
    static constexpr difference near_of = find_near<Pass>();
    template <int Pass>
    static constexpr bool finds_near = near_of<Pass>.operand_at >= 0;

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
            if (work::is_element_leaf(i) && !is_late(i)) bytes += pack * dtype_size(Kernel::view.memory_type(i));
        return long_rounds * bytes / 4;
    }
    /// Rounds whose kept values lie in shared memory, each thread's own, where registers don't hold them and the row: the last ones.
    static constexpr int find_shared_rounds() {
        if (kept < 0 || row_codes::any || long_rounds < most_rounds || find_registers() <= tuning_of<Kernel>::rows::many_registers) return 0;
        if (tuning_of<Kernel>::rows::shared_rounds * tuning_of<Kernel>::rows::cluster_threads * pack * 4 > 45000) return 0;  // what a block has unasked
        return tuning_of<Kernel>::rows::shared_rounds < long_rounds ? tuning_of<Kernel>::rows::shared_rounds : long_rounds;
    }
    static constexpr int shared_rounds = find_shared_rounds();
    static constexpr unsigned kept_bytes_of_thread = kept >= 0 ? unsigned(shared_rounds * pack * dtype_size(Kernel::table.at[kept < 0 ? 0 : kept].type)) : 0u;
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
            const int own = pack * dtype_size(Kernel::view.memory_type(i));
            folding += own;
            if (output_list::needed[i] && !is_late(i)) storing += own;
        }
        return long_rounds * (folding > storing ? folding : storing) / 4;
    }
    /// A length that isn't known costs registers, and so do a second phase and further outputs: a bound is then for plain kernels only.
    static constexpr bool find_plain() {
        return Kernel::outputs == 1 && work::count <= 3 && !any_two_phase;
    }
    static constexpr bool is_plain = find_plain();
    /// Long rows that need few registers: two of the largest blocks are to fit a multiprocessor.
    static constexpr int find_least_blocks() {
        const int held = (known_length > 0 ? find_registers() : find_pressure()) + find_states();
        return (known_length > 0 ? !whole : is_plain) && held <= tuning_of<Kernel>::rows::few_registers ? 2 : 1;
    }
    static constexpr int least_blocks = find_least_blocks();
    /// Registers of a thread's states beyond 8, one for each lane of 16-bit operands: places and f64 take more, and packs of 8-bit operands
    /// have twice as many lanes. Both also take more to unpack.
    template <int Pass = 1>
    static constexpr int find_states() {
        if constexpr (Pass == last) {
            return 0;
        } else {
            constexpr int own = chooses<Pass> ? 0 : pack * int(sizeof(typename rows::template phase<Pass, 1>::states)) / 4 - 8 + (pack > 8 || alignof(typename rows::template phase<Pass, 1>::states) > 4 ? 8 : 0);
            constexpr int others = find_states<Pass + 1>();
            return own > others ? own : others;
        }
    }
    /// At most as many segments as a warp merges (8-bit operands alone have 8 threads a segment).
    static constexpr int find_block_threads() {
        if (walks) return find_walk_threads();
        const bool many = !holds_weights && find_registers() > tuning_of<Kernel>::rows::many_registers;  // (who holds weights takes whole rows)
        const int threads = many ? tuning_of<Kernel>::rows::cluster_threads : tuning_of<Kernel>::rows::block_threads;
        return threads < 32 * group ? threads : 32 * group;
    }
    /// Of a block that walks: so few that all of them have a segment in each step, but for the last ones.
    static constexpr int find_walk_threads() {
        constexpr int asked = tuning_of<Kernel>::rows::walk_threads > 0 ? tuning_of<Kernel>::rows::walk_threads : 32;
        constexpr int most = asked < 32 * group ? asked : 32 * group;  // whose results a warp merges
        constexpr i64 segments = known_length > 0 ? (known_length + order::segment - 1) / order::segment : 1, steps = (segments * group + most - 1) / most;
        return int(((segments + steps - 1) / steps * group + 31) / 32 * 32);
    }
    static constexpr int block_threads = find_block_threads();
    /// Threads that hold a row: a group for each segment.
    static constexpr i64 threads_of(i64 length) {
        const i64 segments = length > order::segment ? (length + order::segment - 1) / order::segment : 1;
        return walks ? block_threads : (segments * group + 31) / 32 * 32;
    }
    static constexpr bool may_fill_blocks = known_length < 0 || threads_of(known_length) <= block_threads;
    static constexpr bool may_need_clusters = known_length < 0 || threads_of(known_length) > block_threads;
    /// A length that is known when run only may need both: one kernel has both (two of them took a quarter of a formula's compile time, and
    /// as many registers each).
    static constexpr row_sharing sharing = !may_need_clusters ? row_sharing::block : !may_fill_blocks ? row_sharing::cluster : row_sharing::either;
    static_assert(!holds_weights || sharing == row_sharing::block, "weights are held by blocks that have whole rows");
    /// Are all rows of one segment? Those of one round are; then no results are merged.
    template <int Rounds>
    static constexpr bool one_segment = Rounds == 1 || (known_length >= 0 && known_length <= order::segment);
    /// Rows of one round are so little work that a thread's start and its wait for one pack are most of it: where they fill the card several
    /// times, a group takes two.
    static bool in_pairs(const parameters<Kernel>& in) { return in.length <= order::lanes && in.rows * group >= tuning_of<Kernel>::rows::pair_threads; }
    /// Bounds of a kernel: threads of a block, and blocks that are to fit a multiprocessor.
    static constexpr bool is_small(int rounds) { return rounds == 1 && known_length < 0 && is_plain && block_threads == tuning_of<Kernel>::rows::cluster_threads; }
    /// Threads of a block whose row's length is known.
    static constexpr int find_known_threads() {
        const i64 wanted = threads_of(known_length);
        if (known_length <= order::segment) return tuning_of<Kernel>::rows::short_threads;
        if (wanted <= block_threads) return int(wanted);
        i64 threads = tuning_of<Kernel>::rows::cluster_threads;
        while (tuning_of<Kernel>::rows::most_blocks * threads < wanted) threads *= 2;
        return int(threads);
    }
    static constexpr bool bound_by_shared = shared_rounds > 0 && known_length > 0;
    static constexpr int blocks_by_shared() {
        const int threads = find_known_threads();
        const int blocks = (threads < tuning_of<Kernel>::rows::cluster_threads ? tuning_of<Kernel>::rows::shared_threads_small : tuning_of<Kernel>::rows::shared_threads) / threads;
        return blocks < 1 ? 1 : blocks;
    }
    /// Covered codes are made in few instructions, so that it counts how many threads there are to hide the loads.
    static constexpr bool counts_registers = row_codes::any && known_length > 0 && sharing == row_sharing::block;
    static constexpr bool find_two_phase() {
        for (int i = 0; i < Kernel::instances; ++i)
            if (Kernel::is_fold(i) && Kernel::node[Kernel::table.at[i].node].op->two_phase) return true;
        return false;
    }
    static constexpr bool any_two_phase = find_two_phase();
    /// A variance unpacks its row three times: with registers to spare the compiler keeps it unpacked, and few threads are left.
    static constexpr bool counts_phases = any_two_phase && !counts_registers && known_length > order::segment && sharing == row_sharing::block;
    /// So does a norm of rows of one segment of 16-bit numbers: its weights are read in two parts. (Costly outputs need the registers.)
    static constexpr int find_output_cost() {
        int cost = 0;
        for (int i = 0; i < Kernel::instances; ++i)
            if (Kernel::template needed<last>[i] && Kernel::where[i] == site::element) cost += Kernel::cost_of(i);
        return cost;
    }
    static constexpr bool counts_halves = whole && any_half && stores_elements && kept < 0 && !counts_registers && is_plain && known_length <= order::segment &&
                                          2 * find_pressure() < tuning_of<Kernel>::rows::halves_registers && find_output_cost() <= tuning_of<Kernel>::rows::halves_cost;
    static constexpr bool forgets = row_codes::any || counts_phases || counts_halves;
    /// Products with a vector: folds read weights beside a row that few registers hold, and nothing else is kept. What hides those loads is
    /// how many threads there are; with registers to spare the compiler only unpacks more ahead. The row passes the first-level cache by, so
    /// that the weights stay there.
    static constexpr bool find_shares_with_weights() {
        return whole && find_folds_read_late() && is_plain_fold() && known_length > order::segment && sharing == row_sharing::block;
    }
    static constexpr bool shares_with_weights = find_shares_with_weights();
    static constexpr bool is_plain_fold() {
        return kept < 0 && !row_codes::any && !work::stores_elements && Kernel::levels == 1 && find_registers() <= 32 && pack * fold_facts_of<Kernel>::state_bytes() <= 64 &&
               !any_two_phase;
    }
    static constexpr int bound_threads(int rounds) {
        if (walks) return block_threads;
        if (counts_registers || counts_phases || counts_halves || shares_with_weights) return known_length > order::segment ? int(threads_of(known_length)) : tuning_of<Kernel>::rows::short_threads;
        return is_small(rounds) ? tuning_of<Kernel>::rows::short_threads : bound_by_shared ? find_known_threads() : tuning_of<Kernel>::rows::block_threads;
    }
    static constexpr int bound_blocks(int rounds) {
        constexpr int wanted = find_pressure() + (kept >= 0 ? tuning_of<Kernel>::rows::covered_spare_kept : tuning_of<Kernel>::rows::covered_spare);
        if (walks) return tuning_of<Kernel>::rows::walking_threads / block_threads;
        if (holds_weights) return tuning_of<Kernel>::rows::held_weights_threads / bound_threads(rounds);
        if (shares_with_weights) return (is_fast<Kernel> ? tuning_of<Kernel>::rows::weights_threads_fast : tuning_of<Kernel>::rows::weights_threads) / bound_threads(rounds);
        if (counts_halves) return 65536 / (bound_threads(rounds) * tuning_of<Kernel>::rows::halves_registers);
        if (counts_phases) {
            const int fitting = 65536 / (bound_threads(rounds) * (2 * find_pressure() + tuning_of<Kernel>::rows::variance_spare));
            return fitting < least_blocks ? least_blocks : fitting;
        }
        if (counts_registers) return 65536 / (bound_threads(rounds) * (wanted > 64 ? wanted : 64));
        return is_small(rounds) ? tuning_of<Kernel>::rows::small_blocks : bound_by_shared ? blocks_by_shared() : least_blocks;
    }

    // ---- a block or cluster takes several long rows one after the other: while the last pass works on one, its registers take the next; or shared
    // memory does from the first pass on (cuda_row_copies.cuh), where covered codes need the registers for their dividends, and where a row's
    // exponentials take so long that too little would be under way
    static constexpr i64 threads_of_copies() {
        return counts_registers ? i64(bound_blocks(long_rounds)) * bound_threads(long_rounds) : tuning_of<Kernel>::rows::copying_threads;
    }
    template <int Pass = 1>
    static constexpr bool any_near() {
        if constexpr (Pass == last)
            return false;
        else
            return finds_near<Pass> || any_near<Pass + 1>();
    }
    static constexpr unsigned copied_bytes_of(int i) { return held_leaves::test(i) ? unsigned(long_rounds * pack * dtype_size(Kernel::view.memory_type(i))) : 0u; }
    static constexpr unsigned find_copied_bytes() {
        using tuning = typename tuning_of<Kernel>::rows;
        if (lifts) return 0;  // (one pass, so that nothing hides the copies, and one meeting a row, whose area the next row would overwrite)
        if (!(counts_registers || any_near()) || !whole || sharing != row_sharing::block || tuning::rows_in_turn <= 1 || known_length <= order::segment || any_two_phase) return 0;
        unsigned bytes = 0;
        for (int i = 0; i < Kernel::instances; ++i) {
            if (held_leaves::test(i) && pack * dtype_size(Kernel::view.memory_type(i)) < 4) return 0;
            bytes += copied_bytes_of(i);
        }
        return threads_of(known_length) * bytes <= 45000 && threads_of_copies() * bytes <= tuning::most_copied_bytes ? bytes : 0;
    }
    static constexpr unsigned copied_bytes_of_thread = find_copied_bytes();
    static constexpr bool copies_ahead = copied_bytes_of_thread > 0;
    static constexpr bool find_streams() {
        if (holds_weights || copies_ahead) return true;
        if (tuning_of<Kernel>::rows::rows_in_turn <= 1 || Kernel::levels == 0 || !may_be_long) return false;
        if (find_pressure() - long_rounds * (kept >= 0 && shared_rounds > 0 ? pack : 0) > tuning_of<Kernel>::rows::few_registers) return false;
        if (mask >= 0 || row_codes::any || (stores_elements && Kernel::levels < 2)) return false;
        if (known_length >= 0 && known_length <= order::segment) return false;
        bool holds = false;
        for (int i = 0; i < Kernel::instances; ++i) {
            holds = holds || held_leaves::test(i);
            if (Kernel::is_fold(i) && Kernel::node[Kernel::table.at[i].node].op->two_phase) return false;
            if (Kernel::folds_in_pass(i, last - 1) && is_pick[i] && !chooses<last - 1>) return false;  // reads them after all others
        }
        return holds;
    }
    static constexpr bool streams = find_streams();
    /// Whole warps have segments, or none: then all threads that go on have one.
    static constexpr bool all_exist = known_length > order::segment && segments_of(known_length) % (32 / group) == 0;
    /// Do the outputs read the row again?
    static constexpr bool find_read_again() {
        for (int i = 0; i < Kernel::instances; ++i)
            if (held_leaves::test(i) && output_list::needed[i]) return true;
        return false;
    }
    /// Is the second-level cache asked for the next row while this one is folded? Its registers take it only when they are free.
    static constexpr int find_row_bytes() {
        int bytes = 0;
        for (int i = 0; i < Kernel::instances; ++i)
            if (held_leaves::test(i)) bytes += dtype_size(Kernel::view.memory_type(i));
        return known_length > 0 && known_length <= longest ? int(known_length) * bytes : 0;
    }
    static constexpr bool asks_ahead = streams && shared_rounds > 0 && sharing == row_sharing::cluster && stores_elements && find_row_bytes() > 0 &&
                                       find_row_bytes() <= tuning_of<Kernel>::rows::ahead_bytes;
    static constexpr bool loads_ahead_storing = !copies_ahead && stores_elements && (find_read_again() || (kept >= 0 && shared_rounds == 0));
    static constexpr int exchange_sets = streams ? 2 : 1;
    /// Do a block's rows lie apart, so that those under way at one time lie side by side? Where they are short under way: of covered codes while the
    /// next row is copied (int8 codes of a norm of 4096 bf16 3 %; an H200), and under weights that are held. Others gain nothing, or lose up to 9 %.
    static constexpr bool rows_lie_apart = holds_weights || (copies_ahead && counts_registers);
    /// Do blocks walk along so many rows that exceed them, by a kernel of its own?
    static constexpr bool may_walk = !walks && terms_at >= 0 && Kernel::levels == 1 && chooses<1> && streams && sharing == row_sharing::cluster && tuning_of<Kernel>::rows::walk_threads > 0;
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
            if (late_leaves<last>::test(i)) bytes += pack * dtype_size(Kernel::view.memory_type(i));
        return bytes;
    }
    static constexpr int late_bytes_of_round = find_late_bytes();
    static constexpr int find_late_rounds() {
        int rounds = 8;
        while (rounds > 1 && rounds * late_bytes_of_round > tuning_of<Kernel>::rows::late_bytes) rounds /= 2;
        return rounds;
    }
    static constexpr bool find_folds_read_late() {
        for (int pass = 1; pass < last; ++pass) {
            array<bool, Kernel::instances> need = Kernel::roots_of_pass(pass);
            Kernel::mark_needed(need, -1);
            for (int i = 0; i < Kernel::instances; ++i)
                if (need[i] && is_late(i)) return true;
        }
        return false;
    }
    static constexpr bool folds_read_late = find_folds_read_late();
    /// The dividends of covered codes fill the registers of the second pass, and only then: before it they have room for its weights, whose loads the
    /// meeting of the segments hides.
    static constexpr bool second_reads_early = counts_registers && whole && kept >= 0 && Kernel::levels == 2 && known_length > order::segment && !lifts;
    static constexpr int late_rounds = find_late_rounds();
    /// The first of them are read before the folds where registers allow: one wait less, which is what short calls are made of.
    static constexpr bool reads_early = whole && late_bytes_of_round > 0 && find_registers() <= tuning_of<Kernel>::rows::few_registers && !folds_read_late;
    /// The rest of them follows them before the segments meet, where registers allow: where they were read behind a store, a row would wait twice.
    static constexpr bool reads_all_early = reads_early && !counts_halves && long_rounds * late_bytes_of_round / 4 <= tuning_of<Kernel>::rows::late_registers;
    using output_values = environment<Kernel, family, selected<output_list>>;
    static constexpr int kept_or_0 = kept < 0 ? 0 : kept;
    using kept_value = conditional<(kept >= 0), instance_value<Kernel, family, kept_or_0>, lane::scalar<bool>>;
    struct alignas(16) kept_pack {
        kept_value at[kept >= 0 ? pack : 1];
    };
};

}  // namespace sinter::detail::device
