// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The policy `fast` on the CPU: products of f32 contracted into the sums that use them, approximations (cpu_fast_math.hpp) in place of
// exponentials, logarithms and what is made of them, sums of rows in any order (drive_any_order.hpp). The policy is part of the kernel's type,
// so that a portable and a fast kernel of one formula live side by side, with the same plan. Integers, f64, comparisons, rounding, division and
// the functions not named here stay what they are, and so does all of a kernel that stores anything but floats. Bounds: docs/numerics.
//
//     run(fast(cpu), y = formula)         run(cpu.fast(), y = formula)         run(cpu.fast().parallel(hook, 8), y = formula)
#pragma once

#include "../drive_any_order.hpp"
#include "cpu_fast_math.hpp"

namespace sinter::backend::SINTER_ISA {
inline namespace SINTER_CPU_FEATURES {

/// A product that the operation taking it will compute with its own.
template <class Value>
struct product_lane {
    Value left, right;
};

template <class Value>
inline constexpr bool is_f32_lane = false;
template <int Width>
inline constexpr bool is_f32_lane<vec<float, Width>> = true;

/// What computes an operation under `fast`: itself, unless there is a specialisation.
template <class Op>
struct approximation_of {
    using type = Op;
};
#define SINTER_FAST(op, ...)                              \
    template <>                                           \
    struct approximation_of<op> {                         \
        struct type {                                     \
            template <class Value>                        \
            static SINTER_FORCE_INLINE auto apply(Value x) { \
                if constexpr (is_f32_lane<Value>)         \
                    return __VA_ARGS__;                   \
                else                                      \
                    return op::apply(x);                  \
            }                                             \
        };                                                \
    };
SINTER_FAST(exp_op, approximate::exp<false>(x))
SINTER_FAST(exp_nonpositive_op, approximate::exp<true>(x))
SINTER_FAST(exp2_op, approximate::exp2(x))
SINTER_FAST(tanh_op, approximate::tanh(x))
SINTER_FAST(sigmoid_op, approximate::sigmoid(x))
SINTER_FAST(silu_op, approximate::silu(x))
SINTER_FAST(gelu_tanh_op, approximate::gelu_tanh(x))
SINTER_FAST(gelu_op, approximate::gelu(x))
SINTER_FAST(log_op, approximate::log(x))
SINTER_FAST(log2_op, approximate::log2(x))
SINTER_FAST(log10_op, approximate::log10(x))
SINTER_FAST(rsqrt_op, approximate::rsqrt(x))
#undef SINTER_FAST

template <>
struct approximation_of<add_op> {
    struct type : add_op {
        using add_op::apply;
        template <class Value>
        static SINTER_FORCE_INLINE Value apply(product_lane<Value> x, Value y) {
            return approximate::product_plus(x.left, x.right, y);
        }
        template <class Value>
        static SINTER_FORCE_INLINE Value apply(Value x, product_lane<Value> y) {
            return approximate::product_plus(y.left, y.right, x);
        }
    };
};
template <>
struct approximation_of<sub_op> {
    struct type : sub_op {
        using sub_op::apply;
        template <class Value>
        static SINTER_FORCE_INLINE Value apply(product_lane<Value> x, Value y) {
            return approximate::product_minus(x.left, x.right, y);
        }
        template <class Value>
        static SINTER_FORCE_INLINE Value apply(Value x, product_lane<Value> y) {
            return approximate::minus_product(x, y.left, y.right);
        }
    };
};
/// A sum that takes products as they are.
struct sum_of_products : monoids::sum_of {
    using monoids::sum_of::take;
    template <class Value>
    static SINTER_FORCE_INLINE void take(lane::fields<Value>& into, product_lane<Value> x) {
        approximate::accumulate_product(sinter::get<0>(into.item), x.left, x.right);
    }
};

struct fast_policy {
    template <class Op>
    using instead_of = typename approximation_of<Op>::type;

    /// How often an instance's value is asked for.
    static constexpr int uses_of(const kernel_view& of, int instance) {
        int count = 0;
        for (int i = 0; i < of.instances; ++i)
            for (int a = 0; a < of.at[i].arity; ++a) count += of.at[i].argument[a] == instance;
        for (int o = 0; o < of.outputs; ++o) count += of.output[o] == instance;
        return count;
    }
    /// Whether an argument of an operation, or of a fold, is a product for it alone, of f32, computed per element as the operation is. (A
    /// stash is read back where its operands aren't known.)
    template <class Evaluator, class Kernel, int Instance, int Position>
    static constexpr bool is_lone_product() {
        constexpr int product = Kernel::table.at[Instance].argument[Position];
        if constexpr (product < 0) {
            return false;
        } else if constexpr (Kernel::table.at[product].kind != node_kind::map) {
            return false;
        } else if constexpr (!is_same<typename Evaluator::template op_of_instance<product>, mul_op>) {
            return false;
        } else {
            constexpr auto types = Kernel::facts.argument_type[Kernel::table.at[product].node];
            return Kernel::table.at[product].type == dtype::f32 && types[0] == dtype::f32 && types[1] == dtype::f32 &&
                   Kernel::facts.argument_type[Kernel::table.at[Instance].node][Position] == dtype::f32 && Kernel::where[product] == site::element &&
                   Kernel::stash.instance != product && uses_of(Kernel::view, product) == 1;
        }
    }
    template <class Op>
    static constexpr bool folds_a_sum() {
        if constexpr (requires { typename Op::monoid; })
            return is_same<typename Op::monoid, monoids::sum_of>;
        else
            return false;
    }
    /// Whether an argument stays a product: of a sum of two products the first one does.
    template <class Evaluator, class Kernel, int Instance, int Position>
    static constexpr bool takes_product() {
        using op = typename Evaluator::template op_of_instance<Instance>;
        if constexpr (is_same<op, add_op> || is_same<op, sub_op>) {
            if constexpr (Position == 1)
                return is_lone_product<Evaluator, Kernel, Instance, 1>() && !is_lone_product<Evaluator, Kernel, Instance, 0>();
            else
                return is_lone_product<Evaluator, Kernel, Instance, 0>();
        } else if constexpr (folds_a_sum<op>()) {
            return Kernel::is_fold(Instance) && is_lone_product<Evaluator, Kernel, Instance, 0>();
        } else {
            return false;
        }
    }
    /// Reductions of rows keep no order (drive_any_order.hpp).
    static constexpr bool any_order = true;
    template <class Value>
    static SINTER_FORCE_INLINE void accumulate_product(Value& into, Value left, Value right) {
        approximate::accumulate_product(into, left, right);
    }
    template <class Value>
    static SINTER_FORCE_INLINE void accumulate(Value& into, product_lane<Value> x) {
        approximate::accumulate_product(into, x.left, x.right);
    }
    template <class Value>
    static SINTER_FORCE_INLINE void accumulate(Value& into, Value x) {
        approximate::accumulate_value(into, x);
    }
    template <class Value>
    static SINTER_FORCE_INLINE product_lane<Value> product(Value left, Value right) {
        return {left, right};
    }
};

/// Whether the policy means anything to a kernel: its results are f32, f16 or bf16 and no operand holds codes of quantized numbers. Any other
/// kernel is the portable one, whole: a code, an index or a double would be off by what an approximation before it is off by.
constexpr bool has_fast_form(const kernel_view& of) {
    for (int o = 0; o < of.outputs; ++o)
        if (of.output_type[o] != dtype::f32 && of.output_type[o] != dtype::f16 && of.output_type[o] != dtype::bf16) return false;
    for (int i = 0; i < of.instances; ++i)
        if (of.at[i].kind == node_kind::leaf && is_quantized_type(of.memory_type(i))) return false;
    return true;
}
/// A kernel under the policy.
template <class Kernel>
struct fast_kernel : Kernel {
    using policy = fast_policy;
};

}  // namespace SINTER_CPU_FEATURES
}  // namespace sinter::backend::SINTER_ISA

namespace sinter::detail {
template <class Kernel>
struct monoid_in_kernel<backend::SINTER_ISA::fast_kernel<Kernel>, monoids::sum_of> {
    using type = backend::SINTER_ISA::sum_of_products;
};
}  // namespace sinter::detail
