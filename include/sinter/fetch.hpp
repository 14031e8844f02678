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

    /// With folds and outputs of elements the next row is fetched, in the last fold if that takes long, else with the outputs. (Measured
    /// on RMSNorm to int8: 0.40 -> 0.61 of a copy; in bursts of a page it was slower than without.) Else the first pass fetches for
    /// itself: on a Xeon, out of cache, sums of rows 0.90 -> 0.99 of the best loop by hand, GELU 0.80 -> 1.12, 30 operations 0.80 -> 1.10.
    static constexpr bool by_rows = Kernel::levels > 0 && Kernel::any_element_output();
    static constexpr int find_pass() {
        if constexpr (Kernel::levels == 0)  // long ones only: they fill the window of a processor
            return is_costly(work_of_pass<Kernel, 1>()) ? 1 : 0;
        else if constexpr (!by_rows)
            return 1;
        else {
            // (Without an order to keep a fold of two phases takes one pass all the same, and a short one.)
            constexpr bool folds_twice = has_second_phase<Kernel, Kernel::levels> && !requires { Kernel::policy::any_order; };
            return is_costly(work_of_pass<Kernel, Kernel::levels>()) || folds_twice ? Kernel::levels : Kernel::levels + 1;
        }
    }
    static constexpr int pass = find_pass();
    static constexpr int find_phase() {
        if constexpr (by_rows && pass <= Kernel::levels)
            return has_second_phase<Kernel, pass> ? 2 : 1;
        else
            return 1;
    }
    static constexpr int phase = find_phase();
    template <int Pass, int Phase>
    static constexpr bool here = Pass == pass && Phase == phase;
    using fetched = instances_by<Kernel, are_fetched>;
    /// How far, in elements: half a page. (On a Xeon half or twice as far makes no difference. On Zen 4, sums of squares, 32-byte
    /// registers, beside the loop by hand: 0.94 at half a page or a quarter, 0.72 at one page, 0.81 at two: a segment is read in two
    /// walks there, and what is asked for in the next page keeps the processor from fetching this one itself.)
    static constexpr i64 distance = by_rows ? 0 : 2048 / are_fetched::largest(Kernel::view);

    /// Vector `Line` of some that follow each other: nothing where it lies in the line of the one before.
    template <int Line>
    static SINTER_FORCE_INLINE void vector(const position_type& from, i64 position) {
        each<Line>(from, position, selected<fetched>{});
    }
    template <int Line, int... Instance>
    static SINTER_FORCE_INLINE void each([[maybe_unused]] const position_type& from, [[maybe_unused]] i64 position, indices<Instance...>) {
        const int done[] = {0, (one<Line, slots<Kernel>::template place<Instance>>(from, position), 0)...};
        (void)done;
    }
    template <int Line, int Slot>
    static SINTER_FORCE_INLINE void one(const position_type& from, i64 position) {
        constexpr int size = binding_facts_of<Kernel>::value.slot[Slot].element_size, bytes = Family::width * size;
        if constexpr (Line * bytes % 64 == 0)
            each_line(static_cast<const char*>(from.pointer[Slot]) + position * size, make_indices<(bytes > 64 ? bytes / 64 : 1)>{});
    }
    /// All lines of a vector: to leave some out is worse than to ask for none (Zen 4, 30 operations with values of 128 bytes, beside the loop
    /// by hand: every second line 0.89, none 0.98, all 1.05).
    template <int... Line>
    static SINTER_FORCE_INLINE void each_line(const char* from, indices<Line...>) {
        const int done[] = {(__builtin_prefetch(from + 64 * Line, 0, 2), 0)...};
        (void)done;
    }
    /// Some vectors from `position` on.
    template <int... Line>
    static SINTER_FORCE_INLINE void lines(const position_type& from, i64 position, indices<Line...>) {
        const int done[] = {(vector<Line>(from, position + Line * Family::width), 0)...};
        (void)done;
    }

    /// Whether a pass of this call does it, and from which row.
    template <int Pass>
    static SINTER_FORCE_INLINE bool wanted(const call_type& call) {
        if constexpr (Pass != pass)
            return false;
        else
            return by_rows ? call.ahead != nullptr : call.bound.prefetches;
    }
    static SINTER_FORCE_INLINE const position_type& from(const call_type& call, const position_type& row) {
        return by_rows && call.ahead ? *call.ahead : row;
    }
    /// Keeps a compiler from writing a loop twice, with and without.
    static SINTER_FORCE_INLINE bool asks(int& flag) {
        __asm__("" : "+r"(flag));
        return flag != 0;
    }
};

}  // namespace sinter::detail
