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
#include "cpu_row_codes.hpp"

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
SINTER_FAST(exp_below_zero_op, approximate::exp<true>(x))
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
    using shortcuts_of = sum_of_products;
    using monoids::sum_of::take;
    template <class Value>
    static SINTER_FORCE_INLINE void take(lane::fields<Value>& into, product_lane<Value> x) {
        approximate::accumulate_product(sinter::get<0>(into.item), x.left, x.right);
    }
};

/// How often an instance's value is asked for.
constexpr int uses_of(const kernel_view& of, int instance) {
    int count = 0;
    for (int i = 0; i < of.instances; ++i)
        for (int a = 0; a < of.at[i].arity; ++a) count += of.at[i].argument[a] == instance;
    for (int o = 0; o < of.outputs; ++o) count += of.output[o] == instance;
    return count;
}

/// A shifted element times a scale, (x - m) s or (x + m) s, where m and s are the same for a row: x s + t, one fma, of which t = -m s or m s
/// is made once for the row. Where each argument stands; `exists` is false for any other instance.
///
/// Only where the difference is needed for nothing else, and saves an instruction: x isn't a product, which is contracted into it.
struct shifted_scale {
    bool exists = false, negative = false;
    int shifted = 0, shift = 0;  ///< argument of the product: the sum or difference; of that: m
    int sum = -1;                ///< the sum's instance
};
constexpr bool is_f32_map(const kernel_view& of, int i, const op_facts& op) {
    if (i < 0 || of.at[i].kind != node_kind::map || of.where[i] != site::element || !same_facts(of.node_of(i).op, &op)) return false;
    const dtype* const types = of.argument_type[of.at[i].node];
    return of.at[i].type == dtype::f32 && types[0] == dtype::f32 && types[1] == dtype::f32;
}
constexpr bool is_elements(const kernel_view& of, int i) { return i >= 0 && of.where[i] == site::element; }
constexpr bool is_rows(const kernel_view& of, int i) { return i >= 0 && of.where[i] == site::row; }
/// `stash`: the instance that is read back, if there is one.
constexpr shifted_scale find_shifted_scale(const kernel_view& of, int i, int stash) {
    if (of.nest == nest_kind::columns || !is_f32_map(of, i, mul_op::facts)) return {};
    for (int p = 0; p < 2; ++p) {
        const int sum = of.at[i].argument[p], scale = of.at[i].argument[1 - p];
        const bool subtracts = is_f32_map(of, sum, sub_op::facts);
        if ((!subtracts && !is_f32_map(of, sum, add_op::facts)) || is_elements(of, scale) || sum == stash || uses_of(of, sum) != 1) continue;
        for (int shift = 1; shift >= int(subtracts); --shift) {
            const int m = of.at[sum].argument[shift], x = of.at[sum].argument[1 - shift];
            if (is_elements(of, m) || !is_elements(of, x) || is_f32_map(of, x, mul_op::facts) || (!is_rows(of, m) && !is_rows(of, scale))) continue;
            return {true, subtracts, p, shift, sum};
        }
    }
    return {};
}

/// 8-bit codes with a scale that the kernel finds for each row (`dynamic_quantize`): the scale's reciprocal is a term of the row.
constexpr bool quantizes_by_row(const kernel_view& of, int i) {
    if (of.nest != nest_kind::rows || !divides_by_row(of, i)) return false;
    const int scale = of.at[i].argument[1];
    return is_rows(of, scale) && of.at[scale].level > 0;
}
/// What such codes are of: a factor that is the row's goes into the term. `product` holds it as argument `factor`, and is what is quantized or an
/// argument of `outer` that is, beside argument `other` of that. (The term first: what it makes of an element is near its code.)
struct row_factor {
    int product = -1, factor = 0, outer = -1, other = 0;
};
constexpr row_factor find_row_factor(const kernel_view& of, int quantized) {
    const auto find = [&of](int product) {
        if (is_f32_map(of, product, mul_op::facts))
            for (int a = 0; a < 2; ++a)
                if (is_rows(of, of.at[product].argument[a]) && is_elements(of, of.at[product].argument[1 - a])) return a;
        return -1;
    };
    int x = of.at[quantized].argument[0];
    if (of.at[x].kind == node_kind::map && same_facts(of.node_of(x).op, &cast_op<dtype::f32>::facts) && of.argument_type[of.at[x].node][0] == dtype::f32)
        x = of.at[x].argument[0];  // (f32 as it is)
    if (const int factor = find(x); factor >= 0) return {x, factor, -1, 0};
    if (is_f32_map(of, x, mul_op::facts))
        for (int a = 0; a < 2; ++a)
            if (const int factor = find(of.at[x].argument[a]); factor >= 0) return {of.at[x].argument[a], factor, x, 1 - a};
    return {};
}

struct fast_policy {
    template <class Op>
    using instead_of = typename approximation_of<Op>::type;
    template <class Value>
    struct term {
        Value value;
        bool covered = false;  ///< codes: the row's magnitudes leave nothing to clamp
    };
    template <class Family>
    using row_term = term<typename Family::template value<float>>;

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
    template <class Evaluator, class Kernel, int Instance, class Frame>
    static SINTER_FORCE_INLINE auto make_row_term(const Frame& frame) {
        if constexpr (quantizes_by_row(Kernel::view, Instance)) {
            constexpr row_factor in = find_row_factor(Kernel::view, Instance);
            auto scale = Evaluator::template argument<Instance, 1>(frame), factor = decltype(scale)(1.0f);
            if constexpr (in.product >= 0) factor = Evaluator::template argument<in.product, in.factor>(frame);
            // (Finite: a subnormal scale's reciprocal isn't, and 0 times that is NaN.)
            const auto inverse = approximate::at_most(approximate::at_least(div(factor, scale), -0x1.fffffep127f), 0x1.fffffep127f);
            term<remove_cvref<decltype(scale)>> made{inverse};
            constexpr int reach = reach_of<Evaluator, Kernel, Instance>;
            if constexpr (reach >= 0)  // (a subnormal one may be half as large again)
                made.covered = step::less_equal(0x1p-126f, first(abs(inverse))) &&
                               covers(first(scale), first(frame.template value<reach>()), first(Evaluator::template argument<Instance, 2>(frame)),
                                      lowest_code_of(Kernel::view, Instance));
            return made;
        } else {
            constexpr shifted_scale at = find_shifted_scale(Kernel::view, Instance, Kernel::stash.instance);
            const auto shift = Evaluator::template argument<at.sum, at.shift>(frame), scale = Evaluator::template argument<Instance, 1 - at.shifted>(frame);
            using made = term<remove_cvref<decltype(scale)>>;
            if constexpr (at.negative)
                return made{mul(-shift, scale)};
            else
                return made{mul(shift, scale)};
        }
    }
    template <class Evaluator, class Kernel, int Instance, class Frame>
    static SINTER_FORCE_INLINE auto from_row_term(const Frame& frame) {
        const auto& from = frame.template row_term<Instance>();
        if constexpr (quantizes_by_row(Kernel::view, Instance)) {
            constexpr row_factor in = find_row_factor(Kernel::view, Instance);
            auto quotient = from.value;
            if constexpr (in.product < 0)
                quotient = mul(Evaluator::template argument<Instance, 0>(frame), quotient);
            else
                quotient = mul(Evaluator::template argument<in.product, 1 - in.factor>(frame), quotient);
            if constexpr (in.outer >= 0) quotient = mul(quotient, Evaluator::template argument<in.outer, in.other>(frame));
            if constexpr (reach_of<Evaluator, Kernel, Instance> >= 0)
                if (__builtin_expect(from.covered, 1)) return codes_of<Evaluator, Kernel, Instance, true>(frame, quotient);
            return codes_of<Evaluator, Kernel, Instance, false>(frame, quotient);
        } else {
            constexpr shifted_scale at = find_shifted_scale(Kernel::view, Instance, Kernel::stash.instance);
            return approximate::product_plus(Evaluator::template argument<at.sum, 1 - at.shift>(frame),
                                             Evaluator::template argument<Instance, 1 - at.shifted>(frame), from.value);
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

/// Whether the policy means anything to a kernel: its results are f32, f16 or bf16, or codes with a scale that the kernel finds, and no operand
/// holds codes of quantized numbers. Any other kernel is the portable one, whole: a code, an index or a double would be off by what an
/// approximation before it is off by.
constexpr bool has_fast_form(const kernel_view& of) {
    for (int o = 0; o < of.outputs; ++o)
        if (of.output_type[o] != dtype::f32 && of.output_type[o] != dtype::f16 && of.output_type[o] != dtype::bf16 &&
            !(quantizes_by_row(of, of.output[o]) && of.output_type[o] == of.at[of.output[o]].type))
            return false;
    for (int i = 0; i < of.instances; ++i)
        if (of.at[i].kind == node_kind::leaf && is_quantized_type(of.memory_type(i))) return false;
    return true;
}
/// A kernel under the policy.
template <class Kernel>
struct fast_kernel : Kernel {
    using policy = fast_policy;
    static constexpr array<bool, Kernel::instances> find_row_terms() {
        array<bool, Kernel::instances> found{};
        for (int i = 0; i < Kernel::instances; ++i)
            found[i] = quantizes_by_row(Kernel::view, i) ||
                       (vec<float, native_width>::has_fma && find_shifted_scale(Kernel::view, i, Kernel::stash.instance).exists);
        return found;
    }
    static constexpr array<bool, Kernel::instances> row_term = find_row_terms();
    static constexpr bool find_any(const array<bool, Kernel::instances>& of) {
        for (int i = 0; i < Kernel::instances; ++i)
            if (of[i]) return true;
        return false;
    }
    static constexpr bool any_row_term = find_any(row_term);
};

}  // namespace SINTER_CPU_FEATURES
}  // namespace sinter::backend::SINTER_ISA

namespace sinter::detail {
template <class Kernel, class Element>
struct monoid_in_kernel<backend::SINTER_ISA::fast_kernel<Kernel>, monoids::sum_of, Element> {
    using type = backend::SINTER_ISA::sum_of_products;
};
}  // namespace sinter::detail
