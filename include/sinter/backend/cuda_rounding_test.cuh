// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Costly functions whose results are stored as bf16: sixteen of f32's bits are rounded away, so that nearly always an approximation of
// the special function unit decides the stored ones. Where its error could lead to another rounding, or where its bound doesn't hold,
// the element is computed as written (Ziv's rounding test). The bits are those of the portable functions; two elements of a
// thousand, or fewer, cost the way as written on top. No loop over memory here.
#pragma once

#include "cuda_call.cuh"
#include "cuda_fast.cuh"

namespace sinter::detail::device {

/// The approximation of an operation of one f32. `error`: how far it may lie from the portable function, of which it includes the error,
/// in units of 2^-24 relative, where `holds`; 0: there is none. For |x| below 2^-100 the two are equal. tests/cuda/kernels goes through all
/// f32 and fails above the bound; the instructions' own bounds are those that PTX promises for every card.
template <class Op>
struct tested_approximation {
    static constexpr int error = 0;
};
/// The exponent -v is at most 25, and three roundings of it are relative errors of the power.
template <>
struct tested_approximation<gelu_tanh_op> {
    static constexpr int error = 40;
    static SINTER_INLINE bool holds(float x) { return x >= -5.0f; }
    static SINTER_INLINE float value(float x) {
        return step::mul(x, approximate::reciprocal(1.0f + approximate::power_of_two(x * (-0x1.26aec2p+1f + -0x1.a5a7d0p-4f * (x * x)))));
    }
};
template <>
struct tested_approximation<silu_op> {
    static constexpr int error = 20;
    static SINTER_INLINE bool holds(float x) { return x >= -8.0f; }
    static SINTER_INLINE float value(float x) { return step::mul(x, approximate::logistic(x)); }
};
template <>
struct tested_approximation<sigmoid_op> {
    static constexpr int error = 20;
    static SINTER_INLINE bool holds(float x) { return x >= -8.0f; }
    static SINTER_INLINE float value(float x) { return approximate::logistic(x); }
};

template <class Op>
struct tested_form {
    template <class Value>
    static SINTER_INLINE Value apply(Value x) {
        return Value(tested_approximation<Op>::value(x.value));
    }
};
struct tested_policy {
    template <class Op>
    using instead_of = conditional<(tested_approximation<Op>::error > 0), tested_form<Op>, Op>;
};
template <class Kernel>
struct tested_kernel : Kernel {
    using policy = tested_policy;
};

/// What a rounding test may do for a nest without folds.
template <class Kernel>
struct rounding_facts {
    using work = facts<Kernel>;
    static constexpr int instances = Kernel::instances;
    template <int Instance>
    static constexpr int error_of_operation() {
        if constexpr (Kernel::table.at[Instance].kind == node_kind::map && Kernel::table.at[Instance].type == dtype::f32)
            return tested_approximation<typename work::eval::template op_of_instance<Instance>>::error;
        else
            return 0;
    }
    template <int Instance>
    static constexpr bool multiplies() {
        if constexpr (Kernel::table.at[Instance].kind == node_kind::map && Kernel::table.at[Instance].type == dtype::f32)
            return is_same<typename work::eval::template op_of_instance<Instance>, mul_op>;
        else
            return false;
    }
    struct operations {
        array<int, instances> error{};
        array<bool, instances> product{};
    };
    template <int... Instance>
    static constexpr operations look(indices<Instance...>) {
        operations out;
        ((out.error[Instance] = error_of_operation<Instance>(), out.product[Instance] = multiplies<Instance>()), ...);
        return out;
    }
    static constexpr operations own = look(make_indices<instances>{});
    static constexpr bool is_element(int i) { return Kernel::where[i] == site::element && Kernel::template needed<work::last>[i]; }
    static constexpr bool is_approximated(int i) { return own.error[i] > 0 && is_element(i); }
    /// Relative errors in units of 2^-24: of approximated functions of exact values, and of products of those. -1: not known.
    static constexpr array<int, instances> find_errors() {
        array<int, instances> out{};
        for (int i = 0; i < instances; ++i) {
            if (!is_element(i)) continue;
            const auto& it = Kernel::table.at[i];
            int sum = 0;
            bool known = true;
            for (int a = 0; a < it.arity; ++a) {
                if (it.argument[a] < 0) continue;
                known = known && out[it.argument[a]] >= 0;
                sum += out[it.argument[a]];
            }
            if (!known || (sum > 0 && !own.product[i]))
                out[i] = -1;
            else
                out[i] = sum > 0 ? sum + 4 : own.error[i];  // two roundings of the product, one of either side, and the product of errors
        }
        return out;
    }
    static constexpr array<int, instances> error = find_errors();
    static constexpr bool find_possible() {
        if constexpr (stores_bf16())
            return find_tested();
        else
            return false;
    }
    /// Asked before any operation is looked at.
    static constexpr bool stores_bf16() {
        bool all = Kernel::nest == nest_kind::pointwise && !is_fast<Kernel>;
        for (int o = 0; o < Kernel::outputs; ++o) all = all && (!Kernel::stores_elements(o) || Kernel::output_type[o] == dtype::bf16);
        return all;
    }
    static constexpr bool find_tested() {
        bool any = false;
        for (int o = 0; o < Kernel::outputs; ++o) {
            if (!Kernel::stores_elements(o)) continue;
            const int source = Kernel::table.output[o];
            if (source < 0 || Kernel::output_type[o] != dtype::bf16 || Kernel::table.at[source].type != dtype::f32 || !is_element(source)) return false;
            if (error[source] < 0 || error[source] > 1000) return false;
            any = any || error[source] > 0;
        }
        return any;
    }
    static constexpr bool possible = find_possible();
    static constexpr bool is_multiplied(int i) {
        for (int j = 0; j < instances; ++j)
            for (int a = 0; a < Kernel::table.at[j].arity; ++a)
                if (is_element(j) && Kernel::table.at[j].argument[a] == i) return true;
        return false;
    }
    struct approximated {
        static constexpr int limit = instances;
        static constexpr bool test(int i) { return is_approximated(i); }
    };
    /// Products with an error that go into further products: where one is small, its absolute rounding is a relative error of any size.
    struct inner_products {
        static constexpr int limit = instances;
        static constexpr bool test(int i) { return is_element(i) && own.product[i] && error[i] > 0 && is_multiplied(i); }
    };
};

template <class Kernel>
struct rounding_test {
    using known = rounding_facts<Kernel>;
    using work = typename known::work;
    using exact = typename work::eval;
    using rough = evaluator<tested_kernel<Kernel>, family>;
    using values_of_pass = typename work::rows::template pass_values<work::last>;
    using frame_of = typename work::template element_frame<values_of_pass>;

    static constexpr unsigned least_bits = 0x0d800000u;  ///< the bits of 2^-100
    static SINTER_INLINE bool is_small(float x) { return (__builtin_bit_cast(u32, x) & 0x7fffffffu) < least_bits; }
    template <int Instance>
    static __device__ __forceinline__ bool leaves_bound(const frame_of& frame) {
        return !tested_approximation<typename exact::template op_of_instance<Instance>>::holds(rough::template argument<Instance, 0>(frame).value);
    }
    template <int... Instance, int... Product>
    static __device__ __forceinline__ bool leaves_bounds(const frame_of& frame, indices<Instance...>, indices<Product...>) {
        return (leaves_bound<Instance>(frame) | ... | false) | (is_small(frame.template value<Product>().value) | ... | false);
    }
    /// Could an error within the bound, of so many units in f32's last place, move the value across the middle between two bf16?
    template <int Output>
    static __device__ __forceinline__ bool is_near_middle(const frame_of& frame) {
        constexpr int source = Kernel::table.output[Output];
        constexpr unsigned off = known::error[source] > 0 ? unsigned(known::error[source]) + 1 : 0;
        if constexpr (off == 0) return false;
        return (__builtin_bit_cast(u32, frame.template value<source>().value) << 16) - ((0x8000u - off) << 16) < off << 17;
    }
    template <int Instance>
    static __device__ __forceinline__ void pick_one(const typename work::operand_packs& from, typename work::operand_packs& to, int place) {
        const auto& pack = static_cast<const typename work::template pack_slot<Instance>&>(from).value;
        auto& one = static_cast<typename work::template pack_slot<Instance>&>(to).value.at[0];
        one = pack.at[0];
#pragma unroll
        for (int j = 1; j < work::pack; ++j)
            if (j == place) one = pack.at[j];
    }
    template <int... Instance>
    static __device__ __forceinline__ void pick(const typename work::operand_packs& from, typename work::operand_packs& to, int place, indices<Instance...>) {
        (pick_one<Instance>(from, to, place), ...);
    }
    template <int Output>
    static __device__ __forceinline__ void put(const frame_of& frame, typename work::results_of_packs& to, int place) {
        auto& row = static_cast<slot<Output, typename work::template result_row<Output>>&>(to).value;
        const auto value = work::template result_value<Output>(frame);
#pragma unroll
        for (int j = 0; j < work::pack; ++j)
            if (j == place) row.at[j] = value;
    }
    static __device__ __forceinline__ int lowest_bit(unsigned bits) {
#if SINTER_DEVICE_PASS
        return __ffs(int(bits)) - 1;
#else
        return __builtin_ctz(bits);
#endif
    }
    /// As facts::results_of. Elements in doubt are taken one by one, each thread its own: they are few.
    template <int... Output>
    static __device__ __forceinline__ void results_of(const typename work::common& around, const typename work::operand_packs& loaded, typename work::output_packs& to,
                                                      i64 position, indices<Output...>) {
        typename work::results_of_packs computed;
        unsigned doubtful = 0;
#pragma unroll
        for (int j = 0; j < work::pack; ++j) {
            values_of_pass values;
            const frame_of frame{around, loaded, values, position, j};
            rough::fill(values, frame, selected<needed_in_pass<Kernel, work::last>>{});
            (work::template result_one<Output>(frame, computed), ...);
            // Without a branch, so that the elements' steps interleave.
            const bool doubt = leaves_bounds(frame, selected<typename known::approximated>{}, selected<typename known::inner_products>{}) | (is_near_middle<Output>(frame) | ... | false);
            doubtful |= unsigned(doubt) << j;
        }
        while (doubtful != 0) {
            const int place = lowest_bit(doubtful);
            doubtful &= doubtful - 1;
            typename work::operand_packs one;
            pick(loaded, one, place, selected<typename work::element_leaves>{});
            values_of_pass values;
            const frame_of frame{around, one, values, position + place, 0};
            exact::fill(values, frame, selected<needed_in_pass<Kernel, work::last>>{});
            (put<Output>(frame, computed, place), ...);
        }
        (work::template encode_one<Output>(computed, to), ...);
    }
};

}  // namespace sinter::detail::device
