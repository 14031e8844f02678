// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a CUDA kernel of this backend gets and how it reads memory: the kernel parameters, whole packs of memory, the evaluator of a
// thread, and what all kernels of a formula know of its operands. No pack of a formula here (cuda_call.cuh), no loop and no launch.
#pragma once

#include "../code_sum.hpp"
#include "cuda_encode.cuh"
#include "cuda_launch.cuh"
#include "cuda_numbers.cuh"
#include "cuda_tuning.cuh"

namespace sinter::detail::device {

using family = scalar_family;

/// Is nothing promised about bits?
template <class Kernel>
inline constexpr bool is_fast = requires { typename Kernel::policy; };

/// Kernel parameters: numbers, and the operands for the scalars among them.
template <class Kernel>
struct parameters : call_numbers<slots<Kernel>::count, (Kernel::axes > 0 ? Kernel::axes : 1)>, row_divisions<(Kernel::axes > 0 ? Kernel::axes : 1)> {
    typename Kernel::assignment_type assigned;
    int packs;                              ///< of a thread, in pointwise nests
    int turns;                              ///< rows of a block or cluster, one after the other, in rows;
    unsigned long_blocks;                   ///< blocks or clusters that take so many: the others take one
    bool interleaved;                       ///< outputs are components of one tensor there
    bool loads_whole, stores_whole;         ///< all operands, all outputs lie in aligned packs, there too
    bool even;                              ///< a row ends with a whole pack, there too
    bool lasts;                             ///< the second-level cache keeps what packs read last, in rows too (operand_facts::lasts)
    explicit parameters(const typename Kernel::assignment_type& of_call) : assigned(of_call) {}
};

/// index = whole * size + the result. (A division of 64 bits is a hundred instructions; nvcc and clang test themselves whether 32 do.)
static __device__ __forceinline__ i64 divide(i64 index, i64 size, i64& whole) {
    whole = index / size;
    return index - whole * size;
}

static __device__ __forceinline__ u32 divide_short(u32 number, u32 factor, int shift) { return u32(u64(number) * factor >> 32) >> shift; }

/// to + left * right in one instruction (nvcc extends the signs by further ones).
static __device__ __forceinline__ i64 add_product(i64 to, int left, int right) {
#if SINTER_DEVICE_PASS
    i64 out;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(out) : "r"(left), "r"(right), "l"(to));
    return out;
#else
    return to + i64(left) * right;
#endif
}

// One access of 16 bytes each: `*(uint4*)p` may become four of 4.
/// `Passing`: it isn't kept in the first-level cache, where what others read again is to stay.
template <bool Passing = false>
static __device__ __forceinline__ uint4 load_16(const void* from) {
    uint4 out;
#if SINTER_DEVICE_PASS
    if constexpr (Passing)
        asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(out.x), "=r"(out.y), "=r"(out.z), "=r"(out.w) : "l"(from) : "memory");
    else
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(out.x), "=r"(out.y), "=r"(out.z), "=r"(out.w) : "l"(from) : "memory");
#else
    __builtin_memcpy(&out, from, 16);
#endif
    return out;
}
/// How long the second-level cache keeps a line; the part of an instruction that says it costs nothing.
struct cache_policy {
    u64 bits;
};
/// `lasts`: lines with it leave after all others, else as those of a load without a policy. (That is what compute capability 9.0 takes this
/// number for, as CUTLASS's CacheHintSm90 has it; loads with createpolicy's `evict_normal` are up to 5 % slower there.)
static __device__ __forceinline__ cache_policy policy_of([[maybe_unused]] bool lasts) {
#if SINTER_DEVICE_PASS && __CUDA_ARCH__ >= 800
    u64 last, usual;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
#if __CUDA_ARCH__ == 900
    usual = 0x1000000000000000;
#else
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(usual));
#endif
    return {lasts ? last : usual};
#else
    return {};
#endif
}
template <bool Passing = false>
static __device__ __forceinline__ uint4 load_16(const void* from, [[maybe_unused]] cache_policy policy) {
#if SINTER_DEVICE_PASS && __CUDA_ARCH__ >= 800
    uint4 out;
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(out.x), "=r"(out.y), "=r"(out.z), "=r"(out.w) : "l"(from), "l"(policy.bits) : "memory");
    return out;
#else
    return load_16<Passing>(from);
#endif
}
static __device__ __forceinline__ void store_16(void* to, uint4 value) {
#if SINTER_DEVICE_PASS
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w) : "memory");
#else
    __builtin_memcpy(to, &value, 16);
#endif
}
/// A pack of 8 or 4 bytes as one word of the device: element by element nvcc would take it apart and put it together again.
template <class Pack>
using short_word = conditional<sizeof(Pack) == 8, u64, u32>;
template <class Pack>
inline constexpr bool is_short_pack = sizeof(Pack) == 8 || sizeof(Pack) == 4;

template <bool Passing, class Pack>
__device__ __forceinline__ void load_short(Pack& to, const void* from) {
    short_word<Pack> word;
#if SINTER_DEVICE_PASS
    if constexpr (Passing && sizeof(Pack) == 8)
        asm volatile("ld.global.L1::no_allocate.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
    else if constexpr (Passing)
        asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
    else
#endif
        word = *static_cast<const short_word<Pack>*>(from);
    __builtin_memcpy(&to, &word, sizeof(Pack));
}
/// Makes a pack opaque to the compiler, which else keeps what it once unpacked in registers.
template <class Pack>
__device__ __forceinline__ void forget_unpacked([[maybe_unused]] Pack& pack) {
#if SINTER_DEVICE_PASS
    if constexpr (sizeof(Pack) % 4 == 0 && sizeof(pack.at[0]) < 4)
#pragma unroll
        for (int i = 0; i < int(sizeof(Pack) / 4); ++i) {
            unsigned word;
            __builtin_memcpy(&word, reinterpret_cast<const char*>(&pack) + 4 * i, 4);
            asm volatile("" : "+r"(word));
            __builtin_memcpy(reinterpret_cast<char*>(&pack) + 4 * i, &word, 4);
        }
#endif
}
/// With or without a policy.
template <bool Passing = false, class Pack, class... Policy>
__device__ __forceinline__ void load_whole(Pack& to, const void* from, const Policy&... policy) {
    if constexpr (sizeof(Pack) % 16 == 0) {
#pragma unroll
        for (int i = 0; i < int(sizeof(Pack) / 16); ++i) {
            const uint4 word = load_16<Passing>(static_cast<const char*>(from) + 16 * i, policy...);
            __builtin_memcpy(reinterpret_cast<char*>(&to) + 16 * i, &word, 16);
        }
    } else if constexpr (is_short_pack<Pack>) {
        load_short<Passing>(to, from);
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
    } else if constexpr (is_short_pack<Pack>) {
        short_word<Pack> word;
        __builtin_memcpy(&word, &from, sizeof(Pack));
        *static_cast<short_word<Pack>*>(to) = word;
    } else {
        *static_cast<Pack*>(to) = from;
    }
}

/// The evaluator of a thread.
template <class Kernel>
struct thread_evaluator : evaluator<Kernel, family> {
    using plain = evaluator<Kernel, family>;
    template <class Environment, class Frame, int... Instance>
    static SINTER_INLINE void fill(Environment& values, const Frame& frame, indices<Instance...>) {
        ((static_cast<slot<Instance, instance_value<Kernel, family, Instance>>&>(values).value = plain::template compute<Instance>(frame)), ...);
    }
    /// What a quantization with a scale that is a value rounds.
    template <int Instance, class Frame>
    static SINTER_INLINE lane::scalar<float> quotient(const Frame& frame) {
        const lane::scalar<float> x = plain::template argument<Instance, 0>(frame), scale = plain::template argument<Instance, 1>(frame);
        return operation_under_policy<Kernel, div_op>::type::apply(x, scale);
    }
};
/// The same where packs of byte codes are read: such a code as f32, less a number or not, comes from its pack.
template <class Kernel, class Facts>
struct code_evaluator : thread_evaluator<Kernel> {
    template <int Instance, class Frame>
    static SINTER_INLINE instance_value<Kernel, family, Instance> compute(const Frame& frame) {
        if constexpr (Facts::template decodes<Instance> && requires { frame.template decoded<Instance>(); })
            return frame.template decoded<Instance>();
        else
            return thread_evaluator<Kernel>::template compute<Instance>(frame);
    }
    template <class Environment, class Frame, int... Instance>
    static SINTER_INLINE void fill(Environment& values, const Frame& frame, indices<Instance...>) {
        ((static_cast<slot<Instance, instance_value<Kernel, family, Instance>>&>(values).value = compute<Instance>(frame)), ...);
    }
};
/// Are there byte codes among the operands?
constexpr bool reads_byte_codes(const kernel_view& of) {
    for (int i = 0; i < of.instances; ++i)
        if (of.at[i].kind == node_kind::leaf && (of.memory_type(i) == dtype::i8 || of.memory_type(i) == dtype::u8)) return true;
    return false;
}

/// Facts that the kernels of a formula share, whatever their packs: compiled once for all of them.
template <class Kernel>
struct operand_facts {
    using rows = row_driver<Kernel, family>;
    static constexpr int count = slots<Kernel>::count;
    static constexpr int last = Kernel::levels + 1;
    static constexpr bool stores_elements = Kernel::any_element_output();

    /// Loop axes that a pack's elements may differ in.
    static constexpr u32 lane_bits = Kernel::nest == nest_kind::rows ? Kernel::table.inner_lane : Kernel::vector_bit;
    static constexpr bool is_element_leaf(int i) {
        return Kernel::table.at[i].kind == node_kind::leaf && Kernel::where[i] == site::element && (Kernel::table.at[i].free & lane_bits) != 0;
    }
    /// What a call tests is a constant, and the tables that it comes from aren't in the program.
    using slot_set = detail::slot_set<count>;
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
    /// Is an instance this operation of elements? -1, what stands for a literal, isn't.
    template <int Instance, class Op>
    static constexpr bool is_element_map() {
        if constexpr (Instance < 0)
            return false;
        else if constexpr (Kernel::table.at[Instance].kind == node_kind::map && Kernel::where[Instance] == site::element)
            return is_same<typename evaluator<Kernel, family>::template op_of_instance<Instance>, Op>;
        else
            return false;
    }
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
            if (is_element_leaf(i)) look(dtype_size(Kernel::view.memory_type(i)));
        for (int o = 0; o < Kernel::outputs; ++o)
            if (Kernel::stores_elements(o)) look(dtype_size(Kernel::output_type[o]));
        const int most = 32 / broad;
        return 16 / narrow < most ? 16 / narrow : most;
    }
    static constexpr int best_pack = find_pack();

    /// What an element of the nest costs: bytes that are read and written, and instructions of the portable form.
    static constexpr int find_moved_bytes() {
        int bytes = 0;
        for (int i = 0; i < Kernel::instances; ++i)
            if (is_element_leaf(i)) bytes += dtype_size(Kernel::view.memory_type(i));
        for (int o = 0; o < Kernel::outputs; ++o)
            if (Kernel::stores_elements(o)) bytes += dtype_size(Kernel::output_type[o]);
        return bytes;
    }
    static constexpr int find_cost() {
        int cost = 0;
        for (int i = 0; i < Kernel::instances; ++i)
            if (Kernel::where[i] == site::element) cost += Kernel::cost_of(i);
        return cost;
    }
    static constexpr u32 find_varying_axes() {
        u32 axes = 0;
        for (int i = 0; i < Kernel::instances; ++i)
            if (is_element_leaf(i)) axes |= Kernel::table.at[i].free;
        for (int o = 0; o < Kernel::outputs; ++o) axes |= Kernel::table.output_free[o];
        return axes;
    }
    /// The bytes of an element that memory moves: what repeats along an axis, as weights do, stays in caches.
    static constexpr int find_streamed_bytes(bool results) {
        constexpr u32 axes = find_varying_axes();
        int bytes = 0;
        for (int i = 0; i < Kernel::instances; ++i)
            if (is_element_leaf(i) && Kernel::table.at[i].free == axes) bytes += dtype_size(Kernel::view.memory_type(i));
        for (int o = 0; o < Kernel::outputs; ++o)
            if (results && Kernel::stores_elements(o) && Kernel::table.output_free[o] == axes) bytes += dtype_size(Kernel::output_type[o]);
        return bytes;
    }
    static constexpr int streamed_bytes = find_streamed_bytes(true), streamed_operand_bytes = find_streamed_bytes(false);
    /// Packs that a nest loads for what it stores, of a call that moves far more than the second-level cache holds, and that memory limits.
    static constexpr bool may_last = stores_elements && streamed_bytes > 0 && tuning_of<Kernel>::streams::lasting_bytes > 0 &&
                                     (is_fast<Kernel> || find_cost() < i64(tuning_of<Kernel>::streams::lasting_cost) * find_moved_bytes());
    static bool lasts([[maybe_unused]] i64 elements) {
        constexpr bool stores_as_much = 2 * streamed_operand_bytes <= streamed_bytes;
        if constexpr (may_last)
            return elements >= (stores_as_much ? 1 : 3) * tuning_of<Kernel>::streams::lasting_bytes / streamed_bytes;
        else
            return false;
    }
    template <bool Passing = false, bool MayLast = may_last, class Pack>
    static __device__ __forceinline__ void load_operand(const parameters<Kernel>& in, Pack& to, const void* from) {
        if constexpr (MayLast)
            load_whole<Passing>(to, from, policy_of(in.lasts));
        else
            load_whole<Passing>(to, from);
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

    template <int Axis>
    static constexpr i64 static_size = Kernel::table.axis_size[Axis];
    struct common {
        const parameters<Kernel>& in;
        const typename rows::once_values& once;
        const typename rows::row_values& row;
        const i64 (&offset)[count];
        SINTER_INLINE const auto& operands() const { return in.assigned.operands; }
        SINTER_INLINE i64 folded_count(u32 folded) const { return folded_count_over(folded, make_indices<Kernel::axes>{}); }
        template <int... Axis>
        SINTER_INLINE i64 folded_count_over([[maybe_unused]] u32 folded, indices<Axis...>) const {
            i64 product = 1;
            ((product *= folded >> Axis & 1 ? size_of_axis<Axis>() : 1), ...);
            return product;
        }
        template <int Axis>
        SINTER_INLINE i64 size_of_axis() const {
            if constexpr (static_size<Axis> >= 0)
                return static_size<Axis>;
            else
                return in.folded_size[Axis];
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
