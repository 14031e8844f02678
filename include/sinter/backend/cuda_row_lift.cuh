// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Under `fast`: the maximum of |x w f| over a row, where f is made of the row's own values (the reciprocal root of an RMSNorm that is
// quantized by its row), is |f| times the maximum of |x w|, which the pass before can find. So the row is walked once less, and its threads
// meet once less. (|x w| may overflow where |x w f| doesn't; then the scale is infinite.) Facts and products; cuda_rows.cuh walks.
#pragma once

#include "cuda_fast.cuh"

namespace sinter::detail::device {

template <class Kernel>
struct row_lift {
    using eval = evaluator<Kernel, family>;
    template <int Instance>
    using op = typename eval::template op_of_instance<Instance>;
    static constexpr bool is_f32(int i) { return i >= 0 && Kernel::table.at[i].type == dtype::f32; }
    static constexpr bool is_of_row(int i) { return is_f32(i) && Kernel::where[i] == site::row; }
    /// A factor that is known before the first fold.
    static constexpr bool is_early(int i) { return is_f32(i) && Kernel::where[i] == site::element && Kernel::table.at[i].level == 0; }

    /// Of an instance: is it a product of early factors and of values of the row?
    struct product {
        bool known = false, has_early = false, has_row = false;
    };
    template <int Instance>
    static constexpr product find() {
        if constexpr (is_of_row(Instance)) {
            return {true, false, true};
        } else if constexpr (is_early(Instance)) {
            return {true, true, false};
        } else if constexpr (is_f32(Instance) && Kernel::where[Instance < 0 ? 0 : Instance] == site::element) {
            constexpr auto& it = Kernel::table.at[Instance];
            if constexpr (it.kind == node_kind::map) {
                if constexpr (is_same<op<Instance>, mul_op>) {
                    constexpr product left = find<it.argument[0]>(), right = find<it.argument[1]>();
                    return {left.known && right.known, left.has_early || right.has_early, left.has_row || right.has_row};
                } else if constexpr (is_same<op<Instance>, cast_op<dtype::f32>>) {
                    return find<it.argument[0]>();
                }
            }
        }
        return {};
    }
    template <int Instance>
    static constexpr product product_of = find<Instance>();
    template <int Instance>
    static constexpr bool is_part = is_of_row(Instance) || is_early(Instance);
    /// |the product of its early factors| times |that of its row's values| is the instance. `Early`: which of both; a frame has the values.
    template <int Instance, bool Early, class Frame>
    static __device__ __forceinline__ float part(const Frame& frame) {
        if constexpr (is_part<Instance>) {
            return frame.template value<Instance>().value;
        } else if constexpr (is_same<op<Instance>, mul_op>) {
            constexpr int left = Kernel::table.at[Instance].argument[0], right = Kernel::table.at[Instance].argument[1];
            constexpr bool in_left = Early ? product_of<left>.has_early : product_of<left>.has_row, in_right = Early ? product_of<right>.has_early : product_of<right>.has_row;
            if constexpr (in_left && in_right)
                return part<left, Early>(frame) * part<right, Early>(frame);
            else
                return part<in_left ? left : right, Early>(frame);
        } else {
            return part<Kernel::table.at[Instance].argument[0], Early>(frame);
        }
    }

    /// The instance whose magnitude's maximum is all that a second pass of two folds; -1: something else.
    template <int Instance>
    static constexpr int find_lifted() {
        if constexpr (Kernel::is_fold(Instance) && Kernel::folds_in_pass(Instance, 2)) {
            constexpr int folded = Kernel::table.at[Instance].argument[0];
            if constexpr (is_same<typename op<Instance>::monoid, monoids::max_of> && is_f32(folded) && Kernel::table.at[folded < 0 ? 0 : folded].kind == node_kind::map) {
                if constexpr (is_same<op<folded>, abs_op>) {
                    constexpr int source = Kernel::table.at[folded].argument[0];
                    constexpr product found = product_of<source>;
                    if (found.known && found.has_early && found.has_row) return source;
                }
            }
            return Kernel::instances;
        }
        return -1;
    }
    template <int... Instance>
    static constexpr int find_source(indices<Instance...>) {
        int found = -1;
        if constexpr (is_fast<Kernel> && Kernel::levels == 2) {
            const int all[] = {find_lifted<Instance>()...};
            for (const int one : all)
                if (one >= 0) found = found >= 0 ? Kernel::instances : one;
        }
        return found < Kernel::instances ? found : -1;
    }
    static constexpr int source = find_source(make_indices<Kernel::instances>{});
    static constexpr bool possible = source >= 0;
    template <int Instance>
    static constexpr void mark(array<bool, Kernel::instances>& out) {
        if constexpr (is_early(Instance)) {
            out[Instance] = true;
        } else if constexpr (Instance >= 0 && !is_of_row(Instance)) {
            mark<Kernel::table.at[Instance].argument[0]>(out);
            if constexpr (is_same<op<Instance>, mul_op>) mark<Kernel::table.at[Instance].argument[1]>(out);
        }
    }
    static constexpr array<bool, Kernel::instances> find_early() {
        array<bool, Kernel::instances> out{};
        if constexpr (possible) mark<source>(out);
        return out;
    }
    /// What the first pass computes for it besides.
    static constexpr array<bool, Kernel::instances> early = find_early();

    template <class Frame>
    static __device__ __forceinline__ lane::scalar<float> early_magnitude(const Frame& frame) {
        return abs(lane::scalar<float>(part<source, true>(frame)));
    }
};

}  // namespace sinter::detail::device
