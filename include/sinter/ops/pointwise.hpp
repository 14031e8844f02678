// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operator table of elementwise functions: name, arity, type rule, rough cost, and the lane function that computes it.
// NaN rules: unless said otherwise a NaN operand gives NaN. Shapes broadcast (NumPy). Bounds of the transcendental functions
// stand beside their algorithms (math.hpp). To add an operator, see CONTRIBUTING: one line here, one test, one docs row.
#pragma once

#include "../expression.hpp"
#include "../lane.hpp"
#include "../math.hpp"
#include "cast.hpp"
#include "type_rules.hpp"

namespace sinter {

// An operation: facts for inference, `apply` for evaluation. The lane function is found by argument-dependent lookup, so that a
// backend can replace it by an instruction.
#define SINTER_OPERATION_1(op, text, type_rule, price, ...)                                                              \
    struct op {                                                                                                          \
        static constexpr op_facts facts{.name = text, .kind = node_kind::map, .arity = 1, .rule = &rules::type_rule, .cost = price}; \
        template <class Value>                                                                                           \
        static SINTER_INLINE auto apply(Value x) {                                                                       \
            using namespace lane_names; /* and a backend's, by argument */                                               \
            return __VA_ARGS__;                                                                                          \
        }                                                                                                                \
    };
#define SINTER_OPERATION_2(op, text, type_rule, price, ...)                                                              \
    struct op {                                                                                                          \
        static constexpr op_facts facts{.name = text, .kind = node_kind::map, .arity = 2, .rule = &rules::type_rule, .cost = price}; \
        template <class Value>                                                                                           \
        static SINTER_INLINE auto apply(Value x, Value y) {                                                              \
            using namespace lane_names; /* and a backend's, by argument */                                               \
            return __VA_ARGS__;                                                                                          \
        }                                                                                                                \
    };
// An operation that only moves or chooses values, so that codes of quantized numbers stay codes.
#define SINTER_CHOICE(op, text, parameters, arguments_count, type_rule, price, ...)                                       \
    struct op {                                                                                                          \
        static constexpr op_facts facts{.name = text, .kind = node_kind::map, .arity = arguments_count, .rule = &rules::type_rule, \
                                        .cost = price, .keeps_codes = true};                                             \
        template <class Value>                                                                                           \
        static SINTER_INLINE auto apply parameters {                                                                     \
            using namespace lane_names; /* and a backend's, by argument */                                               \
            return __VA_ARGS__;                                                                                          \
        }                                                                                                                \
    };
#define SINTER_OPERATOR_1(function, op)                            \
    template <tensor_operand Operand>                              \
    SINTER_INLINE detail::applied<op, Operand> function(Operand&& x) { \
        return detail::apply<op>(static_cast<Operand&&>(x));       \
    }
// A function by name takes whatever comes beside a tensor, and `apply` says what is wrong with it. It comes before the operation, in
// which ordinary lookup of the name then ends: what a user calls `gelu` in the global namespace isn't reached.
#define SINTER_FUNCTION(function, op)                                                     \
    struct op;                                                                            \
    template <class... Arguments>                                                         \
        requires arguments_of_function<Arguments...>                                         \
    SINTER_INLINE detail::applied<op, Arguments...> function(Arguments&&... arguments) {  \
        return detail::apply<op>(static_cast<Arguments&&>(arguments)...);                 \
    }
#define SINTER_OPERATOR_2(function, op)                                                         \
    template <class Left, class Right>                                                          \
        requires operator_arguments<Left, Right>                                                \
    SINTER_INLINE detail::applied<op, Left, Right> function(Left&& x, Right&& y) {              \
        return detail::apply<op>(static_cast<Left&&>(x), static_cast<Right&&>(y));              \
    }

// ------------------------------------------------------------------------------------------------------------- arithmetic
// Floats: IEEE, rounded once (A1). Integers wrap in their type (T3); / truncates, x / 0 is 0, MIN / -1 is MIN (A2).
SINTER_OPERATION_2(add_op, "add", arithmetic, 1, add(x, y))
SINTER_OPERATION_2(sub_op, "sub", arithmetic, 1, sub(x, y))
SINTER_OPERATION_2(mul_op, "mul", arithmetic, 1, mul(x, y))
SINTER_OPERATION_2(div_op, "div", arithmetic, 4, div(x, y))
SINTER_FUNCTION(fmod, fmod_op)
SINTER_OPERATION_2(rem_op, "rem", arithmetic, 8, fmod(x, y))
SINTER_OPERATION_1(neg_op, "neg", arithmetic, 1, neg(x))
SINTER_FUNCTION(abs, abs_op)  // abs(MIN) is MIN for integers
SINTER_OPERATION_1(abs_op, "abs", arithmetic, 1, abs(x))
SINTER_FUNCTION(copy, copy_op)  // the elements themselves: `y = copy(x)`
SINTER_CHOICE(copy_op, "copy", (Value x), 1, selection, 0, x)
SINTER_OPERATOR_2(operator+, add_op)
SINTER_OPERATOR_2(operator-, sub_op)
SINTER_OPERATOR_2(operator*, mul_op)
SINTER_OPERATOR_2(operator/, div_op)
SINTER_OPERATOR_2(operator%, rem_op)  // the sign of the dividend, as C++; x % 0 is 0 for integers
SINTER_OPERATOR_1(operator-, neg_op)
SINTER_OPERATOR_1(operator+, copy_op)

/// fma(x, y, z) = x * y + z, rounded once (floats; A1).
SINTER_FUNCTION(fma, fma_op)
struct fma_op {
    static constexpr op_facts facts{.name = "fma", .kind = node_kind::map, .arity = 3, .rule = &rules::floating, .cost = 1};
    template <class Value>
    static SINTER_INLINE auto apply(Value x, Value y, Value z) {
        return fma(x, y, z);
    }
};

// Exact remainders (A3): `fmod` takes the sign of the dividend, `remainder` that of the divisor; integers by A2.
SINTER_OPERATION_2(fmod_op, "fmod", arithmetic, 20, fmod(x, y))
SINTER_FUNCTION(remainder, remainder_op)
SINTER_OPERATION_2(remainder_op, "remainder", arithmetic, 24, remainder(x, y))
SINTER_FUNCTION(floor_divide, floor_divide_op)
SINTER_OPERATION_2(floor_divide_op, "floor_divide", arithmetic, 24, floor_divide(x, y))
SINTER_FUNCTION(pow, pow_op)  // exact where the result is a representable integer (A4); integer powers wrap
SINTER_OPERATION_2(pow_op, "pow", arithmetic_no_f64, 60, pow(x, y))

// -------------------------------------------------------------------------------------------------- comparison and logic
SINTER_OPERATION_2(less_op, "less", ordering, 1, less(x, y))
SINTER_OPERATION_2(less_equal_op, "less_equal", ordering, 1, less_equal(x, y))
SINTER_OPERATION_2(greater_op, "greater", ordering, 1, less(y, x))
SINTER_OPERATION_2(greater_equal_op, "greater_equal", ordering, 1, less_equal(y, x))
SINTER_OPERATION_2(equal_op, "equal", comparison, 1, equal(x, y))
SINTER_OPERATION_2(not_equal_op, "not_equal", comparison, 1, bit_not(equal(x, y)))
SINTER_OPERATOR_2(operator<, less_op)
SINTER_OPERATOR_2(operator<=, less_equal_op)
SINTER_OPERATOR_2(operator>, greater_op)
SINTER_OPERATOR_2(operator>=, greater_equal_op)
SINTER_OPERATOR_2(operator==, equal_op)
SINTER_OPERATOR_2(operator!=, not_equal_op)
SINTER_OPERATION_2(logical_and_op, "logical_and", logical, 1, bit_and(x, y))
SINTER_OPERATION_2(logical_or_op, "logical_or", logical, 1, bit_or(x, y))
SINTER_FUNCTION(logical_xor, logical_xor_op)
SINTER_OPERATION_2(logical_xor_op, "logical_xor", logical, 1, bit_xor(x, y))
SINTER_OPERATION_1(logical_not_op, "logical_not", logical, 1, bit_not(x))
SINTER_OPERATOR_2(operator&&, logical_and_op)  // both sides are evaluated: these are elementwise
SINTER_OPERATOR_2(operator||, logical_or_op)
SINTER_OPERATOR_1(operator!, logical_not_op)
SINTER_FUNCTION(is_nan, is_nan_op)
SINTER_OPERATION_1(is_nan_op, "is_nan", float_test, 1, is_nan(x))
SINTER_FUNCTION(is_inf, is_inf_op)
SINTER_OPERATION_1(is_inf_op, "is_inf", float_test, 2, is_inf(x))
SINTER_FUNCTION(is_finite, is_finite_op)
SINTER_OPERATION_1(is_finite_op, "is_finite", float_test, 2, is_finite(x))

/// where(condition, x, y): x where the condition is true. The other side doesn't leak, NaN or not (B2).
SINTER_FUNCTION(where, where_op)
struct where_op {
    static constexpr bool selects = true;  ///< its second argument or its third, by its first
    static constexpr op_facts facts{.name = "where", .kind = node_kind::map, .arity = 3, .rule = &rules::where, .cost = 1, .keeps_codes = true};
    template <class Mask, class Value>
    static SINTER_INLINE auto apply(Mask condition, Value x, Value y) {
        using namespace lane_names;
        return select(condition, x, y);
    }
};

// ---------------------------------------------------------------------------------------------------------------- bitwise
// Integers and bool (~ of bool is logical). A shift by the width or more gives 0, or the sign for a signed right shift (A2).
SINTER_OPERATION_2(bit_and_op, "bit_and", bitwise, 1, bit_and(x, y))
SINTER_OPERATION_2(bit_or_op, "bit_or", bitwise, 1, bit_or(x, y))
SINTER_OPERATION_2(bit_xor_op, "bit_xor", bitwise, 1, bit_xor(x, y))
SINTER_OPERATION_1(bit_not_op, "bit_not", bitwise, 1, bit_not(x))
SINTER_OPERATION_2(shift_left_op, "shift_left", shift, 2, shift_left(x, y))
SINTER_OPERATION_2(shift_right_op, "shift_right", shift, 2, shift_right(x, y))
SINTER_OPERATOR_2(operator&, bit_and_op)
SINTER_OPERATOR_2(operator|, bit_or_op)
SINTER_OPERATOR_2(operator^, bit_xor_op)
SINTER_OPERATOR_1(operator~, bit_not_op)
SINTER_OPERATOR_2(operator<<, shift_left_op)
SINTER_OPERATOR_2(operator>>, shift_right_op)

// -------------------------------------------------------------------------------------------------------------- selection
// min and max give NaN if any operand is NaN, and -0 < +0 (B1); fmin and fmax ignore one NaN (B3).
SINTER_FUNCTION(minimum, minimum_op)
SINTER_CHOICE(minimum_op, "minimum", (Value x, Value y), 2, selection, 3, minimum(x, y))
SINTER_FUNCTION(maximum, maximum_op)
SINTER_CHOICE(maximum_op, "maximum", (Value x, Value y), 2, selection, 3, maximum(x, y))
namespace lane {
/// maximum(x, 0): the raw maximum keeps a NaN in its second operand, and adding +0 turns -0 into +0.
template <class Value>
SINTER_INLINE Value relu(Value x) {
    const Value zero(typename Value::element(0));
    if constexpr (SINTER_DEVICE_PASS && __is_same(Value, scalar<float>))
        return maximum(x, zero);  // one instruction there, with the same result
    else if constexpr (is_float_element<typename Value::element>)
        return add(max_raw(zero, x), zero);
    else
        return maximum(x, zero);
}
}  // namespace lane
SINTER_FUNCTION(fmin, fmin_op)
SINTER_OPERATION_2(fmin_op, "fmin", selection, 5, fmin(x, y))
SINTER_FUNCTION(fmax, fmax_op)
SINTER_OPERATION_2(fmax_op, "fmax", selection, 5, fmax(x, y))
SINTER_FUNCTION(relu, relu_op)
SINTER_CHOICE(relu_op, "relu", (Value x), 1, arithmetic, 2, lane::relu(x))
SINTER_FUNCTION(sign, sign_op)
SINTER_OPERATION_1(sign_op, "sign", arithmetic, 3, sign(x))  // sign(+-0) is +0
SINTER_FUNCTION(round, round_op)
SINTER_OPERATION_1(round_op, "round", arithmetic, 1, round(x))  // half to even
SINTER_FUNCTION(floor, floor_op)
SINTER_OPERATION_1(floor_op, "floor", arithmetic, 1, floor(x))
SINTER_FUNCTION(ceil, ceil_op)
SINTER_OPERATION_1(ceil_op, "ceil", arithmetic, 1, ceil(x))
SINTER_FUNCTION(trunc, trunc_op)
SINTER_OPERATION_1(trunc_op, "trunc", arithmetic, 1, trunc(x))
SINTER_FUNCTION(copysign, copysign_op)
SINTER_OPERATION_2(copysign_op, "copysign", floating, 2, copysign(x, y))
/// clamp(x, lo, hi) = minimum(maximum(x, lo), hi): NaN propagates, lo > hi gives hi (B2).
SINTER_FUNCTION(clamp, clamp_op)
struct clamp_op {
    static constexpr op_facts facts{.name = "clamp", .kind = node_kind::map, .arity = 3, .rule = &rules::selection, .cost = 6};
    template <class Value>
    static SINTER_INLINE auto apply(Value x, Value low, Value high) {
        return minimum(maximum(x, low), high);
    }
};

// ----------------------------------------------------------------------------------------------------- functions (D1, D2)
SINTER_FUNCTION(sqrt, sqrt_op)
SINTER_OPERATION_1(sqrt_op, "sqrt", floating, 4, sqrt(x))
SINTER_FUNCTION(rsqrt, rsqrt_op)
SINTER_OPERATION_1(rsqrt_op, "rsqrt", floating, 8, rsqrt(x))
SINTER_FUNCTION(reciprocal, reciprocal_op)
SINTER_OPERATION_1(reciprocal_op, "reciprocal", floating, 4, reciprocal(x))
SINTER_FUNCTION(exp, exp_op)
SINTER_OPERATION_1(exp_op, "exp", floating, 18, exp(x))
/// For sums over a row (math_exp.hpp). exp_below_zero(x): e^x for x <= 0, under the name of exp in plans. exp_below(x, top):
/// e^(x - top) c for x <= top, c between 0.7 and 1.42 a function of top alone; over_exp_below(x, top): x / c.
SINTER_FUNCTION(exp_below_zero, exp_below_zero_op)
SINTER_OPERATION_1(exp_below_zero_op, "exp", floating, 16, exp_below_zero(x))
SINTER_FUNCTION(exp_below, exp_below_op)
SINTER_OPERATION_2(exp_below_op, "exp_below", floating, 14, exp_below(x, y))
SINTER_FUNCTION(over_exp_below, over_exp_below_op)
SINTER_OPERATION_2(over_exp_below_op, "over_exp_below", floating, 17, div(x, exp_below(y, y)))
SINTER_FUNCTION(log, log_op)
SINTER_OPERATION_1(log_op, "log", floating, 20, log(x))
SINTER_FUNCTION(tanh, tanh_op)
SINTER_OPERATION_1(tanh_op, "tanh", floating, 24, tanh(x))
SINTER_FUNCTION(sigmoid, sigmoid_op)
SINTER_OPERATION_1(sigmoid_op, "sigmoid", floating, 24, sigmoid(x))
// f32 (and f16, bf16, integers through f32); f64 doesn't compile yet.
#define SINTER_MATH_1(function, price)                                                 \
    SINTER_FUNCTION(function, function##_op)                                           \
    SINTER_OPERATION_1(function##_op, #function, floating_f32, price, function(x))
SINTER_MATH_1(exp2, 16)
SINTER_MATH_1(expm1, 22)
SINTER_MATH_1(log2, 20)
SINTER_MATH_1(log10, 20)
SINTER_MATH_1(log1p, 24)
SINTER_MATH_1(erf, 24)
SINTER_MATH_1(erfc, 30)
SINTER_MATH_1(cbrt, 24)
SINTER_MATH_1(sin, 60)
SINTER_MATH_1(cos, 60)
SINTER_MATH_1(tan, 70)
SINTER_MATH_1(sinh, 30)
SINTER_MATH_1(cosh, 30)
SINTER_MATH_1(asin, 24)
SINTER_MATH_1(acos, 24)
SINTER_MATH_1(atan, 24)
SINTER_MATH_1(asinh, 40)
SINTER_MATH_1(acosh, 40)
SINTER_MATH_1(atanh, 40)
SINTER_MATH_1(silu, 26)
SINTER_MATH_1(softplus, 40)
SINTER_MATH_1(mish, 60)
SINTER_MATH_1(gelu, 30)       // x * Phi(x), the exact form
SINTER_MATH_1(gelu_tanh, 30)  // 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
#undef SINTER_MATH_1
SINTER_FUNCTION(atan2, atan2_op)
SINTER_OPERATION_2(atan2_op, "atan2", floating_f32, 30, atan2(x, y))
SINTER_FUNCTION(hypot, hypot_op)
SINTER_OPERATION_2(hypot_op, "hypot", floating_f32, 20, hypot(x, y))
SINTER_FUNCTION(logaddexp, logaddexp_op)
SINTER_OPERATION_2(logaddexp_op, "logaddexp", floating_f32, 50, logaddexp(x, y))
SINTER_FUNCTION(elu, elu_op)  // elu(x, alpha): x > 0 ? x : alpha * expm1(x)
SINTER_OPERATION_2(elu_op, "elu", floating_f32, 26, elu(x, y))
template <tensor_operand Operand>
SINTER_INLINE detail::applied<elu_op, Operand, float> elu(Operand&& x) {
    return elu(static_cast<Operand&&>(x), 1.0f);
}

// ------------------------------------------------------------------------------------------------------------ coordinates

/// The index along an axis, as i64; the argument gives the shape only.
template <i64 Axis>
struct coordinate_op {
    static constexpr op_facts facts{.name = "iota", .kind = node_kind::coordinate, .arity = 1, .cost = 1, .axis = Axis};
};
namespace detail {
template <i64... Sizes>
SINTER_INLINE auto shape_expression(const extents<Sizes...>& sizes) {
    using operand_type = shape_operand<extents<Sizes...>>;
    return expression<program<leaf<0>>, 0, extents<Sizes...>, dtype::i64, false, operand_type>{{{{operand_type(sizes)}}}};
}
}  // namespace detail
/// iota<axis>(x): 0, 1, 2, ... along that axis of x's shape, of size 1 along the others, so that it broadcasts. i64.
template <i64 Axis, tensor_operand Operand>
SINTER_INLINE detail::applied<coordinate_op<Axis>, Operand> iota(Operand&& like) {
    return detail::apply<coordinate_op<Axis>>(static_cast<Operand&&>(like));
}
/// iota<axis>(extents<...>{...}): the same for a shape without a tensor.
template <i64 Axis, i64... Sizes>
SINTER_INLINE auto iota(const extents<Sizes...>& sizes)
    -> detail::outcome<decltype(detail::apply_direct<coordinate_op<Axis>>(detail::shape_expression(sizes)))> {
    return detail::apply_direct<coordinate_op<Axis>>(detail::shape_expression(sizes));
}

// ---------------------------------------------------------------------------------------------------------- user operators

namespace lane {
// A number beside a lane takes its type in the functions, too, as with the operators: `minimum(x, 1.0f)`.
#define SINTER_BESIDE_A_NUMBER(function)                                            \
    template <lane_value Value>                                                     \
    SINTER_INLINE Value function(Value left, typename Value::element right) {       \
        return function(left, Value(right));                                        \
    }                                                                               \
    template <lane_value Value>                                                     \
    SINTER_INLINE Value function(typename Value::element left, Value right) {       \
        return function(Value(left), right);                                        \
    }
SINTER_BESIDE_A_NUMBER(minimum)
SINTER_BESIDE_A_NUMBER(maximum)
SINTER_BESIDE_A_NUMBER(fmin)
SINTER_BESIDE_A_NUMBER(fmax)
SINTER_BESIDE_A_NUMBER(copysign)
SINTER_BESIDE_A_NUMBER(pow)
#undef SINTER_BESIDE_A_NUMBER
template <lane_value Value>
SINTER_INLINE Value select(typename Value::mask condition, Value yes, typename Value::element no) {
    return select(condition, yes, Value(no));
}
template <lane_value Value>
SINTER_INLINE Value select(typename Value::mask condition, typename Value::element yes, Value no) {
    return select(condition, Value(yes), no);
}
template <lane_value Value>
SINTER_INLINE Value clamp(Value x, typename Value::element low, typename Value::element high) {
    return clamp(x, Value(low), Value(high));
}
}  // namespace lane

namespace detail {
/// What an operator or a monoid gives, in a mistake.
template <class Type>
struct gives {};
template <class Type>
struct instead_of {};
}  // namespace detail

/// A user's operator: a struct with `static constexpr const char* name` and a templated call over lane values, written with
/// operators, literals of the element type and the lane functions:
///
///     struct cube {
///         static constexpr const char* name = "cube";
///         template <class Value> SINTER_INLINE Value operator()(Value x) const { return x * x * x; }
///     };
///     run(cpu, y = sinter::pointwise<cube>(x));
///
/// Types promote as in arithmetic, unless the struct names a rule: `static constexpr sinter::type_rule rule = ...`.
template <class Function, int Arity>
struct user_op {
    static constexpr type_rule find_rule() {
        if constexpr (requires { Function::rule; })
            return Function::rule;
        else
            return &rules::arithmetic;
    }
    static constexpr int find_cost() {
        if constexpr (requires { Function::cost; })
            return Function::cost;
        else
            return 10;
    }
    static constexpr op_facts facts{
        .name = Function::name, .kind = node_kind::map, .arity = Arity, .rule = find_rule(), .cost = find_cost(), .own = true};
    template <class... Values>
    static SINTER_INLINE auto apply(Values... values) {
        return Function{}(values...);
    }
    /// Does the call take so many lanes, and give one of the type that the rule says?
    template <class Inference, int Node>
    static constexpr auto verdict() {
        return verdict_over<Inference, Node>(make_indices<Arity>{});
    }

private:
    template <class Inference, int Node, int... Argument>
    static constexpr auto verdict_over(indices<Argument...>) {
        using result = lane::scalar<detail::lane_result<Inference, Node>>;
        if constexpr (!requires { Function{}(detail::some<lane::scalar<detail::lane_argument<Inference, Node, Argument>>>()...); })
            return refused<mistake<rule::lanes_go_through, Function, given<Arity>>>{};
        else {
            using gives = remove_cvref<decltype(Function{}(detail::some<lane::scalar<detail::lane_argument<Inference, Node, Argument>>>()...))>;
            if constexpr (!is_same<gives, result>)
                return refused<mistake<rule::lanes_go_through, Function, detail::gives<gives>, detail::instead_of<result>>>{};
            else
                return detail::nothing_wrong{};
        }
    }
};
namespace detail {
template <class Function, class... Arguments>
struct user_call {
    using type = applied<user_op<Function, int(sizeof...(Arguments))>, Arguments...>;
};
template <class Function, class... Arguments>
    requires(!requires { op_facts{.name = Function::name}; })
struct user_call<Function, Arguments...> {
    using type = outcome_of_call<refused<mistake<rule::operator_has_a_name, Function>>, Arguments...>;
};
/// A call that is no template takes float where a vector register comes.
template <class Function, class... Arguments>
    requires(requires { op_facts{.name = Function::name}; } && requires { &Function::operator(); })
struct user_call<Function, Arguments...> {
    using type = outcome_of_call<refused<mistake<rule::operator_takes_lanes, Function>>, Arguments...>;
};
}  // namespace detail
/// Applies a user's operator to one to four operands.
template <class Function, class... Arguments>
    requires operands<Arguments...>
SINTER_INLINE typename detail::user_call<Function, Arguments...>::type pointwise(Arguments&&... arguments) {
    if constexpr (requires { op_facts{.name = Function::name}; } && !requires { &Function::operator(); })
        return detail::apply<user_op<Function, int(sizeof...(Arguments))>>(static_cast<Arguments&&>(arguments)...);
    else
        return {};
}

#undef SINTER_OPERATION_1
#undef SINTER_OPERATION_2
#undef SINTER_CHOICE
#undef SINTER_OPERATOR_1
#undef SINTER_OPERATOR_2
#undef SINTER_FUNCTION

}  // namespace sinter
