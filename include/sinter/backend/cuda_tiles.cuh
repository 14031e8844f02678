// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointwise nests on CUDA whose operands disagree about the contiguous axis (x + transpose(y)): a block takes a square tile. Operands
// that are contiguous along another axis, the turned ones, are read along that axis and turned in shared memory; the others and the
// outputs are walked along the lane. Every access of a warp is to neighbours. Compiled for formulas that have an operand whose
// steps aren't known to be those of the output.
#pragma once

#include "cuda_call.cuh"

namespace sinter::detail::device {

template <class Kernel>
struct tile_parameters : parameters<Kernel> {
    using parameters<Kernel>::parameters;
    u64 turned[(parameters<Kernel>::count + 63) / 64];
    int turned_axis;  ///< among the outer ones
    i64 tiles_along, tiles_down;
    SINTER_INLINE bool is_turned(int slot) const { return turned[slot / 64] >> slot % 64 & 1; }
};

/// Is this compiled for a nest? (Its own facts, of packs of one element, are made where it is.)
template <class Kernel>
struct tile_choice {
    using work = operand_facts<Kernel>;
    /// Might an operand be turned?
    template <int... Instance>
    static constexpr bool any_unknown(indices<Instance...>) {
        return ((operand_stride<Kernel, Instance, typename work::rows::template leaf_type<Instance>>() == lane_stride::unknown) || ...);
    }
    static constexpr bool find_possible() {
        if constexpr (Kernel::nest != nest_kind::pointwise || Kernel::axes < 2)
            return false;
        else if constexpr (any_unknown(selected<typename work::element_leaves>{}))
            return sizeof(tile_parameters<Kernel>) <= 4096;
        else
            return false;
    }
    static constexpr bool possible = find_possible();
};
template <class Kernel>
struct tile_facts : facts<Kernel, 1> {
    using work = facts<Kernel, 1>;
    static constexpr int largest_element() {
        int size = 1;
        for (int i = 0; i < Kernel::instances; ++i)
            if (work::is_element_leaf(i)) {
                const int own = dtype_size(Kernel::view.memory_type(i));
                if (own > size) size = own;
            }
        return size;
    }
    /// One element more than a side, so that a column's elements lie in different banks.
    static constexpr int pitch = tuning_of<Kernel>::tiles::side + 1, bytes = (tuning_of<Kernel>::tiles::side * pitch * largest_element() + 15) / 16 * 16;
};

template <class Kernel>
struct tile_worker {
    using work = facts<Kernel, 1>;
    using rows = typename work::rows;
    static constexpr int side = tuning_of<Kernel>::tiles::side, each = side / tuning_of<Kernel>::tiles::threads_down, pitch = tile_facts<Kernel>::pitch, count = work::count;
    const tile_parameters<Kernel>& in;
    unsigned char* shared;
    const i64 (&offset)[count];  ///< of the tile's rows, at turned position 0
    i64 along, down;             ///< the tile's first positions
    int x, y;

    template <int Instance>
    using storage_of = typename rows::template storage_of<Instance>;
    template <int Instance>
    __device__ __forceinline__ auto& element(typename work::operand_packs& of) const {
        return static_cast<typename work::template pack_slot<Instance>&>(of).value.at[0];
    }
    template <int Instance>
    __device__ __forceinline__ void load_one(typename work::operand_packs (&loaded)[each]) const {
        constexpr int slot = slots<Kernel>::template place<Instance>;
        const i64 step = in.lane_step[slot], down_step = in.outer_step[in.turned_axis][slot];
        const bool turned = in.is_turned(slot);
        const i64 lane = along + (turned ? y : x), row = down + (turned ? x : y);
        // Threads down walk along the lane of a turned operand, and down the rows of the others.
        const i64 stride = (turned ? step : down_step) * tuning_of<Kernel>::tiles::threads_down;
        const int there = turned ? places_there(in.outer_size[in.turned_axis] - row > 0 ? in.length - lane : 0)
                                 : places_there(in.length - lane > 0 ? in.outer_size[in.turned_axis] - row : 0);
        const storage_of<Instance>* from = static_cast<const storage_of<Instance>*>(in.pointer[slot]) + (offset[slot] + lane * step + row * down_step);
#pragma unroll
        for (int k = 0; k < each; ++k) {
            element<Instance>(loaded[k]) = k < there ? *from : storage_of<Instance>{};
            from += stride;
        }
    }
    /// How many of the places first, first + threads_down, ... are among the `left` that there are from the first on.
    static __device__ __forceinline__ int places_there(i64 left) {
        if (left >= side) return each;
        return left > 0 ? (int(left) + tuning_of<Kernel>::tiles::threads_down - 1) / tuning_of<Kernel>::tiles::threads_down : 0;
    }
    template <int Instance>
    __device__ __forceinline__ storage_of<Instance>* tile(int& number) const {
        return reinterpret_cast<storage_of<Instance>*>(shared + number++ * tile_facts<Kernel>::bytes);
    }
    template <int Instance>
    __device__ __forceinline__ void put_one(typename work::operand_packs (&loaded)[each], int& number) const {
        if (!in.is_turned(slots<Kernel>::template place<Instance>)) return;
        storage_of<Instance>* const to = tile<Instance>(number);
#pragma unroll
        for (int k = 0; k < each; ++k) to[x * pitch + y + k * tuning_of<Kernel>::tiles::threads_down] = element<Instance>(loaded[k]);
    }
    template <int Instance>
    __device__ __forceinline__ void take_one(typename work::operand_packs (&loaded)[each], int& number) const {
        if (!in.is_turned(slots<Kernel>::template place<Instance>)) return;
        const storage_of<Instance>* const from = tile<Instance>(number);
#pragma unroll
        for (int k = 0; k < each; ++k) element<Instance>(loaded[k]) = from[(y + k * tuning_of<Kernel>::tiles::threads_down) * pitch + x];
    }
    template <int... Instance>
    __device__ __forceinline__ void load(typename work::operand_packs (&loaded)[each], indices<Instance...>) const {
        (load_one<Instance>(loaded), ...);
        int number = 0;
        (put_one<Instance>(loaded, number), ...);
        __syncthreads();
        number = 0;
        (take_one<Instance>(loaded, number), ...);
    }
    template <int Output>
    static __device__ __forceinline__ void store_one(const tile_parameters<Kernel>& in, const typename work::output_packs& from, const i64 (&at)[count], i64 position) {
        constexpr int slot_of_output = slots<Kernel>::of_output(0) + Output;
        using storage = typename rows::template output_storage<Output>;
        static_cast<storage*>(const_cast<void*>(in.pointer[slot_of_output]))[at[slot_of_output] + position * in.lane_step[slot_of_output]] =
            static_cast<const slot<Output, typename work::template output_pack<Output>>&>(from).value.at[0];
    }
    template <int... Output>
    static __device__ __forceinline__ void store_elements(const tile_parameters<Kernel>& in, const typename work::output_packs& from, const i64 (&at)[count], i64 position,
                                                          indices<Output...>) {
        (store_one<Output>(in, from, at, position), ...);
    }
};

template <class Kernel>
__global__ void __launch_bounds__(tuning_of<Kernel>::tiles::side * tuning_of<Kernel>::tiles::threads_down) run_tiles(const __grid_constant__ tile_parameters<Kernel> in) {
    await_stream();
    using worker = tile_worker<Kernel>;
    using work = typename worker::work;
    extern __shared__ __align__(16) unsigned char shared_memory[];
    // The number of blocks, and so every factor of it, fits 31 bits.
    u32 number = blockIdx.x;
    const auto split = [&number](i64 size) {
        const u32 whole = number / u32(size), rest = number - whole * u32(size);
        number = whole;
        return i64(rest);
    };
    const i64 along = split(in.tiles_along) * worker::side, down = split(in.tiles_down) * worker::side;
    i64 offset[work::count];
#pragma unroll
    for (int s = 0; s < work::count; ++s) offset[s] = 0;
#pragma unroll 1
    for (int a = in.outer_axes - 1; a >= 0; --a) {
        if (a == in.turned_axis) continue;
        const i64 index = split(in.outer_size[a]);
#pragma unroll
        for (int s = 0; s < work::count; ++s) offset[s] += index * in.outer_step[a][s];
    }
    const int x = int(threadIdx.x), y = int(threadIdx.y);
    typename work::operand_packs loaded[worker::each];
    const worker thread{in, shared_memory, offset, along, down, x, y};
    thread.load(loaded, selected<typename work::element_leaves>{});
    const i64 position = along + x;
    if (position >= in.length) return;
    typename work::rows::once_values once;
    typename work::rows::row_values row;
    const int there = worker::places_there(in.outer_size[in.turned_axis] - (down + y));
    i64 at[work::count], step[work::count];
#pragma unroll
    for (int s = 0; s < work::count; ++s) {
        at[s] = offset[s] + (down + y) * in.outer_step[in.turned_axis][s];
        step[s] = in.outer_step[in.turned_axis][s] * tuning_of<Kernel>::tiles::threads_down;
    }
#pragma unroll
    for (int k = 0; k < worker::each; ++k) {
        if (k >= there) break;
        const typename work::common around{in, once, row, at};
        const typename work::row_frame frame{around};
        if (k == 0) work::eval::fill(once, frame, selected<at_place<Kernel, site::once>>{});
        work::eval::fill(row, frame, selected<rows_after<Kernel, 0>>{});
        typename work::output_packs results;
        work::results_of(around, loaded[k], results, position, selected<element_outputs<Kernel>>{});
        worker::store_elements(in, results, at, position, selected<element_outputs<Kernel>>{});
        if (position == 0) work::store_row(frame, selected<row_outputs<Kernel>>{});
#pragma unroll
        for (int s = 0; s < work::count; ++s) at[s] += step[s];
    }
}

/// Whether a call has turned operands, all along one axis, and room for their tiles; finds them.
template <class Kernel>
bool plan_tiles(tile_parameters<Kernel>& given) {
    if (given.length < tuning_of<Kernel>::tiles::least || given.rows == 0) return false;
    int turned = 0;
    given.turned_axis = -1;
    for (u64& word : given.turned) word = 0;
    for (int i = 0, slot = 0; i < Kernel::instances; ++i) {
        const i64 step = given.lane_step[slot];
        if (tile_facts<Kernel>::is_element_leaf(i) && step != 1 && step != 0)
            for (int a = 0; a < given.outer_axes; ++a)
                if (given.outer_step[a][slot] == 1 && given.outer_size[a] >= tuning_of<Kernel>::tiles::least && (given.turned_axis < 0 || given.turned_axis == a)) {
                    given.turned_axis = a;
                    given.turned[slot / 64] |= u64(1) << slot % 64;
                    ++turned;
                    break;
                }
        slot += slots<Kernel>::is_operand(i);
    }
    if (turned == 0 || turned * tile_facts<Kernel>::bytes > 49152) return false;
    given.tiles_along = (given.length + tuning_of<Kernel>::tiles::side - 1) / tuning_of<Kernel>::tiles::side;
    given.tiles_down = (given.outer_size[given.turned_axis] + tuning_of<Kernel>::tiles::side - 1) / tuning_of<Kernel>::tiles::side;
    return given.rows / given.outer_size[given.turned_axis] <= i64(0x7fffffff) / given.tiles_down / given.tiles_along;
}
template <class Kernel>
status launch_tiles(const tile_parameters<Kernel>& given, cudaStream_t stream) {
    const i64 rest = given.rows / given.outer_size[given.turned_axis];
    const i64 blocks = rest * given.tiles_down * given.tiles_along;
    int turned = 0;
    for (int s = 0; s < parameters<Kernel>::count; ++s) turned += given.is_turned(s);
    static kernel_handles known;
    return start(known, run_tiles<Kernel>, dim3(unsigned(blocks)), dim3(unsigned(tuning_of<Kernel>::tiles::side), unsigned(tuning_of<Kernel>::tiles::threads_down)),
                 u64(turned) * tile_facts<Kernel>::bytes, stream, given);
}

}  // namespace sinter::detail::device
