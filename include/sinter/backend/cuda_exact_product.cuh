// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products that f32 holds exactly: of f16 and 8-bit integers (weights times activations), whose significands have 24 bits together
// and whose products neither overflow nor lose bits for being small. Adding such a product rounds once, as one fma does, so that the
// bits are those of a product and a sum. Products of bf16 and 8-bit integers overflow from |bf16| = 2^120 on: they count where a
// thread holds the bf16 for several rows, so that one look at them does for all.
// Squares of bf16 lose bits below 2^-134 alone. A sum that has come to 2^-100 doesn't see them: its neighbours are 2^-124 away, and both
// the square and what is left of it round off. So each lane's first square is looked at, and the sum only grows after it. (From 2^128 on
// a square is infinite either way.)
#pragma once

#include "cuda_fast.cuh"
#include "cuda_operands.cuh"

namespace sinter::detail::device {

struct exact_product {
    int fold = -1, product = -1;  ///< instances; -1: none
    int limited = -1;             ///< an operand whose magnitudes have to be below 2^120; -1: none
    bool hidden = false;          ///< squares: exact beside a sum of `least_hiding_sum` or more
};
inline constexpr float least_hiding_sum = 0x1p-100f;

template <class Kernel>
struct exact_product_facts {
    using rows = typename facts<Kernel>::rows;

    /// The operand behind an argument of the product.
    template <int Instance>
    static constexpr int leaf_behind() {
        if constexpr (facts<Kernel>::template is_element_map<Instance, cast_op<dtype::f32>>())
            return Kernel::table.at[Instance].argument[0];
        else
            return Instance;
    }
    /// Bits of a leaf's significand; more than 24: it isn't one that counts. bf16 as if it had 16, so that integers alone may stand beside it:
    /// other products may be too small for f32.
    template <int Instance>
    static constexpr int bits_of() {
        if constexpr (Instance < 0) {
            return 100;
        } else if constexpr (!facts<Kernel>::is_element_leaf(Instance)) {
            return 100;
        } else {
            using storage = typename rows::template storage_of<Instance>;
            return is_same<storage, i8> || is_same<storage, u8> ? 8 : is_same<storage, f16> ? 11 : is_same<storage, bf16> ? 16 : 100;
        }
    }
    template <class Monoid>
    static constexpr bool adds = is_same<Monoid, monoids::sum_of> || is_same<Monoid, sum_of_products>;
    template <int Instance>
    static constexpr exact_product find() {
        if constexpr (Kernel::is_fold(Instance)) {
            using types = fold_types<Kernel, family, Instance>;
            constexpr int product = Kernel::table.at[Instance].argument[0];
            if constexpr (adds<typename types::monoid> && is_same<typename types::element, float> && facts<Kernel>::template is_element_map<product, mul_op>()) {
                constexpr int left = leaf_behind<Kernel::table.at[product].argument[0]>(), right = leaf_behind<Kernel::table.at[product].argument[1]>();
                if constexpr (!is_same<instance_value<Kernel, family, product>, lane::scalar<float>>)
                    return {};
                else if constexpr (bits_of<left>() + bits_of<right>() <= 24)
                    return {Instance, product, bits_of<left>() == 16 ? left : bits_of<right>() == 16 ? right : -1};
                else if constexpr (bits_of<left>() == 16 && left == right && is_same<typename types::monoid, monoids::sum_of>)
                    return {Instance, product, -1, true};
            }
        }
        return {};
    }
    template <int... Instance>
    static constexpr array<exact_product, Kernel::instances> find_all(indices<Instance...>) {
        return {{find<Instance>()...}};
    }
    static constexpr array<exact_product, Kernel::instances> all = find_all(make_indices<Kernel::instances>{});
    /// A pass's only fold.
    static constexpr exact_product of_pass(int pass) {
        exact_product found;
        int folds = 0;
        for (int i = 0; i < Kernel::instances; ++i) {
            if (!Kernel::folds_in_pass(i, pass)) continue;
            ++folds;
            found = all[i];
        }
        return folds == 1 ? found : exact_product{};
    }
};

}  // namespace sinter::detail::device
