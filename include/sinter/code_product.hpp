// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of a matrix of codes and vectors, as a kernel: rows whose last reduction is an exact sum of products of bytes, where one
// factor, the weights, varies over the innermost axis of the rows, and the other one, the activations, doesn't. Exact sums have no
// order to keep, so a backend may form several of them at a time and read each weight once for many rows of activations. Recognised
// here, from types alone; plan.hpp says so to people, drive_product.hpp and the backends run it.
#pragma once

#include "evaluate.hpp"
#include "ops/quantized_dot.hpp"

namespace sinter::detail {

template <class Op>
struct as_code_product {
    static constexpr bool exists = false;
};
template <i32 LeftZero, i32 RightZero, bool Short, bool LeftCounts>
struct as_code_product<code_product_op<LeftZero, RightZero, Short, LeftCounts>> {
    static constexpr bool exists = Short;
    static constexpr i32 left_zero = LeftZero, right_zero = RightZero;
};

/// The sum: the only reduction of the last level; -1 where the nest has another form.
constexpr int find_product_fold(const kernel_view& of) {
    if (of.nest != nest_kind::rows || of.inner != of.inner_lane || of.outer != 0 || of.any_element_output() || of.lane_axis_count() != 1) return -1;
    int found = -1;
    for (int i = 0; i < of.instances; ++i) {
        if (!of.folds_in_pass(i, of.levels)) continue;
        if (found >= 0) return -1;
        found = i;
    }
    return found;
}
/// Where the factors of a product of bytes stand: instances.
struct product_sides {
    int weights = -1, activations = -1;
    int weights_at = 0;  ///< argument of the product
    int axis = -1;       ///< of the rows of weights
};
constexpr product_sides find_product_sides(const kernel_view& of, int fold, int product) {
    const product_sides none;
    if (product < 0) return none;
    const auto is_bytes = [&](int i) { return i >= 0 && of.where[i] == site::element && (of.at[i].type == dtype::i8 || of.at[i].type == dtype::u8); };
    const int left = of.at[product].argument[0], right = of.at[product].argument[1];
    if (!is_bytes(left) || !is_bytes(right)) return none;
    for (int place = of.axes - 1; place >= 0; --place) {
        const int axis = of.order[place];
        const u32 bit = u32(1) << axis;
        if ((of.inner & bit) != 0 || of.axis_size[axis] == 1) continue;
        const bool left_varies = (of.at[left].free & bit) != 0, right_varies = (of.at[right].free & bit) != 0;
        if (left_varies == right_varies) return none;
        const product_sides found = left_varies ? product_sides{left, right, 0, axis} : product_sides{right, left, 1, axis};
        if (of.at[found.weights].kind != node_kind::leaf) return none;
        for (int i = 0; i < of.instances; ++i)  // what the activations wait for mustn't wait for a row of weights
            if (of.is_fold(i) && i != fold && (of.at[i].free & bit) != 0) return none;
        return found;
    }
    return none;
}

/// Where the product stands in a kernel; `possible` false: it isn't one.
template <class Kernel>
struct code_product_facts {
    static constexpr int fold = find_product_fold(Kernel::view);

    template <int Instance>
    using op_at = typename evaluator<Kernel, scalar_family>::template op_of_instance<Instance>;
    static constexpr int find_product() {
        if constexpr (fold >= 0) {
            constexpr int argument = Kernel::table.at[fold].argument[0];
            if constexpr (is_same<typename op_at<fold>::monoid, monoids::exact_sum> && argument >= 0) {
                if constexpr (Kernel::table.at[argument].kind == node_kind::map && Kernel::where[argument] == site::element)
                    if (as_code_product<op_at<argument>>::exists) return argument;
            }
        }
        return -1;
    }
    static constexpr int product = find_product();

    static constexpr product_sides side = find_product_sides(Kernel::view, fold, product);
    static constexpr bool possible = side.weights >= 0;
    static constexpr int weights = side.weights, activations = side.activations;
    static constexpr int activations_at = 1 - side.weights_at;
    static constexpr u32 weights_bit = side.axis < 0 ? 0 : u32(1) << side.axis;

    static constexpr i32 find_zero(int argument) {
        if constexpr (product >= 0)
            return argument == 0 ? as_code_product<op_at<product>>::left_zero : as_code_product<op_at<product>>::right_zero;
        else
            return 0;
    }
    static constexpr i32 weights_zero = find_zero(side.weights_at), activations_zero = find_zero(activations_at);
    static constexpr bool counts(int instance) { return possible && Kernel::table.at[instance < 0 ? 0 : instance].type == dtype::u8; }
    static constexpr bool weights_count = counts(weights), activations_count = counts(activations);  ///< u8, else i8

    /// What the activations are made of, element by element.
    static constexpr array<bool, Kernel::instances> find_prologue() {
        array<bool, Kernel::instances> need{};
        if (!possible) return need;
        need[activations] = true;
        Kernel::mark_needed(need, -1);
        return need;
    }
    static constexpr array<bool, Kernel::instances> prologue = find_prologue();
    struct prologue_instances {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return prologue[i]; }
    };
};

}  // namespace sinter::detail
