// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What host kernels share at run time: the walk over rows, the packing of elements that don't lie side by side, the split over
// threads, the start of a call. Nothing here depends on a kernel's type, only on its number of slots: a kernel brings tables
// and the few functions that hold its arithmetic, so that a further kernel compiles little more than its formula.
#pragma once

#include "loops.hpp"
#include "run.hpp"

namespace sinter::detail {

/// Pointers and coordinates of one row (or of a packed block).
template <int Slots>
struct row_pointers {
    const void* pointer[unsigned(Slots)];
    i64 base[unsigned(Slots)];
};

/// Elements of a packed block: a multiple of any width, small enough that all blocks of a kernel stay in the first-level cache.
template <int Slots>
inline constexpr int block_length = Slots <= 4 ? 512 : Slots <= 16 ? 256 : 64;

/// One call on one thread, as the shared loop knows it; a kernel's own context derives from it.
template <int Slots>
struct call_state {
    const bound_call<Slots>& bound;
    const loops<Slots>& along;
    const row_pointers<Slots>* ahead;  ///< the next row, to be fetched meanwhile; null: don't
    void* kept;                        ///< the stash of a row where it isn't in the output; null: it is
};

/// A kernel's tables and functions. Null functions: nothing to do there.
template <int Slots>
struct row_body {
    using call = call_state<Slots>;
    using position = row_pointers<Slots>;

    int operands = 0;                 ///< slots before the first output
    u8 element_size[unsigned(Slots)]{};         ///< bytes; 0: a coordinate
    u8 packed[unsigned(Slots)]{};               ///< slots to pack: operands, then outputs
    int packed_operands = 0, packed_slots = 0;
    u32 may_stream = 0;               ///< bit o: output o may be stored past the caches
    int stash = -1;                   ///< slot of the output that keeps a value between the passes, or whose values a buffer keeps
    bool columns = false;             ///< outputs vary over further inner axes than the lane's

    void (*begin_row)(call&, const position&) = nullptr;  ///< values of the row, reductions among them
    /// `count` whole vectors of outputs; `offset` counts elements from the pointers, `position` from the row's beginning.
    void (*vectors)(const call&, const position&, i64 position, i64 offset, i64 count, u32 streaming) = nullptr;
    void (*end_row)(call&, const position&) = nullptr;    ///< outputs with one element per row
};

/// The tables; functions and the stash are the kernel's. `streams`: its family has stores past the caches.
template <int Slots>
constexpr row_body<Slots> find_row_body(const kernel_view& of, bool streams) {
    row_body<Slots> out;
    out.operands = Slots - of.outputs;
    const bool many_lane_axes = of.lane_axis_count() > 1;
    for (int i = 0, slot = 0; i < of.instances; ++i) {
        if (!of.is_operand(i)) continue;
        const bool is_leaf = of.at[i].kind == node_kind::leaf;
        if (is_leaf) out.element_size[slot] = static_cast<u8>(dtype_size(of.memory_type(i)));
        if (of.where[i] == site::element && (many_lane_axes || (is_leaf && (of.at[i].free & of.vector_bit()) != 0)))
            out.packed[out.packed_operands++] = static_cast<u8>(slot);
        ++slot;
    }
    for (int t = 0; t < of.table_count(); ++t)  // not stepped through, but an output may lie there
        out.element_size[of.operands_before(of.instances) + t] = of.leaf_table[place_of_bit(of.tables, t)].element_size;
    out.packed_slots = out.packed_operands;
    for (int o = 0; o < of.outputs; ++o) {
        out.element_size[out.operands + o] = static_cast<u8>(dtype_size(of.output_type[o]));
        if (!of.stores_elements(o)) continue;
        out.packed[out.packed_slots++] = static_cast<u8>(out.operands + o);
        if (streams) out.may_stream |= u32(1) << o;
    }
    out.columns = of.nest == nest_kind::rows && of.inner != of.inner_lane;
    return out;
}

/// From a row to the next one along the innermost axis.
template <int Slots>
struct row_step {
    i64 bytes[unsigned(Slots)], elements[unsigned(Slots)];
    SINTER_INLINE void set(const u8 (&element_size)[unsigned(Slots)], const axis_loops<Slots>& along) {
        for (int s = 0; s < Slots; ++s) {
            elements[s] = along.count == 0 ? 0 : along.stride[along.count - 1][s];
            bytes[s] = elements[s] * i64(element_size[s]);
        }
    }
    SINTER_INLINE void take(row_pointers<Slots>& to, const row_pointers<Slots>& from) const {
        for (int s = 0; s < Slots; ++s) {
            to.base[s] = from.base[s] + elements[s];
            to.pointer[s] = static_cast<const char*>(from.pointer[s]) + bytes[s];
        }
    }
};

/// `Family` keeps code of different instruction sets apart, and says how wide a vector is.
template <class Family, int Slots>
struct row_loop {
    using body_type = row_body<Slots>;
    using call_type = call_state<Slots>;
    using position_type = row_pointers<Slots>;
    using pack_work = packer<typename shuffles_of<Family>::type>;
    using pack_walk = typename pack_work::walk;
    static constexpr int width = Family::width;
    static constexpr int block = block_length<Slots>;
    static_assert(block % width == 0);

    static SINTER_FORCE_INLINE position_type origin(const bound_call<Slots>& bound) {
        position_type out;
        for (int s = 0; s < Slots; ++s) {
            out.pointer[s] = bound.pointer[s];
            out.base[s] = bound.bound.base[s];
        }
        return out;
    }
    static SINTER_FORCE_INLINE void move(const u8 (&element_size)[unsigned(Slots)], position_type& to, const position_type& from, const i64 (&offset)[unsigned(Slots)]) {
        for (int s = 0; s < Slots; ++s) {
            to.base[s] = from.base[s] + offset[s];
            to.pointer[s] = static_cast<const char*>(from.pointer[s]) + offset[s] * i64(element_size[s]);
        }
    }

    // ------------------------------------------------------------------------------------------------------- packing

    /// Elements of some slots side by side. A block may be packed again for elements `period` further on: what comes again stays.
    struct packed_block {
        alignas(64) unsigned char memory[unsigned(Slots)][unsigned(block * 8 + 64)];
        position_type at;  ///< points to the blocks where a slot is packed, else to the row
    };
    static_assert(pack_work::beyond <= 64);
    /// Whether a slot's elements lie side by side along all lane axes, or as many as are asked for within a run along the last.
    static SINTER_FORCE_INLINE bool is_even(const pack_walk& walk, int count) {
        const int last = walk.axes - 1;
        return walk.stride[last] == 1 && (last == 0 || walk.run(count) == count);
    }
    static SINTER_FORCE_INLINE bool all_even(const body_type& body, const i64 (&stride)[unsigned(Slots)]) {
        bool yes = true;
        for (int k = 0; k < body.packed_slots; ++k) yes = yes && (body.element_size[body.packed[k]] == 0 || stride[body.packed[k]] == 1);
        return yes;
    }
    /// How many elements a fold takes together, `left` at most. Within a run along the last lane axis nearly all slots are even and cost
    /// nothing; a vector that holds elements of two runs is packed by itself, which costs as much as ten to thirty of the others.
    static SINTER_SMALL int next_block(const body_type& body, const call_type& call, i64 position, i64 left) {
        const axis_loops<Slots>& lane = call.along.lane;
        const int last = lane.count - 1, most = left < block ? int(left) : block;
        if (last < 1 || lane.size[last] <= (lane.size[last] % width == 0 ? 16 : 32) * width) return most;
        const i64 run = lane.size[last] - position % lane.size[last];
        if (run < width) return most < width ? most : width;
        const int in_run = int(run < left ? run : left), whole = in_run / width * width;
        if (whole > 0 && all_even(body, lane.stride[last])) return whole;
        return whole > 0 && whole < most ? whole : most;
    }
    /// Elements [position, position + count) of a row. Whole vectors of them are read and stored where they lie, if they lie side by
    /// side, and a coordinate that steps evenly isn't stored. `since`, if not 0, is how many elements before these the block was packed for;
    /// -1: it isn't packed for others. What lies beyond the elements in the last vector is computed on and dropped; zeros keep it finite and
    /// quiet. True: as many elements further on, what is packed comes again.
    static SINTER_NOINLINE bool pack(const body_type& body, const call_type& call, packed_block& to, const position_type& row, i64 position,
                                  int count, i64 since = 0) {
        to.at = row;
        bool again = true;
        const int padded = (count + width - 1) / width * width;
        for (int k = 0; k < body.packed_slots; ++k) {
            const int slot = body.packed[k], size = body.element_size[slot];
            unsigned char* const memory = to.memory[k];
            pack_walk walk;
            walk.begin(call.along.lane, slot, position);
            if (size == 0 && walk.run(count) == count) {
                to.at.base[slot] += walk.offset;
                again = false;
                continue;
            }
            // (What comes again after a part of a run is copied, as if it lay elsewhere.)
            if (padded == count && size != 0 && is_even(walk, count) && (walk.axes == 1 || since < 0 || count % walk.period() != 0)) {
                to.at.pointer[slot] = static_cast<const char*>(row.pointer[slot]) + walk.offset * size;
                again = again && walk.axes == 1;
                continue;
            }
            to.at.pointer[slot] = memory;
            again = again && k < body.packed_operands && size != 0 && count % walk.period() == 0;
            if (k >= body.packed_operands || (since > 0 && since % walk.period() == 0)) continue;
            if (size == 0) {
                pack_work::count_up(reinterpret_cast<i64*>(memory), row.base[slot], walk, padded);
            } else {
                pack_work::gather(memory, row.pointer[slot], size, walk, count);
                if (padded != count) __builtin_memset(memory + count * size, 0, std::size_t(padded - count) * std::size_t(size));
            }
        }
        return again;
    }
    /// On to as many elements as a block holds whose packed slots come again.
    static SINTER_FORCE_INLINE void move_on(const body_type& body, packed_block& block_of_row, int count) {
        for (int k = 0; k < body.packed_slots; ++k) {
            const int slot = body.packed[k];
            if (block_of_row.at.pointer[slot] != block_of_row.memory[k])
                block_of_row.at.pointer[slot] = static_cast<const char*>(block_of_row.at.pointer[slot]) + count * body.element_size[slot];
        }
    }
    static SINTER_NOINLINE void unpack(const body_type& body, const call_type& call, const packed_block& from, const position_type& row, int slot,
                                    i64 position, int count) {
        pack_walk walk;
        walk.begin(call.along.lane, slot, position);
        const int size = body.element_size[slot];
        if (from.at.pointer[slot] != static_cast<const char*>(row.pointer[slot]) + walk.offset * size)
            pack_work::scatter(from.at.pointer[slot], const_cast<void*>(row.pointer[slot]), size, walk, count);
    }
    /// Elements of a block: whole vectors, and, where a slot comes again after fewer elements, a multiple of these if there is one.
    static SINTER_SMALL int find_step(const body_type& body, const call_type& call) {
        for (int k = 0; k < body.packed_operands; ++k) {
            pack_walk walk;
            walk.begin(call.along.lane, body.packed[k], 0);
            const i64 period = walk.period();
            i64 step = period;
            while (step % width != 0 && step <= block) step += period;
            if (period > 1 && step <= block) return block / int(step) * int(step);
        }
        return block;
    }

    // -------------------------------------------------------------------------------------------------------- stores

    /// Elements [begin, stop) of a row by blocks: whole vectors, then the rest.
    static SINTER_NOINLINE void store_packed(const body_type& body, const call_type& call, const position_type& at, const void* kept, i64 begin,
                                          i64 stop) {
        packed_block block_of_row;
        const int most = stop - begin <= block ? block : find_step(body, call);
        i64 since = 0;
        for (i64 position = begin; position < stop; position += since) {
            const i64 left = stop - position;
            // (The rest of few vectors is packed with them.)
            const int count = left >= most ? most : left >= 8 * width ? int(left / width * width) : int(left);
            const bool again = pack(body, call, block_of_row, at, position, count, since);
            if (body.stash >= 0) {
                pack_walk walk;
                walk.begin(call.along.lane, body.stash, position);
                void* const stash = const_cast<void*>(block_of_row.at.pointer[body.stash]);
                if (stash != static_cast<const char*>(at.pointer[body.stash]) + walk.offset * body.element_size[body.stash])
                    pack_work::gather(stash, kept ? kept : at.pointer[body.stash], body.element_size[body.stash], walk, count);
            }
            body.vectors(call, block_of_row.at, position, 0, (count + width - 1) / width, 0);
            for (int k = body.packed_operands; k < body.packed_slots; ++k) unpack(body, call, block_of_row, at, body.packed[k], position, count);
            since = count;
            if (!again || body.stash >= 0) continue;
            for (; position + 2 * count <= stop; position += count) {
                move_on(body, block_of_row, count);
                body.vectors(call, block_of_row.at, position + count, 0, count / width, 0);
            }
        }
    }
    /// The outputs whose elements from `begin` on are aligned for stores past the caches. (A stash that was just written is in the cache.)
    static SINTER_FORCE_INLINE u32 aligned_outputs(const body_type& body, const call_type& call, const position_type& at, i64 begin) {
        u32 all = 0;
        for (int s = body.operands; s < Slots; ++s) {
            const u64 size = body.element_size[s], address = reinterpret_cast<u64>(at.pointer[s]) + u64(begin) * size;
            if (address % (u64(width) * size) == 0) all |= u32(1) << (s - body.operands);
        }
        if (body.stash >= 0 && !call.kept) all &= ~(u32(1) << (body.stash - body.operands));
        return all & body.may_stream;
    }
    /// Whether elements may be computed and stored twice: not where an output holds what is read, an operand or a stash. (Of an operand an
    /// output has all elements or none: what else overlaps was refused.)
    static SINTER_FORCE_INLINE bool may_repeat(const body_type& body, const call_type& call) {
        for (int s = body.operands; s < Slots; ++s)
            for (int i = 0; i < body.operands; ++i)
                if (call.bound.pointer[i] == call.bound.pointer[s] && body.element_size[i] != 0) return false;
        return body.stash < 0 || call.kept;
    }
    /// Whole vectors from `begin` on, and one that overlaps the last of them if elements are left before `stop`: at least a vector of elements.
    static SINTER_FORCE_INLINE void store_plainly(const body_type& body, const call_type& call, const position_type& at, i64 begin, i64 stop) {
        const i64 vectors = (stop - begin) / width;
        body.vectors(call, at, begin, begin, vectors, 0);
        if (begin + vectors * width < stop) body.vectors(call, at, stop - width, stop - width, 1, 0);
    }
    /// How many elements after `begin` an output starts a vector whose store is aligned, so that it doesn't touch two cache lines: less than
    /// a vector; 0 where nothing is gained. The first output whose vectors are so long decides: others mostly lie as it does.
    static SINTER_FORCE_INLINE i64 elements_to_aligned(const body_type& body, const position_type& at, i64 begin) {
        for (int k = body.packed_operands; k < body.packed_slots; ++k) {
            const int slot = body.packed[k];
            const u64 size = body.element_size[slot], vector = u64(width) * size;
            if (vector < 32) continue;
            const u64 beyond = (reinterpret_cast<u64>(at.pointer[slot]) + u64(begin) * size) % vector;
            return beyond == 0 || beyond % size != 0 ? 0 : i64((vector - beyond) / size);
        }
        return 0;
    }
    /// Vectors of a row from which on its stores are worth aligning: the vector before them is another call. (Rows of 8 to 31 vectors take up to
    /// half as long again with it, of 64 as long.)
    static constexpr i64 aligned_vectors = 64;
    /// At least a vector of elements, where they may be computed twice. A row of many vectors continues, after its first, where stores are
    /// aligned: large blocks of most allocators begin 16 bytes after a cache line, and a store to two lines costs two.
    /// Stores past the caches go to whole lines of the first output that has such stores, and no others do: a line that both kinds share
    /// would be read from memory.
    static SINTER_FORCE_INLINE void store_overlapping(const body_type& body, const call_type& call, const position_type& at, i64 begin, i64 stop) {
        i64 first = begin, last = begin;
        if (call.bound.streams && body.may_stream != 0) {
            const int slot = body.operands + __builtin_ctz(body.may_stream);
            const i64 size = body.element_size[slot], line = width * size < 64 ? 64 / size : width;
            const i64 beyond = i64((reinterpret_cast<u64>(at.pointer[slot]) + u64(begin * size)) % u64(line * size));
            // Shorter rows aren't worth two ends; the ends take less than three lines.
            if (beyond % size == 0 && stop - begin >= (16 * width > 3 * line ? 16 * width : 3 * line)) {
                const i64 step = (line * size - beyond) % (line * size) / size;
                first = step == 0 || step >= width ? begin + step : begin + step + line;
                last = first + (stop - first) / line * line;
                if (last < stop && stop - last < width) last -= line;
            }
        } else if (stop - begin >= aligned_vectors * width) {
            if (const i64 step = elements_to_aligned(body, at, begin); step != 0) {
                body.vectors(call, at, begin, begin, 1, 0);
                begin += step;
            }
            store_plainly(body, call, at, begin, stop);
            return;
        }
        if (begin < first) store_plainly(body, call, at, begin, first);
        if (first < last) body.vectors(call, at, first, first, (last - first) / width, aligned_outputs(body, call, at, first));
        if (last < stop) store_plainly(body, call, at, last, stop);
    }
    /// Elements [begin, stop) of a row. Where an element can't be computed twice, or the row is shorter than a vector, what is left of it
    /// beyond whole vectors is packed, which costs as much as ten of them.
    static SINTER_FORCE_INLINE void store_run(const body_type& body, call_type& call, const position_type& at, i64 begin, i64 stop, bool repeats) {
        i64 position = begin;
        if (!call.bound.packs && stop - begin >= width) {
            if (repeats) {
                store_overlapping(body, call, at, begin, stop);
                position = stop;
            } else {
                const i64 vectors = (stop - begin) / width;
                body.vectors(call, at, begin, begin, vectors, call.bound.streams ? aligned_outputs(body, call, at, begin) : 0);
                position += vectors * width;
            }
        }
        const void* const kept = call.kept;
        call.ahead = nullptr;  // fetched as far as it goes in whole vectors
        call.kept = nullptr;   // packed with the rest
        if (position < stop) store_packed(body, call, at, kept, position, stop);
    }

    /// Rows of stashes up to so many bytes are kept in the cache where the output is stored past it.
    static constexpr int kept_bytes = 1 << 16;
    static SINTER_NOINLINE void run_keeping(const body_type& body, call_type& call, i64 first_row, i64 stop_row, i64 begin, i64 stop) {
        alignas(64) unsigned char buffer[kept_bytes];
        run(body, call, first_row, stop_row, begin, stop, buffer);
    }
    static SINTER_FORCE_INLINE void run(const body_type& body, call_type& call, i64 first_row, i64 stop_row, i64 begin, i64 stop) {
        if (body.stash >= 0 && call.bound.streams && !call.bound.packs && !body.columns &&
            call.along.length * i64(body.element_size[body.stash]) <= kept_bytes)
            run_keeping(body, call, first_row, stop_row, begin, stop);
        else
            run(body, call, first_row, stop_row, begin, stop, nullptr);
    }
    /// Rows [first_row, stop_row), and of each row's outputs the elements [begin, stop) (all of them when there are folds).
    static SINTER_NOINLINE void run(const body_type& body, call_type& call, i64 first_row, i64 stop_row, i64 begin, i64 stop, void* kept) {
        const position_type start = origin(call.bound);
        odometer<Slots> row;
        row.set(call.along.outer, first_row);
        row_step<Slots> step;
        step.set(body.element_size, call.along.outer);
        call.kept = kept;
        const bool repeats = may_repeat(body, call);
        // Two places in turn: to copy one that was just written takes longer than to read it.
        position_type places[2];
        move(body.element_size, places[0], start, row.offset);
        i64 left = row.left(call.along.outer);  // rows before the innermost axis begins anew
        for (i64 r = first_row; r < stop_row; ++r) {
            position_type& at = places[(r - first_row) & 1];
            position_type& next = places[(r - first_row + 1) & 1];
            if (--left > 0) {
                step.take(next, at);
            } else {
                row.wrap(call.along.outer);
                left = row.left(call.along.outer);
                move(body.element_size, next, start, row.offset);
            }
            call.ahead = call.bound.prefetches && r + 1 < stop_row ? &next : nullptr;
            call.kept = kept;
            if (body.begin_row) {
                const void* const output = kept ? at.pointer[body.stash] : nullptr;
                if (kept) at.pointer[body.stash] = kept;
                body.begin_row(call, at);
                if (kept) at.pointer[body.stash] = output;
            }
            if (body.vectors) {
                if (body.columns) {
                    odometer<Slots> column;
                    column.set(call.along.column, 0);
                    for (i64 c = 0; c < call.along.columns; ++c) {
                        position_type here;
                        move(body.element_size, here, at, column.offset);
                        store_run(body, call, here, begin, stop, repeats);
                        column.next(call.along.column);
                    }
                } else {
                    store_run(body, call, at, begin, stop, repeats);
                }
            }
            if (body.end_row) body.end_row(call, at);
        }
    }
};

// ------------------------------------------------------------------------------------------------------------ the call

/// What starting a call asks of a kernel. `need` is the lane stride that a slot must have for the fast variant: 0, 1, or -1 for any.
template <int Slots>
struct launch_facts {
    using run_type = void (*)(const void* assigned, const bound_call<Slots>&, const loops<Slots>&, i64 first_row, i64 stop_row, i64 begin, i64 stop);

    binding_facts<Slots> operands{};  ///< (with the rest in one object: each object of a kernel's has a name that spells its formula)
    loop_facts<Slots> axes{};
    signed char need[unsigned(Slots)]{};
    bool always_fast = false;
    bool one_lane_axis = true;       ///< at most
    bool columns = false;            ///< reductions over outer axes
    bool splits_rows = true, splits_lanes = false;
    i64 output_bytes = 0, bytes = 0;  ///< per element of the nest: of outputs, of all
    run_type fast = nullptr, slow = nullptr;
};

template <class Family, int Slots>
struct host_call {
    using facts_type = launch_facts<Slots>;
    using binding_type = binding<Slots>;

    static SINTER_FORCE_INLINE bool is_fast(const facts_type& facts, const loops<Slots>& along) {
        if (along.lane.count > 1) return false;
        if (facts.always_fast || along.lane.count == 0) return true;
        for (int s = 0; s < Slots; ++s)
            if (facts.need[s] >= 0 && along.lane.stride[0][s] != facts.need[s]) return false;
        return true;
    }
    /// Whether so many bytes per element exceed what is worth keeping in the caches.
    static SINTER_FORCE_INLINE bool exceeds_caches(const loops<Slots>& along, i64 bytes) {
        if constexpr (requires { Family::streaming_threshold; })
            return bytes * along.rows * along.columns * along.length >= Family::streaming_threshold;
        else
            return false;
    }
    /// Other threads must see streamed stores.
    static SINTER_FORCE_INLINE void finish_streaming(const bound_call<Slots>& bound) {
        if constexpr (requires { Family::finish_streaming(); })
            if (bound.streams) Family::finish_streaming();
    }
    /// Rows are split over threads when there are enough of them; else the elements of a row, where each is independent of the others.
    template <class Hook>
    static SINTER_NOINLINE void run(const facts_type& facts, const void* assigned, const binding_type& binding_of_call, const void* const* pointer,
                                    const loops<Slots>& along, const Hook& hook, int threads) {
        const bool fast = is_fast(facts, along);
        const bound_call<Slots> bound{binding_of_call, pointer, !fast, fast && exceeds_caches(along, facts.bytes),
                                      exceeds_caches(along, facts.output_bytes)};
        const typename facts_type::run_type body = fast ? facts.fast : facts.slow;
        const bool rows = facts.splits_rows && along.rows >= threads;
        const bool lanes = facts.splits_lanes && along.rows < threads && along.length >= 256 * i64(threads);
        if (threads <= 1 || (!rows && !lanes)) {
            const float_environment exact;
            body(assigned, bound, along, 0, along.rows, 0, along.length);
            finish_streaming(bound);
            return;
        }
        const i64 whole = rows ? along.rows : along.length;
        const i64 grain = rows ? 1 : 128;
        const i64 blocks = (whole + grain - 1) / grain;
        hook(threads, [&](int part) {
            const i64 begin = blocks * part / threads * grain;
            i64 stop = blocks * (part + 1) / threads * grain;
            if (stop > whole) stop = whole;
            if (begin >= stop) return;
            const float_environment exact;
            if (rows)
                body(assigned, bound, along, begin, stop, 0, along.length);
            else
                body(assigned, bound, along, 0, along.rows, begin, stop);
            finish_streaming(bound);
        });
    }
    /// Checks a call, makes its loops and runs them.
    template <class Hook>
    static SINTER_NOINLINE status launch(const facts_type& facts, const slot_maps& maps, const slot_state* given, const void* assigned,
                                         const Hook& hook, int threads) {
        binding_type bound;
        const void* pointer[unsigned(Slots)];
        const status checked = binder<Family, Slots>::bind(facts.operands, maps, given, bound, pointer);
        if (!checked.ok() || bound.empty_output) return checked;
        loops<Slots> along;
        loop_maker<Family, Slots>::make(facts.axes, bound, along);
        if (facts.columns && along.columns > i64(order::column_segment) << order::stack_depth_of_strips)
            return status{error::size_overflow, -1, -1, i64(order::column_segment) << order::stack_depth_of_strips, along.columns};
        run(facts, assigned, bound, pointer, along, hook, threads);
        return {};
    }
};

}  // namespace sinter::detail
