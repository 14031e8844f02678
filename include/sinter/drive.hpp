// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop driver for hosts: runs a kernel's nest over any lane family, in the canonical order of reductions (order.hpp).
// A backend picks the family and who runs which rows; the bits don't depend on either.
//
// A kernel's body is compiled once, for operands whose elements lie side by side along the lane. Tails, and operands with any other
// strides, are packed into a block first and the outputs unpacked after it: so one body serves every length and layout. That,
// and all else that isn't arithmetic, is in row_loop.hpp, compiled once for all kernels.
#pragma once

#include "coordinate_lane.hpp"
#include "fetch.hpp"
#include "fold.hpp"
#include "row_loop.hpp"

namespace sinter::detail {

#if SINTER_NVCC
#define SINTER_NO_UNROLL
#elif SINTER_CLANG
#define SINTER_NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define SINTER_NO_UNROLL _Pragma("GCC unroll 1")
#endif

template <class Kernel, class Family>
struct row_driver {
    using eval = evaluator<Kernel, Family>;
    template <class Type>
    using lane_of = typename Family::template value<Type>;
    using assignment_type = typename Kernel::assignment_type;
    using all_loops = loops<slots<Kernel>::count>;
    using call_binding = bound_call<slots<Kernel>::count>;
    static constexpr int slot_count = slots<Kernel>::count;
    using work = row_loop<Family, slot_count>;
    using row_position = row_pointers<slot_count>;
    using row_call = call_state<slot_count>;
    using packed_block = typename work::packed_block;
    static constexpr int block = work::block;
    static constexpr int width = Family::width;
    static constexpr int groups = order::lanes / width;
    static_assert(width <= order::lanes && order::lanes % width == 0);

    template <site Where>
    using all_at = instances_by<Kernel, are_at<Where>>;
    using once_values = environment<Kernel, Family, selected<all_at<site::once>>>;
    using row_values = row_environment<Kernel, Family, selected<all_at<site::row>>>;
    using after_values = environment<Kernel, Family, selected<all_at<site::after>>>;
    template <int Pass>
    using pass_values = environment<Kernel, Family, selected<needed_in_pass<Kernel, Pass>>>;
    using ahead_of = fetching<Kernel, Family>;

    template <int Instance>
    using leaf_type = nth_of_leaves<assignment_type, int(Kernel::node[Kernel::table.at[Instance].node].bits)>;
    template <int Instance>
    using storage_of = remove_cvref<typename leaf_type<Instance>::element>;
    template <int Instance>
    static constexpr lane_stride stride_of = operand_stride<Kernel, Instance, leaf_type<Instance>>();

    template <int Output>
    using output_storage = typename nth_of_outputs<assignment_type, Output>::element;

    // -------------------------------------------------------------------------------------------------------- frames

    template <class Along>
    struct around {
        const assignment_type& assigned;
        const call_binding& bound;
        Along along;
        SINTER_INLINE const auto& operands() const { return assigned.operands; }
        SINTER_INLINE i64 folded_count(u32 folded) const {
            i64 product = 1;
            for (int a = 0; a < Kernel::axes; ++a)
                if (folded >> a & 1) product *= bound.bound.size[a];
            return product;
        }
    };
    using common = around<const all_loops&>;
    template <int Instance>
    using value_slot = slot<Instance, instance_value<Kernel, Family, Instance>>;
    /// The value of an instance, from where instances of its site are kept.
    template <int Instance, class Environment>
    static SINTER_INLINE const auto& value_from(const once_values& once, const row_values& row, [[maybe_unused]] const Environment& values) {
        if constexpr (Kernel::where[Instance] == site::once)
            return static_cast<const value_slot<Instance>&>(once).value;
        else if constexpr (Kernel::where[Instance] == site::row)
            return static_cast<const value_slot<Instance>&>(row).value;
        else
            return static_cast<const value_slot<Instance>&>(values).value;
    }
    /// Values that are the same for all elements of a row: a single element, spread over the lanes.
    struct row_frame : common {
        const once_values& once;
        const row_values& row;
        const row_position& at;
        template <int Instance>
        SINTER_INLINE const auto& value() const {
            if constexpr (Kernel::where[Instance] == site::once)
                return static_cast<const value_slot<Instance>&>(once).value;
            else
                return static_cast<const value_slot<Instance>&>(row).value;
        }
        template <int Instance>
        SINTER_INLINE auto operand() const {
            using storage = storage_of<Instance>;
            using element = compute_of<storage>;
            const storage* const from = static_cast<const storage*>(at.pointer[slots<Kernel>::template place<Instance>]);
            return lane_of<element>(first(lane::scalar<element>::load(from)));
        }
        template <int Instance>
        SINTER_INLINE lane_of<i64> coordinate() const {
            return lane_of<i64>(at.base[slots<Kernel>::template place<Instance>]);
        }
        using common::folded_count;
        using common::operands;
    };

    /// Operands that are the same for all lanes: with a single lane axis, those that don't vary along it.
    template <int Instance>
    static constexpr bool is_spread = stride_of<Instance> == lane_stride::zero && lane_axis_count<Kernel>() <= 1;

    /// `width` elements of a row from `position`, which lie at `offset` from the pointers.
    template <class Environment>
    struct element_frame : around<lane_steps<Kernel>> {
        const once_values& once;
        const row_values& row;
        const row_position& at;
        const Environment& values;
        i64 position;
        i64 offset;
        u32 streaming = 0;
        template <int Instance>
        SINTER_INLINE const auto& value() const {
            return value_from<Instance>(once, row, values);
        }
        template <int Instance>
        SINTER_INLINE const auto& row_term() const {
            return static_cast<const term_slot<Kernel, Family, Instance>&>(row).value;
        }
        template <int Instance>
        SINTER_INLINE auto operand() const {
            using storage = storage_of<Instance>;
            using element = compute_of<storage>;
            const storage* const from = static_cast<const storage*>(at.pointer[slots<Kernel>::template place<Instance>]);
            if constexpr (is_spread<Instance>)
                return lane_of<element>(first(lane::scalar<element>::load(from)));
            else
                return lane_of<element>::load(from + offset);
        }
        template <int Instance>
        SINTER_INLINE lane_of<i64> coordinate() const {
            if (const i64* const packed = packed_coordinate<Instance>()) return lane_of<i64>::load(packed);
            return counted<Family>(first_coordinate<Instance>(), this->along.template step<Instance>());
        }
        template <class Float, int Instance>
            requires(Family::counts_in_i32)
        SINTER_INLINE lane_of<Float> coordinate_as() const {
            if (const i64* const packed = packed_coordinate<Instance>()) return convert<Float>(lane_of<i64>::load(packed));
            return counted_as<Float, Family>(first_coordinate<Instance>(), this->along.template step<Instance>());
        }
        /// With several lane axes coordinates may be packed, and if not the base is that of the block, else of the row.
        template <int Instance>
        SINTER_INLINE const i64* packed_coordinate() const {
            const void* const packed = lane_axis_count<Kernel>() > 1 ? at.pointer[slots<Kernel>::template place<Instance>] : nullptr;
            return packed ? static_cast<const i64*>(packed) + offset : nullptr;
        }
        template <int Instance>
        SINTER_INLINE i64 first_coordinate() const {
            return at.base[slots<Kernel>::template place<Instance>] + (lane_axis_count<Kernel>() > 1 ? offset : position) * this->along.template step<Instance>();
        }
        using around<lane_steps<Kernel>>::folded_count, around<lane_steps<Kernel>>::operands;
    };

    /// What the arithmetic of a row reads. Hot loops make one of copies in plain local variables: a vector store could alias the
    /// originals, and g++ keeps a struct in memory.
    struct row_inputs {
        const assignment_type& assigned;
        const call_binding& bound;
        lane_steps<Kernel> along;
        const once_values& once;
        const row_values& row;
    };
    template <int Pass>
    static SINTER_INLINE void fill_elements(const row_inputs& in, const row_position& at, pass_values<Pass>& values, i64 position, i64 offset) {
        const element_frame<pass_values<Pass>> frame{{in.assigned, in.bound, in.along}, in.once, in.row, at, values, position, offset};
        eval::fill(values, frame, selected<needed_in_pass<Kernel, Pass>>{});
    }

    /// One call's values: what the shared loop passes along, and what the kernel keeps.
    struct row_context;

    // --------------------------------------------------------------------------------------------------------- stash

    static constexpr bool stashes = Kernel::stash.instance >= 0;
    static constexpr int stash_output = stashes ? Kernel::stash.output : 0, stash_slot = slots<Kernel>::of_output(stash_output);
    struct needed_beside_stash {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return Kernel::template needed<Kernel::levels + 2>[i] || i == Kernel::stash.instance; }
    };
    using output_list = conditional<stashes, needed_beside_stash, needed_in_pass<Kernel, Kernel::levels + 1>>;
    using output_values = environment<Kernel, Family, selected<output_list>>;
    template <class Frame>
    static SINTER_INLINE void write_stash(const Frame& frame) {
        using storage = output_storage<stash_output>;
        store(static_cast<storage*>(const_cast<void*>(frame.at.pointer[stash_slot])) + frame.offset,
              frame.template value<Kernel::stash.instance>());
    }
    static SINTER_INLINE void read_stash(const void* stash, output_values& values, i64 offset) {
        using storage = output_storage<stash_output>;
        using value = instance_value<Kernel, Family, Kernel::stash.instance>;
        static_cast<slot<Kernel::stash.instance, value>&>(values).value =
            value::load(static_cast<const storage*>(stash) + offset);
    }

    // --------------------------------------------------------------------------------------------------------- folds

    template <int Pass>
    using folds = selected<folds_of_pass<Kernel, Pass>>;
    template <int Pass>
    using two_phase_folds = selected<two_phase_folds_of_pass<Kernel, Pass>>;
    template <int Pass>
    static constexpr bool pass_has_second = has_second_phase<Kernel, Pass>;
    template <int Pass, class Pick>
    using fold_bundle = bundle<Kernel, Family, Pick, folds<Pass>>;
    /// What two-phase folds carry between their phases; empty for a pass without any.
    template <int Pass, class Pick>
    using two_phase_bundle = bundle<Kernel, Family, Pick, two_phase_folds<Pass>>;

    template <class Pick, int Instance, class Bundle>
    static SINTER_INLINE auto& member(Bundle& from) {
        return member_of<Kernel, Family, Pick, Instance>(from);
    }
    /// What is left of a segment: one lane, since its lanes are combined.
    template <int Pass>
    using one_lane = fold_summaries<Kernel, scalar_family, Pass>;
    template <int Pass>
    using summaries = typename one_lane<Pass>::summaries;

    /// Phase 1 of a pass: state, lift and combine; phase 2 (two-phase monoids only): the second ones, around a context.
    template <int Pass, int Phase>
    struct phase {
        using pick = conditional<Phase == 1, pick_state, pick_second>;
        using states = conditional<Phase == 1, fold_bundle<Pass, pick>, two_phase_bundle<Pass, pick>>;
        using list = conditional<Phase == 1, folds<Pass>, two_phase_folds<Pass>>;
        using contexts = two_phase_bundle<Pass, pick_state>;
        using firsts = two_phase_bundle<Pass, pick_value>;

        template <int... Instance>
        static SINTER_INLINE void start(states& all, indices<Instance...>) {
            const int done[] = {0, (member<pick, Instance>(all) = identity<Instance>(), 0)...};
            (void)done;
        }
        template <int Instance>
        static SINTER_INLINE auto identity() {
            using types = fold_types<Kernel, Family, Instance>;
            if constexpr (Phase == 1)
                return types::monoid::template identity<typename types::value>();
            else if constexpr (types::two_phase)
                return types::monoid::template identity_second<typename types::value>();
            else
                return types::monoid::template identity<typename types::value>();
        }
        template <int... Instance>
        static SINTER_INLINE void combine(states& into, const states& other, indices<Instance...>) {
            const int done[] = {
                0, (member<pick, Instance>(into) = combine_one<Instance>(member<pick, Instance>(into), member<pick, Instance>(other)), 0)...};
            (void)done;
        }
        struct combine_states {
            SINTER_INLINE void operator()(states& into, const states& other) const { combine(into, other, list{}); }
        };
        template <int Instance, class State>
        static SINTER_INLINE State combine_one(const State& a, const State& b) {
            using types = fold_types<Kernel, Family, Instance>;
            if constexpr (Phase == 2 && types::two_phase)
                return types::monoid::combine_second(a, b);
            else if constexpr (Phase == 2)
                return a;
            else
                return types::monoid::combine(a, b);
        }
        /// A segment's groups are one: what remains is to combine its lanes.
        using totals = bundle<Kernel, scalar_family, pick, list>;
        template <int Instance>
        struct combine_of {
            template <class State>
            SINTER_INLINE State operator()(const State& a, const State& b) const {
                return combine_one<Instance>(a, b);
            }
        };
        template <int... Instance>
        static SINTER_INLINE void lane_tree(totals& out, const states& all, indices<Instance...>) {
            const int done[] = {0, (member_of<Kernel, scalar_family, pick, Instance>(out) =
                                        combine_lanes<width>(combine_of<Instance>{}, member<pick, Instance>(all)), 0)...};
            (void)done;
        }
        /// Folds the elements at one position into a group of lanes.
        static SINTER_INLINE void step(const row_inputs& in, const row_position& at, states& all, const contexts& context,
                                       const firsts& first_elements, i64 position, i64 offset, i64 index_base) {
            pass_values<Pass> values;
            fill_elements<Pass>(in, at, values, position, offset);
            const element_frame<pass_values<Pass>> frame{{in.assigned, in.bound, in.along}, in.once, in.row, at, values, position, offset};
            if constexpr (stashes && Pass == Kernel::levels && Phase == 1) write_stash(frame);
            fold_in(frame, all, context, first_elements, position + index_base, list{});
        }
        template <class Frame, int... Instance>
        static SINTER_INLINE void fold_in(const Frame& frame, states& all, const contexts& context, const firsts& first_elements,
                                          i64 index, indices<Instance...>) {
            const int done[] = {0, (fold_one<Instance>(frame, member<pick, Instance>(all), context, first_elements, index), 0)...};
            (void)done;
        }
        template <int Instance, class Frame, class State>
        static SINTER_INLINE void fold_one(const Frame& frame, State& state, [[maybe_unused]] const contexts& context,
                                           [[maybe_unused]] const firsts& first_elements, [[maybe_unused]] i64 index) {
            using types = fold_types<Kernel, Family, Instance>;
            using monoid = typename types::monoid;
            const auto x = eval::template argument<Instance, 0>(frame);
            if constexpr (Phase == 2 && types::quick && requires { &monoid::template take_second<typename types::value>; })
                monoid::take_second(state, x, member<pick_value, Instance>(first_elements), member<pick_state, Instance>(context));
            else if constexpr (Phase == 2)
                state = monoid::combine_second(state, monoid::lift_second(x, member<pick_value, Instance>(first_elements),
                                                                          member<pick_state, Instance>(context)));
            else if constexpr (types::quick && requires { monoid::take(state, x); })
                monoid::take(state, x);
            else if constexpr (types::two_phase && types::quick && requires { monoid::take(state, x, x); })
                monoid::take(state, x, member<pick_value, Instance>(first_elements));
            else if constexpr (types::two_phase)
                state = monoid::combine(state, monoid::lift(x, member<pick_value, Instance>(first_elements)));
            else if constexpr (monoids::takes_index<monoid>) {
                const auto place = add(lane_of<i64>(index), lane_of<i64>::iota());
                if constexpr (types::quick && requires { monoid::take(state, x, place); })
                    monoid::take(state, x, place);
                else
                    state = monoid::combine(state, monoid::lift(x, place));
            } else
                state = monoid::combine(state, monoid::lift(x));
        }
        /// Keeps the lanes from `count` on as they were before a step on fewer elements than lanes.
        template <int... Instance>
        static SINTER_INLINE void keep_beyond(states& all, const states& before, int count, indices<Instance...>) {
            const auto exists = less(lane_of<i32>::iota(), lane_of<i32>(i32(count)));
            const int done[] = {0, (member<pick, Instance>(all) = lane::transform(select_lanes<remove_cvref<decltype(exists)>>{exists},
                                                                                  member<pick, Instance>(all), member<pick, Instance>(before)),
                                    0)...};
            (void)done;
        }

        /// Few instructions per element (both folds of a sum's LayerNorm are): the lane groups stay in registers, each step written out.
        static constexpr bool unrolled = work_of_pass<Kernel, Pass>() <= 12;

        /// Groups folded in one walk over a segment: all of them where the registers hold their accumulators and more, else as many as half
        /// of the registers hold. The segment is read again then, but no accumulator lives in memory within a loop.
        static constexpr int find_groups_at_once() {
            int count = groups;
            if constexpr (requires { Family::register_bytes; })
                if (groups * int(sizeof(states)) >= Family::register_bytes)
                    while (count > 2 && count * int(sizeof(states)) > Family::register_bytes / 2) count /= 2;
            return count;
        }
        static constexpr int groups_at_once = find_groups_at_once();
        /// A walk takes two runs of groups half a round apart, which the tree pairs first: half as many states are left after it. (Sums of
        /// squares with 32-byte registers, Zen 4, beside the loop by hand: 0.92 to 0.96, in two runs side by side 0.88 to 0.91. Runs shorter
        /// than two cache lines cost more than what they leave: 0.71 with one vector.)
        static constexpr int half = groups_at_once / 2;
        static_assert(half > 0 && groups % groups_at_once == 0);
        static constexpr int group_of_walk(int walk, int place) {
            return walk * half + (place < half ? place : groups / 2 + place - half);
        }
        /// Results of a walk lie in memory while the next ones need the registers: g++ else copies within the loop.
        template <int Walk>
        static SINTER_FORCE_INLINE void keep(states& to, const states& from) {
            to = from;
            if constexpr (requires { Family::register_bytes; })
                if constexpr ((Walk + 1) * groups_at_once < groups &&
                              4 * ((Walk + 1) * half + groups_at_once) * int(sizeof(states)) > 3 * Family::register_bytes)
                    __asm__("" : "+m"(to));
        }
        template <int Walk, class All, int... Group, int... Kept>
        static SINTER_FORCE_INLINE void walk(const row_inputs& in, const row_position& at, All& all, const contexts& context,
                                             const firsts& first_elements, i64 begin, int rounds, i64 index_base,
                                             [[maybe_unused]] int fetches, [[maybe_unused]] const row_position& ahead,
                                             [[maybe_unused]] indices<Group...> some, indices<Kept...> kept) {
            group_states<states, indices<Group...>> some_of_all;
            const int started[] = {(start(group_of<Group>(some_of_all), list{}), 0)...};
            (void)started;
            SINTER_NO_UNROLL
            for (int q = 0; q < rounds; ++q) {
                const i64 round = begin + q * order::lanes;
                if constexpr (ahead_of::template here<Pass, Phase>)
                    if (ahead_of::asks(fetches))
                        ahead_of::template lines<Pass, int(sizeof...(Group))>(ahead, round + Walk * groups_at_once * width + ahead_of::distance);
                const int stepped[] = {(step(in, at, group_of<Group>(some_of_all), context, first_elements, round + group_of_walk(Walk, Group) * width,
                                             round + group_of_walk(Walk, Group) * width, index_base), 0)...};
                (void)stepped;
            }
            pair_groups<half>(combine_states{}, some_of_all, kept);
            const int done[] = {(keep<Walk>(group_of<Walk * half + Kept>(all), group_of<Kept>(some_of_all)), 0)...};
            (void)done;
            if constexpr ((Walk + 1) * groups_at_once < groups)
                walk<Walk + 1>(in, at, all, context, first_elements, begin, rounds, index_base, fetches, ahead, some, kept);
        }
        /// A segment of whole lane rounds, whose operands lie side by side; `in`, `at` and `ahead` are copies.
        static SINTER_FORCE_INLINE void unrolled_segment(const row_inputs& in, const row_position& at, int fetches, const row_position& ahead,
                                                         totals& result, const contexts& context, const firsts& first_elements, i64 begin, int rounds,
                                                         i64 index_base) {
            group_states<states, make_indices<groups / 2>> all;
            walk<0>(in, at, all, context, first_elements, begin, rounds, index_base, fetches, ahead, make_indices<groups_at_once>{}, make_indices<half>{});
            group_tree<groups / 4>(combine_states{}, all);
            lane_tree(result, group_of<0>(all), list{});
        }
        // A race: folds that have no order to keep but for NaN and zeros run over a row in any order that is fast.

        template <int... Instance>
        static constexpr bool all_race(indices<Instance...>) {
            return sizeof...(Instance) > 0 && (fold_types<Kernel, Family, Instance>::races && ...);
        }
        static constexpr bool races = Phase == 1 && !pass_has_second<Pass> && !(stashes && Pass == Kernel::levels) && groups % 4 == 0 && all_race(list{});
        template <class Racers, int... Instance>
        static SINTER_FORCE_INLINE void race_on(Racers& all, const row_inputs& in, const row_position& at, i64 position, indices<Instance...>) {
            pass_values<Pass> values0, values1, values2, values3;
            const auto frame = [&](auto& values, i64 place) __attribute__((always_inline)) {
                fill_elements<Pass>(in, at, values, place, place);
                return element_frame<pass_values<Pass>>{{in.assigned, in.bound, in.along}, in.once, in.row, at, values, place, place};
            };
            const auto one = frame(values0, position), two = frame(values1, position + width);
            const auto three = frame(values2, position + 2 * width), four = frame(values3, position + 3 * width);
            const int done[] = {(member<pick_racers, Instance>(all).template take_four<typename fold_types<Kernel, Family, Instance>::racing>(
                                     eval::template argument<Instance, 0>(one),
                                     eval::template argument<Instance, 0>(two), eval::template argument<Instance, 0>(three),
                                     eval::template argument<Instance, 0>(four)), 0)...};
            (void)done;
        }
        template <class Racers, int... Instance>
        static SINTER_FORCE_INLINE void line_up(Racers& all, indices<Instance...>) {
            (line_up_one<Instance>(member<pick_racers, Instance>(all)), ...);
        }
        template <int Instance, class Value>
        static SINTER_FORCE_INLINE void line_up_one(racers<Value>& all) {
            all.best0 = all.best1 = all.best2 = all.best3 = lane::get<0>(fold_types<Kernel, Family, Instance>::monoid::template identity<Value>());
            all.ordered0 = all.ordered1 = typename Value::mask(true);
        }
        /// False where the order matters after all.
        template <int Instance, class Value>
        static SINTER_FORCE_INLINE bool finish_one(totals& result, const racers<Value>& all) {
            using types = fold_types<Kernel, Family, Instance>;
            using racing = typename types::racing;
            const Value best = racing::combine_raw(racing::combine_raw(all.best0, all.best1), racing::combine_raw(all.best2, all.best3));
            auto& total = member_of<Kernel, scalar_family, pick, Instance>(result);
            total = combine_lanes<width>(combine_of<Instance>{}, lane::fields<Value>(best));
            const auto value = lane::get<0>(total), unsure = decltype(value)(types::monoid::template unsure<typename Value::element>());
            return lane_all(bit_and(all.ordered0, all.ordered1)) && first(bits(value)) != first(bits(unsure));
        }
        template <class Mask>
        static SINTER_FORCE_INLINE bool lane_all(Mask mask) {
            return all(mask);  // (found by its argument: here `all` is a variable's name)
        }
        template <class Racers, int... Instance>
        static SINTER_FORCE_INLINE bool finish_race(totals& result, const Racers& all, indices<Instance...>) {
            bool sure = true;
            ((sure = finish_one<Instance>(result, member<pick_racers, Instance>(all)) && sure), ...);
            return sure;
        }
        static constexpr i64 turn = 4 * width;  ///< elements
        /// Whole turns [0, stop); false where their order matters after all.
        static SINTER_FORCE_INLINE bool race(const row_context& original, const row_position& position, totals& result, i64 stop) {
            const assignment_type assigned = original.assigned;
            const once_values once = original.once;
            const row_values row = original.row;
            const row_position at = position;
            const row_inputs in{assigned, original.bound, original.along, once, row};
            [[maybe_unused]] const row_position ahead = ahead_of::template from<Pass>(original, position);
            [[maybe_unused]] int fetches = ahead_of::template wanted<Pass>(original);
            fold_bundle<Pass, pick_racers> all;
            line_up(all, list{});
            SINTER_NO_UNROLL
            for (i64 place = 0; place < stop; place += turn) {
                if constexpr (ahead_of::template here<Pass, Phase>)
                    if (ahead_of::asks(fetches)) ahead_of::template lines<Pass, 4>(ahead, place + ahead_of::distance);
                race_on(all, in, at, place, list{});
            }
            return finish_race(result, all, list{});
        }
        static SINTER_INLINE void fold_groups(states (&all)[unsigned(groups)]) {
            for (int stride = groups / 2; stride > 0; stride /= 2)
                for (int g = 0; g < stride; ++g) combine(all[g], all[g + stride], list{});
        }
        /// Whole vectors from `position` folded into groups from `group` on: the one place where a costly body is compiled.
        static SINTER_NOINLINE void fold_vectors(const row_context& original, const row_position& place_of_row, states (&all)[unsigned(groups)],
                                                 int& group, const contexts& context, const firsts& first_elements, i64 position,
                                                 i64 offset, int vectors, i64 index_base) {
            const assignment_type assigned = original.assigned;
            const once_values once = original.once;
            const row_values row = original.row;
            const row_position at = place_of_row;
            const row_inputs in{assigned, original.bound, original.along, once, row};
            states *const stop = all + groups, *now = all + group;
            [[maybe_unused]] int fetches = ahead_of::template wanted<Pass>(original);
            [[maybe_unused]] const row_position ahead = ahead_of::template from<Pass>(original, place_of_row);
            SINTER_NO_UNROLL
            for (int v = 0; v < vectors; ++v) {
                if constexpr (ahead_of::template here<Pass, Phase>)
                    if (ahead_of::asks(fetches)) ahead_of::template vector<Pass>(ahead, position + v * width + ahead_of::distance);
                step(in, at, *now, context, first_elements, position + v * width, offset + v * width, index_base);
                now = now + 1 == stop ? all : now + 1;
            }
            group = int(now - all);
        }
        /// A packed block: whole vectors, then the last elements.
        static SINTER_SMALL void fold_packed(const row_context& in, const row_position& at, states (&all)[unsigned(groups)], int& group,
                                                const contexts& context, const firsts& first_elements, i64 position, int count, i64 index_base) {
            packed_block packed;
            work::pack(body, in, packed, at, position, count, -1);
            const int vectors = count / width, rest = count % width;
            if (vectors > 0) fold_vectors(in, packed.at, all, group, context, first_elements, position, 0, vectors, index_base);
            if (rest > 0) {
                const int last_group = group;
                const states before = all[last_group];
                fold_vectors(in, packed.at, all, group, context, first_elements, position + vectors * width, vectors * width, 1, index_base);
                keep_beyond(all[last_group], before, rest, list{});
            }
            if constexpr (stashes && Pass == Kernel::levels && Phase == 1) work::unpack(body, in, packed, at, stash_slot, position, count);
        }
        /// A segment of any length, its accumulators in memory.
        static SINTER_FORCE_INLINE void segment_in_memory(const row_context& in, const row_position& at, totals& result, const contexts& context,
                                                const firsts& first_elements, i64 begin, i64 length, i64 index_base) {
            states all[unsigned(groups)];
            for (int g = 0; g < groups; ++g) start(all[g], list{});
            i64 done = 0;
            int group = 0;
            if (!in.bound.packs) {
                done = length / width * width;
                if (done > 0) fold_vectors(in, at, all, group, context, first_elements, begin, begin, int(done / width), index_base);
            }
            for (int count; done < length; done += count) {
                count = work::next_block(body, in, begin + done, length - done);
                fold_packed(in, at, all, group, context, first_elements, begin + done, count, index_base);
            }
            fold_groups(all);
            lane_tree(result, all[0], list{});
        }
        static SINTER_NOINLINE void any_segment(const row_context& in, const row_position& at, totals& result, const contexts& context,
                                                const firsts& first_elements, i64 begin, i64 length, i64 index_base) {
            segment_in_memory(in, at, result, context, first_elements, begin, length, index_base);
        }
        /// One segment, of so many lane rounds; 0 where they aren't whole, or elements don't lie side by side.
        static SINTER_FORCE_INLINE void segment(const row_context& original, const row_position& position, const row_inputs& in,
                                                const row_position& at, int fetches, const row_position& ahead, int rounds, totals& result,
                                                const contexts& context, const firsts& first_elements, i64 begin, i64 length, i64 index_base) {
            if constexpr (!is_written_out)
                segment_in_memory(original, position, result, context, first_elements, begin, length, index_base);
            else if (rounds != 0)
                unrolled_segment(in, at, fetches, ahead, result, context, first_elements, begin, rounds, index_base);
            else
                any_segment(original, position, result, context, first_elements, begin, length, index_base);
        }
        /// (What a race left isn't: segments_beside_race.)
        static constexpr bool is_written_out = unrolled && !races;
    };

    /// Contexts of one lane, spread over all.
    template <int Pass, int... Instance>
    static SINTER_INLINE void spread(two_phase_bundle<Pass, pick_state>& to, const typename one_lane<Pass>::contexts& from, indices<Instance...>) {
        const int done[] = {0, (member<pick_state, Instance>(to) = lane::transform(
                                    spread_over<Family>{}, member_of<Kernel, scalar_family, pick_state, Instance>(from)), 0)...};
        (void)done;
    }

    /// First element of the folded axes, for the monoids that shift by it.
    template <int Pass, int... Instance>
    static SINTER_SMALL void first_elements(const row_context& in, const row_position& at, two_phase_bundle<Pass, pick_value>& out,
                                               indices<Instance...>) {
        packed_block packed;
        const bool whole = !in.bound.packs && in.along.length >= width;
        if (!whole) work::pack(body, in, packed, at, 0, 1);
        const row_position& from = whole ? at : packed.at;
        pass_values<Pass> values;
        fill_elements<Pass>({in.assigned, in.bound, in.along, in.once, in.row}, from, values, 0, 0);
        const element_frame<pass_values<Pass>> frame{{in.assigned, in.bound, in.along}, in.once, in.row, from, values, 0, 0};
        const int done[] = {0, (member<pick_value, Instance>(out) = spread_lane{}(eval::template argument<Instance, 0>(frame)), 0)...};
        (void)done;
    }

    /// The lane rule over elements [first, stop), at least one, of the lane axes: segments, then pairwise.
    template <int Pass>
    static SINTER_FORCE_INLINE void segments(const row_context& original, const row_position& position, summaries<Pass>& result,
                                             const two_phase_bundle<Pass, pick_value>& first_elements_of_row, i64 index_base, i64 first, i64 stop) {
        using one = phase<Pass, 1>;
        using merging = one_lane<Pass>;
        // What segments of whole rounds read, copied once for all: a segment is some hundred instructions.
        const assignment_type assigned = original.assigned;
        const once_values once = original.once;
        const row_values row = original.row;
        const row_position at = position;
        const row_inputs in{assigned, original.bound, original.along, once, row};
        const row_position ahead = ahead_of::template from<Pass>(original, position);
        const int fetches = ahead_of::template wanted<Pass>(original);
        // Summaries combine pairwise as they come, in the order of a binary counter.
        summaries<Pass> stack[order::stack_depth];
        int depth = 0;
        i64 number = 0, begin = first;
        do {  // at least one
            const i64 count = stop - begin < order::segment ? stop - begin : order::segment;
            const int rounds = original.bound.packs || count % order::lanes != 0 ? 0 : int(count / order::lanes);
            summaries<Pass> now;
            typename one::totals totals;
            typename one::contexts contexts;
            typename merging::contexts context;
            one::segment(original, position, in, at, fetches, ahead, rounds, totals, contexts, first_elements_of_row, begin, count, index_base);
            if constexpr (!pass_has_second<Pass>) {
                merging::close(now, totals, context, {}, count, folds<Pass>{});
            } else {
                using two = phase<Pass, 2>;
                merging::settle(context, totals, count, two_phase_folds<Pass>{});
                spread<Pass>(contexts, context, two_phase_folds<Pass>{});
                typename two::totals seconds;
                two::segment(original, position, in, at, fetches, ahead, rounds, seconds, contexts, first_elements_of_row, begin, count, index_base);
                merging::close(now, totals, context, seconds, count, folds<Pass>{});
            }
            for (i64 level = number++; level & 1; level >>= 1) merging::merge(now, stack[--depth], now, folds<Pass>{});
            stack[depth++] = now;
            begin += order::segment;
        } while (begin < stop);
        result = stack[--depth];
        while (depth > 0) merging::merge(result, stack[--depth], result, folds<Pass>{});
    }
    template <int Pass>
    static SINTER_SMALL void segments_beside_race(const row_context& in, const row_position& at, summaries<Pass>& result, i64 begin, i64 stop) {
        segments<Pass>(in, at, result, {}, 0, begin, stop);
    }
    template <int Pass>
    static SINTER_FORCE_INLINE void lane_rule(const row_context& in, const row_position& at, summaries<Pass>& result,
                                              const two_phase_bundle<Pass, pick_value>& first_elements_of_row, i64 index_base) {
        using one = phase<Pass, 1>;
        using merging = one_lane<Pass>;
        const i64 length = in.along.length;
        if (length == 0) {
            merging::nothing(result, folds<Pass>{});
        } else if constexpr (one::races) {
            // Once for the row: finishing a race takes as long as racing over a segment.
            const i64 raced = in.bound.packs ? 0 : length / one::turn * one::turn;
            typename one::totals totals;
            const bool sure = raced > 0 && one::race(in, at, totals, raced);
            if (!sure) {
                segments_beside_race<Pass>(in, at, result, 0, length);
                return;
            }
            merging::close(result, totals, {}, {}, raced, folds<Pass>{});
            if (raced < length) {
                summaries<Pass> rest;
                segments_beside_race<Pass>(in, at, rest, raced, length);
                merging::merge(result, result, rest, folds<Pass>{});
            }
        } else {
            segments<Pass>(in, at, result, first_elements_of_row, index_base, 0, length);
        }
    }

    template <int Pass, int... Instance>
    static SINTER_INLINE void finalize(const summaries<Pass>& from, row_values& row, indices<Instance...>) {
        const int done[] = {0, (static_cast<value_slot<Instance>&>(row).value =
                                    spread_over<Family>{}(fold_types<Kernel, scalar_family, Instance>::monoid::finalize(
                                        member_of<Kernel, scalar_family, pick_summary, Instance>(from))), 0)...};
        (void)done;
    }

    static SINTER_FORCE_INLINE void move_to(row_position& to, const row_position& from, const i64 (&offset)[unsigned(slot_count)]) {
        work::move(body.element_size, to, from, offset);
    }

    /// One fold pass over a row: the lane rule, and the column rule over the other folded axes.
    template <int Pass>
    static SINTER_FORCE_INLINE void fold_pass(row_context& in, const row_position& at) {
        using merging = one_lane<Pass>;
        summaries<Pass> result;
        two_phase_bundle<Pass, pick_value> firsts;
        if constexpr (pass_has_second<Pass>)
            if (in.along.length > 0 && in.along.columns > 0) first_elements<Pass>(in, at, firsts, two_phase_folds<Pass>{});
        if constexpr (Kernel::table.inner == Kernel::table.inner_lane) {
            lane_rule<Pass>(in, at, result, firsts, 0);
        } else {
            merging::nothing(result, folds<Pass>{});
            summaries<Pass> stack[order::stack_depth];
            int depth = 0;
            odometer<slots<Kernel>::count> column;
            column.set(in.along.column, 0);
            i64 number = 0;
            for (i64 c = 0; c < in.along.columns; ++number) {
                summaries<Pass> segment;
                merging::nothing(segment, folds<Pass>{});
                for (int inside = 0; inside < order::column_segment && c < in.along.columns; ++inside, ++c) {
                    row_position here;
                    move_to(here, at, column.offset);
                    summaries<Pass> now;
                    lane_rule<Pass>(in, here, now, firsts, c * in.along.length);
                    if (inside == 0)
                        segment = now;
                    else
                        merging::merge(segment, segment, now, folds<Pass>{});
                    column.next(in.along.column);
                }
                for (i64 level = number; level & 1; level >>= 1) merging::merge(segment, stack[--depth], segment, folds<Pass>{});
                stack[depth++] = segment;
            }
            if (depth > 0) {
                result = stack[--depth];
                while (depth > 0) merging::merge(result, stack[--depth], result, folds<Pass>{});
            }
        }
        finalize<Pass>(result, in.row, folds<Pass>{});
    }
    template <int Level>
    static SINTER_INLINE void rows_of_level(row_context& in, const row_position& at) {
        const row_frame frame{{in.assigned, in.bound, in.along}, in.once, in.row, at};
        eval::fill(in.row, frame, selected<rows_after<Kernel, Level>>{});
        if constexpr (has_row_terms<Kernel>) make_terms(in.row, frame, selected<row_terms_after<Kernel, Level>>{});
    }
    template <int... Instance>
    static SINTER_INLINE void make_terms(row_values& row, const row_frame& frame, indices<Instance...>) {
        (void(static_cast<term_slot<Kernel, Family, Instance>&>(row).value = Kernel::policy::template make_row_term<eval, Kernel, Instance>(frame)), ...);
    }
    static SINTER_INLINE void fill_once(row_context& in, const row_position& origin) {
        const row_frame frame{{in.assigned, in.bound, in.along}, in.once, in.row, origin};
        eval::fill(in.once, frame, selected<at_place<Kernel, site::once>>{});
        if constexpr (has_row_terms<Kernel>) make_terms(in.row, frame, selected<row_terms_after<Kernel, -1>>{});
    }
    template <int Pass>
    static SINTER_FORCE_INLINE void passes(row_context& in, const row_position& at) {
        rows_of_level<Pass - 1>(in, at);
        if constexpr (Pass <= Kernel::levels) {
            fold_pass<Pass>(in, at);
            passes<Pass + 1>(in, at);
        }
    }

    // -------------------------------------------------------------------------------------------------------- stores

    template <int Output, class Frame>
    static SINTER_INLINE auto stored_value(const Frame& frame) {
        using storage = output_storage<Output>;
        using type = compute_of<storage>;
        constexpr int source = Kernel::table.output[Output];
        if constexpr (source < 0) {
            constexpr int node = Kernel::table.output_immediate[Output];
            return eval::template immediate<node, type, 0>(frame);
        } else {
            return cast_to_store<Kernel, storage, Kernel::table.at[source].node>(frame.template value<source>());
        }
    }
    static constexpr bool streams_exist = requires { Family::streaming_threshold; };
    template <int Output, class Frame>
    static SINTER_INLINE void store_elements(const Frame& frame) {
        using storage = output_storage<Output>;
        storage* const to = static_cast<storage*>(const_cast<void*>(frame.at.pointer[slots<Kernel>::of_output(Output)])) + frame.offset;
        const auto value = stored_value<Output>(frame);
        if (streams_exist && (frame.streaming >> Output & 1))
            store_streaming(to, value);
        else
            store(to, value);
    }
    template <class Frame, int... Output>
    static SINTER_INLINE void store_all(const Frame& frame, indices<Output...>) {
        (store_elements<Output>(frame), ...);
    }
    template <int Output>
    static SINTER_INLINE output_storage<Output>* output_at(const row_position& at) {
        return static_cast<output_storage<Output>*>(const_cast<void*>(at.pointer[slots<Kernel>::of_output(Output)]));
    }
    template <class Storage, class Value>
    static SINTER_INLINE void store_one(Storage* to, Value value) {
        store(to, lane::scalar<typename Value::element>(first(value)));
    }
    template <class Frame, int... Output>
    static SINTER_INLINE void store_row(const Frame& frame, const row_position& at, indices<Output...>) {
        (store_one(output_at<Output>(at), stored_value<Output>(frame)), ...);
    }

    static constexpr int last = stashes ? Kernel::levels + 2 : Kernel::levels + 1;
    /// Whole vectors of outputs: the one place where a kernel's last pass is compiled.
    static SINTER_NOINLINE void output_vectors(const row_call& call, const row_position& place_of_row, i64 position, i64 offset,
                                               i64 vectors, u32 streaming) {
        const row_context& original = static_cast<const row_context&>(call);
        const assignment_type assigned = original.assigned;
        const once_values once = original.once;
        const row_values row = original.row;
        const row_position at = place_of_row;
        [[maybe_unused]] const void* const stash = stashes && !original.kept ? at.pointer[stash_slot] : original.kept;
        // A costly kernel always asks, in the cache for the line that it reads: fewer registers than a branch.
        constexpr bool always = Kernel::levels == 0 && is_costly(work_of_elements<Kernel>());
        [[maybe_unused]] const bool fetches = always || ahead_of::template wanted<Kernel::levels + 1>(original);
        [[maybe_unused]] const i64 distance = ahead_of::by_rows ? position - offset : original.bound.prefetches ? ahead_of::distance : 0;
        [[maybe_unused]] const row_position ahead = ahead_of::template from<Kernel::levels + 1>(original, place_of_row);
        for (i64 v = 0; v < vectors; ++v, position += width, offset += width) {
            if constexpr (ahead_of::template here<Kernel::levels + 1, 1>)
                if (fetches) ahead_of::template vector<Kernel::levels + 1>(ahead, offset + distance);
            output_values values;
            if constexpr (stashes) read_stash(stash, values, offset);
            const element_frame<output_values> frame{{assigned, original.bound, original.along}, once, row, at, values, position, offset, streaming};
            eval::fill(values, frame, selected<needed_in_pass<Kernel, last>>{});
            store_all(frame, selected<element_outputs<Kernel>>{});
        }
    }

    // ---------------------------------------------------------------------------------------------------- outer folds

    struct after_frame : common {
        const once_values& once;
        const after_values& after;
        template <int Instance>
        SINTER_INLINE const auto& value() const {
            if constexpr (Kernel::where[Instance] == site::once)
                return static_cast<const value_slot<Instance>&>(once).value;
            else
                return static_cast<const value_slot<Instance>&>(after).value;
        }
        using common::folded_count;
        using common::operands;
    };
    template <class List>
    struct outer_folding;
    template <int... Instance>
    struct outer_folding<indices<Instance...>> : slot<Instance, outer_fold<Kernel, Family, Instance>>... {
        SINTER_INLINE void push(const row_frame& frame) {
            const int done[] = {
                0, (static_cast<slot<Instance, outer_fold<Kernel, Family, Instance>>&>(*this).value.push(first(eval::template argument<Instance, 0>(frame))), 0)...};
            (void)done;
        }
        SINTER_INLINE void finish(const assignment_type& assigned, const call_binding& bound, const all_loops& along,
                                  const once_values& once, const row_position& origin) {
            after_values after;
            const int folded[] = {0, (static_cast<value_slot<Instance>&>(after).value = instance_value<Kernel, Family, Instance>(
                                          static_cast<slot<Instance, outer_fold<Kernel, Family, Instance>>&>(*this).value.result()), 0)...};
            (void)folded;
            const after_frame frame{{assigned, bound, along}, once, after};
            eval::fill(after, frame, selected<at_place<Kernel, site::after>>{});
            store_row(frame, origin, selected<after_outputs<Kernel>>{});
        }
    };

    // ---------------------------------------------------------------------------------------------------------- entry

    static SINTER_NOINLINE void begin_row(row_call& call, const row_position& at) {
        passes<1>(static_cast<row_context&>(call), at);
        if constexpr (!Kernel::any_element_output()) finish_row(static_cast<row_context&>(call), at);
    }
    static SINTER_NOINLINE void end_row(row_call& call, const row_position& at) {
        finish_row(static_cast<row_context&>(call), at);
    }
    static SINTER_FORCE_INLINE void finish_row(row_context& in, const row_position& at) {
        const row_frame frame{{in.assigned, in.bound, in.along}, in.once, in.row, at};
        store_row(frame, at, selected<row_outputs<Kernel>>{});
        if constexpr (Kernel::table.outer != 0) in.outer.push(frame);
    }
    static constexpr row_body<slot_count> make_body() {
        row_body<slot_count> out = find_row_body<slot_count>(Kernel::view, streams_exist);
        if (stashes) out.stash = stash_slot;
        constexpr bool begins = selected_indices<all_at<site::row>>::size > 0;
        if constexpr (begins) out.begin_row = begin_row;
        if constexpr (Kernel::any_element_output()) out.vectors = output_vectors;
        if constexpr ((selected_indices<row_outputs<Kernel>>::size > 0 || Kernel::table.outer != 0) && !(begins && !Kernel::any_element_output()))
            out.end_row = end_row;
        return out;
    }
    static constexpr row_body<slot_count> body = make_body();

    /// Rows [first_row, stop_row), and of each row's outputs the elements [begin, stop) (all of them when there are folds).
    static SINTER_NOINLINE void run(const void* assigned, const call_binding& bound, const all_loops& along, i64 first_row, i64 stop_row,
                                    i64 begin, i64 stop) {
        run_body(body, assigned, bound, along, first_row, stop_row, begin, stop);
    }
    static SINTER_FORCE_INLINE void run_body(const row_body<slot_count>& body_of_rows, const void* assigned, const call_binding& bound,
                                             const all_loops& along, i64 first_row, i64 stop_row, i64 begin, i64 stop) {
        row_context in(*static_cast<const assignment_type*>(assigned), bound, along);
        const row_position origin = work::origin(bound);
        fill_once(in, origin);
        work::run(body_of_rows, in, first_row, stop_row, begin, stop);
        if constexpr (Kernel::table.outer != 0) in.outer.finish(in.assigned, bound, along, in.once, origin);
    }
};
template <class Kernel, class Family>
struct row_driver<Kernel, Family>::row_context : row_driver<Kernel, Family>::row_call {
    const assignment_type& assigned;
    once_values once;
    row_values row;
    outer_folding<selected<outer_folds<Kernel>>> outer;
    SINTER_FORCE_INLINE row_context(const assignment_type& from, const call_binding& binding_of_call, const all_loops& loops_of_call)
        : row_call{binding_of_call, loops_of_call, nullptr, nullptr}, assigned(from) {}
};

/// The driver of a kernel's rows.
template <class Kernel, class Family>
struct row_driver_of {
    using type = row_driver<Kernel, Family>;
};

}  // namespace sinter::detail
