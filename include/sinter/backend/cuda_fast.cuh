// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The policy `fast` on CUDA: operations on f32 that nvcc may contract, and the special function unit's approximations in place of
// division, square roots, exponentials and what is made of them. The policy is part of the kernel's type, so that a portable and a fast
// kernel of one formula live side by side. Integers, f64, comparisons, rounding and the functions not named here stay what they are.
//
//     run(fast(cuda(stream)), y = formula)         run(cuda(stream).fast(), y = formula)
//
// Subnormal operands and results of the approximations count as zeros. Bounds, relative to the exact value of the f32 operands:
// x / y, reciprocal, sqrt, rsqrt 2^-21.9; exp2 2^-21.9, exp 2^-21.9 + |x| 2^-23.4; log log2 log10 2^-21.4, absolute between 1/2 and 2;
// tanh 2^-10.9; sigmoid as exp; silu 2^-19.9 where |x| < 10; gelu_tanh 2^-18.9 where x > -5. x / y is 0 or NaN for |y| above 2^126; silu and gelu_tanh of -inf are NaN.
// Sums of f32 contract products; a variance takes one pass; a maximum may be found apart from its row's factor (cuda_row_lift.cuh), and
// together with the exponentials below it (cuda_one_walk.cuh).
#pragma once

#include "cuda_call.cuh"

namespace sinter::detail::device {

namespace approximate {

using f32_value = lane::scalar<float>;
template <class Value>
inline constexpr bool is_f32 = is_same<Value, f32_value>;

// One instruction of the special function unit each. On a host (tests/cuda/emulator.hpp) the portable functions stand in; the power is off
// by two units on purpose, so that what mustn't depend on its last bits is seen not to.
#if SINTER_DEVICE_PASS
#define SINTER_APPROXIMATION(name, instruction, substitute)           \
    SINTER_INLINE float name(float x) {                               \
        float result;                                                 \
        asm(instruction ".f32 %0, %1;" : "=f"(result) : "f"(x));      \
        return result;                                                \
    }
#else
#define SINTER_APPROXIMATION(name, instruction, substitute) \
    SINTER_INLINE float name(float x) { return substitute; }
#endif
SINTER_APPROXIMATION(reciprocal, "rcp.approx.ftz", step::reciprocal(x))
SINTER_APPROXIMATION(square_root, "sqrt.approx.ftz", step::sqrt(x))
SINTER_APPROXIMATION(reciprocal_root, "rsqrt.approx.ftz", step::reciprocal(step::sqrt(x)))
SINTER_APPROXIMATION(power_of_two, "ex2.approx.ftz", step::mul(lane::exp2(f32_value(x)).value, 0x1.000004p+0f))
SINTER_APPROXIMATION(logarithm, "lg2.approx.ftz", lane::log2(f32_value(x)).value)
#if !SINTER_DEVICE_PASS || __CUDA_ARCH__ >= 750
SINTER_APPROXIMATION(hyperbolic_tangent, "tanh.approx", lane::tanh(f32_value(x)).value)
#else
SINTER_INLINE float hyperbolic_tangent(float x) { return lane::tanh(f32_value(x)).value; }
#endif
#undef SINTER_APPROXIMATION

inline constexpr float log2_of_e = 0x1.715476p+0f, ln_2 = 0x1.62e43p-1f, log10_of_2 = 0x1.344136p-2f;
SINTER_INLINE float exponential(float x) { return power_of_two(x * log2_of_e); }
SINTER_INLINE float logistic(float x) { return reciprocal(1.0f + exponential(-x)); }
/// x / (1 + 2^(-2 log2(e) sqrt(2 / pi) (x + 0.044715 x^3))).
SINTER_INLINE float gelu(float x) {
    return x * reciprocal(1.0f + power_of_two(x * (-0x1.26aec2p+1f + -0x1.a5a7d0p-4f * (x * x))));
}

}  // namespace approximate

/// What computes an operation under `fast`: itself, unless there is a specialisation.
template <class Op>
struct approximation_of {
    using type = Op;
};
// Of f32, an expression of the operands x and y; of other types the operation itself.
#define SINTER_FAST_1(op, ...)                                                                        \
    template <>                                                                                       \
    struct approximation_of<op> {                                                                     \
        struct type {                                                                                 \
            template <class Value>                                                                    \
            static SINTER_INLINE auto apply(Value operand) {                                          \
                if constexpr (approximate::is_f32<Value>) {                                           \
                    const float x = operand.value;                                                    \
                    return Value(__VA_ARGS__);                                                        \
                } else {                                                                              \
                    return op::apply(operand);                                                        \
                }                                                                                     \
            }                                                                                         \
        };                                                                                            \
    };
#define SINTER_FAST_2(op, ...)                                                                        \
    template <>                                                                                       \
    struct approximation_of<op> {                                                                     \
        struct type {                                                                                 \
            template <class Value>                                                                    \
            static SINTER_INLINE auto apply(Value left, Value right) {                                \
                if constexpr (approximate::is_f32<Value>) {                                           \
                    const float x = left.value, y = right.value;                                      \
                    return Value(__VA_ARGS__);                                                        \
                } else {                                                                              \
                    return op::apply(left, right);                                                    \
                }                                                                                     \
            }                                                                                         \
        };                                                                                            \
    };
SINTER_FAST_2(add_op, x + y)
SINTER_FAST_2(sub_op, x - y)
SINTER_FAST_2(mul_op, x * y)
SINTER_FAST_2(div_op, x * approximate::reciprocal(y))
SINTER_FAST_1(reciprocal_op, approximate::reciprocal(x))
SINTER_FAST_1(sqrt_op, approximate::square_root(x))
SINTER_FAST_1(rsqrt_op, approximate::reciprocal_root(x))
SINTER_FAST_1(exp_op, approximate::exponential(x))
SINTER_FAST_1(exp_below_zero_op, approximate::exponential(x))
SINTER_FAST_2(exp_below_op, approximate::exponential(x - y))
SINTER_FAST_2(over_exp_below_op, (static_cast<void>(y), x))
SINTER_FAST_1(exp2_op, approximate::power_of_two(x))
SINTER_FAST_1(log_op, approximate::logarithm(x) * approximate::ln_2)
SINTER_FAST_1(log2_op, approximate::logarithm(x))
SINTER_FAST_1(log10_op, approximate::logarithm(x) * approximate::log10_of_2)
SINTER_FAST_1(tanh_op, approximate::hyperbolic_tangent(x))
SINTER_FAST_1(sigmoid_op, approximate::logistic(x))
SINTER_FAST_1(silu_op, x * approximate::logistic(x))
SINTER_FAST_1(gelu_tanh_op, approximate::gelu(x))
#undef SINTER_FAST_1
#undef SINTER_FAST_2

struct fast_policy {
    template <class Op>
    using instead_of = typename approximation_of<Op>::type;
};
template <class Kernel>
struct fast_kernel : Kernel {
    using policy = fast_policy;
};
/// Squared deviations in one pass, about the row's first element: q - s^2 / n of a segment, s and q the sums of d = x - first and of its
/// square. The rounding of q counts as often as the first element's squared distance from the mean exceeds the variance: for kernels
/// whose results have so few bits that it doesn't show.
struct deviations_in_one_pass : monoids::squared_deviations_of {
    using shortcuts_of = deviations_in_one_pass;
    using base = monoids::squared_deviations_of;
    template <class Value>
    static SINTER_INLINE lane::fields<Value, Value> identity() {
        return base::identity_second<Value>();
    }
    template <class Value>
    static SINTER_INLINE lane::fields<Value, Value> lift(Value x, Value first_element) {
        const Value d = sub(x, first_element);
        return lane::fields<Value, Value>(mul(d, d), d);
    }
    template <class Value>
    static SINTER_INLINE void take(lane::fields<Value, Value>& into, Value x, Value first_element) {
        const float d = x.value - first_element.value;
        sinter::get<0>(into.item).value += d * d;
        sinter::get<1>(into.item).value += d;
    }
    template <class Value>
    static SINTER_INLINE lane::fields<Value, Value> combine(const lane::fields<Value, Value>& a, const lane::fields<Value, Value>& b) {
        return base::combine_second(a, b);
    }
    template <class Value>
    static SINTER_INLINE lane::fields<Value, Value> settle(const lane::fields<Value, Value>& total, Value) {
        return total;
    }
    // Nothing is left for a second phase.
    template <class Value>
    static SINTER_INLINE lane::fields<> identity_second() {
        return {};
    }
    template <class Value>
    static SINTER_INLINE lane::fields<> lift_second(Value, Value, const lane::fields<Value, Value>&) {
        return {};
    }
    static void take_second() = delete;
    static SINTER_INLINE lane::fields<> combine_second(const lane::fields<>&, const lane::fields<>&) { return {}; }
    template <class Value>
    static SINTER_INLINE typename base::template summary<Value> close(const lane::fields<Value, Value>& total, const lane::fields<>&, Value count) {
        const Value mean = div(lane::get<1>(total), count);
        const Value left = sub(lane::get<0>(total), mul(lane::get<1>(total), mean));
        return typename base::template summary<Value>(count, mean, select(less(left, Value(0.0f)), Value(0.0f), left));
    }
};

/// Has every result 16 bits or fewer?
template <class Kernel>
consteval bool stores_few_bits() {
    for (int o = 0; o < Kernel::outputs; ++o)
        if (dtype_size(Kernel::output_type[o]) > 2) return false;
    return true;
}

/// A sum into which products are contracted.
struct sum_of_products : monoids::sum_of {
    using shortcuts_of = sum_of_products;
    template <class Value>
    static SINTER_INLINE void take(lane::fields<Value>& into, Value x) {
        sinter::get<0>(into.item).value += x.value;
    }
};

}  // namespace sinter::detail::device

namespace sinter::detail {
template <class Kernel>
    requires device::is_fast<Kernel>
struct monoid_in_kernel<Kernel, monoids::sum_of, float> {
    using type = device::sum_of_products;
};
template <class Kernel>
    requires(device::is_fast<Kernel> && device::stores_few_bits<Kernel>())
struct monoid_in_kernel<Kernel, monoids::squared_deviations_of, float> {
    using type = device::deviations_in_one_pass;
};
}  // namespace sinter::detail
