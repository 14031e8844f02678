// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asking for memory ahead, for host drivers: which pass of a kernel does it, for which operands, and the instruction. Out of cache,
// lines are asked for long before they are read, a vector's at a time between the arithmetic: processors don't fetch across the end
// of a page by themselves, nor while a later pass works on what is in the cache. No value is computed here.
#pragma once

#include "evaluate.hpp"
#include "row_loop.hpp"

namespace sinter::detail {

/// What computing and folding the elements of a pass costs, in instructions.
constexpr int work_of_pass(const kernel_view& of, const bool* needed, int pass) {
    int cost = 0;
    for (int i = 0; i < of.instances; ++i) {
        if (needed[i]) cost += of.node_of(i).has_op() ? of.node_of(i).op->cost : 1;
        if (of.folds_in_pass(i, pass)) cost += 3;
    }
    return cost;
}
template <class Kernel, int Pass>
constexpr int work_of_pass() {
    return work_of_pass(Kernel::view, Kernel::template needed<Pass>.item, Pass);
}
constexpr bool is_costly(int cost) { return cost > 8; }
/// A kernel without folds: what rounding and packing its outputs takes is work as well.
template <class Kernel>
constexpr int work_of_elements() {
    int cost = work_of_pass<Kernel, 1>();
    for (int o = 0; o < Kernel::outputs; ++o) {
        const dtype type = Kernel::view.output_type[o];
        if (Kernel::stores_elements(o) && dtype_size(type) < 4 && is_float(type)) cost += 8;
    }
    return cost;
}
template <class Kernel, int Pass>
inline constexpr bool has_second_phase = selected_indices<two_phase_folds_of_pass<Kernel, Pass>>::size > 0;

/// Operands of elements that vary over the rows, too, if one does: the others stay in the cache.
struct are_fetched {
    static constexpr bool is_of_elements(const kernel_view& of, int i) { return of.at[i].kind == node_kind::leaf && of.where[i] == site::element; }
    static constexpr bool is_of_rows(const kernel_view& of, int i) { return is_of_elements(of, i) && (of.at[i].free & ~of.element_axes) != 0; }
    static constexpr bool any_is_of_rows(const kernel_view& of) {
        for (int i = 0; i < of.instances; ++i)
            if (is_of_rows(of, i)) return true;
        return false;
    }
    static constexpr bool has(const kernel_view& of, int i) { return is_of_elements(of, i) && (is_of_rows(of, i) || !any_is_of_rows(of)); }
    /// Bytes of an element.
    static constexpr int largest(const kernel_view& of) {
        int size = 1;
        for (int i = 0; i < of.instances; ++i)
            if (has(of, i) && dtype_size(of.memory_type(i)) > size) size = dtype_size(of.memory_type(i));
        return size;
    }
};

template <class Kernel, class Family>
struct fetching {
    static constexpr int slot_count = slots<Kernel>::count;
    using position_type = row_pointers<slot_count>;
    using call_type = call_state<slot_count>;

    /// With folds and outputs of elements the next row is fetched by the passes of this one, each asking for some quarters of it, so that
    /// memory isn't idle while one computes; else the first pass fetches for itself: on a Xeon, out of cache, sums of rows 0.90 -> 0.99 of
    /// the best loop by hand, GELU 0.80 -> 1.12, 30 operations 0.80 -> 1.10.
    static constexpr bool by_rows = Kernel::levels > 0 && Kernel::any_element_output();
    static constexpr int passes = Kernel::levels + 1;
    /// What passes 1 to `Pass` take, in instructions, those that every pass has included.
    template <int Pass>
    static constexpr int work_until() {
        if constexpr (Pass <= 0)
            return 0;
        else
            return work_of_pass<Kernel, Pass == passes && Kernel::stash.instance >= 0 ? Pass + 1 : Pass>() + 8 + work_until<Pass - 1>();
    }
    static constexpr int stored_bytes() {
        int bytes = 0;
        for (int o = 0; o < Kernel::outputs; ++o)
            if (Kernel::stores_elements(o)) bytes += dtype_size(Kernel::view.output_type[o]);
        return bytes;
    }
    /// Quarters of the next row that passes 1 to `Pass` ask for. Of three passes or more each has what it computes for. (Measured on a Xeon
    /// beside one pass asking for all: RMSNorm to int8 0.71 -> 0.93 of a copy, softmax 1.15 -> 1.20 of the best loop by hand, under `fast`
    /// 1.0 -> 1.3. In bursts of a page it was slower than without.) Of two passes the one that stores has all, or most where it stores little:
    /// the other one waits for its loads if it asks, too, unless it computes for long. (LayerNorm: half and half 1.00 of the best loop, none
    /// and all 1.08; a mean of exponentials the other way round.)
    template <int Pass>
    static constexpr int quarters_until() {
        if constexpr (Pass <= 0)
            return 0;
        else if constexpr (!by_rows)  // without folds long ones only: they fill the window of a processor
            return Kernel::levels > 0 || is_costly(work_of_elements<Kernel>()) ? 4 : 0;
        else if constexpr (Pass < passes && passes == 2)
            return is_costly(work_of_pass<Kernel, 1>()) ? 2 : stored_bytes() < 4 ? 1 : 0;
        else
            return (8 * work_until<Pass>() + work_until<passes>()) / (2 * work_until<passes>());
    }
    /// Quarters of the lines that a pass asks for.
    template <int Pass>
    static constexpr int share = quarters_until<Pass>() - quarters_until<Pass - 1>();
    template <int Pass, int Phase>
    static constexpr bool here = share<Pass> != 0 && Phase == (by_rows && Pass <= Kernel::levels && has_second_phase<Kernel, Pass> ? 2 : 1);
    using fetched = instances_by<Kernel, are_fetched>;
    /// How far, in elements: half a page where something is folded. (On a Xeon half or twice as far makes no difference. On Zen 4, sums of
    /// squares, 32-byte registers, beside the loop by hand: 0.94 at half a page or a quarter, 0.72 at one page, 0.81 at two: a segment is read
    /// in two walks there, and what is asked for in the next page keeps the processor from fetching this one itself.) Three quarters where
    /// nothing is. (f32 to codes on a Xeon, beside not asking: 1.22 at half a page, 1.32 at three quarters, 1.33 at one.)
    static constexpr i64 distance = by_rows ? 0 : (Kernel::levels > 0 ? 2048 : 3072) / are_fetched::largest(Kernel::view);

    /// What belongs to `Vectors` that follow each other: the share of as many.
    template <int Pass, int Vectors>
    static SINTER_FORCE_INLINE void lines(const position_type& from, i64 position) {
        each<share<Pass>, Vectors>(from, position, selected<fetched>{});
    }
    /// What belongs to one vector: the first ones of four ask for one each.
    template <int Pass>
    static SINTER_FORCE_INLINE void vector(const position_type& from, i64 position) {
        if constexpr (share<Pass> == 4) {
            lines<Pass, 1>(from, position);
        } else {
            const i64 number = position / Family::width, turn = number & 3;
            if (turn < share<Pass>) each<4, 1>(from, ((number >> 2) * share<Pass> + turn) * Family::width, selected<fetched>{});
        }
    }
    template <int Quarters, int Vectors, int... Instance>
    static SINTER_FORCE_INLINE void each([[maybe_unused]] const position_type& from, [[maybe_unused]] i64 position, indices<Instance...>) {
        const int done[] = {0, (one<Quarters, Vectors, slots<Kernel>::template place<Instance>>(from, position), 0)...};
        (void)done;
    }
    template <int Quarters, int Vectors, int Slot>
    static SINTER_FORCE_INLINE void one(const position_type& from, i64 position) {
        constexpr int size = binding_facts_of<Kernel>::value.slot[Slot].element_size, bytes = Vectors * Family::width * size * Quarters / 4;
        each_line(static_cast<const char*>(from.pointer[Slot]) + position * (size * Quarters) / 4, make_indices<(bytes + 63) / 64>{});
    }
    /// All lines of a vector: to leave some out is worse than to ask for none (Zen 4, 30 operations with values of 128 bytes, beside the loop
    /// by hand: every second line 0.89, none 0.98, all 1.05).
    template <int... Line>
    static SINTER_FORCE_INLINE void each_line(const char* from, indices<Line...>) {
        const int done[] = {(__builtin_prefetch(from + 64 * Line, 0, 2), 0)...};
        (void)done;
    }

    /// Whether a pass of this call does it, and from where.
    template <int Pass>
    static SINTER_FORCE_INLINE bool wanted(const call_type& call) {
        if constexpr (share<Pass> == 0)
            return false;
        else
            return by_rows ? call.ahead != nullptr : call.bound.prefetches;
    }
    template <int Pass>
    static SINTER_FORCE_INLINE position_type from(const call_type& call, const position_type& row) {
        if constexpr (by_rows && share<Pass> != 0) {
            if (call.ahead) {
                position_type out = *call.ahead;
                skip(out, call.along.length * quarters_until<Pass - 1>() / 4, selected<fetched>{});
                return out;
            }
        }
        return row;
    }
    template <int... Instance>
    static SINTER_FORCE_INLINE void skip([[maybe_unused]] position_type& from, [[maybe_unused]] i64 elements, indices<Instance...>) {
        const int done[] = {0, (skip_in<slots<Kernel>::template place<Instance>>(from, elements), 0)...};
        (void)done;
    }
    template <int Slot>
    static SINTER_FORCE_INLINE void skip_in(position_type& from, i64 elements) {
        from.pointer[Slot] = static_cast<const char*>(from.pointer[Slot]) + elements * binding_facts_of<Kernel>::value.slot[Slot].element_size;
    }
    /// Keeps a compiler from writing a loop twice, with and without.
    static SINTER_FORCE_INLINE bool asks(int& flag) {
        __asm__("" : "+r"(flag));
        return flag != 0;
    }
};

}  // namespace sinter::detail
