// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of one call: loop axes sorted into outer (rows), column and lane axes, neighbours merged where all operands step
// through them evenly. Numbers only; drive.hpp runs the loops.
#pragma once

#include "evaluate.hpp"

namespace sinter::detail {

/// A list of loop axes with the strides of every slot along each. (No initial values, here and below: their constructors would be
/// functions that files with different instruction sets share.)
template <int Slots>
struct axis_loops {
    int count;
    i64 size[max_loop_axes];
    i64 stride[max_loop_axes][unsigned(Slots)];
    SINTER_INLINE i64 total() const {
        i64 product = 1;
        for (int i = 0; i < count; ++i) product *= size[i];
        return product;
    }
};

template <int Slots>
struct loops {
    axis_loops<Slots> outer, column, lane;
    i64 rows, columns, length;
};

/// A call as a driver takes it.
template <int Slots>
struct bound_call {
    const binding<Slots>& bound;
    const void* const* pointer;
    bool packs = false;    ///< operands don't all lie side by side along the lane
    bool prefetches = false;  ///< operands and outputs together exceed the caches: fetch the next row early
    bool streams = false;  ///< the outputs exceed the caches: store past them where alignment allows
};

template <class Kernel>
constexpr axis_role role_of(int axis) {
    return Kernel::view.role_of(axis);
}

/// The loops that a kernel asks for, as a constant table.
template <int Slots>
struct loop_facts {
    int axes = 0;
    signed char order[max_loop_axes]{};  ///< outermost first
    axis_role role[max_loop_axes]{};     ///< of the axis in that place
    bool pointwise = false;              ///< outer and lane axes may be merged
    bool any_axis_is_lane = false;       ///< pointwise, and all operands vary over all axes: when the last axis has size 1, the
                                         ///< next one becomes the lane's
    bool may_lengthen = false;           ///< pointwise, and no two elements of the nest are stored to one place
    slot_set<Slots> per_element{};        ///< slots with memory that vary along the lane: what a packed block holds
    slot_set<Slots> coordinates{};        ///< slots that are coordinates
};
template <int Slots>
constexpr loop_facts<Slots> find_loop_facts(const kernel_view& of) {
    loop_facts<Slots> out;
    out.axes = of.axes;
    for (int i = 0; i < of.axes; ++i) {
        out.order[i] = static_cast<signed char>(of.order[i]);
        out.role[i] = of.role_of(of.order[i]);
    }
    out.pointwise = of.nest == nest_kind::pointwise;
    out.any_axis_is_lane = out.may_lengthen = out.pointwise;
    const u32 all = of.all_output_axes();
    for (int o = 0; o < of.outputs; ++o) {
        out.any_axis_is_lane = out.any_axis_is_lane && of.output_free[o] == all;
        out.may_lengthen = out.may_lengthen && of.output_free[o] == all;
        if (of.stores_elements(o)) out.per_element.add(Slots - of.outputs + o);
    }
    for (int i = 0, slot = 0; i < of.instances; ++i) {
        if (!of.is_operand(i)) continue;
        if (of.at[i].free != 0 && of.at[i].free != all) out.any_axis_is_lane = false;
        if (of.at[i].kind != node_kind::leaf)
            out.coordinates.add(slot);
        else if (of.where[i] == site::element)
            out.per_element.add(slot);
        ++slot;
    }
    return out;
}
template <class Kernel>
struct loop_facts_of {
    static constexpr loop_facts<slots<Kernel>::count> value = find_loop_facts<slots<Kernel>::count>(Kernel::view);
};

template <class Tag, int Slots>
struct loop_maker {
    /// Adds an axis inside the ones already listed; merged with the last when every slot steps evenly through both.
    static SINTER_FORCE_INLINE constexpr void append(axis_loops<Slots>& to, const binding<Slots>& bound, int axis) {
        const i64 size = bound.size[axis];
        if (size == 1) return;
        if (to.count > 0) {
            bool even = true;
            for (int s = 0; s < Slots; ++s) even = even && to.stride[to.count - 1][s] == bound.stride[s][axis] * size;
            if (even) {
                to.size[to.count - 1] *= size;
                for (int s = 0; s < Slots; ++s) to.stride[to.count - 1][s] = bound.stride[s][axis];
                return;
            }
        }
        to.size[to.count] = size;
        for (int s = 0; s < Slots; ++s) to.stride[to.count][s] = bound.stride[s][axis];
        ++to.count;
    }
    /// Elementwise rows shorter than this become one long lane of several axes, as many as a packed block holds: what is one row again and
    /// again is packed once for all of them. Not where a lane is a thread's: those walk rows, never a lane of several axes.
    static constexpr i64 short_lane = Slots <= 4 ? 512 : Slots <= 16 ? 256 : 128;
    /// What neither lies side by side along such a lane nor repeats is copied row by row. So many elements, those of all such operands
    /// together, take as long to copy as a row of its own costs.
    static constexpr i64 copied_elements = 64;
    /// Outer axes, innermost first, become lane axes as long as whatever a packed block doesn't hold stays the same along them.
    static SINTER_FORCE_INLINE constexpr void lengthen(const loop_facts<Slots>& facts, axis_loops<Slots>& outer, axis_loops<Slots>& lane) {
        for (int s = 0; s < Slots; ++s)
            if (facts.coordinates.has(s) && lane.stride[0][s] != 0) return;
        int kept = outer.count;
        for (bool same = true; kept > 0;) {
            for (int s = 0; s < Slots; ++s) same = same && (facts.per_element.has(s) || outer.stride[kept - 1][s] == 0);
            if (!same) break;
            --kept;
        }
        const int moved = outer.count - kept;
        if (moved == 0) return;
        int copied = 0;
        for (int s = 0; s < Slots; ++s) {
            if (!facts.per_element.has(s)) continue;
            bool even = true, repeats = true;
            i64 step = lane.stride[0][s] * lane.size[0];
            for (int i = outer.count - 1; i >= kept; --i) {
                even = even && outer.stride[i][s] == step;
                repeats = repeats && outer.stride[i][s] == 0;
                step *= outer.size[i];
            }
            copied += !even && !repeats;
        }
        if (lane.size[0] * copied >= copied_elements) return;
        lane.size[moved] = lane.size[0];
        for (int s = 0; s < Slots; ++s) lane.stride[moved][s] = lane.stride[0][s];
        for (int i = 0; i < moved; ++i) {
            lane.size[i] = outer.size[kept + i];
            for (int s = 0; s < Slots; ++s) lane.stride[i][s] = outer.stride[kept + i][s];
        }
        lane.count = moved + 1;
        outer.count = kept;
    }
    static SINTER_NOINLINE constexpr void make(const loop_facts<Slots>& facts, const binding<Slots>& bound, loops<Slots>& out) {
        out.outer.count = out.column.count = out.lane.count = 0;
        axis_loops<Slots>* const list[] = {&out.outer, &out.column, facts.pointwise ? &out.outer : &out.lane};
        bool lane_is_last = false;
        for (int i = 0; i < facts.axes; ++i) {
            const int axis = facts.order[i];
            append(*list[int(facts.role[i])], bound, axis);
            if (facts.role[i] == axis_role::lane) lane_is_last = bound.size[axis] != 1 || facts.any_axis_is_lane;
        }
        if (facts.pointwise && lane_is_last && out.outer.count > 0) {
            // One list; its innermost axis is the lane's, however many loop axes it has swallowed.
            const int innermost = --out.outer.count;
            out.lane.size[0] = out.outer.size[innermost];
            for (int s = 0; s < Slots; ++s) out.lane.stride[0][s] = out.outer.stride[innermost][s];
            out.lane.count = 1;
            if (Tag::width > 1 && facts.may_lengthen && out.lane.size[0] < short_lane) lengthen(facts, out.outer, out.lane);
        }
        out.rows = out.outer.total();
        out.columns = out.column.total();
        out.length = out.lane.total();
    }
};

/// Offset of the element at a linear position of some axes.
template <int Slots>
SINTER_INLINE i64 offset_at(const axis_loops<Slots>& along, int slot, i64 position) {
    i64 offset = 0;
    for (int i = along.count - 1; i >= 0; --i) {
        offset += position % along.size[i] * along.stride[i][slot];
        position /= along.size[i];
    }
    return offset;
}
/// How one slot steps through the lane axes, neighbours merged where it steps evenly. (A tag keeps instruction sets apart.)
template <class Tag>
struct lane_walk {
    int axes;  ///< at least 1
    i64 size[max_loop_axes], stride[max_loop_axes];
    i64 index[max_loop_axes];
    i64 offset;

    template <int Slots>
    SINTER_FORCE_INLINE void begin(const axis_loops<Slots>& lane, int slot, i64 position) {
        axes = 0;
        for (int i = 0; i < lane.count; ++i) {
            const i64 step = lane.stride[i][slot];
            if (axes > 0 && stride[axes - 1] == step * lane.size[i]) {
                size[axes - 1] *= lane.size[i];
            } else {
                size[axes] = lane.size[i];
                ++axes;
            }
            stride[axes - 1] = step;
        }
        if (axes == 0) axes = 1, size[0] = 1, stride[0] = 0;
        offset = 0;
        for (int i = axes - 1; i > 0; --i) {
            index[i] = position % size[i];
            position /= size[i];
            offset += index[i] * stride[i];
        }
        index[0] = position;
        offset += position * stride[0];
    }
    /// After so many elements their offsets come again: the axes outside of them have stride 0.
    SINTER_FORCE_INLINE i64 period() const {
        i64 product = 1;
        int outer = 0;
        while (outer < axes && stride[outer] == 0) ++outer;
        for (int i = outer; i < axes; ++i) product *= size[i];
        return product;
    }
    /// Elements from here on that lie evenly, `left` at most.
    SINTER_FORCE_INLINE int run(int left) const {
        const i64 count = size[axes - 1] - index[axes - 1];
        return count < left ? int(count) : left;
    }
    /// Whole runs from here on that lie evenly, `left` elements at most; 1 where this one isn't whole.
    SINTER_FORCE_INLINE int rows(int left) const {
        if (axes < 2 || index[axes - 1] != 0 || size[axes - 1] > left) return 1;
        const i64 whole = left / int(size[axes - 1]), more = size[axes - 2] - index[axes - 2];
        return int(whole < more ? whole : more);
    }
    /// On by so many elements of a run, or by so many whole runs.
    SINTER_FORCE_INLINE void advance(int count, int whole = 1) {
        int i = axes - 1;
        if (whole > 1) {
            --i;
            offset += whole * stride[i];
            index[i] += whole;
        } else {
            offset += count * stride[i];
            index[i] += count;
        }
        for (; i > 0 && index[i] == size[i]; --i) {
            offset += stride[i - 1] - size[i] * stride[i];
            index[i] = 0;
            ++index[i - 1];
        }
    }
};
/// What a backend's registers do for the copies below, one type for all its families; a family without it is its own.
template <class Family>
struct shuffles_of {
    using type = Family;
};
template <class Family>
    requires requires { typename Family::shuffles; }
struct shuffles_of<Family> {
    using type = typename Family::shuffles;
};
/// Copies between lane positions of an operand and a block without gaps. One function for all kernels. `Shuffles` is the backend's:
/// elements a few places apart are taken apart in registers.
template <class Shuffles>
struct packer {
    using walk = lane_walk<Shuffles>;
    template <int Size>
    struct bytes {
        unsigned char at[unsigned(Size)];
    };
    template <int Size>
    static SINTER_FORCE_INLINE void move_bytes(unsigned char* to, const unsigned char* from) {
        bytes<Size> moved;
        __builtin_memcpy(&moved, from, Size);
        __builtin_memcpy(to, &moved, Size);
    }
    /// So many bytes, in two overlapping pieces where they are few: a call of memcpy takes longer.
    static SINTER_FORCE_INLINE void copy(void* into, const void* memory, std::size_t count) {
        unsigned char* const to = static_cast<unsigned char*>(into);
        const unsigned char* const from = static_cast<const unsigned char*>(memory);
        if (count > 128)
            __builtin_memcpy(to, from, count);
        else if (count >= 16) {
            for (std::size_t i = 0; i + 16 < count; i += 16) move_bytes<16>(to + i, from + i);
            move_bytes<16>(to + count - 16, from + count - 16);
        } else if (count >= 8) {
            move_bytes<8>(to, from);
            move_bytes<8>(to + count - 8, from + count - 8);
        } else if (count >= 4) {
            move_bytes<4>(to, from);
            move_bytes<4>(to + count - 4, from + count - 4);
        } else {
            for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
        }
    }
    /// Bytes behind what `fill` fills that it may write, too.
    static constexpr int beyond = 16;
    template <int Size>
    static SINTER_FORCE_INLINE void fill(bytes<Size>* to, const bytes<Size>* from, int count) {
        bytes<Size> sixteen[unsigned(16 / Size)];
        for (auto& one : sixteen) one = *from;
        for (int i = 0; i < count; i += 16 / Size) __builtin_memcpy(static_cast<void*>(to + i), sixteen, 16);
    }
    template <int Size>
    static SINTER_FORCE_INLINE void gather_as(void* into, const void* memory, i64 stride, int count, [[maybe_unused]] bool more) {
        bytes<Size>* const to = static_cast<bytes<Size>*>(into);
        const bytes<Size>* const from = static_cast<const bytes<Size>*>(memory);
        if (stride == 0) return fill(to, from, count);
        int done = 0;
        if constexpr (requires { Shuffles::template gather<Size>(to, from, stride, count); })
            done = Shuffles::template gather<Size>(to, from, stride, more ? count : count - 1);
        for (int i = done; i < count; ++i) to[i] = from[i * stride];
    }
    template <int Size>
    static SINTER_FORCE_INLINE void scatter_as(const void* memory, void* into, i64 stride, int count) {
        for (int i = 0; i < count; ++i) static_cast<bytes<Size>*>(into)[i * stride] = static_cast<const bytes<Size>*>(memory)[i];
    }
    /// Elements that lie evenly, but not side by side; `more`: the one that follows them may be read, too.
    static SINTER_NOINLINE void gather_spaced(void* to, const void* from, int element_size, i64 stride, int count, bool more) {
        switch (element_size) {
            case 1: return gather_as<1>(to, from, stride, count, more);
            case 2: return gather_as<2>(to, from, stride, count, more);
            case 4: return gather_as<4>(to, from, stride, count, more);
            default: return gather_as<8>(to, from, stride, count, more);
        }
    }
    static SINTER_NOINLINE void scatter_spaced(const void* from, void* to, int element_size, i64 stride, int count) {
        switch (element_size) {
            case 1: return scatter_as<1>(from, to, stride, count);
            case 2: return scatter_as<2>(from, to, stride, count);
            case 4: return scatter_as<4>(from, to, stride, count);
            default: return scatter_as<8>(from, to, stride, count);
        }
    }
    /// Between the next `count` elements of an operand and a block, run by run.
    template <bool In>
    static SINTER_FORCE_INLINE void move(void* block, void* memory, int element_size, walk& at, int count) {
        char* beside = static_cast<char*>(block);
        for (int left = count; left > 0;) {
            const int run = at.run(left), rows = at.rows(left);
            const i64 stride = at.stride[at.axes - 1], apart = rows > 1 ? at.stride[at.axes - 2] * element_size : 0;
            const bool more = at.index[at.axes - 1] + run < at.size[at.axes - 1];
            char* first = static_cast<char*>(memory) + at.offset * element_size;
            for (int r = 0; r < rows; ++r, first += apart, beside += run * element_size) {
                if (stride == 1)
                    copy(In ? beside : first, In ? first : beside, std::size_t(run) * std::size_t(element_size));
                else if (In)
                    gather_spaced(beside, first, element_size, stride, run, more);
                else
                    scatter_spaced(beside, first, element_size, stride, run);
            }
            left -= rows * run;
            at.advance(run, rows);
        }
    }
    /// The next `count` elements into `block`; what comes again is copied within it.
    static SINTER_NOINLINE void gather(void* block, const void* from, int element_size, walk& at, int count) {
        const i64 period = at.period();
        const int once = period < count ? int(period) : count;
        move<true>(block, const_cast<void*>(from), element_size, at, once);
        char* const memory = static_cast<char*>(block);
        for (int done = once; done < count;) {
            const int more = done < count - done ? done : count - done;
            __builtin_memcpy(memory + std::size_t(done) * std::size_t(element_size), memory, std::size_t(more) * std::size_t(element_size));
            done += more;
        }
    }
    static SINTER_NOINLINE void scatter(const void* block, void* to, int element_size, walk& at, int count) {
        move<false>(const_cast<void*>(block), to, element_size, at, count);
    }
    /// Coordinates are numbers, not memory.
    static SINTER_NOINLINE void count_up(i64* block, i64 base, walk& at, int count) {
        for (int done = 0; done < count;) {
            const int run = at.run(count - done);
            const i64 first = base + at.offset, step = at.stride[at.axes - 1];
            for (int i = 0; i < run; ++i) block[done + i] = first + i * step;
            done += run;
            at.advance(run);
        }
    }
};

/// Lane axes of a nest that may have more than one element.
template <class Kernel>
constexpr int lane_axis_count() {
    return Kernel::view.lane_axis_count();
}

/// How an operand steps along the lane: known while compiling, or not.
enum class lane_stride : u8 { zero, unit, unknown };
template <class Kernel, int Instance, class Leaf>
constexpr lane_stride operand_stride() {
    const instance& it = Kernel::table.at[Instance];
    if ((it.free & Kernel::vector_bit) == 0) return lane_stride::zero;
    if constexpr (operand_kind_of<Leaf> == operand_kind::view)
        if (Leaf::contiguous && it.chain_length == 0 && it.rank > 0 && it.varies[it.rank - 1] &&
            it.axis[it.rank - 1] == Kernel::vector_axis)
            return lane_stride::unit;
    return lane_stride::unknown;
}

/// Position in a list of axes, advanced row-major; offsets of all slots follow.
template <int Slots>
struct odometer {
    i64 index[max_loop_axes];
    i64 offset[unsigned(Slots)];

    SINTER_INLINE void set(const axis_loops<Slots>& along, i64 linear) {
        for (int s = 0; s < Slots; ++s) offset[s] = 0;
        if (linear == 0) {  // most often: no divisions
            for (int i = 0; i < along.count; ++i) index[i] = 0;
            return;
        }
        for (int i = along.count - 1; i >= 0; --i) {
            index[i] = linear % along.size[i];
            linear /= along.size[i];
            for (int s = 0; s < Slots; ++s) offset[s] += index[i] * along.stride[i][s];
        }
    }
    /// Positions from here on that lie along the innermost axis, `most` at most.
    SINTER_INLINE int run(const axis_loops<Slots>& along, int most) const {
        if (along.count == 0) return 1;
        const i64 left = along.size[along.count - 1] - index[along.count - 1];
        return left < most ? int(left) : most;
    }
    SINTER_INLINE void offsets_of_run(const axis_loops<Slots>& along, int slot, int count, i64* to) const {
        const i64 step = along.count == 0 ? 0 : along.stride[along.count - 1][slot];
        i64 at = offset[slot];
        for (int i = 0; i < count; ++i, at += step) to[i] = at;
    }
    /// As so many times `next`, within a run.
    SINTER_INLINE void skip(const axis_loops<Slots>& along, int count) {
        if (along.count == 0) return;
        const int innermost = along.count - 1;
        index[innermost] += count - 1;
        for (int s = 0; s < Slots; ++s) offset[s] += (count - 1) * along.stride[innermost][s];
        next(along);
    }
    /// Positions along the innermost axis, this one counted.
    SINTER_INLINE i64 left(const axis_loops<Slots>& along) const { return along.count == 0 ? 1 : along.size[along.count - 1] - index[along.count - 1]; }
    /// From anywhere along the innermost axis to where it begins anew.
    SINTER_INLINE void wrap(const axis_loops<Slots>& along) {
        const int innermost = along.count - 1;
        if (innermost < 0) return;
        for (int s = 0; s < Slots; ++s) offset[s] -= index[innermost] * along.stride[innermost][s];
        index[innermost] = 0;
        step(along, innermost - 1);
    }
    SINTER_INLINE void next(const axis_loops<Slots>& along) { step(along, along.count - 1); }

private:
    /// A step along an axis; where that ends, along the one around it.
    SINTER_INLINE void step(const axis_loops<Slots>& along, int axis) {
        for (int i = axis; i >= 0; --i) {
            for (int s = 0; s < Slots; ++s) offset[s] += along.stride[i][s];
            if (++index[i] < along.size[i]) return;
            for (int s = 0; s < Slots; ++s) offset[s] -= along.size[i] * along.stride[i][s];
            index[i] = 0;
        }
    }
};

}  // namespace sinter::detail
