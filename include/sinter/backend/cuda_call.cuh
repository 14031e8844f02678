// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a CUDA kernel of this backend gets and how it reads memory: the kernel parameters, packs of elements in registers, the
// frame through which the evaluator sees one element of a pack. No loop and no launch here.
#pragma once

#include "cuda_encode.cuh"
#include "cuda_launch.cuh"
#include "cuda_numbers.cuh"
#include "cuda_tuning.cuh"

namespace sinter::detail::device {

using family = scalar_family;

/// Kernel parameters: numbers, and the operands for the scalars among them.
template <class Kernel>
struct parameters : call_numbers<slots<Kernel>::count, (Kernel::axes > 0 ? Kernel::axes : 1)>, row_divisions<(Kernel::axes > 0 ? Kernel::axes : 1)> {
    typename Kernel::assignment_type assigned;
    int packs;                              ///< of a thread, in pointwise nests
    bool interleaved;                       ///< outputs are components of one tensor there
    explicit parameters(const typename Kernel::assignment_type& of_call) : assigned(of_call) {}
};

/// index = whole * size + the result. (A division of 64 bits is a hundred instructions; nvcc and clang test themselves whether 32 do.)
static __device__ __forceinline__ i64 divide(i64 index, i64 size, i64& whole) {
    whole = index / size;
    return index - whole * size;
}

static __device__ __forceinline__ u32 divide_short(u32 number, u32 factor, int shift) { return u32(u64(number) * factor >> 32) >> shift; }

// One access of 16 bytes each: `*(uint4*)p` may become four of 4.
static __device__ __forceinline__ uint4 load_16(const void* from) {
    uint4 out;
#if SINTER_DEVICE_PASS
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(out.x), "=r"(out.y), "=r"(out.z), "=r"(out.w) : "l"(from) : "memory");
#else
    __builtin_memcpy(&out, from, 16);
#endif
    return out;
}
static __device__ __forceinline__ void store_16(void* to, uint4 value) {
#if SINTER_DEVICE_PASS
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w) : "memory");
#else
    __builtin_memcpy(to, &value, 16);
#endif
}
template <class Pack>
__device__ __forceinline__ void load_whole(Pack& to, const void* from) {
    if constexpr (sizeof(Pack) % 16 == 0) {
#pragma unroll
        for (int i = 0; i < int(sizeof(Pack) / 16); ++i) {
            const uint4 word = load_16(static_cast<const char*>(from) + 16 * i);
            __builtin_memcpy(reinterpret_cast<char*>(&to) + 16 * i, &word, 16);
        }
    } else {
        to = *static_cast<const Pack*>(from);
    }
}
template <class Pack>
__device__ __forceinline__ void store_whole(void* to, const Pack& from) {
    if constexpr (sizeof(Pack) % 16 == 0) {
#pragma unroll
        for (int i = 0; i < int(sizeof(Pack) / 16); ++i) {
            uint4 word;
            __builtin_memcpy(&word, reinterpret_cast<const char*>(&from) + 16 * i, 16);
            store_16(static_cast<char*>(to) + 16 * i, word);
        }
    } else {
        *static_cast<Pack*>(to) = from;
    }
}

/// Facts that the kernels share: types, the number of elements in a pack (`Pack`; 0: what suits memory best).
template <class Kernel, int Pack = 0>
struct facts {
    using rows = row_driver<Kernel, family>;
    using eval = evaluator<Kernel, family>;
    static constexpr int count = slots<Kernel>::count;
    static constexpr int last = Kernel::levels + 1;
    static constexpr bool stores_elements = Kernel::any_element_output();

    /// Loop axes that a pack's elements may differ in.
    static constexpr u32 lane_bits = Kernel::nest == nest_kind::rows ? Kernel::table.inner_lane : Kernel::vector_bit;
    static constexpr bool is_element_leaf(int i) {
        return Kernel::table.at[i].kind == node_kind::leaf && Kernel::where[i] == site::element && (Kernel::table.at[i].free & lane_bits) != 0;
    }
    /// Sets of slots, as bits: what a call tests is a constant, and the tables that it comes from aren't in the program.
    struct slot_set {
        u64 word[(count + 63) / 64]{};
        constexpr void add(int slot) { word[slot / 64] |= u64(1) << slot % 64; }
        constexpr bool has(int slot) const { return word[slot / 64] >> slot % 64 & 1; }
        /// Is all of it wide?
        bool is_wide(const u64* wide) const {
            bool yes = true;
            for (int w = 0; w < (count + 63) / 64; ++w) yes = yes && (wide[w] & word[w]) == word[w];
            return yes;
        }
    };
    static constexpr slot_set find_read_in_packs() {
        slot_set out;
        for (int i = 0, slot = 0; i < Kernel::instances; ++i) {
            if (is_element_leaf(i)) out.add(slot);
            slot += slots<Kernel>::is_operand(i);
        }
        return out;
    }
    static constexpr slot_set read_in_packs = find_read_in_packs();
    template <int Instance>
    static constexpr bool loads_pack = is_element_leaf(Instance);
    /// Does a coordinate vary along a pack?
    template <int Instance>
    static constexpr bool moves_along_lane = (Kernel::table.at[Instance].free & lane_bits) != 0;
    struct element_leaves {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return is_element_leaf(i); }
    };
    /// The narrowest element fills 16 bytes, unless that makes packs of more than 32 bytes of another.
    static constexpr int find_pack() {
        int narrow = 8, broad = 1;
        const auto look = [&](int size) {
            if (size < narrow) narrow = size;
            if (size > broad) broad = size;
        };
        for (int i = 0; i < Kernel::instances; ++i)
            if (is_element_leaf(i)) look(dtype_size(Kernel::leaf_type[Kernel::node[Kernel::table.at[i].node].bits].type));
        for (int o = 0; o < Kernel::outputs; ++o)
            if (Kernel::stores_elements(o)) look(dtype_size(Kernel::output_type[o]));
        const int most = 32 / broad;
        return 16 / narrow < most ? 16 / narrow : most;
    }
    static constexpr int pack = Pack > 0 ? Pack : find_pack();

    template <int Instance>
    using pack_of = element_pack<typename rows::template storage_of<Instance>, pack>;
    template <int Instance>
    using pack_slot = slot<Instance, pack_of<Instance>>;
    template <class List>
    struct packs;
    template <int... Instance>
    struct packs<indices<Instance...>> : pack_slot<Instance>... {};
    using operand_packs = packs<selected<element_leaves>>;
    template <int Output>
    using output_pack = element_pack<typename rows::template output_storage<Output>, pack>;
    template <class List>
    struct results;
    template <int... Output>
    struct results<indices<Output...>> : slot<Output, output_pack<Output>>... {};
    using output_packs = results<selected<element_outputs<Kernel>>>;

    /// Elements [position, position + pack) of a row whose slots begin at `offset`; `left`: how many there are.
    template <int Instance>
    static __device__ __forceinline__ void load_one(const parameters<Kernel>& in, operand_packs& to, const i64* offset, i64 position, i64 left) {
        using storage = typename rows::template storage_of<Instance>;
        constexpr int slot = slots<Kernel>::template place<Instance>;
        auto& value = static_cast<pack_slot<Instance>&>(to).value;
        const i64 step = in.lane_step[slot];
        const storage* const from = static_cast<const storage*>(in.pointer[slot]) + offset[slot] + position * step;
        if (in.is_wide(slot) && left >= pack) {
            load_whole(value, from);
        } else {
#pragma unroll
            for (int j = 0; j < pack; ++j) value.at[j] = j < left ? from[j * step] : storage{};
        }
    }
    template <int... Instance>
    static __device__ __forceinline__ void load(const parameters<Kernel>& in, operand_packs& to, const i64* offset, i64 position, i64 left,
                                                indices<Instance...>) {
        (load_one<Instance>(in, to, offset, position, left), ...);
    }
    template <int Output>
    static __device__ __forceinline__ void store_one(const parameters<Kernel>& in, const output_packs& from, const i64* offset, i64 position, i64 left) {
        using storage = typename rows::template output_storage<Output>;
        constexpr int slot = slots<Kernel>::of_output(0) + Output;
        const auto& value = static_cast<const sinter::slot<Output, output_pack<Output>>&>(from).value;
        const i64 step = in.lane_step[slot];
        storage* const to = static_cast<storage*>(const_cast<void*>(in.pointer[slot])) + offset[slot] + position * step;
        if (in.is_wide(slot) && left >= pack) {
            store_whole(to, value);
        } else {
#pragma unroll
            for (int j = 0; j < pack; ++j)
                if (j < left) to[j * step] = value.at[j];
        }
    }
    template <int... Output>
    static __device__ __forceinline__ void store_packs(const parameters<Kernel>& in, const output_packs& from, const i64* offset, i64 position,
                                                       i64 left, indices<Output...>) {
        (store_one<Output>(in, from, offset, position, left), ...);
    }
    /// Offsets of a row.
    static __device__ __forceinline__ void offsets_of_row(const parameters<Kernel>& in, i64 row, i64 (&offset)[count]) {
#pragma unroll
        for (int s = 0; s < count; ++s) offset[s] = 0;
        if (in.outer_axes == 1) {
#pragma unroll
            for (int s = 0; s < count; ++s) offset[s] = row * in.outer_step[0][s];
        } else {
#pragma unroll 1
            for (int a = in.outer_axes - 1; a >= 0; --a) {
                i64 whole;
                const i64 index = divide(row, in.outer_size[a], whole);
#pragma unroll
                for (int s = 0; s < count; ++s) offset[s] += index * in.outer_step[a][s];
                row = whole;
            }
        }
    }

    struct common {
        const parameters<Kernel>& in;
        const typename rows::once_values& once;
        const typename rows::row_values& row;
        const i64 (&offset)[count];
        SINTER_INLINE const auto& operands() const { return in.assigned.operands; }
        SINTER_INLINE i64 folded_count(u32 folded) const {
            i64 product = 1;
            for (int a = 0; a < Kernel::axes; ++a) product *= folded >> a & 1 ? in.folded_size[a] : 1;
            return product;
        }
        template <int Instance>
        SINTER_INLINE auto load_single() const {
            using storage = typename rows::template storage_of<Instance>;
            constexpr int slot = slots<Kernel>::template place<Instance>;
            return family::value<compute_of<storage>>::load(static_cast<const storage*>(in.pointer[slot]) + offset[slot]);
        }
    };
    /// Values of a row.
    struct row_frame : common {
        template <int Instance>
        SINTER_INLINE const auto& value() const {
            if constexpr (Kernel::where[Instance] == site::once)
                return static_cast<const typename rows::template value_slot<Instance>&>(this->once).value;
            else
                return static_cast<const typename rows::template value_slot<Instance>&>(this->row).value;
        }
        template <int Instance>
        SINTER_INLINE auto operand() const { return this->template load_single<Instance>(); }
        template <int Instance>
        SINTER_INLINE auto coordinate() const {
            constexpr int slot = slots<Kernel>::template place<Instance>;
            return family::value<i64>(this->in.base[slot] + this->offset[slot]);
        }
    };
    /// Element `lane` of a pack that begins at `position`.
    template <class Environment>
    struct element_frame : common {
        const operand_packs& loaded;
        const Environment& values;
        i64 position;
        int lane;
        template <int Instance>
        SINTER_INLINE const auto& value() const {
            if constexpr (Kernel::where[Instance] == site::once)
                return static_cast<const typename rows::template value_slot<Instance>&>(this->once).value;
            else if constexpr (Kernel::where[Instance] == site::row)
                return static_cast<const typename rows::template value_slot<Instance>&>(this->row).value;
            else
                return static_cast<const typename rows::template value_slot<Instance>&>(values).value;
        }
        template <int Instance>
        SINTER_INLINE auto operand() const {
            if constexpr (loads_pack<Instance>) {
                return decode_element(static_cast<const pack_slot<Instance>&>(loaded).value, lane);
            } else {
                return this->template load_single<Instance>();
            }
        }
        template <int Instance>
        SINTER_INLINE auto coordinate() const {
            constexpr int slot = slots<Kernel>::template place<Instance>;
            const i64 start = this->in.base[slot] + this->offset[slot];
            if constexpr (moves_along_lane<Instance>) {
                const i64 step = this->in.lane_step[slot];
                return family::value<i64>(start + position * step + lane * step);
            } else {
                return family::value<i64>(start);
            }
        }
    };
    /// The instance that a code is cast from, where an output of 8 bits is a cast of f32; -1 elsewhere.
    template <int Output>
    static constexpr int find_code() {
        constexpr int source = Kernel::table.output[Output];
        using storage = typename rows::template output_storage<Output>;
        if constexpr (source >= 0 && (is_same<storage, i8> || is_same<storage, u8>)) {
            if constexpr (Kernel::table.at[source].kind == node_kind::map && Kernel::where[source] == site::element) {
                if constexpr (is_same<typename eval::template op_of_instance<source>, cast_op<dtype_of<storage>>>) {
                    constexpr int argument = Kernel::table.at[source].argument[0];
                    if constexpr (argument >= 0)
                        if constexpr (Kernel::table.at[argument].type == dtype::f32) return argument;
                }
            }
        }
        return -1;
    }
    template <int Output>
    static constexpr int code_source = find_code<Output>();
    /// The lane values of a pack of each output, before they are rounded to what memory holds.
    template <int Output>
    struct result_row {
        conditional<(code_source<Output> >= 0), family::value<float>, family::value<compute_of<typename rows::template output_storage<Output>>>> at[pack];
    };
    template <class List>
    struct result_rows;
    template <int... Output>
    struct result_rows<indices<Output...>> : slot<Output, result_row<Output>>... {};
    using results_of_packs = result_rows<selected<element_outputs<Kernel>>>;
    /// As stored_value, but for 16-bit floats and codes of 8 bits made of f32: encode_pack rounds those.
    template <int Output, class Frame>
    static __device__ __forceinline__ auto result_value(const Frame& frame) {
        constexpr int source = Kernel::table.output[Output];
        if constexpr (code_source<Output> >= 0)
            return frame.template value<code_source<Output>>();
        else if constexpr (source >= 0 && is_same<compute_of<typename rows::template output_storage<Output>>, float> &&
                           !is_small_float(dtype_of<typename rows::template output_storage<Output>>)) {
            if constexpr (is_same<remove_cvref<decltype(frame.template value<source>())>, lane::scalar<float>>)
                return frame.template value<source>();
            else
                return rows::template stored_value<Output>(frame);
        } else {
            return rows::template stored_value<Output>(frame);
        }
    }
    template <int Output, class Frame>
    static __device__ __forceinline__ void result_one(const Frame& frame, results_of_packs& to) {
        static_cast<slot<Output, result_row<Output>>&>(to).value.at[frame.lane] = result_value<Output>(frame);
    }
    template <int Output>
    static __device__ __forceinline__ void encode_one(const results_of_packs& from, output_packs& to) {
        encode_pack(static_cast<slot<Output, output_pack<Output>>&>(to).value, static_cast<const slot<Output, result_row<Output>>&>(from).value.at);
    }
    /// Computes the outputs of a pack.
    template <int... Output>
    static __device__ __forceinline__ void results_of(const common& around, const operand_packs& loaded, output_packs& to, i64 position,
                                                      indices<Output...>) {
        results_of_packs computed;
#pragma unroll
        for (int j = 0; j < pack; ++j) {
            typename rows::template pass_values<last> values;
            const element_frame<typename rows::template pass_values<last>> frame{around, loaded, values, position, j};
            eval::fill(values, frame, selected<needed_in_pass<Kernel, last>>{});
            (result_one<Output>(frame, computed), ...);
        }
        (encode_one<Output>(computed, to), ...);
    }
    template <int Output>
    static __device__ __forceinline__ void store_row_one(const row_frame& frame) {
        constexpr int slot = slots<Kernel>::of_output(0) + Output;
        using storage = typename rows::template output_storage<Output>;
        lane::store(static_cast<storage*>(const_cast<void*>(frame.in.pointer[slot])) + frame.offset[slot], rows::template stored_value<Output>(frame));
    }
    template <int... Output>
    static __device__ __forceinline__ void store_row(const row_frame& frame, indices<Output...>) {
        (store_row_one<Output>(frame), ...);
    }
};

}  // namespace sinter::detail::device
