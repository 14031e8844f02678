// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Codes that are quotients by a scale of their row, where the row's greatest magnitude covers them: what dynamic_quantize computes, and
// cast<i8>(clamp(round(y / scale), -128, 127)) written out. Recognised here; cuda_rows.cuh stores them.
//
// A row computes 1 / scale once, in two floats, and each element takes a product and a sum instead of a division:
//     quotient = y upper + y lower                    the first product not rounded
// `upper` is the rounded reciprocal, `lower` what is left of it by the remainder 1 - upper scale, which is exact: below 2^-24 / scale and off
// by 2^-23 of itself at most. So the quotient, before it is rounded, lies within 2^-46 of y / scale. That decides each code as the division
// does wherever the scale's significand, as an integer of 24 bits, is a multiple of 2^16 or lies 32 beside any: no y is so near to the middle
// between a half and the float next to it (the proof stands in cpu_row_codes.hpp). A scale between 2^-100 and 2^60 bars overflow and
// underflow wherever y / scale isn't below 1/4, where any such result rounds to 0. The row tests all that, and that
// |y| <= (last code + 0.49) scale for all of its elements, by a maximum that the formula has anyway; a NaN fails it. Then nothing
// is left to clamp. Other rows, one of a thousand for its significand, are computed as written. Under `fast` a code is the last byte of
// fma(y, upper, 1.5 * 2^23), whatever the significand.
#pragma once

#include "cuda_call.cuh"
#include "cuda_fast.cuh"

namespace sinter::detail::device {

/// The reciprocal of a row's scale.
struct row_scale {
    float upper = 1, lower = 0;
    static constexpr float places = 0x1.8p23f;  ///< its last place is 1

    __device__ __forceinline__ void set(float of_row) {
        upper = step::reciprocal(of_row);
        lower = step::mul(step::fma(-upper, of_row, 1.0f), upper);
    }
    static __device__ __forceinline__ bool covers(float of_row, float reach, int largest) {
        return step::less_equal(0x1p-100f, of_row) && step::less_equal(of_row, 0x1p60f) && step::less_equal(reach, step::mul(float(largest) + 0.49f, of_row));
    }
    /// Does the quotient decide each code as the division would?
    static __device__ __forceinline__ bool decides(float of_row) {
        const u32 beside = __builtin_bit_cast(u32, of_row) & 0xffffu;
        return beside == 0 || beside - 32u <= 0x10000u - 64u;
    }
    __device__ __forceinline__ lane::scalar<float> quotient(lane::scalar<float> y) const {
        return lane::scalar<float>(step::fma(y.value, upper, step::mul(y.value, lower)));
    }
    /// What has the code, or one next to it, in its last byte.
    __device__ __forceinline__ lane::scalar<float> place_near(float y) const { return lane::scalar<float>(step::fma(y, upper, places)); }
};
/// The last bytes of four floats as one word, the first one lowest.
__device__ __forceinline__ unsigned last_bytes(const lane::scalar<float>* of) {
    unsigned bits[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) bits[i] = __builtin_bit_cast(unsigned, of[i].value);
#if SINTER_DEVICE_PASS
    return __byte_perm(__byte_perm(bits[0], bits[1], 0x0040), __byte_perm(bits[2], bits[3], 0x0040), 0x5410);
#else
    return (bits[0] & 255u) | (bits[1] & 255u) << 8 | (bits[2] & 255u) << 16 | bits[3] << 24;
#endif
}

template <class Kernel>
struct row_code_facts {
    using eval = evaluator<Kernel, family>;
    template <int Instance>
    using op = typename eval::template op_of_instance<Instance>;
    static constexpr bool is_element(int i) { return i >= 0 && Kernel::table.at[i].kind == node_kind::map && Kernel::where[i] == site::element; }
    static constexpr bool is_f32(int i) { return i >= 0 && Kernel::table.at[i].type == dtype::f32; }
    static constexpr bool is_of_row(int i) { return i >= 0 && Kernel::where[i] == site::row; }

    /// y / scale of an output, and the largest code that is surely kept; `dividend` -1: not of this form.
    struct quotient {
        int dividend = -1, scale = -1, largest = 0;
    };
    static constexpr quotient among(int dividend, int scale, int largest) {
        return is_f32(dividend) && Kernel::where[dividend] == site::element && is_f32(scale) && is_of_row(scale) && largest > 0 ? quotient{dividend, scale, largest}
                                                                                                                        : quotient{};
    }
    template <class Op>
    struct quantizes {
        static constexpr bool possible = false;
    };
    template <class Code, i32 Low, i32 High>
    struct quantizes<quantize_op<Code, Low, High, void>> {
        static constexpr bool possible = is_same<Code, i8>;
        static constexpr int largest = -Low < High ? -Low : High;
    };
    static constexpr bool is_literal(int node) { return Kernel::node[node].kind == node_kind::literal; }
    template <int Source>
    static constexpr quotient find_in() {
        if constexpr (is_element(Source)) {
            constexpr auto& it = Kernel::table.at[Source];
            if constexpr (quantizes<op<Source>>::possible) {
                if constexpr (it.argument[2] < 0)
                    if constexpr (is_literal(it.immediate[2]) && Kernel::node[it.immediate[2]].bits == 0) return among(it.argument[0], it.argument[1], quantizes<op<Source>>::largest);
            } else if constexpr (is_same<op<Source>, cast_op<dtype::i8>>) {
                return find_clamped<it.argument[0]>();
            }
        }
        return {};
    }
    template <int Source>
    static constexpr quotient find_clamped() {
        if constexpr (is_element(Source) && is_f32(Source)) {
            constexpr auto& it = Kernel::table.at[Source];
            if constexpr (is_same<op<Source>, clamp_op> && it.argument[1] < 0 && it.argument[2] < 0) {
                constexpr int low = it.immediate[1], high = it.immediate[2];
                if constexpr (is_literal(low) && is_literal(high) && is_element(it.argument[0])) {
                    constexpr float least = literal_value<float, Kernel::node[low].literal, Kernel::node[low].bits>();
                    constexpr float greatest = literal_value<float, Kernel::node[high].literal, Kernel::node[high].bits>();
                    if constexpr (is_same<op<it.argument[0]>, round_op>) return find_divided<Kernel::table.at[it.argument[0]].argument[0]>(least, greatest);
                }
            }
        }
        return {};
    }
    template <int Source>
    static constexpr quotient find_divided(float least, float greatest) {
        if constexpr (is_element(Source) && is_f32(Source)) {
            if constexpr (is_same<op<Source>, div_op>) {
                const float reach = -least < greatest ? -least : greatest;
                return among(Kernel::table.at[Source].argument[0], Kernel::table.at[Source].argument[1], reach < 1 ? 0 : reach < 127 ? int(reach) : 127);
            }
        }
        return {};
    }
    /// The row's max |y|; -1 where the formula has none.
    template <int Instance>
    static constexpr bool is_reach_of(int dividend) {
        if constexpr (Kernel::is_fold(Instance)) {
            constexpr int folded = Kernel::table.at[Instance].argument[0];
            if constexpr (is_of_row(Instance) && is_f32(Instance) && is_element(folded))
                if constexpr (is_same<typename op<Instance>::monoid, monoids::max_of> && is_same<op<folded>, abs_op>) return Kernel::table.at[folded].argument[0] == dividend;
        }
        return false;
    }
    template <int... Instance>
    static constexpr int find_reach(int dividend, indices<Instance...>) {
        int found = -1;
        ((found = dividend >= 0 && is_reach_of<Instance>(dividend) ? Instance : found), ...);
        return found;
    }
    template <int Output>
    static constexpr quotient find() {
        if constexpr (Kernel::nest == nest_kind::rows && Kernel::stores_elements(Output) && Kernel::output_type[Output] == dtype::i8) {
            constexpr quotient found = find_in<Kernel::table.output[Output]>();
            if (find_reach(found.dividend, make_indices<Kernel::instances>{}) >= 0) return found;
        }
        return {};
    }
    template <int Output>
    static constexpr quotient of = find<Output>();
    template <int Output>
    static constexpr bool covers = of<Output>.dividend >= 0;
    template <int Output>
    static constexpr int reach_of = find_reach(of<Output>.dividend, make_indices<Kernel::instances>{});
    template <int... Output>
    static constexpr array<int, sizeof...(Output)> find_dividends(indices<Output...>) {
        return {{of<Output>.dividend...}};
    }
    static constexpr array<int, Kernel::outputs> dividend = find_dividends(make_indices<Kernel::outputs>{});
    static constexpr bool find_any() {
        for (int o = 0; o < Kernel::outputs; ++o)
            if (dividend[o] >= 0) return true;
        return false;
    }
    static constexpr bool any = find_any();
    /// Element instances that the outputs are made of: dividends where codes are covered.
    static constexpr array<bool, Kernel::instances> roots() {
        array<bool, Kernel::instances> out{};
        for (int o = 0; o < Kernel::outputs; ++o) {
            const int root = dividend[o] >= 0 ? dividend[o] : Kernel::table.output[o];
            if (Kernel::stores_elements(o) && root >= 0 && Kernel::where[root] == site::element) out[root] = true;
        }
        return out;
    }

    /// The scales of a row, one for each output that has one. `Lift`: what tells the factors of the row's values from the dividend's others
    /// (cuda_row_lift.cuh), so that they are multiplied once; void: nothing does.
    template <class Lift>
    struct scales {
        row_scale of_output[any ? Kernel::outputs : 1];

        /// Are all codes covered?
        template <class Frame, int... Output>
        __device__ __forceinline__ bool find(const Frame& row, indices<Output...>) {
            bool covered = true;
            ((covered = covered && find_one<Output>(row)), ...);
            return covered;
        }
        template <int Output, class Frame>
        __device__ __forceinline__ bool find_one(const Frame& row) {
            if constexpr (covers<Output>) {
                const float scale = row.template value<of<Output>.scale>().value;
                of_output[Output].set(scale);
                if constexpr (!__is_same(Lift, void)) of_output[Output].upper *= Lift::template part<of<Output>.dividend, false>(row);
                const bool decides = is_fast<Kernel> || row_scale::decides(scale);
                return decides && row_scale::covers(scale, row.template value<reach_of<Output>>().value, of<Output>.largest);
            } else {
                return true;
            }
        }
        /// As facts::result_one; `Work` are the rows' facts.
        template <class Work, int Output, class Frame>
        __device__ __forceinline__ void result_one(const Frame& frame, typename Work::results_of_packs& to) const {
            if constexpr (covers<Output>) {
                auto& result = static_cast<slot<Output, typename Work::template result_row<Output>>&>(to).value.at[frame.lane];
                constexpr int dividend_of_code = of<Output>.dividend;
                if constexpr (!is_fast<Kernel>)
                    result = of_output[Output].quotient(frame.template value<dividend_of_code>());
                else if constexpr (__is_same(Lift, void))
                    result = of_output[Output].place_near(frame.template value<dividend_of_code>().value);
                else
                    result = of_output[Output].place_near(Lift::template part<dividend_of_code, true>(frame));
            } else {
                Work::template result_one<Output>(frame, to);
            }
        }
    };
    /// As facts::encode_one.
    template <class Work, int Output>
    static __device__ __forceinline__ void encode_one(const typename Work::results_of_packs& from, typename Work::output_packs& to) {
        if constexpr (covers<Output> && is_fast<Kernel>) {
            const auto& places = static_cast<const slot<Output, typename Work::template result_row<Output>>&>(from).value.at;
#pragma unroll
            for (int i = 0; i < Work::pack; i += 4) {
                const unsigned codes = last_bytes(places + i);
                __builtin_memcpy(&static_cast<slot<Output, typename Work::template output_pack<Output>>&>(to).value.at[i], &codes, 4);
            }
        } else if constexpr (covers<Output>)
            encode_code_pack<code_rounding::half_to_even, code_source::no_maximum_with_0>(static_cast<slot<Output, typename Work::template output_pack<Output>>&>(to).value,
                                                          static_cast<const slot<Output, typename Work::template result_row<Output>>&>(from).value.at);
        else
            Work::template encode_one<Output>(from, to);
    }
};

}  // namespace sinter::detail::device
