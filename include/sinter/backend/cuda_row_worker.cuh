// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread of a row in registers (cuda_rows.cuh): its part of the row, the passes on it, what it exchanges with the others of its group, warp,
// block or cluster, and the outputs. No kernel here.
#pragma once

#include "cuda_row_copies.cuh"
#include "cuda_row_merge.cuh"

namespace sinter::detail::device {

struct empty_values {};

/// A thread of a row. Kernels of few and of many rounds share its type, and so most of its functions: what doesn't say `Rounds` is
/// compiled once for both.
template <class Kernel>
struct row_worker {
    using work = row_facts<Kernel>;
    using rows = typename work::rows;
    using eval = typename work::eval;
    using row_codes = typename work::row_codes;
    using merging = row_merge<Kernel>;
    using copies = row_copies<Kernel>;
    using scales_of_row = typename row_codes::template scales<conditional<work::lifts, typename work::lift, void>>;
    template <int Pass, int Phase = 1>
    using phase = typename rows::template phase<Pass, Phase>;
    template <int Pass>
    using summaries = typename rows::template summaries<Pass>;
    static constexpr int pack = work::pack, group = work::group, last = work::last;
    static_assert(!(work::lifts && work::streams), "a lifted maximum leaves one meeting a row, whose area the next row's would overwrite");

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
    int turn = 0, turns = 1;  ///< number of the row among the block's, which follow one another along one loop
    conditional<work::streams, typename rows::row_values, empty_values> row_ahead;  ///< what is known of the next row from its start
    typename work::operand_packs held[work::long_rounds];
    typename work::operand_packs first_of_row;
    template <int Rounds>
    static constexpr int own_rounds = work::kept < 0 ? 0 : Rounds - (Rounds == work::long_rounds ? work::shared_rounds : 0);  ///< whose kept values are in registers
    static constexpr int most_kept = work::long_rounds - work::shared_rounds;
    typename work::kept_pack kept[work::kept >= 0 && most_kept > 0 ? most_kept : 1];
    conditional<work::lifts, lane::scalar<float>, empty_values> lifted;  ///< maximum that the first pass finds for the second one (cuda_row_lift.cuh)
    bool weights_are_small = false;  ///< so that their products are exact (cuda_exact_product.cuh)
    const void* ahead[work::count];  ///< the thread's first elements of the next row
    int left_ahead = 0;  ///< where blocks walk: elements from this thread's next first one on
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
    __device__ __forceinline__ void find_offsets(unsigned index, i64 (&of_row)[work::count]) const {
#pragma unroll
        for (int s = 0; s < work::count; ++s) of_row[s] = 0;
        for (int a = work::most_outer_axes > 1 ? in.outer_axes - 1 : 0; a > 0; --a) {
            const unsigned size = unsigned(in.outer_size[a]), whole = index / size, inner = index - whole * size;
#pragma unroll
            for (int s = 0; s < work::count; ++s) of_row[s] += i64(inner) * in.outer_step[a][s];
            index = whole;
        }
        if (in.outer_axes > 0)
#pragma unroll
            for (int s = 0; s < work::count; ++s) of_row[s] += i64(index) * in.outer_step[0][s];
    }
    __device__ __forceinline__ bool goes_on() const { return turn + 1 < turns; }
    __device__ __forceinline__ typename work::common around() const { return around(row); }
    __device__ __forceinline__ typename work::common around(const typename rows::row_values& of_row) const { return {in, once, of_row, offset}; }
    /// What a row needs before its first fold.
    __device__ __forceinline__ void begin_row() { eval::fill(row, row_frame(), selected<rows_after<Kernel, 0>>{}); }
    /// From one row of the block to its next one.
    __device__ __forceinline__ i64 step_to_next(int slot) const { return (work::rows_lie_apart ? i64(in.long_blocks) : 1) * in.outer_step[0][slot]; }
    /// The same of the next row: loads that the end of this one hides.
    __device__ __forceinline__ void begin_next() {
        i64 ahead[work::count];
#pragma unroll
        for (int s = 0; s < work::count; ++s) ahead[s] = offset[s] + step_to_next(s);
        const typename work::common around_next{in, once, row_ahead, ahead};
        eval::fill(row_ahead, typename work::row_frame{around_next}, selected<rows_after<Kernel, 0>>{});
    }
    template <int... Instance>
    __device__ __forceinline__ void take_next(indices<Instance...>) {
        ((static_cast<typename rows::template value_slot<Instance>&>(row).value = static_cast<const typename rows::template value_slot<Instance>&>(row_ahead).value), ...);
#pragma unroll
        for (int s = 0; s < work::count; ++s) offset[s] += step_to_next(s);
        ++turn;
        if constexpr (work::copies_ahead) take_held(selected<typename work::held_leaves>{});
    }
    __device__ __forceinline__ typename work::row_frame row_frame() const { return {around()}; }
    __device__ __forceinline__ bool clustered() const { return work::sharing == row_sharing::cluster || (work::sharing == row_sharing::either && cluster_blocks() > 1); }
    __device__ __forceinline__ bool has(int round) const { return work::whole || round * order::lanes < left; }
    /// Has it elements that count?
    __device__ __forceinline__ bool counts(int round) const {
        if constexpr (work::mask >= 0)
            return round * order::lanes < left && round * order::lanes < bound[work::template bound_of<(work::mask < 0 ? 0 : work::mask)>] + int(work::mask_includes_bound);
        else
            return has(round);
    }

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
    template <class Eval, int Instance, class Frame>
    __device__ __forceinline__ instance_value<Kernel, family, Instance> compute_one(const Frame& frame, [[maybe_unused]] int place) const {
        if constexpr (work::template compares_place<Instance>) {
            using op = typename eval::template op_of_instance<Instance>;
            const lane::scalar<i32> here(place), with(bound[work::template bound_of<Instance>]);
            if constexpr (work::template place_is_left<Instance>)
                return op::apply(here, with);
            else
                return op::apply(with, here);
        } else {
            return Eval::template compute<Instance>(frame);
        }
    }
    template <class Eval = eval, class Environment, class Frame, int... Instance>
    __device__ __forceinline__ void compute(Environment& values, const Frame& frame, [[maybe_unused]] int place, indices<Instance...>) const {
        if constexpr (work::bounds == 0)
            ((static_cast<slot<Instance, instance_value<Kernel, family, Instance>>&>(values).value = Eval::template compute<Instance>(frame)), ...);
        else
            ((static_cast<slot<Instance, instance_value<Kernel, family, Instance>>&>(values).value = compute_one<Eval, Instance>(frame, place)), ...);
    }

    /// Values that the last fold leaves for the outputs: in shared memory each warp has its own, where neighbours' 16 bytes lie side by side.
    template <int Rounds>
    __device__ __forceinline__ unsigned char* place_of_kept(int round) const {
        const unsigned warp = threadIdx.x / 32, thread = threadIdx.x % 32;
        return shared + work::exchange_bytes(segments, clustered()) + warp * 32 * work::kept_bytes_of_thread + thread * 16 +
               unsigned(round - own_rounds<Rounds>) * 32 * unsigned(sizeof(typename work::kept_pack));
    }
    template <int Rounds>
    __device__ __forceinline__ void keep(int round, const typename work::kept_pack& values) {
        if (round < own_rounds<Rounds>) {
            kept[round < most_kept ? round : 0] = values;
        } else {
            unsigned char* const to = place_of_kept<Rounds>(round);
#pragma unroll
            for (unsigned i = 0; i < sizeof values / 16; ++i) {
                uint4 word;
                __builtin_memcpy(&word, reinterpret_cast<const char*>(&values) + 16 * i, 16);
                *reinterpret_cast<uint4*>(to + i * 512) = word;
            }
        }
    }
    template <int Rounds>
    __device__ __forceinline__ typename work::kept_pack what_was_kept(int round) const {
        if (round < own_rounds<Rounds>) return kept[round < most_kept ? round : 0];
        typename work::kept_pack values;
        const unsigned char* const from = place_of_kept<Rounds>(round);
#pragma unroll
        for (unsigned i = 0; i < sizeof values / 16; ++i) {
            const uint4 word = *reinterpret_cast<const uint4*>(from + i * 512);
            __builtin_memcpy(reinterpret_cast<char*>(&values) + 16 * i, &word, 16);
        }
        return values;
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
    /// The compiler doesn't look through where a loop takes many rows, or rounds are tested: else it counts along with an address for each round.
    static __device__ __forceinline__ const void* one_address(const void* address) {
#if SINTER_DEVICE_PASS
        if constexpr (work::holds_weights || (work::streams && !work::whole)) asm volatile("" : "+l"(address));
#endif
        return address;
    }
    /// Once for all rounds: each would work it out anew behind its test.
    template <int... Instance>
    __device__ __forceinline__ void find_ahead(bool in_next_row, int position, indices<Instance...>) {
        ((ahead[slots<Kernel>::template place<Instance>] = one_address(row_of<Instance>() + (in_next_row ? step_to_next(slots<Kernel>::template place<Instance>) : 0) + position)), ...);
    }
    /// A round of the next row, in place of this one's.
    template <int... Instance>
    __device__ __forceinline__ void load_ahead(int round, indices<Instance...>) {
        (load_one_ahead<Instance>(round), ...);
    }
    template <int Instance>
    __device__ __forceinline__ void load_one_ahead(int round) {
        work::template load_operand<work::shares_with_weights, work::may_last>(in, static_cast<typename work::template pack_slot<Instance>&>(held[round]).value,
                           static_cast<const typename rows::template storage_of<Instance>*>(ahead[slots<Kernel>::template place<Instance>]) + round * order::lanes);
    }
    /// Does the last pass load the next row into the registers of this one, as they become free?
    template <int Pass>
    static constexpr bool loads_ahead_folding = work::streams && !work::copies_ahead && !work::loads_ahead_storing && Pass == last - 1;
    /// Where the next row's copies come.
    __device__ __forceinline__ unsigned char* area_ahead() const { return shared + work::exchange_bytes(segments, false); }
    template <int... Instance>
    __device__ __forceinline__ void send_next(indices<Instance...>) const {
        (copies::template send<Instance>(area_ahead(), row_of<Instance>() + step_to_next(slots<Kernel>::template place<Instance>) + first), ...);
    }
    template <int... Instance>
    __device__ __forceinline__ void take_held(indices<Instance...>) {
        copies::wait();
#pragma unroll
        for (int q = 0; q < work::long_rounds; ++q)
            (copies::template take<Instance>(static_cast<typename work::template pack_slot<Instance>&>(held[q]).value, area_ahead(), q), ...);
    }
    /// The second-level cache for this segment of the next row, by one thread.
    template <int... Instance>
    __device__ __forceinline__ void ask_ahead(indices<Instance...>) const {
        const int count = left < order::segment ? left : order::segment;
        (ask_cache(row_of<Instance>() + step_to_next(slots<Kernel>::template place<Instance>) + first, count * int(sizeof(typename rows::template storage_of<Instance>))), ...);
    }
    template <int Rounds, int Instance>
    __device__ __forceinline__ void load_held() {
        const auto from = row_of<Instance>();
#pragma unroll
        for (int q = 0; q < Rounds; ++q)
            if (counts(q)) work::template load_operand<work::shares_with_weights, work::may_last>(in, static_cast<typename work::template pack_slot<Instance>&>(held[q]).value, from + first + q * order::lanes);
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
        load_late_of_all<Rounds>(first_round, selected<typename work::template late_leaves<last>>{});
    }
    template <int Rounds, int... Instance>
    __device__ __forceinline__ void load_late_of_all(int first_round, indices<Instance...>) {
        const void* const from[] = {one_address(row_of<Instance>() + first)..., nullptr};
#pragma unroll
        for (int q = first_round; q < first_round + work::late_rounds && q < Rounds; ++q) {
            if (!has(q)) continue;
            int i = 0;
            ((load_whole(static_cast<typename work::template pack_slot<Instance>&>(held[q]).value,
                         static_cast<const typename rows::template storage_of<Instance>*>(from[i++]) + q * order::lanes)), ...);
        }
    }

    /// Folds that have one term in a row: by the thread that holds it.
    template <int Rounds, int Pass, int Lanes, class States, class Context, class Firsts, int... Instance>
    __device__ __forceinline__ void fold_picks([[maybe_unused]] States (&all)[Lanes], [[maybe_unused]] const Context& context, [[maybe_unused]] const Firsts& firsts,
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
                    phase<Pass>::fold_in(frame, all[j % Lanes], context, firsts, i64(first) + (q * order::lanes + j), picks);
                }
            }
        }
    }

    // ---- passes that choose: two elements an instruction, and no lane of its own for each
    template <int Leaf>
    __device__ __forceinline__ unsigned pair_of(int round, int pair) const {
        unsigned out;
        __builtin_memcpy(&out, &static_cast<const typename work::template pack_slot<Leaf>&>(held[round]).value.at[2 * pair], 4);
        return out;
    }
    /// Rounds backwards where the first of equals counts, so that it is the last to be put down.
    template <int Rounds, int Leaf, class Half, bool First, int... Number>
    __device__ __forceinline__ void find_place(int& place, unsigned best, indices<Number...>) const {
        (find_place_in_pair<Leaf, Half, First, First ? Rounds * pack / 2 - 1 - Number : Number>(place, best), ...);
    }
    template <int Leaf, class Half, bool First, int Number>
    __device__ __forceinline__ void find_place_in_pair(int& place, unsigned best) const {
        constexpr int round = Number / (pack / 2), pair = Number % (pack / 2), low = round * order::lanes + 2 * pair;
        if (has(round)) place_of_equal<Half, low, low + 1, First>(place, pair_of<Leaf>(round, pair), best);
    }
    /// The place of the first or last NaN: hardly ever asked for, so from memory, by little code.
    template <int Rounds, int Leaf, class Half, bool First>
    __device__ __forceinline__ void find_nan(int& place) const {
        const Half* const from = row_of<Leaf>() + first;
#pragma unroll 1
        for (int i = 0; i < Rounds * pack; ++i) {
            const int number = First ? Rounds * pack - 1 - i : i, here = number / pack * order::lanes + number % pack;
            u16 bits;
            if (!has(number / pack)) continue;
            __builtin_memcpy(&bits, from + here, 2);
            if (is_nan_half<Half>(bits)) place = here;
        }
    }
    template <int Rounds, int Instance, class State>
    __device__ __forceinline__ void choose_one(State& total) const {
        using choice = typename work::template choice<Instance>;
        constexpr int leaf = work::template chosen_leaf<Instance>;
        using half = typename rows::template storage_of<leaf>;
        unsigned best = worst_pair<half, choice::largest>;
#pragma unroll
        for (int q = 0; q < Rounds; ++q) {
            if (!has(q)) continue;
#pragma unroll
            for (int i = 0; i < pack / 2; ++i) best = better_pair<half, choice::largest>(best, pair_of<leaf>(q, i));
        }
#pragma unroll
        for (int distance = group / 2; distance > 0; distance /= 2) best = better_pair<half, choice::largest>(best, __shfl_xor_sync(~0u, best, distance));
        best = better_pair<half, choice::largest>(best, best >> 16 | best << 16);
        using value = typename fold_types<Kernel, family, Instance>::value;
        const value chosen(decode_half<half>(best));
        if constexpr (choice::places) {
            constexpr int none = choice::first ? 0x7fffffff : -1;
            int place = none;
            find_place<Rounds, leaf, half, choice::first>(place, best, make_indices<Rounds * pack / 2>{});
            if (is_nan_half<half>(best)) find_nan<Rounds, leaf, half, choice::first>(place);
            if (place != none) place += first;
#pragma unroll
            for (int distance = group / 2; distance > 0; distance /= 2) {
                const int other = int(__shfl_xor_sync(~0u, unsigned(place), distance));
                place = (choice::first ? other < place : other > place) ? other : place;
            }
            total = State(chosen, lane::scalar<i32>(place));
        } else {
            total = State(chosen);
        }
    }
    /// All threads but one have +0: any order gives the sum.
    template <int Pass, class States, int... Instance>
    __device__ __forceinline__ void spread_picks([[maybe_unused]] States& mine, [[maybe_unused]] States& total, indices<Instance...>) const {
#pragma unroll
        for (int distance = group / 2; distance > 0; distance /= 2)
            ((merging::template combine_member<phase<Pass>, pick_state, Instance>(mine, mine, distance, choose(false))), ...);
        ((rows::template member<pick_state, Instance>(total) = rows::template member<pick_state, Instance>(mine)), ...);
    }
    /// The group's exponentials below its largest element. Where no pass comes after, the next row's loads go beside them.
    template <int Rounds, int Pass>
    __device__ __forceinline__ void sum_terms(typename phase<Pass>::states& total) {
        constexpr int leaf = work::template chosen_leaf<work::top_at>;
        using value = typename fold_types<Kernel, family, work::top_at>::value;
        const float top = exponentials_below_top::above_lowest(sinter::get<0>(rows::template member<pick_state, work::top_at>(total).item).value);
        const auto element = [&](int q, int j) { return decode_in_pair<typename rows::template storage_of<leaf>>(pair_of<leaf>(q, j / 2), j % 2 != 0); };
        const float own = exponentials_below_top::sum_of_rounds<Rounds, pack>(top, [&](int q) { return has(q); }, element, [&](int q) {
            if constexpr (work::walks) {
                if (q * order::lanes < left_ahead) load_ahead(q, selected<typename work::held_leaves>{});
            } else if constexpr (loads_ahead_folding<Pass>) {
                if (goes_on() && has(q)) load_ahead(q, selected<typename work::held_leaves>{});
            }
        });
        rows::template member<pick_state, work::terms_at>(total) = exponentials_below_top::state<value>(value(top), merging::template sum_of<group>(value(own)));
    }
    template <int Rounds, int Pass, int... Instance>
    __device__ __forceinline__ void choose_all(typename phase<Pass>::states& total, indices<Instance...>) const {
        (choose_one<Rounds, Instance>(rows::template member<pick_state, Instance>(total)), ...);
    }
    template <int Rounds, int Pass, class Context, class Firsts>
    __device__ __forceinline__ void choose_segment(typename phase<Pass>::states& total, const Context& context, const Firsts& firsts) {
        using picks = selected<typename work::template folds_that<Pass, true>>;
        choose_all<Rounds, Pass>(total, selected<typename work::template choices<Pass>>{});
        typename phase<Pass>::states picked[1];
        phase<Pass>::start(picked[0], picks{});
        fold_picks<Rounds, Pass>(picked, context, firsts, picks{});
        spread_picks<Pass>(picked[0], total, picks{});
        if constexpr (work::terms_at >= 0) {
            sum_terms<Rounds, Pass>(total);
        } else if constexpr (loads_ahead_folding<Pass>) {
#pragma unroll
            for (int q = 0; q < Rounds; ++q)
                if (goes_on() && has(q)) load_ahead(q, selected<typename work::held_leaves>{});
        }
    }

    /// Where blocks walk: all of the group's segments of the row, one after the other. Its registers take the next one while it folds one, and behind
    /// the last one the next row's first.
    template <int Rounds, int Pass, class Context, class Firsts>
    __device__ __forceinline__ void walk_row(typename phase<Pass>::states& total, const Context& context, const Firsts& firsts) {
        const typename phase<Pass>::list list{};
        constexpr int stride = work::block_threads / group * order::segment, steps = int((work::known_length + stride - 1) / stride);
        const int first_of_all = first, left_of_all = left;
        phase<Pass>::start(total, list);
#pragma unroll 1
        for (int step = 1;; ++step) {
            const bool ends = step == steps;
            left_ahead = !ends ? left - stride : goes_on() ? left_of_all : 0;
            find_ahead(ends, ends ? first_of_all : first + stride, selected<typename work::held_leaves>{});
            typename phase<Pass>::states part;
            choose_segment<Rounds, Pass>(part, context, firsts);
            phase<Pass>::combine(total, part, list);
            if (ends) break;
            first += stride;
            left -= stride;
#pragma unroll
            for (int i = 0; i < work::bounds; ++i) bound[i] -= stride;
        }
        first = first_of_all;
        left = left_of_all;
    }

    /// Are all of the thread's differences from a row's value above -86?
    template <int Rounds, int Pass>
    __device__ __forceinline__ bool is_near() const {
        constexpr auto sides = work::template near_of<Pass>;
        const float top = row_frame().template value<sides.row_at>().value;
        float least = least_of<Rounds, sides.operand_at>();
        bool near = true;  // (without branches)
        if constexpr (sides.product >= 0) {
            const float factor = eval::template argument<sides.product, sides.factor>(row_frame()).value;
            near = step::less(0.0f, factor);
            least = step::mul(least, factor);
        }
        if constexpr (sides.below) near = near & step::less(-0x1p20f, top) & step::less(top, 0x1p20f);
        return near & step::less_equal(-86.0f, step::sub(least, top));
    }
    /// What exponentials near the row's top know of it. The row's own by a shuffle, so that the compiler neither works it out anew nor
    /// keeps it in a register of each thread.
    template <int Rounds, int Pass>
    __device__ __forceinline__ typename rows::row_values row_if_near() const {
        constexpr auto sides = work::template near_of<Pass>;
        typename rows::row_values out = row;
        if constexpr (sides.below) {
            lane::scalar<float>& top = static_cast<typename rows::template value_slot<sides.row_at>&>(out).value;
            top = lane::exp_below_base(top);
            if constexpr (!work::template one_segment<Rounds>)
                if (segments > 1) top = from_first{}(top);
        }
        return out;
    }
    /// Of the thread's elements that count; NaN where there is one.
    template <int Rounds, int Leaf>
    __device__ __forceinline__ float least_of() const {
        using storage = typename rows::template storage_of<Leaf>;
        if constexpr (is_half_float<storage>) {
            unsigned least = worst_pair<storage, false>;
#pragma unroll
            for (int q = 0; q < Rounds; ++q) {
                if (!counts(q)) continue;
#pragma unroll
                for (int i = 0; i < pack / 2; ++i) least = better_pair<storage, false>(least, pair_of<Leaf>(q, i));
            }
            return decode_half<storage>(better_pair<storage, false>(least, least >> 16 | least << 16));
        } else {
            lane::scalar<float> least(__builtin_huge_valf());
#pragma unroll
            for (int q = 0; q < Rounds; ++q) {
                if (!counts(q)) continue;
#pragma unroll
                for (int j = 0; j < pack; ++j) least = minimum(least, lane::scalar<float>(static_cast<const typename work::template pack_slot<Leaf>&>(held[q]).value.at[j]));
            }
            return least.value;
        }
    }
    template <int Pass>
    static constexpr bool lifts_in = work::lifts && Pass == 1;
    template <int Pass>
    struct values_of_folds {
        using type = typename rows::template pass_values<Pass>;
    };
    template <int Pass>
        requires lifts_in<Pass>
    struct values_of_folds<Pass> {
        using type = environment<Kernel, family, selected<typename work::template arguments_that<Pass, false>>>;
    };
    /// An exact product by fma.
    template <int Pass, class State, class Frame>
    static __device__ __forceinline__ void add_exactly(State& into, const Frame& frame) {
        float& sum = sinter::get<0>(into.item).value;
        sum = step::fma(eval::template argument<work::template exact<Pass>.product, 0>(frame).value, eval::template argument<work::template exact<Pass>.product, 1>(frame).value, sum);
    }
    /// Are the lanes' sums such that no square matters that isn't exact?
    template <int Pass, class States>
    static __device__ __forceinline__ bool hide_inexact_squares(States& all) {
        const auto sum = [&](int j) { return sinter::get<0>(rows::template member<pick_state, work::template exact<Pass>.fold>(all[j]).item); };
        lane::scalar<float> least = sum(0);
#pragma unroll
        for (int j = 1; j < pack; ++j) least = minimum(least, sum(j));
        return step::less_equal(least_hiding_sum, least.value);
    }
    /// Rounds from `First` to before `Behind`.
    template <int Rounds, int Pass, int Phase, class Eval, bool Full, bool Exact, int First = 0, int Behind = Rounds, class Context, class Firsts>
    __device__ __forceinline__ void fold_rounds(typename phase<Pass, Phase>::states (&all)[pack], const Context& context, const Firsts& firsts,
                                                const typename rows::row_values& of_row) {
        using step = phase<Pass, Phase>;
        using rest = conditional<Phase == 1, selected<typename work::template folds_that<Pass, false>>, typename step::list>;
#pragma unroll
        for (int q = First; q < Behind; ++q) {
            if (!Full && !counts(q)) continue;
            if constexpr (!work::holds_weights && !(work::second_reads_early && Pass == 2)) load_late(q, selected<typename work::template late_leaves<Pass>>{});
            constexpr bool keeps = work::kept >= 0 && Pass == last - 1 && Phase == 1;
            [[maybe_unused]] typename work::kept_pack left_for_outputs;
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                using values_of_pass = typename values_of_folds<Pass>::type;
                values_of_pass values;
                const element_frame<values_of_pass> frame{{around(of_row), held[q], values, first + q * order::lanes, j}};
                compute<Eval>(values, frame, q * order::lanes + j, selected<typename work::template arguments_that<Pass, false>>{});
                if constexpr (keeps) left_for_outputs.at[j] = frame.template value<work::kept_or_0>();
                if constexpr (Exact)
                    add_exactly<Pass>(rows::template member<pick_state, work::template exact<Pass>.fold>(all[j]), frame);
                else
                    step::fold_in(frame, all[j], context, firsts, i64(first) + (q * order::lanes + j), rest{});
                if constexpr (lifts_in<Pass>) lifted = maximum(lifted, work::lift::early_magnitude(frame));
            }
            if constexpr (keeps) keep<Rounds>(q, left_for_outputs);
            if constexpr (loads_ahead_folding<Pass> && work::shared_rounds == 0)
                if (goes_on()) load_ahead(q, selected<typename work::held_leaves>{});
        }
    }
    /// This group's segment from `held`: all threads get the total.
    template <int Rounds, int Pass, int Phase, class Context, class Firsts>
    __device__ __forceinline__ void fold_segment(typename phase<Pass, Phase>::states& total, const Context& context, const Firsts& firsts) {
        using step = phase<Pass, Phase>;
        const typename step::list list{};
        typename step::states all[pack];
#pragma unroll
        for (int j = 0; j < pack; ++j) step::start(all[j], list);
        if constexpr (lifts_in<Pass>) lifted = lane::scalar<float>(0.0f);
        if constexpr (work::template finds_near<Pass> && Phase == 1) {
            // Of a cluster's row all but the last segments are whole: a warp of those asks nothing more. (A block's many registers are bounded by
            // those tests, without which the compiler works on all rounds at once.)
            constexpr bool full = work::sharing == row_sharing::cluster && !work::template near_of<Pass>.below;
            const typename rows::row_values near = row_if_near<Rounds, Pass>();
            if (full ? __all_sync(~0u, (work::whole || left > (Rounds - 1) * order::lanes) && is_near<Rounds, Pass>()) : is_near<Rounds, Pass>())
                fold_rounds<Rounds, Pass, Phase, evaluator<normal_kernel<Kernel>, family>, full, false>(all, context, firsts, near);
            else
                fold_rounds<Rounds, Pass, Phase, eval, false, false>(all, context, firsts, row);
        } else if constexpr (work::template exact<Pass>.hidden && Rounds > 1) {
            fold_rounds<Rounds, Pass, Phase, eval, false, true, 0, 1>(all, context, firsts, row);  // a first product is its sum, rounded once
            if (!counts(0) || hide_inexact_squares<Pass>(all))
                fold_rounds<Rounds, Pass, Phase, eval, false, true, 1>(all, context, firsts, row);
            else
                fold_rounds<Rounds, Pass, Phase, eval, false, false, 1>(all, context, firsts, row);
        } else if constexpr (work::template exact<Pass>.limited >= 0) {
            if (weights_are_small)
                fold_rounds<Rounds, Pass, Phase, eval, false, true>(all, context, firsts, row);
            else
                fold_rounds<Rounds, Pass, Phase, eval, false, false>(all, context, firsts, row);
        } else {
            fold_rounds<Rounds, Pass, Phase, eval, false, work::template is_exact<Pass>>(all, context, firsts, row);
        }
        if constexpr (Phase == 1) fold_picks<Rounds, Pass>(all, context, firsts, selected<typename work::template folds_that<Pass, true>>{});
        merging::template combine_lanes<step>(member, all);
        total = all[0];
        if constexpr (lifts_in<Pass>) lifted = merging::template largest_of<group>(lifted);
        if constexpr (loads_ahead_folding<Pass> && work::shared_rounds > 0) {
            __syncwarp();  // what is kept is stored before: else the compiler holds it together with what is loaded
#pragma unroll
            for (int q = 0; q < Rounds; ++q)
                if (goes_on() && has(q)) load_ahead(q, selected<typename work::held_leaves>{});
        }
    }
    template <int Pass, int... Instance>
    __device__ __forceinline__ void first_elements(typename phase<Pass>::firsts& out, indices<Instance...>) const {
        typename rows::template pass_values<Pass> values;
        const element_frame<typename rows::template pass_values<Pass>> frame{{around(), first_of_row, values, 0, 0}};
        eval::fill(values, frame, selected<needed_in_pass<Kernel, Pass>>{});
        ((rows::template member<pick_value, Instance>(out) = eval::template argument<Instance, 0>(frame)), ...);
    }
    /// A last fold without outputs of elements is wanted by the warp that stores the row's values only: the others go on.
    template <int Pass>
    static constexpr bool for_one_warp = Pass == last - 1 && !work::stores_elements;
    /// (By a shuffle: the compiler takes its result for the same in all of a warp.)
    __device__ __forceinline__ bool stores_row() const { return __shfl_sync(~0u, threadIdx.x / 32, 0) == 0 && (!clustered() || cluster_rank() == 0); }
    /// The segments' results become the row's: every thread that wants it gets it.
    template <int Pass>
    __device__ __forceinline__ void merge_segments(summaries<Pass>& value) {
        using slot_of_segment = typename work::template summary_slot<Pass>;
        const typename rows::template folds<Pass> folds{};
        const int thread = int(threadIdx.x) & 31;
        if (clustered()) {
            const segment_exchange with =
                work::sharing == row_sharing::either || work::streams ? segment_exchange::again(shared, work::exchange_sets * Kernel::levels, work::blocks_of(segments)) : exchange;
            constexpr bool alone = for_one_warp<Pass> && Kernel::levels > 1;  // then only the first block gets them
            const int set = work::streams ? turn & 1 : 0, barrier = set * Kernel::levels + Pass - 1;
            const unsigned area = with.slots_begin + unsigned(segments) * work::largest_slot * unsigned(barrier), bytes = unsigned(segments) * sizeof(slot_of_segment);
            if constexpr (work::streams && for_one_warp<Pass> && !alone) {
                // Nothing else holds a block back from the row after next, whose values would come where this one's are still read: it waits
                // until all have sent for the row before, which the reader did after it had read the one before that.
                if (turn > 0) {
                    with.wait(barrier ^ 1, (turn - 1) >> 1);
                    if (threadIdx.x == 0) with.expect_again(barrier ^ 1, bytes);
                }
            }
            with.send(slot_of_segment{{value}}, area + unsigned(number) * sizeof(slot_of_segment), member, group, exists, barrier, alone ? 1 : with.blocks);
            if (for_one_warp<Pass> && !stores_row()) {
                if (!alone && !goes_on()) with.wait(barrier, turn >> 1);  // no block ends while others send to it
                return;
            }
            with.wait(barrier, turn >> 1);
            if constexpr (work::streams && (!for_one_warp<Pass> || alone))
                if (threadIdx.x == 0) with.expect_again(barrier, bytes);
            const slot_of_segment* const from = reinterpret_cast<const slot_of_segment*>(shared + area);
            // A thread begins with neighbours, as many (a power of two) as make the warp suffice.
            int each = 1;
            while (each * 32 < segments) each *= 2;
            const int begin = thread * each;
            if (each == 1)
                value = from[begin < segments ? begin : 0].value;
            else if (begin < segments)
                value = merging::template merge_run<Pass, work::most_segments_of_thread>(from + begin, segments - begin < each ? segments - begin : each);
            merging::template merge_warp<Pass>(value, (segments + each - 1) / each);
        } else {
            // Two areas by turns, so that one barrier a pass is enough.
            const int merge = work::streams && Kernel::levels % 2 == 1 ? Pass + turn : Pass;
            slot_of_segment* const list = reinterpret_cast<slot_of_segment*>(shared + unsigned(merge & 1) * 32 * work::largest_slot);
            if (member == 0 && exists) {
                list[number].value = value;
                if constexpr (lifts_in<Pass>) list[number].lifted = lifted;
            }
            __syncthreads();
            if (for_one_warp<Pass> && !stores_row()) return;
            value = list[thread < segments ? thread : 0].value;
            if constexpr (lifts_in<Pass>) lifted = merging::template largest_of<32>(list[thread < segments ? thread : 0].lifted);
            merging::template merge_warp<Pass>(value, segments);
        }
        value = merging::template moved<Pass>(value, from_first{}, folds);
    }
    /// A second pass's maximum, which the first one found but for a factor of the row.
    template <int Pass, int Instance>
    __device__ __forceinline__ void take_lifted(indices<Instance>) {
        const lane::scalar<float> factor(work::lift::template part<work::lift::source, false>(row_frame()));
        summaries<Pass> value;
        rows::template member<pick_summary, Instance>(value) = typename fold_types<Kernel, scalar_family, Instance>::summary(mul(lifted, abs(factor)));
        rows::template finalize<Pass>(value, row, indices<Instance>{});
    }
    template <int Rounds, int Pass>
    __device__ __forceinline__ void fold() {
        if constexpr (work::lifts && Pass == 2)
            take_lifted<Pass>(typename rows::template folds<Pass>{});
        else
            fold_row<Rounds, Pass>();
    }
    /// What a pass finds in the group's segment; all threads of the group get it.
    template <int Rounds, int Pass>
    __device__ __forceinline__ summaries<Pass> summary_of_segment() {
        const typename rows::template folds<Pass> folds{};
        const typename rows::template two_phase_folds<Pass> two_phase{};
        if constexpr (work::streams && !work::copies_ahead && !work::walks && Pass == last - 1) find_ahead(true, first, selected<typename work::held_leaves>{});
        if constexpr (work::asks_ahead && Pass == last - 1)
            if (goes_on() && exists && member == 0) ask_ahead(selected<typename work::held_leaves>{});
        typename phase<Pass>::firsts firsts;
        typename phase<Pass>::states total;
        typename phase<Pass>::contexts context;
        typename rows::template two_phase_bundle<Pass, pick_second> second;
        const i64 behind = (work::known_length > 0 ? work::known_length : in.length) - i64(number) * order::segment;
        const i64 count = behind < order::segment ? behind : order::segment;
        if constexpr (rows::template pass_has_second<Pass>) first_elements<Pass>(firsts, two_phase);
        if constexpr (work::walks)
            walk_row<Rounds, Pass>(total, context, firsts);
        else if constexpr (work::template chooses<Pass>)
            choose_segment<Rounds, Pass>(total, context, firsts);
        else
            fold_segment<Rounds, Pass, 1>(total, context, firsts);
        if constexpr (rows::template pass_has_second<Pass>) {
            rows::template one_lane<Pass>::settle(context, total, count, two_phase);
            forget<Rounds>(selected<typename work::held_leaves>{});
            fold_segment<Rounds, Pass, 2>(second, context, firsts);
        }
        summaries<Pass> value;
        rows::template one_lane<Pass>::close(value, total, context, second, count, folds);
        return value;
    }
    template <int Rounds, int Pass>
    __device__ __forceinline__ void fold_row() {
        summaries<Pass> value = summary_of_segment<Rounds, Pass>();
        if constexpr (work::copies_ahead && Pass == 1)
            if (goes_on()) send_next(selected<typename work::held_leaves>{});
        if constexpr (work::second_reads_early && Pass == 1) {
            forget<Rounds>(selected<typename work::held_leaves>{});
#pragma unroll
            for (int q = 0; q < Rounds; ++q) load_late(q, selected<typename work::template late_leaves<2>>{});
        }
        if constexpr (work::streams && Pass == last - 1)
            if (goes_on()) begin_next();
        if constexpr (work::reads_all_early && Pass == last - 1)
#pragma unroll
            for (int q = work::late_rounds; q < Rounds; q += work::late_rounds) load_late_rounds<Rounds>(q);
        if constexpr (!work::template one_segment<Rounds>)
            if (work::sharing == row_sharing::cluster || segments > 1) merge_segments<Pass>(value);
        rows::template finalize<Pass>(value, row, typename rows::template folds<Pass>{});
    }
    /// The held packs pass through here between two passes: what was unpacked of them for one isn't kept in registers for the next.
    template <int Rounds, int... Instance>
    __device__ __forceinline__ void forget(indices<Instance...>) {
        if constexpr (work::forgets)
#pragma unroll
            for (int q = 0; q < Rounds; ++q) (forget_unpacked(static_cast<typename work::template pack_slot<Instance>&>(held[q]).value), ...);
    }
    template <int Rounds, int Pass>
    __device__ __forceinline__ void passes() {
        if constexpr (Pass > 1) eval::fill(row, row_frame(), selected<rows_after<Kernel, Pass - 1>>{});
        if constexpr (Pass == 1 && work::mask < 0) find_bounds(selected<typename work::bounded_list>{});
        if constexpr (Pass < last) {
            fold<Rounds, Pass>();
            if constexpr (for_one_warp<Pass> && !work::template one_segment<Rounds>)
                if (segments > 1 && !stores_row()) return;
            forget<Rounds>(selected<typename work::held_leaves>{});
            passes<Rounds, Pass + 1>();
        }
    }
    /// Are the magnitudes of the weights below 2^120, in all of the warp?
    template <int Rounds, int Leaf>
    __device__ __forceinline__ bool find_small_weights() const {
        using storage = typename rows::template storage_of<Leaf>;
        unsigned most = 0;
#pragma unroll
        for (int q = 0; q < Rounds; ++q)
#pragma unroll
            for (int i = 0; i < pack / 2; ++i) most = better_pair<storage, true>(most, pair_of<Leaf>(q, i) & 0x7fff7fffu);
        return __all_sync(~0u, decode_half<storage>(better_pair<storage, true>(most, most >> 16 | most << 16)) < 0x1p120f);
    }
    /// All that a row needs before its folds.
    template <int Rounds>
    __device__ __forceinline__ void begin(unsigned index) {
        find_offsets(index, offset);
        if constexpr (work::mask >= 0) {
            eval::fill(once, row_frame(), selected<at_place<Kernel, site::once>>{});
            begin_row();
            find_bounds(selected<typename work::bounded_list>{});
        }
        load<Rounds>(selected<typename work::held_leaves>{});
        if constexpr (work::holds_weights) {
#pragma unroll
            for (int q = 0; q < Rounds; ++q) load_late(q, selected<typename work::template late_leaves<1>>{});
            if constexpr (work::template exact<1>.limited >= 0) weights_are_small = find_small_weights<Rounds, work::template exact<1>.limited>();
        }
        if constexpr (work::reads_early) load_late_rounds<Rounds>(0);
        if constexpr (shifts) load_first(selected<typename work::element_leaves>{});
        if constexpr (work::mask < 0) {
            eval::fill(once, row_frame(), selected<at_place<Kernel, site::once>>{});
            if constexpr (!work::holds_weights) begin_row();
        }
    }
    /// Its folds and outputs.
    template <int Rounds>
    __device__ __forceinline__ void finish() {
        passes<Rounds, 1>();
        if constexpr (work::stores_elements) store_elements<Rounds>(selected<element_outputs<Kernel>>{});
        if (exists && member == 0 && number == 0) work::store_row(row_frame(), selected<row_outputs<Kernel>>{});
    }
    /// Where weights are held: all rows of the block, of which `index` is the first. All threads fold several rows; then each warp merges the segments of one of
    /// them and stores its values, so that they meet once for so many rows.
    template <int Rounds>
    __device__ __forceinline__ void finish_rows(unsigned index) {
        using slot_of_segment = typename work::template summary_slot<1>;
        slot_of_segment* list = reinterpret_cast<slot_of_segment*>(shared);
        slot_of_segment* other_list = list + work::rows_at_once * segments;  // for the rows that follow while these are merged
        for (int done = 0; done < turns; done += work::rows_at_once) {
            const int here = turns - done < work::rows_at_once ? turns - done : work::rows_at_once;
#pragma unroll 1
            for (int r = 0; r < here; ++r) {
                const summaries<1> value = summary_of_segment<Rounds, 1>();
                if (member == 0 && exists) list[r * segments + number].value = value;
                step_held(selected<typename work::held_leaves>{});
                ++turn;
            }
            __syncthreads();
            if (const int own = __shfl_sync(~0u, int(threadIdx.x) / 32, 0); own < here) finish_merged(list + own * segments, index + unsigned(done + own) * in.long_blocks);
            slot_of_segment* const last_list = list;
            list = other_list;
            other_list = last_list;
        }
    }
    template <int... Instance>
    __device__ __forceinline__ void step_held(indices<Instance...>) {
        ((offset[slots<Kernel>::template place<Instance>] += step_to_next(slots<Kernel>::template place<Instance>)), ...);
    }
    /// One warp: a row's values from its segments.
    template <class Slot>
    __device__ __forceinline__ void finish_merged(const Slot* list, unsigned index) const {
        i64 of_row[work::count];
        find_offsets(index, of_row);
        typename rows::row_values values;
        const typename work::common around_row{in, once, values, of_row};
        const typename work::row_frame frame{around_row};
        eval::fill(values, frame, selected<rows_after<Kernel, 0>>{});
        const int thread = int(threadIdx.x) & 31;
        summaries<1> value = list[thread < segments ? thread : 0].value;
        merging::template merge_warp<1>(value, segments);  // the first thread has it, and stores
        rows::template finalize<1>(value, values, typename rows::template folds<1>{});
        eval::fill(values, frame, selected<rows_after<Kernel, 1>>{});
        if (thread == 0) work::store_row(frame, selected<row_outputs<Kernel>>{});
    }
    template <int Rounds, int... Output>
    __device__ __forceinline__ void store_elements(indices<Output...> outputs) {
        if (work::whole && !exists && (!work::streams || work::copies_ahead)) return;  // (a row may be stored in place: nobody else reads it then)
        scales_of_row scales;
        if constexpr (row_codes::any)
            if (!scales.find(row_frame(), outputs)) return store_again<Rounds>(outputs);
        constexpr int together = work::late_rounds;
        using list = typename work::template computed<row_codes::any, work::kept>;
#pragma unroll
        for (int q = 0; q < Rounds; ++q) {
            if (q % together == 0 && !(work::reads_early && (work::reads_all_early || q == 0))) load_late_rounds<Rounds>(q);
            if (!has(q)) continue;
            typename work::results_of_packs computed;
            [[maybe_unused]] typename work::kept_pack known;
            if constexpr (work::kept >= 0) known = what_was_kept<Rounds>(q);
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                using values_of_pass = typename work::output_values;
                values_of_pass values;
                if constexpr (work::kept >= 0)
                    static_cast<slot<work::kept_or_0, typename work::kept_value>&>(values).value = known.at[j];
                const element_frame<values_of_pass> frame{{around(), held[q], values, first + q * order::lanes, j}};
                compute(values, frame, q * order::lanes + j, selected<list>{});
                (scales.template result_one<work, Output>(frame, computed), ...);
            }
            if (!work::whole || !work::streams || work::all_exist || exists) (store_one<row_codes::any, Output>(computed, q), ...);
            if constexpr (work::streams && work::loads_ahead_storing)
                if (goes_on()) load_ahead(q, selected<typename work::held_leaves>{});
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

}  // namespace sinter::detail::device
