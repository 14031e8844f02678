// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread's packs: those of each operand and output in registers, the frame through which the evaluator sees one element of them,
// loading and storing where they needn't be whole. No loop and no launch here.
#pragma once

#include "cuda_made_codes.cuh"

namespace sinter::detail::device {

/// What kernels with packs of `Pack` elements share.
template <class Kernel, int Pack>
struct pack_facts : made_codes<Kernel> {
    using made = made_codes<Kernel>;
    using typename made::rows;
    using typename made::common, typename made::element_leaves;
    using made::count, made::last, made::lane_bits, made::is_element_leaf;
    using eval = conditional<reads_byte_codes(Kernel::view), code_evaluator<Kernel, pack_facts>, thread_evaluator<Kernel>>;  // (a function less for every value)
    static constexpr int pack = Pack;

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
            if constexpr (made::template loads_pack<Instance>) {
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
            if constexpr (made::template moves_along_lane<Instance>) {
                const i64 step = this->in.lane_step[slot];
                return family::value<i64>(start + position * step + lane * step);
            } else {
                return family::value<i64>(start);
            }
        }
    };
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
    static constexpr code_maker maker = is_code_sum ? code_maker::sum : made::template maker_of<Output>;
    /// The f32 that the store of a sum of codes rounds: two fused steps on the bare codes. With relu the code of 0 is the least.
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
            return made::template code_place<Output>(frame);
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
            encode_pack<made::template is_number<Output>>(codes, values);
        else
            encode_code_pack<maker<Output> == code_maker::cast ? code_rounding::towards_zero : code_rounding::half_to_even, made::template place_source<Output>>(codes, values);
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
};
/// `Pack` 0: what suits memory best.
template <class Kernel, int Pack = 0>
using facts = pack_facts<Kernel, (Pack > 0 ? Pack : operand_facts<Kernel>::best_pack)>;

}  // namespace sinter::detail::device
