// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a CUDA kernel of this backend gets and how it reads memory: the kernel parameters, packs of elements in registers, the
// frame through which the evaluator sees one element of a pack. No loop and no launch here.
#pragma once

#include "../code_sum.hpp"
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
    int turns;                              ///< rows of a block or cluster, one after the other, in rows
    bool interleaved;                       ///< outputs are components of one tensor there
    bool loads_whole, stores_whole;         ///< all operands, all outputs lie in aligned packs, there too
    bool even;                              ///< a row ends with a whole pack, there too
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
/// A pack of 8 or 4 bytes as one word of the device: element by element nvcc would take it apart and put it together again.
template <class Pack>
using short_word = conditional<sizeof(Pack) == 8, u64, u32>;
template <class Pack>
inline constexpr bool is_short_pack = sizeof(Pack) == 8 || sizeof(Pack) == 4;

template <class Pack>
__device__ __forceinline__ void load_whole(Pack& to, const void* from) {
    if constexpr (sizeof(Pack) % 16 == 0) {
#pragma unroll
        for (int i = 0; i < int(sizeof(Pack) / 16); ++i) {
            const uint4 word = load_16(static_cast<const char*>(from) + 16 * i);
            __builtin_memcpy(reinterpret_cast<char*>(&to) + 16 * i, &word, 16);
        }
    } else if constexpr (is_short_pack<Pack>) {
        const short_word<Pack> word = *static_cast<const short_word<Pack>*>(from);
        __builtin_memcpy(&to, &word, sizeof(Pack));
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

/// The evaluator over packs: a byte code as f32, less a number or not, comes from its pack.
template <class Kernel, class Facts>
struct pack_evaluator : evaluator<Kernel, family> {
    using plain = evaluator<Kernel, family>;
    template <int Instance, class Frame>
    static SINTER_INLINE instance_value<Kernel, family, Instance> compute(const Frame& frame) {
        if constexpr (Facts::template decodes<Instance> && requires { frame.template decoded<Instance>(); })
            return frame.template decoded<Instance>();
        else
            return plain::template compute<Instance>(frame);
    }
    template <class Environment, class Frame, int... Instance>
    static SINTER_INLINE void fill(Environment& values, const Frame& frame, indices<Instance...>) {
        ((static_cast<slot<Instance, instance_value<Kernel, family, Instance>>&>(values).value = compute<Instance>(frame)), ...);
    }
    /// What a quantization with a scale that is a value rounds.
    template <int Instance, class Frame>
    static SINTER_INLINE lane::scalar<float> quotient(const Frame& frame) {
        const lane::scalar<float> x = plain::template argument<Instance, 0>(frame), scale = plain::template argument<Instance, 1>(frame);
        return operation_under_policy<Kernel, div_op>::type::apply(x, scale);
    }
};

/// Facts that the kernels share: types, the number of elements in a pack (`Pack`; 0: what suits memory best).
template <class Kernel, int Pack = 0>
struct facts {
    using rows = row_driver<Kernel, family>;
    using eval = pack_evaluator<Kernel, facts>;
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
    /// A cast to f32 of a pack's i8 or u8, less a literal integer or not: what a code's decoding gives at once, exactly.
    struct decoding {
        int leaf = -1;
        i32 zero = 0;
    };
    template <int Instance>
    static constexpr decoding find_decoding() {
        if constexpr (Instance >= 0 && pack % 4 == 0) {
            constexpr auto& it = Kernel::table.at[Instance];
            if constexpr (it.kind == node_kind::map && Kernel::where[Instance] == site::element && it.type == dtype::f32) {
                using op = typename eval::plain::template op_of_instance<Instance>;
                if constexpr (is_same<op, cast_op<dtype::f32>> && it.argument[0] >= 0) {
                    if constexpr (is_element_leaf(it.argument[0])) {
                        using storage = typename rows::template storage_of<it.argument[0]>;
                        if (is_same<storage, i8> || is_same<storage, u8>) return {it.argument[0], 0};
                    }
                } else if constexpr ((is_same<op, sub_op> || is_same<op, add_op>) && it.argument[0] >= 0 && it.argument[1] < 0) {
                    constexpr int number = it.immediate[1];
                    if constexpr (Kernel::node[number].kind == node_kind::literal) {
                        constexpr float by = literal_value<float, Kernel::node[number].literal, Kernel::node[number].bits>();
                        constexpr decoding cast = find_decoding<it.argument[0]>();
                        if constexpr (cast.leaf >= 0 && cast.zero == 0 && by >= -1024 && by <= 1024)
                            if (by == float(i32(by)) && by != 0) return {cast.leaf, is_same<op, sub_op> ? i32(by) : -i32(by)};
                    }
                }
            }
        }
        return {};
    }
    template <int Instance>
    static constexpr decoding decoding_of = find_decoding<Instance>();
    template <int Instance>
    static constexpr bool decodes = decoding_of<Instance>.leaf >= 0;
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

    /// Elements of a pack, of the `left` that there are from its first one on; none where that is negative.
    static __device__ __forceinline__ int places_there(i64 left) { return left >= pack ? pack : left > 0 ? int(left) : 0; }
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
            // One addition from element to element: less code than a product each.
            const int there = places_there(left);
            const storage* at = from;
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                value.at[j] = j < there ? *at : storage{};
                at += step;
            }
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
            const int there = places_there(left);
            storage* at = to;
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                if (j < there) *at = value.at[j];
                at += step;
            }
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
        SINTER_INLINE lane::scalar<float> decoded() const {
            return code_as_real(static_cast<const pack_slot<decoding_of<Instance>.leaf>&>(loaded).value, lane, decoding_of<Instance>.zero);
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
    /// Where an output of i8 or u8 is made of f32 by its last operation, the conversion is the store's: two codes an instruction.
    enum class code_maker : u8 { none, cast, rounded, quantize_static, quantize, sum };
    template <class Op>
    struct made_by {
        static constexpr code_maker kind = code_maker::none;
    };
    template <dtype To>
    struct made_by<cast_op<To>> {
        static constexpr code_maker kind = code_maker::cast;
    };
    template <qparams Parameters>
    struct made_by<quantize_static_op<Parameters>> {
        static constexpr code_maker kind = Parameters.storage == code_kind::i8 || Parameters.storage == code_kind::u8 ? code_maker::quantize_static : code_maker::none;
        static __device__ __forceinline__ lane::scalar<float> place(lane::scalar<float> x) { return place_of_static_code<Parameters>(x); }
    };
    template <class Code, i32 Low, i32 High>
    struct made_by<quantize_op<Code, Low, High, void>> {
        static constexpr code_maker kind = is_same<Code, i8> || is_same<Code, u8> ? code_maker::quantize : code_maker::none;
        template <bool Shifts>
        static __device__ __forceinline__ lane::scalar<float> place(lane::scalar<float> quotient, lane::scalar<i32> zero) {
            return place_of_code<Code, Low, High, Shifts>(quotient, zero);
        }
    };
    /// cast(clamp(round(x) + shift, all codes)), `round` half to even: an instance x of f32, and its shift. Saturation clamps.
    struct rounding {
        int from = -1;
        i32 shift = 0;
    };
    template <int Instance>
    static constexpr bool is_element_f32() {
        if constexpr (Instance >= 0)
            return Kernel::table.at[Instance].kind == node_kind::map && Kernel::where[Instance] == site::element && Kernel::table.at[Instance].type == dtype::f32;
        else
            return false;
    }
    template <int Instance>
    using op_at = typename eval::plain::template op_of_instance<Instance>;
    template <int Instance, int Argument>
    static constexpr bool is_literal() {
        return Kernel::table.at[Instance].argument[Argument] < 0 && Kernel::node[Kernel::table.at[Instance].immediate[Argument]].kind == node_kind::literal;
    }
    template <int Instance, int Argument>
    static constexpr float literal_at() {
        constexpr int number = Kernel::table.at[Instance].immediate[Argument];
        return literal_value<float, Kernel::node[number].literal, Kernel::node[number].bits>();
    }
    template <class Code, int Instance>
    static constexpr rounding find_rounding() {
        if constexpr (is_element_f32<Instance>()) {
            if constexpr (is_same<op_at<Instance>, clamp_op> && is_literal<Instance, 1>() && is_literal<Instance, 2>()) {
                constexpr bool all = literal_at<Instance, 1>() == float(integer_min<Code>) && literal_at<Instance, 2>() == float(integer_max<Code>);
                if constexpr (all) return find_shifted<Kernel::table.at[Instance].argument[0]>();
            }
        }
        return {};
    }
    template <int Instance>
    static constexpr rounding find_shifted() {
        if constexpr (is_element_f32<Instance>()) {
            constexpr int inner = Kernel::table.at[Instance].argument[0];
            if constexpr (is_same<op_at<Instance>, round_op>) {
                if (inner >= 0 && Kernel::table.at[inner].type == dtype::f32 && Kernel::where[inner] == site::element) return {inner, 0};
            } else if constexpr (is_same<op_at<Instance>, add_op> || is_same<op_at<Instance>, sub_op>) {
                if constexpr (is_literal<Instance, 1>()) {
                    constexpr float by = literal_at<Instance, 1>();
                    if constexpr (by >= -1024 && by <= 1024) {
                        constexpr rounding found = find_shifted<inner>();
                        if (found.from >= 0 && found.shift == 0 && by == float(i32(by))) return {found.from, is_same<op_at<Instance>, add_op> ? i32(by) : -i32(by)};
                    }
                }
            }
        }
        return {};
    }
    template <int Output>
    static constexpr rounding find_rounding_of() {
        constexpr int source = Kernel::table.output[Output];
        if constexpr (source >= 0) {
            if constexpr (Kernel::table.at[source].kind == node_kind::map && Kernel::table.at[source].argument[0] >= 0)
                return find_rounding<typename rows::template output_storage<Output>, Kernel::table.at[source].argument[0]>();
        }
        return {};
    }
    template <int Output>
    static constexpr rounding rounding_of = find_rounding_of<Output>();
    /// A sum of two operands of codes to a third scale, in the form that is proved (code_sum.hpp).
    static constexpr bool find_sum() {
        if constexpr (Kernel::nest == nest_kind::pointwise && Kernel::outputs == 1 && (Kernel::output_type[0] == dtype::q8 || Kernel::output_type[0] == dtype::qu8)) {
            using sum = code_sum_facts<Kernel>;
            if constexpr (sum::possible) return pack % 4 == 0 && is_element_leaf(sum::left) && is_element_leaf(sum::right);
        }
        return false;
    }
    static constexpr bool is_code_sum = find_sum();
    template <int Output>
    static constexpr code_maker find_maker() {
        constexpr int source = Kernel::table.output[Output];
        using storage = typename rows::template output_storage<Output>;
        if constexpr (is_code_sum) return code_maker::sum;
        if constexpr (source >= 0 && (is_same<storage, i8> || is_same<storage, u8>)) {
            if constexpr (Kernel::table.at[source].kind == node_kind::map && Kernel::where[source] == site::element && Kernel::table.at[source].type == dtype_of<storage>) {
                constexpr int argument = Kernel::table.at[source].argument[0];
                if constexpr (argument >= 0 && made_by<typename eval::plain::template op_of_instance<source>>::kind != code_maker::none)
                    if constexpr (Kernel::table.at[argument].type == dtype::f32) {
                        constexpr code_maker kind = made_by<typename eval::plain::template op_of_instance<source>>::kind;
                        if constexpr (kind == code_maker::cast)
                            return rounding_of<Output>.from >= 0 ? code_maker::rounded : kind;
                        else
                            return kind;
                    }
            }
        }
        return code_maker::none;
    }
    template <int Output>
    static constexpr code_maker maker = find_maker<Output>();
    /// The f32 that the store rounds.
    template <int Output, class Frame>
    static __device__ __forceinline__ lane::scalar<float> code_place(const Frame& frame) {
        constexpr int source = Kernel::table.output[Output];
        const lane::scalar<float> x = eval::plain::template argument<source, 0>(frame);
        using makes = made_by<typename eval::plain::template op_of_instance<source>>;
        if constexpr (maker<Output> == code_maker::cast) {
            return x;
        } else if constexpr (maker<Output> == code_maker::rounded) {
            return shifted_place(frame.template value<rounding_of<Output>.from>(), lane::scalar<float>(float(rounding_of<Output>.shift)), rounding_of<Output>.shift != 0);
        } else if constexpr (maker<Output> == code_maker::quantize_static) {
            return makes::place(x);
        } else {
            const auto quotient = eval::template quotient<source>(frame);
            constexpr int zero = Kernel::table.at[source].argument[2], number = Kernel::table.at[source].immediate[2];
            constexpr bool shifts = zero >= 0 || Kernel::node[number].kind != node_kind::literal || Kernel::node[number].bits != 0;
            return makes::template place<shifts>(quotient, eval::plain::template argument<source, 2>(frame));
        }
    }
    /// The same of a sum of codes: two fused steps on the bare codes. With relu the code of 0 is the least.
    static __device__ __forceinline__ lane::scalar<float> sum_place(const operand_packs& loaded, int index) {
        using sum = code_sum_facts<Kernel>;
        using real = lane::scalar<float>;
        constexpr float left = sum::form.left, right = sum::form.right, offset = sum::form.offset;
        constexpr i32 zero = sum::result_type::parameters.zero;
        const real one = code_as_real(static_cast<const pack_slot<sum::left>&>(loaded).value, index, 0);
        const real two = code_as_real(static_cast<const pack_slot<sum::right>&>(loaded).value, index, 0);
        const real place = shifted_place(fma(one, real(left), fma(two, real(right), real(offset))), real(float(zero)), zero != 0);
        return sum::has_relu ? no_less(place, real(float(zero))) : place;
    }
    /// The most that |value| of an f32 can be, where that follows from codes and literals alone: such a value is never a NaN. -1: it doesn't.
    template <int Instance, int Argument>
    static constexpr double most_of_argument() {
        if constexpr (Kernel::table.at[Instance].argument[Argument] >= 0) {
            return most_of<Kernel::table.at[Instance].argument[Argument]>();
        } else if constexpr (is_literal<Instance, Argument>()) {
            constexpr double by = literal_at<Instance, Argument>();
            return by < 0 ? -by : by <= 1e30 ? by : -1;  // a NaN is no number
        } else {
            return -1;
        }
    }
    template <int Instance>
    static constexpr double most_of() {
        constexpr auto& it = Kernel::table.at[Instance];
        double most = -1;
        if constexpr (it.kind == node_kind::leaf) {
            using storage = typename rows::template storage_of<Instance>;
            if constexpr (is_quantized<storage> && is_code_of_a_byte<storage>) most = 512.0 * double(storage::parameters.scale());
        } else if constexpr (it.kind == node_kind::map && it.type == dtype::f32) {
            using op = op_at<Instance>;
            if constexpr (is_same<op, relu_op>) {
                most = most_of_argument<Instance, 0>();
            } else if constexpr (is_same<op, add_op> || is_same<op, sub_op> || is_same<op, mul_op>) {
                constexpr double left = most_of_argument<Instance, 0>(), right = most_of_argument<Instance, 1>();
                if (left >= 0 && right >= 0) most = 1.01 * (is_same<op, mul_op> ? left * right : left + right);
            }
        }
        return most <= 1e30 ? most : -1;
    }
    /// Is a quantized output of a static scale made of such an f32, with a finite quotient?
    template <int Output>
    static constexpr bool find_number() {
        using storage = typename rows::template output_storage<Output>;
        constexpr int source = Kernel::table.output[Output];
        if constexpr (is_quantized<storage> && is_code_of_a_byte<storage> && source >= 0) {
            if constexpr (Kernel::table.at[source].type == dtype::f32 && Kernel::where[source] == site::element)
                return most_of<source>() >= 0 && most_of<source>() <= 1e30 * double(storage::parameters.scale());
        }
        return false;
    }
    template <int Output>
    static constexpr bool is_number = find_number<Output>();
    /// The lane values of a pack of each output, before they are rounded to what memory holds.
    template <int Output>
    struct result_row {
        conditional<maker<Output> != code_maker::none, family::value<float>, family::value<compute_of<typename rows::template output_storage<Output>>>> at[pack];
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
        if constexpr (maker<Output> == code_maker::sum)
            return sum_place(frame.loaded, frame.lane);
        else if constexpr (maker<Output> != code_maker::none)
            return code_place<Output>(frame);
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
        auto& codes = static_cast<slot<Output, output_pack<Output>>&>(to).value;
        const auto& values = static_cast<const slot<Output, result_row<Output>>&>(from).value.at;
        if constexpr (maker<Output> == code_maker::none)
            encode_pack<is_number<Output>>(codes, values);
        else
            encode_code_pack<maker<Output> == code_maker::cast ? code_rounding::towards_zero : code_rounding::half_to_even>(codes, values);
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
