// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Codes of 8 bits whose scale is one number for a row, or for all: `dynamic_quantize`, and quantize with a scale that is known when run. Where
// a processor multiplies and adds in one instruction, two floats are made of the scale once, and an element takes a product and a sum instead
// of a division that is as long as ten of them. Codes are those of the division, for every x, by this proof; other scales are divided by.
//
// Let s = S 2^a be the scale, 2^23 <= S < 2^24. A code changes where the rounded quotient passes h = k + 1/2, |k| <= 255, so where x / s passes
// m = h -+ u, u half of the distance to the float before h or after it. m has 25 bits, the last one 1, so that m s is no float: x / s is
// never m. Say u = 2^-g: g >= 17, since |h| < 256, and near m s, x is a multiple of 2^(a-g+23). Then
//     x - m s = 2^(a-g) (2^23 X - 2^g h S +- S)         X an integer, and 2^g h, h's half being odd, a multiple of 2^16
// where the integer in brackets isn't 0 and is S, or -S, modulo 2^16. If S lies at least 32 beside any multiple of 2^16, or is one, then
// |x / s - m| > 2^-44 |m|, m being below 2^25 u.
//     upper    = 1 / s rounded down                     lower = what is left of it, by the remainder 1 - upper s, which is exact
//     quotient = x upper + x lower                      the first product not rounded
// is, before its last rounding, within 2^-45 of x / s: lower is below 2^-23 / s and off by 2^-23 of itself at most, x lower is rounded once.
// So no m lies between the two, and both round to the same side of h. 2^-100 <= s <= 2^60 bars overflow and underflow wherever x / s is
// above 1/4; below, and above all codes, the quotient is, too. Rounded down, for an infinity times both is that infinity; so lower is
// never 0: where 1 / s is a float it is 2^-60 of it. A NaN stays one.
#pragma once

#include "../fold.hpp"
#include "../ops/quantize.hpp"
#include "cpu_lane_convert.hpp"

namespace sinter::backend::SINTER_ISA {
inline namespace SINTER_CPU_FEATURES {

/// Whether instance i is codes of 8 bits of an f32 element by a scale that is the same for a row, or for the call.
constexpr bool divides_by_row(const kernel_view& of, int i) {
    if (of.nest == nest_kind::columns || i < 0 || of.at[i].kind != node_kind::map || of.where[i] != site::element) return false;
    const op_facts* const op = of.node_of(i).op;
    if (!same_facts(op, &quantize_op<i8, -128, 127>::facts) && !same_facts(op, &quantize_op<u8, 0, 255>::facts)) return false;
    const int x = of.at[i].argument[0], scale = of.at[i].argument[1], zero = of.at[i].argument[2];
    const dtype* const types = of.argument_type[of.at[i].node];
    return types[0] == dtype::f32 && types[1] == dtype::f32 && x >= 0 && of.where[x] == site::element && (scale < 0 || of.where[scale] != site::element) &&
           (zero < 0 || of.where[zero] != site::element);
}
/// Whether its scale and zero point are the call's.
constexpr bool divides_by_call(const kernel_view& of, int i) {
    const int scale = of.at[i].argument[1], zero = of.at[i].argument[2];
    return divides_by_row(of, i) && (scale < 0 || of.where[scale] == site::once) && (zero < 0 || of.where[zero] == site::once);
}
constexpr bool any_divides_by_row(const kernel_view& of) {
    for (int i = 0; i < of.instances; ++i)
        if (divides_by_row(of, i)) return true;
    return false;
}
constexpr i32 lowest_code_of(const kernel_view& of, int i) { return same_facts(of.node_of(i).op, &quantize_op<u8, 0, 255>::facts) ? 0 : -128; }

/// The row's largest magnitude of what is quantized, where the kernel has it: an instance, else -1.
template <class Evaluator, class Kernel, int Fold, int Level>
constexpr int magnitudes_of_fold() {
    constexpr auto& it = Kernel::table.at[Fold];
    if constexpr (sinter::detail::is_largest_magnitude<Evaluator, Kernel, Fold>() && Kernel::where[Fold] == site::row && it.level <= Level)
        return Kernel::table.at[it.argument[0]].argument[0];
    else
        return -1;
}
template <class Evaluator, class Kernel, int Instance, int... Fold>
constexpr int find_reach(indices<Fold...>) {
    int found = -1;
    ((found = magnitudes_of_fold<Evaluator, Kernel, Fold, Kernel::table.at[Instance].level>() == Kernel::table.at[Instance].argument[0] ? Fold : found), ...);
    return found;
}
template <class Evaluator, class Kernel, int Instance>
inline constexpr int reach_of = find_reach<Evaluator, Kernel, Instance>(make_indices<Kernel::instances>{});

/// Whether no element is beyond the codes, so that nothing is left to clamp. `zero`: the code of 0, of 256 from `low`. (No NaN is either.)
SINTER_FORCE_INLINE bool covers(float scale, float reach, i32 zero, i32 low) {
    const i64 below = i64(zero) - low, above = i64(low) + 255 - zero;
    return step::less_equal(reach, step::mul(float(below < above ? below : above) + 0.49f, scale));
}
/// Codes of a quotient that was rounded: clamped unless the row covers it.
template <class Evaluator, class Kernel, int Instance, bool Covered, class Frame, class Value>
SINTER_FORCE_INLINE auto codes_of(const Frame& frame, Value quotient) {
    const auto zero = Evaluator::template argument<Instance, 2>(frame);
    if constexpr (Covered)
        return convert_in_range<type_of<Kernel::table.at[Instance].type>>(add(round_to_i32(quotient), zero));
    else
        return Evaluator::template op_of_instance<Instance>::of_quotient(quotient, zero);
}

/// A row's scale, turned into a factor.
template <class Value>
struct row_reciprocal {
    Value upper, lower, lift;
    bool exact;  ///< gives the codes of the division

    /// `zero`: steps from it to codes of [low, low + 255] are 255 at most.
    static SINTER_FORCE_INLINE bool is_exact(float scale, i32 zero, i32 low) {
        const u32 all = __builtin_bit_cast(u32, scale), beside = all & 0xffffu;
        const bool in_range = all - 0x0d800000u <= 0x5d800000u - 0x0d800000u;  // 2^-100 to 2^60
        return in_range && (beside == 0 || beside - 32 <= 0x10000u - 64) && u32(zero) - u32(low) <= 255;
    }
    SINTER_FORCE_INLINE void set(Value scale) {
        const Value one(1.0f), nearest = div(one, scale);
        const auto rest_of = [&](Value of) { return fma(-of, scale, one); };
        upper = select(less(rest_of(nearest), Value(0.0f)), from_bits<float>(sub(bits(nearest), decltype(bits(nearest))(1u))), nearest);
        lower = max_raw(mul(rest_of(upper), nearest), mul(nearest, Value(0x1p-60f)));
        lift = lane::code_lift(scale);
    }
    SINTER_FORCE_INLINE Value quotient(Value x) const {
        const Value lifted = add(x, lift);
        return fma(lifted, upper, mul(lifted, lower));
    }
};

/// The policy of kernels with such codes: nothing but their quotients is computed in another way, and no bit differs.
struct row_code_policy {
    template <class Op>
    using instead_of = Op;
    template <class Family>
    using row_term = row_reciprocal<typename Family::template value<float>>;

    template <class Evaluator, class Kernel, int Instance, class Frame>
    static SINTER_FORCE_INLINE auto make_row_term(const Frame& frame) {
        const auto scale = Evaluator::template argument<Instance, 1>(frame);
        const i32 zero = first(Evaluator::template argument<Instance, 2>(frame)), low = lowest_code_of(Kernel::view, Instance);
        constexpr int reach = reach_of<Evaluator, Kernel, Instance>;
        row_reciprocal<remove_cvref<decltype(scale)>> term;
        term.set(scale);
        term.exact = term.is_exact(first(scale), zero, low);
        if constexpr (reach >= 0) term.exact = term.exact && covers(first(scale), first(frame.template value<reach>()), zero, low);
        return term;
    }
    template <class Evaluator, class Kernel, int Instance, class Frame>
    static SINTER_FORCE_INLINE auto from_row_term(const Frame& frame) {
        const auto x = Evaluator::template argument<Instance, 0>(frame);
        const auto& term = frame.template row_term<Instance>();
        if (__builtin_expect(term.exact, 1))
            return codes_of<Evaluator, Kernel, Instance, (reach_of<Evaluator, Kernel, Instance> >= 0)>(frame, term.quotient(x));
        return codes_of<Evaluator, Kernel, Instance, false>(frame, div(x, Evaluator::template argument<Instance, 1>(frame)));
    }
};
template <class Kernel>
struct row_code_kernel : Kernel {
    using policy = row_code_policy;
    static constexpr bool any_row_term = true;
    static constexpr array<bool, Kernel::instances> find_row_terms() {
        array<bool, Kernel::instances> found{};
        for (int i = 0; i < Kernel::instances; ++i) found[i] = divides_by_row(Kernel::view, i);
        return found;
    }
    static constexpr array<bool, Kernel::instances> row_term = find_row_terms();
    static constexpr bool is_once_term(int i) { return divides_by_call(Kernel::view, i); }
};
template <class Kernel>
inline constexpr bool has_row_codes = vec<float, native_width>::has_fma && any_divides_by_row(Kernel::view);

}  // namespace SINTER_CPU_FEATURES
}  // namespace sinter::backend::SINTER_ISA
