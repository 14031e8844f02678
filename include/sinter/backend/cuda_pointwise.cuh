// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointwise nests on CUDA: a thread takes packs of neighbouring elements, all loads of a thread before its arithmetic. Threads of
// a block are arranged (across, rows), so that short rows share a block and no thread divides. Where costly values depend on the lane
// alone (the scale of a normalised channel), a block computes those once, into shared memory, and its threads walk down the rows. Outputs that
// are the interleaved components of one tensor (x, y, z of points) are put together in shared memory and stored as whole packs.
#pragma once

#include "cuda_call.cuh"
#include "cuda_rounding_test.cuh"

namespace sinter::detail::device {

template <class Kernel>
struct pointwise_facts : facts<Kernel> {
    using work = facts<Kernel>;
    /// Does an element's value depend on the lane alone?
    static constexpr bool is_of_column(int i) { return Kernel::where[i] == site::element && (Kernel::table.at[i].free & ~work::lane_bits) == 0; }
    /// Instructions that such values of one column take.
    static constexpr int find_column_cost() {
        int cost = 0;
        for (int i = 0; i < Kernel::instances; ++i)
            if (column_values::test(i)) cost += Kernel::cost_of(i);
        return cost;
    }
    static constexpr bool find_walks() {
        if (Kernel::nest != nest_kind::pointwise || Kernel::axes < 2) return false;
        int bytes = 0;
        bool others = false;
        for (int i = 0; i < Kernel::instances; ++i) {
            if (column_values::test(i)) bytes += dtype_size(Kernel::table.at[i].type);
            others = others || row_leaves::test(i);
        }
        return others && work::pack * bytes <= 256 && find_column_cost() >= tuning_of<Kernel>::pointwise::column_cost;
    }
    /// Rows of a thread, of which a block has `down` side by side: the block has at least as many as a column's values take instructions.
    static constexpr i64 rows_of_thread(i64 down) {
        constexpr i64 least = tuning_of<Kernel>::pointwise::rows_of_block, cost = find_column_cost(), at_once = tuning_of<Kernel>::pointwise::rows_in_flight;
        const i64 times = ((cost > least ? cost : least) + down * at_once - 1) / (down * at_once);
        return times * at_once;
    }
    /// Blocks of that walk on a multiprocessor: its registers hold the rows in flight, what a row takes of its columns, and room to compute.
    static constexpr int find_walking_blocks() {
        constexpr int room = 24, more_room = 16, many_instructions = 16;
        int registers = room, cost = 0;
        for (int i = 0; i < Kernel::instances; ++i) {
            if (!Kernel::template needed<work::last>[i] || Kernel::where[i] != site::element) continue;
            if (is_of_column(i))
                registers += is_read_by_rows(i) ? work::pack * dtype_size(Kernel::table.at[i].type) / 4 : 0;
            else if (work::is_element_leaf(i))
                registers += tuning_of<Kernel>::pointwise::rows_in_flight * work::pack * dtype_size(Kernel::view.memory_type(i)) / 4;
            else
                cost += Kernel::cost_of(i);
        }
        if (cost > many_instructions) registers += more_room;
        const int fitting = 65536 / (tuning_of<Kernel>::pointwise::threads * registers);
        return fitting < 1 ? 1 : fitting < tuning_of<Kernel>::pointwise::walking_blocks ? fitting : tuning_of<Kernel>::pointwise::walking_blocks;
    }
    static constexpr bool is_read_by_rows(int column) {
        for (int i = 0; i < Kernel::instances; ++i) {
            if (!Kernel::template needed<work::last>[i] || Kernel::where[i] != site::element || is_of_column(i)) continue;
            for (int a = 0; a < Kernel::table.at[i].arity; ++a)
                if (Kernel::table.at[i].argument[a] == column) return true;
        }
        for (int o = 0; o < Kernel::outputs; ++o)
            if (Kernel::table.output[o] == column) return true;
        return false;
    }
    struct column_leaves {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return work::is_element_leaf(i) && is_of_column(i); }
    };
    struct row_leaves {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return work::is_element_leaf(i) && !is_of_column(i); }
    };
    struct column_values {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return Kernel::template needed<work::last>[i] && is_of_column(i); }
    };
    struct other_values {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return Kernel::template needed<work::last>[i] && !is_of_column(i); }
    };
    static constexpr bool walks = find_walks();
    static constexpr int walking_blocks = find_walking_blocks();
};

/// Outputs that may be interleaved: all of one type and without a known step of 1. A warp stores its packs of all of them together.
template <class Kernel>
struct interleave_facts {
    using work = facts<Kernel>;
    template <int Output>
    using view = nth_of_outputs<typename Kernel::assignment_type, Output>;
    template <int... Output>
    static constexpr bool alike(indices<Output...>) {
        return ((Kernel::stores_elements(Output) && !view<Output>::contiguous && is_same<typename view<Output>::element, typename view<0>::element>) && ...);
    }
    static constexpr int bytes_of_thread = work::pack * Kernel::outputs * dtype_size(Kernel::output_type[0]);
    static constexpr bool possible = Kernel::nest == nest_kind::pointwise && Kernel::outputs >= 2 && alike(make_indices<Kernel::outputs>{}) &&
                                     bytes_of_thread % 16 == 0 && bytes_of_thread <= 128;
    static constexpr u64 shared_bytes = possible ? u64(tuning_of<Kernel>::pointwise::threads) * bytes_of_thread : 0;

    /// A call's outputs lie side by side, component by component, and every pack of them together is aligned.
    static bool applies(const parameters<Kernel>& given, int across) {
        constexpr int first = slots<Kernel>::of_output(0), size = dtype_size(Kernel::output_type[0]);
        u64 places = reinterpret_cast<u64>(given.pointer[first]);
        for (int o = 0; o < Kernel::outputs; ++o) {
            if (given.lane_step[first + o] != Kernel::outputs || given.pointer[first + o] != static_cast<const char*>(given.pointer[first]) + o * size) return false;
            for (int a = 0; a < given.outer_axes; ++a) {
                if (given.outer_step[a][first + o] != given.outer_step[a][first]) return false;
                places |= u64(given.outer_step[a][first]) * size;
            }
        }
        return across % 32 == 0 && places % 16 == 0;
    }
    /// All 32 threads of a warp, whose packs are neighbours; `to`: where those of the first begin. `number`: the warp's in the block.
    template <int... Output>
    static __device__ __forceinline__ void store(const typename work::output_packs& from, char* to, unsigned char* shared, int number, indices<Output...>) {
        constexpr int words = bytes_of_thread / 16;
        struct alignas(16) mixed {
            typename view<0>::element at[work::pack * Kernel::outputs];
        } mine;
        (mix<Output>(from, mine), ...);
        uint4* const area = reinterpret_cast<uint4*>(shared) + number * 32 * words;
        const int thread = int(threadIdx.x) & 31;
        __syncwarp();
#pragma unroll
        for (int i = 0; i < words; ++i) __builtin_memcpy(&area[thread * words + i], reinterpret_cast<const char*>(&mine) + 16 * i, 16);
        __syncwarp();
#pragma unroll
        for (int i = 0; i < words; ++i) store_16(to + 16 * (32 * i + thread), area[32 * i + thread]);
    }
    template <int Output, class Mixed>
    static __device__ __forceinline__ void mix(const typename work::output_packs& from, Mixed& to) {
        const auto& pack = static_cast<const slot<Output, typename work::template output_pack<Output>>&>(from).value;
#pragma unroll
        for (int j = 0; j < work::pack; ++j) to.at[j * Kernel::outputs + Output] = pack.at[j];
    }
};

/// Whether all of a call's operands, or outputs, are read or written in whole aligned packs: nothing is tested for each then, and a
/// thread's accesses follow each other without a branch.
template <class Kernel>
struct whole_packs {
    using slot_set = typename facts<Kernel>::slot_set;
    static constexpr slot_set find_outputs() {
        slot_set out;
        for (int o = 0; o < Kernel::outputs; ++o)
            if (Kernel::stores_elements(o)) out.add(slots<Kernel>::of_output(o));
        return out;
    }
    static constexpr slot_set operands = facts<Kernel>::read_in_packs, outputs = find_outputs();
};

/// One axis, and it is the lane: one row, and no offsets.
template <class Kernel>
inline constexpr bool is_line = Kernel::axes <= 1;

/// `Pack`: elements of a pack; 0: what suits memory best.
template <class Kernel, int Pack = 0>
struct pointwise_worker {
    using work = facts<Kernel, Pack>;
    using rows = typename work::rows;
    static constexpr int find_bytes() {
        int bytes = 0;
        for (int i = 0; i < Kernel::instances; ++i)
            if (work::is_element_leaf(i)) bytes += work::pack * dtype_size(Kernel::view.memory_type(i));
        return bytes;
    }
    static constexpr int bytes = find_bytes();  ///< of the packs that are read for one pack of outputs
    static constexpr int packs = tuning_of<Kernel>::pointwise::packs * bytes <= tuning_of<Kernel>::pointwise::packs_bytes ? tuning_of<Kernel>::pointwise::packs : 1;
    static constexpr int least_blocks = rounding_facts<Kernel>::possible ? tuning_of<Kernel>::pointwise::least_blocks_tested : packs * bytes <= 64 ? tuning_of<Kernel>::pointwise::least_blocks : 1;
    static constexpr int pack = work::pack, count = work::count;
    using offsets = i64[count];

    /// Offsets of a row. Narrow: two instructions a slot and loop.
    static __device__ __forceinline__ void place(const parameters<Kernel>& in, i64 row, offsets& offset) {
        if (!is_line<Kernel> && !in.narrow) {
            work::offsets_of_row(in, row, offset);
            return;
        }
#pragma unroll
        for (int s = 0; s < count; ++s) offset[s] = 0;
        if (is_line<Kernel>) return;
        u32 index = u32(row);
#pragma unroll
        for (int a = Kernel::axes - 1; a > 0; --a) {
            if (a >= in.outer_axes) continue;
            const u32 whole = divide_short(index, in.magic[a], in.magic_shift[a]);
            advance(in, a, int(index - whole * u32(in.outer_size[a])), offset);
            index = whole;
        }
        if (Kernel::axes > 0 && in.outer_axes > 0) advance(in, 0, int(index), offset);
    }
    static __device__ __forceinline__ void advance(const parameters<Kernel>& in, int axis, int index, offsets& offset) {
#pragma unroll
        for (int s = 0; s < count; ++s) offset[s] = add_product(offset[s], index, int(in.outer_step[axis][s]));
    }
    template <int... Instance>
    static __device__ __forceinline__ void load_whole_packs(const parameters<Kernel>& in, typename work::operand_packs& to, const offsets& offset, i64 position,
                                                            indices<Instance...>) {
        (load_one(in, static_cast<typename work::template pack_slot<Instance>&>(to).value,
                  static_cast<const typename rows::template storage_of<Instance>*>(in.pointer[slots<Kernel>::template place<Instance>]) +
                      offset[slots<Kernel>::template place<Instance>] + position), ...);
    }
    /// (Where a rounding test is made, all registers are taken.)
    template <class Values>
    static __device__ __forceinline__ void load_one(const parameters<Kernel>& in, Values& to, const void* from) {
        if constexpr (rounding_facts<Kernel>::possible)
            load_whole(to, from);
        else
            work::load_operand(in, to, from);
    }
    template <int... Output>
    static __device__ __forceinline__ void store_whole_packs(const parameters<Kernel>& in, const typename work::output_packs& from, const offsets& offset, i64 position,
                                                             indices<Output...>) {
        (store_whole(static_cast<typename rows::template output_storage<Output>*>(const_cast<void*>(in.pointer[slots<Kernel>::of_output(0) + Output])) +
                         offset[slots<Kernel>::of_output(0) + Output] + position,
                     static_cast<const slot<Output, typename work::template output_pack<Output>>&>(from).value), ...);
    }
    template <class List>
    static __device__ __forceinline__ void results_of(const typename work::common& around, const typename work::operand_packs& loaded, typename work::output_packs& to,
                                                      i64 position, List outputs) {
        if constexpr (rounding_facts<Kernel>::possible && Pack == 0)
            rounding_test<Kernel>::results_of(around, loaded, to, position, outputs);
        else
            work::results_of(around, loaded, to, position, outputs);
    }
};

// Each kernel writes out the values of the call and of the row. (As one struct with a constructor nvcc makes 16 to 64 instructions more a kernel of it.)

/// `packs`, at most the tuning's, are what a thread takes of a row.
template <class Kernel>
__global__ void __launch_bounds__(tuning_of<Kernel>::pointwise::threads, pointwise_worker<Kernel>::least_blocks) run_pointwise(const __grid_constant__ parameters<Kernel> in) {
    await_stream();
    using worker = pointwise_worker<Kernel>;
    using work = typename worker::work;
    using rows = typename work::rows;
    using loads = selected<typename work::element_leaves>;
    using stores = selected<element_outputs<Kernel>>;
    constexpr int packs = worker::packs, pack = work::pack;
    const i64 first = i64(u64(blockIdx.x) * (u32(in.packs) * blockDim.x) + threadIdx.x) * pack;
    const i64 step = in.packs > 1 ? i64(blockDim.x) * pack : in.length;  // with one pack the next lies beyond the row
    const i64 past = in.length - first;
    if (past <= 0) return;
    // All packs of the thread that begin within the row are whole: then nothing is tested for each.
    const bool inside = in.even || (past >= pack && (in.packs == 1 || past >= (packs - 1) * step + pack));
    const bool loads_whole = inside && in.loads_whole, stores_whole = inside && in.stores_whole;
    typename rows::once_values once;
    typename rows::row_values row_of_thread;
    for (i64 row = is_line<Kernel> ? 0 : i64(blockIdx.y) * blockDim.y + threadIdx.y; is_line<Kernel> || row < in.rows; row += i64(gridDim.y) * blockDim.y) {
        i64 offset[work::count];
        worker::place(in, row, offset);
        typename work::operand_packs loaded[packs];
        if (loads_whole) {
            worker::load_whole_packs(in, loaded[0], offset, first, loads{});
#pragma unroll
            for (int p = 1; p < packs; ++p)
                if (p * step < past) worker::load_whole_packs(in, loaded[p], offset, first + p * step, loads{});
        } else {
#pragma unroll
            for (int p = 0; p < packs; ++p) work::load(in, loaded[p], offset, first + p * step, past - p * step, loads{});
        }
        const typename work::common around{in, once, row_of_thread, offset};
        const typename work::row_frame frame{around};
        work::eval::fill(once, frame, selected<at_place<Kernel, site::once>>{});
        work::eval::fill(row_of_thread, frame, selected<rows_after<Kernel, 0>>{});
#pragma unroll
        for (int p = 0; p < packs; ++p) {
            const i64 position = first + p * step;
            if (p > 0 && p * step >= past) break;
            typename work::output_packs results;
            worker::results_of(around, loaded[p], results, position, stores{});
            if constexpr (interleave_facts<Kernel>::possible) {
                using mixed = interleave_facts<Kernel>;
                extern __shared__ __align__(16) unsigned char shared_memory[];
                constexpr int slot = slots<Kernel>::of_output(0), size = dtype_size(Kernel::output_type[0]);
                const i64 begin = position - (threadIdx.x & 31) * pack;
                if (in.interleaved && begin + 32 * pack <= in.length) {
                    mixed::store(results, static_cast<char*>(const_cast<void*>(in.pointer[slot])) + (offset[slot] + begin * Kernel::outputs) * size, shared_memory,
                                 int(threadIdx.y * blockDim.x + threadIdx.x) / 32, make_indices<Kernel::outputs>{});
                    continue;
                }
            }
            if (stores_whole)
                worker::store_whole_packs(in, results, offset, position, stores{});
            else
                work::store_packs(in, results, offset, position, past - p * step, stores{});
        }
        if (first == 0) work::store_row(frame, selected<row_outputs<Kernel>>{});
        if constexpr (is_line<Kernel>) return;
    }
}

/// Calls all of whose threads have all their packs, and those whole, along one loop of rows at most: no test, no division. Formulas that are
/// bound by their instructions feel it: those of an instruction or more for each byte that they move. The others would only be compiled twice.
template <class Kernel>
struct even_packs {
    using work = pointwise_facts<Kernel>;
    static constexpr bool find_pays() {
        constexpr int code_cost = 4;  // to decode one of 8 bits, or to make one
        int cost = 0, bytes = 0;
        for (int i = 0; i < Kernel::instances; ++i) {
            if (!Kernel::template needed<work::last>[i] || Kernel::where[i] != site::element) continue;
            cost += Kernel::cost_of(i);
            const int size = work::is_element_leaf(i) ? dtype_size(Kernel::view.memory_type(i)) : 0;
            bytes += size;
            cost += size == 1 ? code_cost : 0;
        }
        for (int o = 0; o < Kernel::outputs; ++o) {
            const int size = dtype_size(Kernel::output_type[o]);
            bytes += size;
            cost += size == 1 ? code_cost : 0;
        }
        return cost >= bytes;
    }
    static constexpr bool possible = Kernel::nest == nest_kind::pointwise && !interleave_facts<Kernel>::possible && !pointwise_facts<Kernel>::walks && find_pays();
    static constexpr int find_packs() {
        int packs = rounding_facts<Kernel>::possible ? tuning_of<Kernel>::pointwise::even_packs_tested : tuning_of<Kernel>::pointwise::even_packs;
        while (packs > 1 && packs * pointwise_worker<Kernel>::bytes > tuning_of<Kernel>::pointwise::packs_bytes) packs /= 2;
        return packs;
    }
    static constexpr int packs = find_packs();  ///< of a thread
    static bool applies(const parameters<Kernel>& given, i64 vectors, i64 across, i64 down) {
        return given.loads_whole && given.stores_whole && given.even && vectors % (across * packs) == 0 && given.outer_axes <= 1 && (is_line<Kernel> || given.narrow) && down <= 65535;
    }
};
template <class Kernel>
__global__ void __launch_bounds__(tuning_of<Kernel>::pointwise::threads, pointwise_worker<Kernel>::least_blocks) run_even_packs(const __grid_constant__ parameters<Kernel> in) {
    await_stream();
    using worker = pointwise_worker<Kernel>;
    using work = typename worker::work;
    using stores = selected<element_outputs<Kernel>>;
    constexpr int packs = even_packs<Kernel>::packs, pack = work::pack;
    const u32 row = is_line<Kernel> ? 0 : blockIdx.y * blockDim.y + threadIdx.y;
    if (!is_line<Kernel> && row >= u32(in.rows)) return;
    const i64 first = i64(u64(blockIdx.x) * (packs * blockDim.x) + threadIdx.x) * pack;
    const u32 step = blockDim.x * pack;
    i64 offset[work::count];
#pragma unroll
    for (int s = 0; s < work::count; ++s) offset[s] = is_line<Kernel> || in.outer_axes == 0 ? 0 : i64(int(row)) * int(in.outer_step[0][s]);
    typename work::operand_packs loaded[packs];
#pragma unroll
    for (int p = 0; p < packs; ++p) worker::load_whole_packs(in, loaded[p], offset, first + p * step, selected<typename work::element_leaves>{});
    typename work::rows::once_values once;
    typename work::rows::row_values row_of_thread;
    const typename work::common around{in, once, row_of_thread, offset};
    const typename work::row_frame frame{around};
    work::eval::fill(once, frame, selected<at_place<Kernel, site::once>>{});
    work::eval::fill(row_of_thread, frame, selected<rows_after<Kernel, 0>>{});
#pragma unroll
    for (int p = 0; p < packs; ++p) {
        typename work::output_packs results;
        worker::results_of(around, loaded[p], results, first + p * step, stores{});
        worker::store_whole_packs(in, results, offset, first + p * step, stores{});
    }
    if (first == 0) work::store_row(frame, selected<row_outputs<Kernel>>{});
}

/// Calls whose rows are whole packs, of formulas whose operands repeat along some axes and don't along others (angles of positions, for all
/// heads): a thread has one pack of each of them, of which few bytes come from memory, so that it takes the packs of neighbouring rows. They
/// lie along one axis: the place of the first one is worked out, and no other's.
template <class Kernel>
struct even_rows {
    using worker = pointwise_worker<Kernel>;
    static constexpr int wanted = tuning_of<Kernel>::pointwise::packs;
    static constexpr bool possible = Kernel::nest == nest_kind::pointwise && !is_line<Kernel> && !pointwise_facts<Kernel>::walks && !even_packs<Kernel>::possible &&
                                     worker::packs < wanted && wanted * worker::pack * worker::work::streamed_operand_bytes <= tuning_of<Kernel>::pointwise::packs_bytes;
    static constexpr int rows = possible ? wanted : 1;  ///< of a thread
    static bool applies(const parameters<Kernel>& given, i64 down) {
        return given.loads_whole && given.stores_whole && given.even && given.narrow && !given.interleaved && given.packs == 1 && given.outer_axes > 0 &&
               given.outer_size[given.outer_axes - 1] % rows == 0 && down <= i64(rows) * 65535;
    }
};
template <class Kernel>
__global__ void __launch_bounds__(tuning_of<Kernel>::pointwise::threads, pointwise_worker<Kernel>::least_blocks) run_even_rows(const __grid_constant__ parameters<Kernel> in) {
    await_stream();
    using worker = pointwise_worker<Kernel>;
    using work = typename worker::work;
    using stores = selected<element_outputs<Kernel>>;
    constexpr int rows = even_rows<Kernel>::rows;
    const i64 first = i64(u64(blockIdx.x) * blockDim.x + threadIdx.x) * work::pack;
    const u32 row = (blockIdx.y * blockDim.y + threadIdx.y) * rows;
    if (first >= in.length || row >= u32(in.rows)) return;
    i64 offset[rows][work::count];
    worker::place(in, row, offset[0]);
    typename work::operand_packs loaded[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
        for (int s = 0; r > 0 && s < work::count; ++s) offset[r][s] = offset[r - 1][s] + in.outer_step[in.outer_axes - 1][s];
        worker::load_whole_packs(in, loaded[r], offset[r], first, selected<typename work::element_leaves>{});
    }
    typename work::rows::once_values once;
    typename work::rows::row_values row_of_thread;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const typename work::common around{in, once, row_of_thread, offset[r]};
        const typename work::row_frame frame{around};
        if (r == 0) work::eval::fill(once, frame, selected<at_place<Kernel, site::once>>{});
        work::eval::fill(row_of_thread, frame, selected<rows_after<Kernel, 0>>{});
        typename work::output_packs results;
        worker::results_of(around, loaded[r], results, first, stores{});
        worker::store_whole_packs(in, results, offset[r], first, stores{});
        if (first == 0) work::store_row(frame, selected<row_outputs<Kernel>>{});
    }
}

/// Codes of 8 bits where all together don't fill the card: what counts is how long a thread takes, and it takes four. For calls of whole
/// packs; the rest goes to run_pointwise.
template <class Kernel>
struct short_packs {
    static constexpr int pack = 4;
    static constexpr bool possible = Kernel::nest == nest_kind::pointwise && facts<Kernel>::pack == 16;
};
template <class Kernel>
__global__ void __launch_bounds__(tuning_of<Kernel>::pointwise::small_threads) run_short_packs(const __grid_constant__ parameters<Kernel> in) {
    await_stream();
    using worker = pointwise_worker<Kernel, short_packs<Kernel>::pack>;
    using work = typename worker::work;
    const i64 position = i64(blockIdx.x * blockDim.x + threadIdx.x) * work::pack, row = is_line<Kernel> ? 0 : i64(blockIdx.y) * blockDim.y + threadIdx.y;
    if (position >= in.length || (!is_line<Kernel> && row >= in.rows)) return;
    i64 offset[work::count];
    worker::place(in, row, offset);
    typename work::operand_packs loaded;
    worker::load_whole_packs(in, loaded, offset, position, selected<typename work::element_leaves>{});
    typename work::rows::once_values once;
    typename work::rows::row_values row_of_thread;
    const typename work::common around{in, once, row_of_thread, offset};
    const typename work::row_frame frame{around};
    work::eval::fill(once, frame, selected<at_place<Kernel, site::once>>{});
    work::eval::fill(row_of_thread, frame, selected<rows_after<Kernel, 0>>{});
    typename work::output_packs results;
    worker::results_of(around, loaded, results, position, selected<element_outputs<Kernel>>{});
    worker::store_whole_packs(in, results, offset, position, selected<element_outputs<Kernel>>{});
    if (position == 0) work::store_row(frame, selected<row_outputs<Kernel>>{});
}

/// A pack of columns a thread, and rows down the block. What rows need of a column lies in shared memory, computed once for all rows of the
/// block: each of its threads does some columns, while the rows that it takes first are on their way.
template <class Kernel>
struct column_walk {
    using facts_type = pointwise_facts<Kernel>;
    using work = typename facts_type::work;
    using rows_of_kernel = typename work::rows;
    using values_of_pass = typename rows_of_kernel::template pass_values<work::last>;
    using row_leaves = selected<typename facts_type::row_leaves>;
    using stores = selected<element_outputs<Kernel>>;
    static constexpr int pack = work::pack;
    using offsets = i64[work::count];

    // ---- what lies in shared memory: of each instance that rows read, the values of the block's columns
    struct read_by_rows {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return facts_type::column_values::test(i) && facts_type::is_read_by_rows(i); }
    };
    using shared_list = selected<read_by_rows>;
    template <int Instance>
    using value_of = instance_value<Kernel, family, Instance>;
    template <int Instance>
    struct alignas(pack * sizeof(value_of<Instance>) < 16 ? pack * sizeof(value_of<Instance>) : 16) values_of_pack {
        value_of<Instance> at[pack];
    };
    template <int... Instance>
    static constexpr int sum_of_sizes(int before, indices<Instance...>) {
        return (0 + ... + (Instance < before ? int(sizeof(value_of<Instance>)) : 0));
    }
    /// Bytes of a column: of all its values, and of those before an instance's.
    static constexpr int column_bytes = sum_of_sizes(Kernel::instances, shared_list{});
    template <int Instance>
    static constexpr int bytes_before = sum_of_sizes(Instance, shared_list{});

    const parameters<Kernel>& in;
    unsigned char* shared;
    int columns, thread;                 ///< of the block, in the block
    i64 first_of_block, position, left;  ///< columns: the block's first one, the thread's, and how many there are from that one on
    u32 begin, step, rows;               ///< the thread's first row, from one to the next, all
    typename rows_of_kernel::once_values once;
    typename rows_of_kernel::row_values row_of_thread;

    /// Rows are one loop here, and narrow (launch_pointwise).
    __device__ __forceinline__ void place(u32 row, offsets& offset) const {
#pragma unroll
        for (int s = 0; s < work::count; ++s) offset[s] = add_product(0, int(row), int(in.outer_step[0][s]));
    }
    template <int Instance>
    __device__ __forceinline__ values_of_pack<Instance>* shared_values() const {
        return reinterpret_cast<values_of_pack<Instance>*>(shared + bytes_before<Instance> * columns);
    }
    template <int... Instance>
    __device__ __forceinline__ void put(int column, const values_of_pass& from, indices<Instance...>) const {
        ((shared_values<Instance>()->at[column] = static_cast<const slot<Instance, value_of<Instance>>&>(from).value), ...);
    }
    template <int... Instance>
    __device__ __forceinline__ void get(values_of_pass (&to)[pack], indices<Instance...>) const {
        (get_one<Instance>(to), ...);
    }
    template <int Instance>
    __device__ __forceinline__ void get_one(values_of_pass (&to)[pack]) const {
        const values_of_pack<Instance> values = shared_values<Instance>()[threadIdx.x];
#pragma unroll
        for (int j = 0; j < pack; ++j) static_cast<slot<Instance, value_of<Instance>>&>(to[j]).value = values.at[j];
    }
    template <int... Instance>
    __device__ __forceinline__ void load_column(i64 column, typename work::operand_packs& to, indices<Instance...>) const {
        ((static_cast<typename work::template pack_slot<Instance>&>(to).value.at[0] =
              static_cast<const typename rows_of_kernel::template storage_of<Instance>*>(in.pointer[slots<Kernel>::template place<Instance>])
                  [column * in.lane_step[slots<Kernel>::template place<Instance>]]),
         ...);
    }
    __device__ __forceinline__ void fill_columns() {
        offsets offset;
        place(0, offset);
        const typename work::common around{in, once, row_of_thread, offset};
        work::eval::fill(once, typename work::row_frame{around}, selected<at_place<Kernel, site::once>>{});
#pragma unroll 1
        for (int c = thread; c < columns && first_of_block + c < in.length; c += int(blockDim.x * blockDim.y)) {
            typename work::operand_packs of_column;
            values_of_pass values;
            load_column(first_of_block + c, of_column, selected<typename facts_type::column_leaves>{});
            const typename work::template element_frame<values_of_pass> frame{around, of_column, values, first_of_block + c, 0};
            work::eval::fill(values, frame, selected<typename facts_type::column_values>{});
            put(c, values, shared_list{});
        }
        __syncthreads();
    }
    /// `Whole`: all operands of rows, and all outputs, lie in whole aligned packs.
    template <bool Whole>
    __device__ __forceinline__ void load_row(u32 row, typename work::operand_packs& to) const {
        offsets offset;
        place(row, offset);
        if constexpr (Whole)
            pointwise_worker<Kernel>::load_whole_packs(in, to, offset, position, row_leaves{});
        else
            work::load(in, to, offset, position, left, row_leaves{});
    }
    template <int... Output>
    __device__ __forceinline__ void results_of(const typename work::common& around, const typename work::operand_packs& loaded, typename work::output_packs& to,
                                               indices<Output...>) const {
        values_of_pass known[pack];
        get(known, shared_list{});
        typename work::results_of_packs computed;
#pragma unroll
        for (int j = 0; j < pack; ++j) {
            const typename work::template element_frame<values_of_pass> frame{around, loaded, known[j], position, j};
            work::eval::fill(known[j], frame, selected<typename facts_type::other_values>{});
            (work::template result_one<Output>(frame, computed), ...);
        }
        (work::template encode_one<Output>(computed, to), ...);
    }
    template <bool Whole>
    __device__ __forceinline__ void finish_row(u32 row, const typename work::operand_packs& loaded) {
        offsets offset;
        place(row, offset);
        const typename work::common around{in, once, row_of_thread, offset};
        const typename work::row_frame frame{around};
        work::eval::fill(row_of_thread, frame, selected<rows_after<Kernel, 0>>{});
        typename work::output_packs results;
        results_of(around, loaded, results, stores{});
        if constexpr (Whole)
            pointwise_worker<Kernel>::store_whole_packs(in, results, offset, position, stores{});
        else
            work::store_packs(in, results, offset, position, left, stores{});
        if (position == 0) work::store_row(frame, selected<row_outputs<Kernel>>{});
    }
    template <bool Whole, int AtOnce>
    __device__ __forceinline__ void run() {
        typename work::operand_packs loaded[AtOnce];
        const bool there = left > 0;
#pragma unroll
        for (int r = 0; r < AtOnce; ++r)
            if (there && begin + r * step < rows) load_row<Whole>(begin + r * step, loaded[r]);
        fill_columns();
        if (!there) return;
#pragma unroll 1
        for (u32 row = begin; row < rows; row += AtOnce * step) {
            if (row != begin)
#pragma unroll
                for (int r = 0; r < AtOnce; ++r)
                    if (row + r * step < rows) load_row<Whole>(row + r * step, loaded[r]);
#pragma unroll
            for (int r = 0; r < AtOnce; ++r) {
                if (row + r * step >= rows) break;
                finish_row<Whole>(row + r * step, loaded[r]);
            }
        }
    }
};
template <class Kernel>
__global__ void __launch_bounds__(tuning_of<Kernel>::pointwise::threads, pointwise_facts<Kernel>::walking_blocks) run_down_columns(const __grid_constant__ parameters<Kernel> in) {
    await_stream();
    extern __shared__ __align__(16) unsigned char shared_memory[];
    using walk = column_walk<Kernel>;
    const int columns = int(blockDim.x) * walk::pack;
    const i64 first = i64(blockIdx.x) * columns, position = first + threadIdx.x * walk::pack;
    walk thread{in, shared_memory, columns, int(threadIdx.y * blockDim.x + threadIdx.x), first, position, in.length - position,
                blockIdx.y * blockDim.y + threadIdx.y, gridDim.y * blockDim.y, u32(in.rows), {}, {}};
    if (in.loads_whole && in.stores_whole && in.even)
        thread.template run<true, tuning_of<Kernel>::pointwise::rows_in_flight>();
    else
        thread.template run<false, 1>();
}

/// Threads of a block beside each other in a row's direction, those of the next rows behind them. A line has one row: more threads would
/// compute its elements again, in place with what the others stored.
template <class Kernel>
dim3 threads_of_block(int threads, int across) {
    return dim3(unsigned(across), unsigned(is_line<Kernel> ? 1 : threads / across));
}
template <class Kernel>
status launch_pointwise(parameters<Kernel>& given, cudaStream_t stream) {
    using facts_type = pointwise_facts<Kernel>;
    constexpr int threads = tuning_of<Kernel>::pointwise::threads;
    const i64 vectors = (given.length + facts<Kernel>::pack - 1) / facts<Kernel>::pack;
    number_maker<scalar_family, parameters<Kernel>::count, parameters<Kernel>::axes>::find_divisions(given, given);
    given.loads_whole = whole_packs<Kernel>::operands.is_within(given.wide);
    given.stores_whole = whole_packs<Kernel>::outputs.is_within(given.wide);
    given.even = given.length % facts<Kernel>::pack == 0;
    given.lasts = facts<Kernel>::lasts(given.rows * given.length);
    int across = 1;
    if constexpr (facts_type::walks) {
        // Only one loop of rows: their offsets are then a product.
        if (given.outer_axes == 1 && given.narrow && given.rows >= 4 * tuning_of<Kernel>::pointwise::rows_of_block) {
            // Several rows side by side, also of long ones: so many fewer columns a thread has to compute before its first row.
            constexpr int least_down = 4;
            // (And whole groups of 16 columns: then what each instance keeps in shared memory begins at a multiple of 16 bytes, also behind one of a byte.)
            while (across < threads / least_down && (across < vectors || across * facts<Kernel>::pack % 16 != 0)) across *= 2;
            const i64 blocks = (vectors + across - 1) / across, down = threads / across, rows = down * facts_type::rows_of_thread(down);
            const i64 along_rows = (given.rows + rows - 1) / rows;
            static kernel_handles known;
            return start(known, run_down_columns<Kernel>, dim3(unsigned(blocks), unsigned(along_rows < 65535 ? along_rows : 65535)), dim3(unsigned(across), unsigned(down)),
                         u64(across * facts<Kernel>::pack * column_walk<Kernel>::column_bytes), stream, given);
        }
    }
    const bool small = vectors <= tuning_of<Kernel>::pointwise::small_packs && vectors * given.rows <= tuning_of<Kernel>::pointwise::small_packs;
    const int most = small ? tuning_of<Kernel>::pointwise::small_threads : threads;
    // Short rows: a pack a thread, so that neighbours write whole lines.
    given.packs = small || vectors <= tuning_of<Kernel>::pointwise::short_packs ? 1 : pointwise_worker<Kernel>::packs;
    if constexpr (short_packs<Kernel>::possible)
        if (small && given.loads_whole && given.stores_whole && given.length % short_packs<Kernel>::pack == 0) {
            const i64 short_vectors = given.length / short_packs<Kernel>::pack;
            while (across < most && across < short_vectors) across *= 2;
            const i64 blocks = (short_vectors + across - 1) / across, down = (given.rows + most / across - 1) / (most / across);
            static kernel_handles known;
            if (down <= 65535) return start(known, run_short_packs<Kernel>, dim3(unsigned(blocks), unsigned(down)), threads_of_block<Kernel>(most, across), 0, stream, given);
        }
    if constexpr (even_packs<Kernel>::possible)
        if (!small) {
            constexpr int packs = even_packs<Kernel>::packs;
            across = 1;
            while (across < threads && across * packs < vectors) across *= 2;
            const i64 down = (given.rows + threads / across - 1) / (threads / across);
            if (even_packs<Kernel>::applies(given, vectors, across, down)) {
                static kernel_handles known;
                return start(known, run_even_packs<Kernel>, dim3(unsigned(vectors / (across * packs)), unsigned(down)), threads_of_block<Kernel>(threads, across), 0, stream, given);
            }
        }
    across = 1;
    while (across < most && across * given.packs < vectors) across *= 2;
    given.interleaved = false;
    if constexpr (interleave_facts<Kernel>::possible) given.interleaved = interleave_facts<Kernel>::applies(given, across);
    const i64 blocks = (vectors + i64(across) * given.packs - 1) / (i64(across) * given.packs);
    const i64 down = (given.rows + most / across - 1) / (most / across);
    if constexpr (even_rows<Kernel>::possible)
        if (!small && even_rows<Kernel>::applies(given, down)) {
            constexpr int rows = even_rows<Kernel>::rows;
            static kernel_handles known;
            return start(known, run_even_rows<Kernel>, dim3(unsigned(blocks), unsigned((down + rows - 1) / rows)), threads_of_block<Kernel>(most, across), 0, stream, given);
        }
    static kernel_handles known;
    return start(known, run_pointwise<Kernel>, dim3(unsigned(blocks), unsigned(down < 65535 ? down : 65535)), threads_of_block<Kernel>(most, across),
                 interleave_facts<Kernel>::shared_bytes, stream, given);
}

}  // namespace sinter::detail::device
