// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What makes the codes of 8 bits that a kernel stores: where it is an operation on f32, the conversion is the store's, two codes an
// instruction (cuda_encode.cuh). Recognised here, whatever the packs; cuda_call.cuh stores them.
#pragma once

#include "cuda_operands.cuh"

namespace sinter::detail::device {

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
    template <bool>
    static constexpr code_source source = source_of_place<typename code_type<Parameters.storage>::type, Parameters.low, Parameters.zero != 0, false>;
};
template <class Code, i32 Low, i32 High>
struct made_by<quantize_op<Code, Low, High, void>> {
    static constexpr code_maker kind = is_same<Code, i8> || is_same<Code, u8> ? code_maker::quantize : code_maker::none;
    template <bool Shifts>
    static __device__ __forceinline__ lane::scalar<float> place(lane::scalar<float> quotient, lane::scalar<i32> zero) {
        return place_of_code<Code, Low, High, Shifts>(quotient, zero);
    }
    template <bool Shifts>
    static constexpr code_source source = source_of_place<Code, Low, Shifts, false>;
};

template <class Kernel>
struct made_codes : operand_facts<Kernel> {
    using plain = evaluator<Kernel, family>;
    using typename operand_facts<Kernel>::rows;
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
    using op_at = typename plain::template op_of_instance<Instance>;
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
    template <int Output>
    static constexpr code_maker find_maker() {
        constexpr int source = Kernel::table.output[Output];
        using storage = typename rows::template output_storage<Output>;
        if constexpr (source >= 0 && (is_same<storage, i8> || is_same<storage, u8>)) {
            if constexpr (Kernel::table.at[source].kind == node_kind::map && Kernel::where[source] == site::element && Kernel::table.at[source].type == dtype_of<storage>) {
                constexpr int argument = Kernel::table.at[source].argument[0];
                if constexpr (argument >= 0 && made_by<typename plain::template op_of_instance<source>>::kind != code_maker::none)
                    if constexpr (Kernel::table.at[argument].type == dtype::f32) {
                        constexpr code_maker kind = made_by<typename plain::template op_of_instance<source>>::kind;
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
    static constexpr code_maker maker_of = find_maker<Output>();
    /// Of `quantize`: may the zero point be another than 0?
    template <int Output>
    static constexpr bool find_shifts() {
        constexpr int source = Kernel::table.output[Output], zero = Kernel::table.at[source].argument[2], number = Kernel::table.at[source].immediate[2];
        if constexpr (maker_of<Output> == code_maker::quantize && zero < 0)
            return Kernel::node[number].kind != node_kind::literal || Kernel::node[number].bits != 0;
        else
            return maker_of<Output> == code_maker::quantize;
    }
    template <int Output>
    static constexpr bool shifts = find_shifts<Output>();
    /// What the f32 that the store rounds is made by.
    template <int Output>
    static constexpr code_source find_place_source() {
        if constexpr (maker_of<Output> == code_maker::rounded) {
            return rounding_of<Output>.shift != 0 ? code_source::no_maximum_with_0 : code_source::anything;
        } else if constexpr (maker_of<Output> == code_maker::quantize_static || maker_of<Output> == code_maker::quantize) {
            return made_by<op_at<Kernel::table.output[Output]>>::template source<shifts<Output>>;
        } else {
            return code_source::anything;
        }
    }
    template <int Output>
    static constexpr code_source place_source = find_place_source<Output>();
    /// The f32 that the store rounds.
    template <int Output, class Frame>
    static __device__ __forceinline__ lane::scalar<float> code_place(const Frame& frame) {
        constexpr int source = Kernel::table.output[Output];
        const lane::scalar<float> x = plain::template argument<source, 0>(frame);
        using makes = made_by<typename plain::template op_of_instance<source>>;
        if constexpr (maker_of<Output> == code_maker::cast) {
            return x;
        } else if constexpr (maker_of<Output> == code_maker::rounded) {
            return shifted_place(frame.template value<rounding_of<Output>.from>(), lane::scalar<float>(float(rounding_of<Output>.shift)), rounding_of<Output>.shift != 0);
        } else if constexpr (maker_of<Output> == code_maker::quantize_static) {
            return makes::place(x);
        } else {
            const auto quotient = thread_evaluator<Kernel>::template quotient<source>(frame);
            return makes::template place<shifts<Output>>(quotient, plain::template argument<source, 2>(frame));
        }
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
};

}  // namespace sinter::detail::device
