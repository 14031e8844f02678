// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The type rules of operations (numerics T1 to T3): from the value types of the arguments to the value type of the result
// and the compute type that each argument is converted to. Each is a plain constexpr function that an operation names.
#pragma once

#include "../program.hpp"

// (An inline namespace for each instruction set: their addresses are taken, so that copies of them stay.)
namespace sinter::rules {
inline namespace SINTER_ISA {

/// The type that lanes hold for a value: a weak one that meets no tensor computes as f32, i64 or bool.
SINTER_INLINE dtype lane_type(value_type type) { return compute_dtype(type.type); }

SINTER_INLINE value_type promoted(value_type left, value_type right) {
    if (left.weak && right.weak) {
        if (is_float(left.type) || is_float(right.type)) return {dtype::f32, true};
        return {left.type == dtype::i64 || right.type == dtype::i64 ? dtype::i64 : dtype::boolean, true};
    }
    if (left.weak) return {promote_scalar(right.type, left.type), false};
    if (right.weak) return {promote_scalar(left.type, right.type), false};
    return {promote(left.type, right.type), false};
}
/// All tensors first, then the weak scalars: so the order of operands doesn't matter.
SINTER_INLINE value_type promoted(const value_type* arguments, int first, int count) {
    value_type out{};
    bool any = false;
    for (int pass = 0; pass < 2; ++pass)
        for (int i = first; i < count; ++i)
            if (arguments[i].weak == (pass == 1)) {
                out = any ? promoted(out, arguments[i]) : arguments[i];
                any = true;
            }
    return out;
}
SINTER_INLINE typing uniform(value_type result, dtype compute, int count) {
    typing out;
    out.result = result;
    for (int i = 0; i < count; ++i) out.argument[i] = compute;
    return out;
}
SINTER_INLINE typing refused(type_violation why) {
    typing out;
    out.why = why;
    return out;
}

/// + - * / and their kin: the promoted type; bool counts as u8.
SINTER_INLINE typing arithmetic(const value_type* arguments, int count) {
    value_type result = promoted(arguments, 0, count);
    if (result.type == dtype::boolean) result.type = dtype::u8;
    return uniform(result, lane_type(result), count);
}
/// Selection among operands: the promoted type; bool stays bool.
SINTER_INLINE typing selection(const value_type* arguments, int count) {
    const value_type result = promoted(arguments, 0, count);
    return uniform(result, lane_type(result), count);
}
SINTER_INLINE typing comparison(const value_type* arguments, int count) {
    const value_type common = promoted(arguments, 0, count);
    return uniform({dtype::boolean, common.weak}, lane_type(common), count);
}
/// < and its kin: two conditions, or none.
SINTER_INLINE typing ordering(const value_type* arguments, int count) {
    if ((arguments[0].type == dtype::boolean) != (arguments[1].type == dtype::boolean)) return refused(type_violation::bool_in_order);
    return comparison(arguments, count);
}
/// Any type; what isn't bool is compared with zero (NaN is true).
SINTER_INLINE typing logical(const value_type* arguments, int count) {
    return uniform({dtype::boolean, promoted(arguments, 0, count).weak}, dtype::boolean, count);
}
SINTER_INLINE typing bitwise(const value_type* arguments, int count) {
    const value_type result = promoted(arguments, 0, count);
    if (is_float(result.type)) return refused(type_violation::needs_integer);
    return uniform(result, lane_type(result), count);
}
SINTER_INLINE typing shift(const value_type* arguments, int count) {
    value_type result = promoted(arguments, 0, count);
    if (result.type == dtype::boolean) result.type = dtype::u8;
    if (is_float(result.type)) return refused(type_violation::needs_integer);
    return uniform(result, lane_type(result), count);
}
SINTER_INLINE value_type as_floating(value_type from) {
    return is_float(from.type) ? from : value_type{dtype::f32, from.weak};
}
/// Functions with an f64 form: integers compute and give f32.
SINTER_INLINE typing floating(const value_type* arguments, int count) {
    const value_type result = as_floating(promoted(arguments, 0, count));
    return uniform(result, lane_type(result), count);
}
/// Functions without an f64 form yet.
SINTER_INLINE typing floating_f32(const value_type* arguments, int count) {
    const typing out = floating(arguments, count);
    return out.result.type == dtype::f64 ? refused(type_violation::f64_function) : out;
}
/// Float or integer, f64 not yet.
SINTER_INLINE typing arithmetic_no_f64(const value_type* arguments, int count) {
    const typing out = arithmetic(arguments, count);
    return out.result.type == dtype::f64 ? refused(type_violation::f64_function) : out;
}
/// A float test: integers are converted to f32 first.
SINTER_INLINE typing float_test(const value_type* arguments, int count) {
    typing out = floating(arguments, count);
    out.result = {dtype::boolean, out.result.weak};
    return out;
}
/// where(condition, a, b): the condition must be bool.
SINTER_INLINE typing where(const value_type* arguments, int count) {
    if (arguments[0].type != dtype::boolean) return refused(type_violation::needs_bool);
    const value_type result = promoted(arguments, 1, count);
    typing out = uniform(result, lane_type(result), count);
    out.argument[0] = dtype::boolean;
    return out;
}
/// cast: the argument arrives in its own lane type, the operation converts it.
template <dtype To>
SINTER_INLINE typing cast(const value_type* arguments, int) {
    typing out;
    out.result = {To, false};
    out.argument[0] = lane_type(arguments[0]);
    return out;
}

// Reductions (C3): what is folded, and what comes out.
/// Integers and bool fold in i64, unsigned ones in u64; floats in their compute type.
SINTER_INLINE typing fold_sum(const value_type* arguments, int) {
    typing out;
    const dtype from = arguments[0].type;
    const dtype result = is_float(from) ? from : (is_integer(from) && !is_signed(from)) ? dtype::u64 : dtype::i64;
    out.result = {result, false};
    out.argument[0] = compute_dtype(result);
    return out;
}
SINTER_INLINE typing fold_same(const value_type* arguments, int) {
    typing out;
    out.result = {arguments[0].type, false};
    out.argument[0] = compute_dtype(arguments[0].type);
    return out;
}
SINTER_INLINE typing fold_bool(const value_type*, int) {
    typing out;
    out.result = {dtype::boolean, false};
    out.argument[0] = dtype::boolean;
    return out;
}
SINTER_INLINE typing fold_index(const value_type* arguments, int) {
    typing out;
    out.result = {dtype::i64, false};
    out.argument[0] = compute_dtype(arguments[0].type);
    return out;
}
SINTER_INLINE typing fold_float(const value_type* arguments, int) {
    typing out;
    out.result = as_floating({arguments[0].type, false});
    out.argument[0] = compute_dtype(out.result.type);
    return out;
}

}  // namespace SINTER_ISA
}  // namespace sinter::rules
