// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call in numbers, as a CUDA kernel takes it: sizes, steps and addresses of all operands. The types and the functions that fill
// them depend on the number of operands and loop axes alone, so that kernels share them: a formula more costs the host's compiler
// little. Where all shapes are static the numbers are a constant, and a call adds its pointers.
//
//     call_numbers<Count, Axes> out;
//     number_maker<Tag, Count, Axes>::lay_out(out, facts, bound, along, pack);      // or a constant that was laid out before
//     number_maker<Tag, Count, Axes>::point(out, facts, pointer, pack);
#pragma once

#include "../loops.hpp"

namespace sinter::detail::device {

/// Offsets count elements; a step along the lane of 1 with the bit in `wide` set means that whole packs are aligned in every row.
/// No initial values: a call sets what it has.
template <int Count, int Axes>
struct call_numbers {
    static constexpr int count = Count, axes = Axes;
    // What a kernel asks for first comes first: each 64 bytes are another wait for the constants' cache.
    const void* pointer[Count];
    i64 rows, length;
    int outer_axes;
    i64 outer_step[Axes][Count];
    u64 wide[(Count + 63) / 64];
    i64 lane_step[Count];
    i64 base[Count];                        ///< coordinates at the origin
    i64 folded_size[Axes];                  ///< sizes of the loop axes
    i64 outer_size[Axes];
    SINTER_INLINE bool is_wide(int slot) const { return wide[slot / 64] >> slot % 64 & 1; }
};
/// The loops over folded axes: those of the column rule, then those of the lane rule.
template <int Count, int Axes>
struct fold_numbers {
    i64 columns;                            ///< steps of the column rule
    int column_axes, lane_axes;
    i64 inner_size[Axes];
    i64 inner_step[Axes][Count];
};

/// n / size = high word of n * factor, >> shift, for n < 2^31 and 2 <= size < 2^31: factor = floor(2^(31 + s) / size) + 1 with
/// s = bits of (size - 1), shift = s - 1; the quotient is too large by less than 2^-s, which is at most 1 / size.
struct short_division {
    u32 factor;
    int shift;
};
inline short_division make_short_division(u32 size) {
    int bits = 0;
    while (bits < 31 && u32(1) << bits < size) ++bits;
    return {u32((u64(1) << (31 + bits)) / size + 1), bits - 1};
}
/// A row's number taken apart in 32 bits, in pointwise nests.
template <int Axes>
struct row_divisions {
    bool narrow;                            ///< rows and their steps fit 31 bits
    u32 magic[Axes];                        ///< of a division by an outer size (short_division)
    int magic_shift[Axes];
};

/// `Tag`: a type of the instruction set that the caller is compiled for.
template <class Tag, int Count, int Axes>
struct number_maker {
    using numbers = call_numbers<Count, Axes>;
    /// The divisions of a call that is laid out.
    static SINTER_NOINLINE void find_divisions(const numbers& of, row_divisions<Axes>& out) {
        out.narrow = of.rows < i64(1) << 31;
        for (int a = 0; a < of.outer_axes; ++a) {
            if (a > 0 && of.outer_size[a] < 2) out.narrow = false;
            for (int s = 0; s < Count; ++s)
                if (of.outer_step[a][s] < -(i64(1) << 31) || of.outer_step[a][s] >= i64(1) << 31) out.narrow = false;
        }
        if (!out.narrow) return;
        for (int a = 1; a < of.outer_axes; ++a) {
            const short_division by = make_short_division(u32(of.outer_size[a]));
            out.magic[a] = by.factor;
            out.magic_shift[a] = by.shift;
        }
    }
    /// Bytes of an access to `pack` elements.
    static constexpr u64 access_bytes(const slot_facts& slot, int pack) {
        const u64 bytes = u64(pack) * slot.element_size;
        return bytes < 16 ? bytes : 16;
    }
    /// All but the addresses; `wide` as if those were aligned.
    static SINTER_NOINLINE constexpr void lay_out(numbers& out, const binding_facts<Count>& facts, const binding<Count>& bound, const loops<Count>& along,
                                                  int pack) {
        out.rows = along.rows;
        out.length = along.length;
        out.outer_axes = along.outer.count;
        for (int a = 0; a < facts.axes; ++a) out.folded_size[a] = bound.size[a];
        for (u64& word : out.wide) word = 0;
        for (int a = 0; a < along.outer.count; ++a) {
            out.outer_size[a] = along.outer.size[a];
            for (int s = 0; s < Count; ++s) out.outer_step[a][s] = along.outer.stride[a][s];
        }
        for (int s = 0; s < Count; ++s) {
            const slot_facts& slot = facts.slot[s];
            out.base[s] = bound.base[s];
            out.lane_step[s] = along.lane.count > 0 ? along.lane.stride[0][s] : 0;
            u64 places = 0;
            for (int a = 0; a < along.outer.count; ++a) places |= u64(along.outer.stride[a][s]) * slot.element_size;
            for (int a = 0; a < along.column.count; ++a) places |= u64(along.column.stride[a][s]) * slot.element_size;
            if (slot.element_size > 0 && along.lane.count == 1 && out.lane_step[s] == 1 && places % access_bytes(slot, pack) == 0)
                out.wide[s / 64] |= u64(1) << s % 64;
        }
    }
    static SINTER_NOINLINE constexpr void lay_out_folds(fold_numbers<Count, Axes>& out, const loops<Count>& along) {
        out.columns = along.columns;
        out.column_axes = along.column.count;
        out.lane_axes = along.lane.count;
        int next = 0;
        const axis_loops<Count>* const lists[] = {&along.column, &along.lane};
        for (const axis_loops<Count>* list : lists)
            for (int a = 0; a < list->count; ++a, ++next) {
                out.inner_size[next] = list->size[a];
                for (int s = 0; s < Count; ++s) out.inner_step[next][s] = list->stride[a][s];
            }
    }
    /// The addresses of a call; only aligned ones stay wide.
    static inline void point(numbers& out, const binding_facts<Count>& facts, const void* const* pointer, int pack) {
        for (int s = 0; s < Count; ++s) {
            out.pointer[s] = pointer[s];
            const u64 bytes = access_bytes(facts.slot[s], pack);
            if (bytes > 0 && reinterpret_cast<u64>(pointer[s]) % bytes != 0) out.wide[s / 64] &= ~(u64(1) << s % 64);
        }
    }
};

/// The loops and numbers of a call whose shapes are static.
template <class Kernel>
struct known_call {
    static constexpr int count = slots<Kernel>::count, axes = Kernel::axes > 0 ? Kernel::axes : 1;
    using maker = number_maker<scalar_family, count, axes>;
    using binding_type = known_binding<Kernel, scalar_family, typename Kernel::assignment_type>;
    static constexpr loops<count> find_loops() {
        loops<count> out{};
        loop_maker<scalar_family, count>::make(loop_facts_of<Kernel>::value, binding_type::known.bound, out);
        return out;
    }
    static constexpr loops<count> along = find_loops();
    template <int Pack>
    static constexpr call_numbers<count, axes> find() {
        call_numbers<count, axes> out{};
        maker::lay_out(out, binding_facts_of<Kernel>::value, binding_type::known.bound, along, Pack);
        return out;
    }
    template <int Pack>
    static constexpr call_numbers<count, axes> numbers = find<Pack>();
    static constexpr fold_numbers<count, axes> find_folds() {
        fold_numbers<count, axes> out{};
        maker::lay_out_folds(out, along);
        return out;
    }
    static constexpr fold_numbers<count, axes> folds = find_folds();
};

}  // namespace sinter::detail::device
